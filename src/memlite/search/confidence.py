"""Whether the best record is an answer at all, or just the nearest of what there is.

Three things tell: how much of the question the record covers, how rare the words are that it covers, and its score
per word asked for. The formula and both thresholds were fitted on labelled questions over real coding sessions
against ordinary prompts about other work (`tests/bench/bench_recall.py` prints what they achieve).
"""

from __future__ import annotations

from math import log

from memlite.search.words import stem
from memlite.store.terms import split_scripts, words

# Answers below it are shown as "no good match"; a memory above the second is worth interrupting a prompt for.
CONFIDENT = 0.38
OUTSTANDING = 0.63


def coverage(text: str, rarity: dict[str, float]) -> tuple[float, float]:
    """(share of the question that `text` covers, 0–1; rarity of what it covers, in nats).

    `rarity` holds what each term of the question is worth; a term counts when all its words stand in the text.
    """
    found = {stem(run.lower()) for word in set(words(text)) for _, run in split_scripts(word)}
    asked = sum(rarity.values())
    worth = sum(value for term, value in rarity.items() if _stands_in(term, text, found))
    return (worth / asked if asked else 0.0), worth


def _stands_in(term: str, text: str, found: set[str]) -> bool:
    if term.endswith("*"):
        return any(word.startswith(term[:-1]) for word in found)
    if not term.isascii():  # accents and unspaced scripts: what is written is what is meant
        return all(part in text for part in term.split())
    return all(stem(part) in found for part in term.split())


def confidence(share: float, worth: float, score: float, asked: float, everything: int) -> float:
    """0–1: how sure it is that a record with that coverage and ranking score answers the question; `asked` is the
    rarity of the whole question, `everything` how many records were searched.

    Two words that no other record has are worth 2·ln(everything): as rare as it gets in a store of that size.
    """
    rare = worth / (2.0 * log(max(3, everything)))
    strength = share + 2.0 * min(1.0, rare) + 0.5 * score / max(1.0, asked)
    return min(1.0, strength / 4.0)
