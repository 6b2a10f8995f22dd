"""What tells nothing new comes later: the same rows of a transcript in another record, and near-duplicates."""

from __future__ import annotations

from memlite.search.candidates import CANDIDATES
from memlite.store import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.store.database import Database
    from memlite.store.find import Found

_AS_WELL = 0.9      # of the best one's score
_DIGITS = b"0123456789"


def fold(database: Database, ranked: list[Found]) -> tuple[list[Found], dict[tuple[str, int], int]]:
    """(`ranked` in a new order, how many near-duplicates stand behind a record, by its kind and id).

    Among the first CANDIDATES two sorts move behind the others, in their order: records whose transcript rows better
    ones have shown already (a turn's prompt, its closing observation and its summary tell the same thing), and
    near-duplicates: of the same type and project, with the same headline but for the digits in it. Of those that
    answer about as well the newest stands for all.
    """
    top, rest = ranked[:CANDIDATES], ranked[CANDIDATES:]
    outlines = records.outlines(database, [(row.kind, row.id) for row in top])
    alike: dict[tuple[int, str, str], list[Found]] = {}
    for row in top:
        _, project, type_, headline = outlines[row.kind, row.id]
        words = headline.lower().encode().translate(None, _DIGITS).decode().split()
        if len([word for word in words if len(word) > 2]) > 1:  # a date or a single word is the headline of anything
            alike.setdefault((project, type_, " ".join(words)), []).append(row)
    similar: dict[tuple[str, int], int] = {}
    behind: set[tuple[str, int]] = set()
    for group in alike.values():
        leader = max((row for row in group if row.score >= _AS_WELL * group[0].score), key=lambda row: row.id)
        _exchange(top, group[0], leader)
        behind.update((row.kind, row.id) for row in group if row is not leader)
        if len(group) > 1:
            similar[leader.kind, leader.id] = len(group) - 1
    shown: set[str] = set()
    first: list[Found] = []
    later: list[Found] = []
    for row in top:
        uuids = outlines[row.kind, row.id][0]
        repeated = bool(uuids) and shown.issuperset(uuids)
        (later if repeated or (row.kind, row.id) in behind else first).append(row)
        shown.update(uuids)
    return [*first, *later, *rest], similar


def _exchange(ranked: list[Found], one: Found, other: Found) -> None:
    """Let two rows change places, and scores with them."""
    if one is not other:
        here, there = ranked.index(one), ranked.index(other)
        ranked[here], ranked[there] = other, one
        one.score, other.score = other.score, one.score
