"""What has come into the store since a given position: the source of every live view.

Hooks write from processes of their own, so nobody can call a listener; but ids only grow, and what has not been seen
yet has a larger one. A position is the largest id seen of each kind. It fits in one short word and outlives the worker.
"""

from __future__ import annotations

from heapq import merge

from memlite.model import KINDS, OBSERVATION, PROMPT, SUMMARY, Record
from memlite.store import index, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from memlite.store.connection import Database

    Position: TypeAlias = tuple[int, ...]

SESSION_START, SESSION_END = "session_start", "session_end"
SOURCES = (OBSERVATION, SUMMARY, PROMPT, SESSION_START, SESSION_END)   # the order of a position's parts
_NUMBERED = ("observations", "summaries", "prompts", "", "session_ends")


class Change(Record):
    """One thing that came in: a memory (`value` is the record) or the start or end of a session (`value` is a dict).

    `position` is what has been seen once this one is.
    """

    __slots__ = ("source", "id", "project", "moment", "value", "position")
    source: str
    id: int
    project: int        # row number
    moment: int         # epoch ms
    value: Any
    position: Position


def position(database: Database) -> Position:
    """Where the store stands now. What was forgotten counts: no number is given twice."""
    reached = {row[0]: row[1] for row in database.rows("SELECT name, seq FROM sqlite_sequence")}
    sessions = database.rows("SELECT coalesce(max(id), 0) FROM sessions")[0][0]
    return tuple(reached.get(table, 0) if table else sessions for table in _NUMBERED)


def written(at: Position) -> str:
    """A position as one word, `12-5-7-3-1`."""
    return "-".join(map(str, at))


def read(text: str) -> Position | None:
    """The position that `text` is; None when it is none."""
    parts = text.strip().split("-")
    if len(parts) != len(SOURCES) or not all(p.isascii() and p.isdigit() and len(p) < 16 for p in parts):
        return None
    return tuple(map(int, parts))


def since(database: Database, at: Position, limit: int) -> tuple[list[Change], Position]:
    """(what came in after `at`, the position after it): at most `limit` of each source, each source in its own order,
    all together by time. A position from another store, beyond what this one holds, counts as where this one stands.
    """
    here = position(database)
    seen = [min(mine, reached) for mine, reached in zip(at, here, strict=True)]
    found: list[list[Change]] = []
    for number, kind in enumerate(KINDS):
        rows = database.rows(f"{records.select(kind)} WHERE m.id > ? ORDER BY m.id LIMIT ?", (seen[number], limit))
        owners = _owners(database, kind, [row["id"] for row in rows])
        found.append([Change(source=kind, id=row["id"], project=owners.get(row["id"], 0),
                             moment=row["created_at_epoch"], value=records.to_record(kind, row)) for row in rows])
    rows = database.rows(
        "SELECT s.id, s.project, s.session_id, p.name, s.branch, s.started_at_epoch FROM sessions s "
        "JOIN projects p ON p.id = s.project WHERE s.id > ? ORDER BY s.id LIMIT ?", (seen[3], limit))
    found.append([Change(source=SESSION_START, id=row["id"], project=row["project"],
                         moment=row["started_at_epoch"] or 0,
                         value={"session_id": row["session_id"], "project": row["name"], "branch": row["branch"]})
                  for row in rows])
    rows = database.rows(
        "SELECT e.id, s.project, s.session_id, p.name, s.branch, e.ended_at_epoch, e.reason FROM session_ends e "
        "JOIN sessions s ON s.id = e.session JOIN projects p ON p.id = s.project WHERE e.id > ? ORDER BY e.id LIMIT ?",
        (seen[4], limit))
    found.append([Change(source=SESSION_END, id=row["id"], project=row["project"], moment=row["ended_at_epoch"],
                         value={"session_id": row["session_id"], "project": row["name"], "branch": row["branch"],
                                "reason": row["reason"]}) for row in rows])
    changes = list(merge(*found, key=lambda change: change.moment))
    for change in changes:
        seen[SOURCES.index(change.source)] = change.id
        change.position = tuple(seen)
    if not changes:   # numbers of what was forgotten before anybody saw it
        seen = [max(pair) for pair in zip(seen, here, strict=True)]
    return changes, tuple(seen)


def _owners(database: Database, kind: str, ids: list[int]) -> dict[int, int]:
    """The project of each record of `kind`, by id."""
    if not ids:
        return {}
    marks = ",".join("?" * len(ids))
    return {row[0] >> 2: row[1] for row in database.rows(
        f"SELECT key, project FROM catalogue WHERE key IN ({marks})", [index.key(kind, ident) for ident in ids])}
