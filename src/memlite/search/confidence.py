"""Whether the best record is an answer at all, or just the nearest of what there is.

Three things tell: how much of the question the record covers, how much of it stands in a single line, and the
record's score per word asked for; and that it is more than one word that fits. The words that every piece of work on
software is asked for with are left out: that a record was about running tests, too, does not make it an answer. The
formula and both thresholds were fitted on labelled questions over real coding sessions against ordinary prompts about
other work (`tests/bench/bench_prompts.py` prints what they achieve).
"""

from __future__ import annotations

from memlite.search.evidence import Evidence, fields
from memlite.search.words import stem
from memlite.store.terms import split_scripts, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Answers below it are shown as "no good match"; a memory above the second is worth interrupting a prompt for.
CONFIDENT = 0.20
OUTSTANDING = 0.27

EVERYDAY = frozenset(map(stem, (
    "add again allow also answer anything app apply ask back best better bit branch bug build call change check clean "
    "clear close code command comment commit compact complete continue copy create day debug delete describe different "
    "directory do done draft easy edit else error everything example explain extract fail feature file find finish "
    "first fix folder follow function generate get give go good great green handle happen help hook idea implement "
    "improve init install instead issue just keep know last let like line lint list load look lot main make mean merge "
    "message method miss missing model move name need new next nice note nothing now ok okay old one only open option "
    "order output package page part plan please point possible print problem project prompt pull push put question "
    "read real really reason rebase refactor remove rename replace repo repository request resolve rest result return "
    "revert review right run same save say second see set setup short show simple simpler skip small something sort "
    "split start state step stop sure system take task tell test thank thanks thing think third time today todo too "
    "tool try turn two type undo update upgrade use user value version want way week well whole why work write wrong "
    "yes yet").split()))


def confidence(record: Any, rarity: dict[str, float], score: float) -> float:
    """0–1: how sure it is that `record` answers the question whose terms have that `rarity`; `score` is its ranking
    score, on the scale of bm25."""
    asked = sum(rarity.values())
    telling = {term: worth for term, worth in rarity.items()
               if stem(term) not in EVERYDAY and not (term.isdigit() and len(term) < 3)}
    share, covered, named = coverage("\n".join(fields(record)).lower(), telling or rarity)
    line = Evidence(telling or rarity).weigh(record)[1]
    sure = (share + min(1.0, line) + min(2.0, score / max(1.0, asked) / 2)) / 4
    if telling and (covered > 1 or named):
        return sure
    return min(OUTSTANDING - 0.01, sure / 2 if len(telling) > 1 else sure)  # one word in common is an accident


def coverage(text: str, rarity: dict[str, float]) -> tuple[float, int, bool]:
    """(share of the question that stands in `text`, by rarity, 0–1; how many of its terms do; whether a compound name
    is among them)."""
    written = {run.lower() for word in set(words(text)) for _, run in split_scripts(word)}
    found = written | set(map(stem, written))
    asked = sum(rarity.values())
    standing = [term for term in rarity if _stands_in(term, text, found)]
    share = sum(rarity[term] for term in standing) / asked if asked else 0.0
    return share, len(standing), any(" " in term for term in standing)


def _stands_in(term: str, text: str, found: set[str]) -> bool:
    if term.endswith("*"):
        return any(word.startswith(term[:-1]) for word in found)
    if not term.isascii():  # accents and unspaced scripts: what is written is what is meant
        return all(part in text for part in term.split())
    return all(stem(part) in found for part in term.split())
