"""What tells nothing new comes later: the same rows of a transcript in another record, and near-duplicates."""

from __future__ import annotations

from memlite.search.candidates import CANDIDATES
from memlite.store import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.store.database import Database
    from memlite.store.find import Found

_NO_DIGITS = dict.fromkeys(map(ord, "0123456789"))


def fold(database: Database, ranked: list[Found]) -> tuple[list[Found], dict[tuple[str, int], int]]:
    """(`ranked` in a new order, how many near-duplicates stand behind a record, by its kind and id).

    Among the first CANDIDATES two sorts move behind the others, in their order: records whose transcript rows better
    ones have shown already (a turn's prompt, its closing observation and its summary tell the same thing), and
    near-duplicates: of a better one's type and project, with its headline but for the digits in it.
    """
    top, rest = ranked[:CANDIDATES], ranked[CANDIDATES:]
    outlines = records.outlines(database, [(row.kind, row.id) for row in top])
    shown: set[str] = set()
    leaders: dict[tuple[int, str, str], tuple[str, int]] = {}
    similar: dict[tuple[str, int], int] = {}
    first: list[Found] = []
    later: list[Found] = []
    for row in top:
        key = (row.kind, row.id)
        uuids, project, type_, headline = outlines[key]
        words = headline.lower().translate(_NO_DIGITS).split()
        telling = sum(len(word) > 2 for word in words) > 1  # a date or a single word is the headline of anything
        leader = leaders.setdefault((project, type_, " ".join(words)), key) if telling else key
        if leader != key:
            similar[leader] = similar.get(leader, 0) + 1
        repeated = bool(uuids) and shown.issuperset(uuids)
        (later if repeated or leader != key else first).append(row)
        shown.update(uuids)
    return [*first, *later, *rest], similar
