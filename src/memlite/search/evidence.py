"""How well a record's own words answer a question: what stands in which of its fields, and how much in a single line.

SQLite's bm25 finds the candidates, but it measures a match against the length of the whole row: one long tool output,
and a telling title counts for less. Here each field is measured against its own usual length (BM25F, Robertson et al.
2004), and words that stand together in one line tell more than the same words scattered over a record.
"""

from __future__ import annotations

from memlite.model import PROMPT, SUMMARY
from memlite.search import synonyms
from memlite.search.words import stem
from memlite.store.terms import is_symbol_word, is_unspaced, separated, symbol_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SYNONYM = 0.5           # of a word's own worth
LINE = 120              # characters of a line to show
_SATURATION = 1.2       # k1 and b of BM25
_LENGTHS = 0.75
# Of each field (title, body, facts, files, details): its weight, its usual length in characters, as measured over 29
# sessions, and what a line of it counts.
_FIELDS = ((2.0, 90, 1.2), (2.0, 400, 1.0), (1.0, 90, 1.0), (0.5, 60, 0.5), (0.5, 900, 0.5))
_SHORT = 4              # stems below it are looked for as whole words: `id` stands in half of all words


class Evidence:
    """A question, ready to be looked for in records; `rarity` is what each of its terms is worth."""

    __slots__ = ("asked", "_terms", "_symbols")

    def __init__(self, rarity: dict[str, float]) -> None:
        self.asked = sum(rarity.values()) or 1.0
        self._terms = [(_needle(term), worth, [_needle(other) for other in synonyms.of(term)])
                       for term, worth in rarity.items()]
        self._symbols = any(map(is_symbol_word, rarity))

    def weigh(self, record: Any) -> tuple[float, float]:
        """(score on the scale of bm25, share of the question that stands in the best line, 0–1)."""
        texts = fields(record)
        if self._symbols:
            texts = [f"{text} {' '.join(symbol_words(text))}" for text in texts]
        # One translation for all fields: NUL, which no stored text holds, keeps them apart.
        joined = " \0 ".join(texts).lower()
        whole = _lines(joined)
        parts = whole.split("\0")
        score = 0.0
        present: list[tuple[list[str], float]] = []
        for needle, worth, kin in self._terms:
            if needle in whole:
                present.append(([needle], worth))
                score += worth * _saturated(_weight(parts, needle))
                continue
            related = [other for other in kin if other in whole]
            if related:
                present.append((related, SYNONYM * worth))
                score += SYNONYM * worth * _saturated(max(_weight(parts, other) for other in related))
        best = 0.0
        for text, (_, _, counts) in zip(parts, _FIELDS, strict=True):
            if _found(present, text) * counts > best:  # else no line of it can tell more
                best = max(best, max(_found(present, line) for line in text.split("\n")) * counts)
        return score, best / self.asked

    def line(self, record: Any) -> str:
        """The line below the headline that holds most of the question, cut to LINE characters around it; "" when none
        tells half as much as the headline does."""
        said = record.headline.rstrip("…").strip().lower()
        known = self._told(_lines(record.headline.lower()))
        best, most = "", 0.0
        for text, (_, _, counts) in zip(fields(record), _FIELDS, strict=True):
            share = min(1.0, counts)
            prepared = _lines(text.lower())
            if not self._better(self._told(prepared), share, most, known):  # no line of it can tell more
                continue
            for line, words in zip(text.split("\n"), prepared.split("\n"), strict=True):
                told = self._told(words)
                if not self._better(told, share, most, known):
                    continue
                lowered = line.lower()
                if said and (lowered.strip(" *#`.-").startswith(said) or (told <= known and said in lowered)):
                    continue
                best, most = line, told * share
        return self._cut(best.strip())

    @staticmethod
    def _better(told: float, share: float, most: float, known: float) -> bool:
        return told * share > most and told * share >= known / 2

    def _told(self, line: str) -> float:
        """How much of the question stands in `line`, which has its words between spaces."""
        told = 0.0
        for needle, worth, kin in self._terms:
            if needle in line:
                told += worth
                continue
            for other in kin:
                if other in line:
                    told += SYNONYM * worth
                    break
        return told

    def _cut(self, line: str) -> str:
        if len(line) <= LINE:
            return line
        words = _lines(line.lower())
        places = [at for needle, _, kin in self._terms for at in map(words.find, (needle, *kin)) if at >= 0]
        start = max(0, min(min(places, default=0) - LINE // 4, len(line) - LINE + 2))
        piece = line[start:start + LINE - 2].strip()
        return ("…" if start else "") + piece + ("…" if start + LINE - 2 < len(line) else "")


def _lines(text: str) -> str:
    """Lower-case `text` with every word, also the first and last of a line, between spaces."""
    return f" {separated(text, lines=True)} ".replace("\n", " \n ")


def _found(present: list[tuple[list[str], float]], text: str) -> float:
    """What those of the needles are worth that stand in `text`."""
    found = 0.0
    for needles, worth in present:
        for needle in needles:
            if needle in text:
                found += worth
                break
    return found


def fields(record: Any) -> list[str]:
    """The text of a record by field: title, body, facts, files, details."""
    if record.KIND == PROMPT:
        return [record.text, "", "", "", ""]
    if record.KIND == SUMMARY:
        return [record.request, _joined(record.completed, record.learned), _joined(record.next_steps, record.notes),
                "\n".join([*record.files_edited, *record.files_read]), ""]
    return [_joined(record.title, record.subtitle), record.narrative, "\n".join(record.facts),
            "\n".join([*record.files_modified, *record.files_read]), record.details]


def _joined(one: str, other: str) -> str:
    return f"{one}\n{other}" if one and other else one or other


def _needle(term: str) -> str:
    """What to look for in a text to find `term` in it, in any of its forms."""
    if term.endswith("*"):
        return f" {term[:-1]}"
    if not term.isascii():  # what is written is what is meant; of a run of pairs the first will do
        return term.split()[0] if is_unspaced(term[0]) else term
    if " " in term:
        return f" {term} "
    root = stem(term)
    return root if len(root) >= _SHORT else f" {term} "


def _weight(texts: list[str], needle: str) -> float:
    """How much of `needle` the fields hold: its frequency, by the field's weight and against its usual length."""
    total = 0.0
    for text, (weight, usual, _) in zip(texts, _FIELDS, strict=True):
        count = text.count(needle)
        if count:
            total += weight * count / (1 - _LENGTHS + _LENGTHS * len(text) / usual)
    return total


def _saturated(weight: float) -> float:
    return weight * (_SATURATION + 1) / (weight + _SATURATION)
