"""What a question is after besides its words: a reason, a decision, a project; and which records correct earlier ones.

Told by plain words of English, as people ask and as assistants write.
"""

from __future__ import annotations

from memlite.search.words import stem
from memlite.store.terms import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LIFT = 1.2
_BEGINNING = 400    # characters: what says so later speaks of many things
_WHY = frozenset(("why", "reason", "reasons", "cause"))
_REASONS = ("because", "since ", "so that", "due to", "caused by", "the reason", "root cause", "in order to",
            "to avoid", "instead of", "rather than", "the issue", "the problem")
_DECIDING = frozenset(map(stem, ("decide", "decided", "decision", "choose", "chose", "chosen", "choice")))
_CORRECTIONS = ("correction", "actually", "turns out", "turned out", "was wrong", "were wrong", "mistake", "no longer",
                "contrary to", "after all", "misunderst", "in fact", "not the ", "real cause", "you're right",
                "you are right")


class Sense:
    """What the question `text` is after."""

    __slots__ = ("asked", "why", "deciding")

    def __init__(self, text: str) -> None:
        self.asked = {word.lower() for word in words(text)}
        self.why = bool(self.asked & _WHY)
        self.deciding = any(stem(word) in _DECIDING for word in self.asked)

    def lift(self, record: Any) -> float:
        """By how much a record is worth more to this question than its words say; 1: no more."""
        lifted = 1.0
        if self.why and _says(record, _REASONS):
            lifted *= _LIFT
        if self.deciding and getattr(record, "type", "") == "decision":
            lifted *= _LIFT
        if record.project and self.asked.issuperset(words(record.project.lower())):
            lifted *= _LIFT
        return lifted


def corrects(record: Any) -> bool:
    """Whether a record begins with saying that something was otherwise than thought."""
    return _says(record, _CORRECTIONS, _BEGINNING)


def _says(record: Any, marks: tuple[str, ...], within: int | None = None) -> bool:
    said = "\n".join(getattr(record, name, "")[:within] for name in ("title", "narrative", "completed")).lower()
    for mark in marks:  # noqa: SIM110 (a generator costs more than the search)
        if mark in said:
            return True
    return False
