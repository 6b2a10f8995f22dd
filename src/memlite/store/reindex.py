"""Making the search index anew: in portions, newest records first, while hooks go on writing and people searching.

A large store takes a minute, and no hook may wait for that. `begin` replaces the index by an empty one; what is
stored from then on enters it at once, and `advance` brings in the older records, a portion a transaction. What still
waits stands in `meta` under `unindexed`: for each kind the highest id that is not entered yet.
"""

from __future__ import annotations

from memlite import jsoncodec
from memlite.model import KINDS
from memlite.store import index, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memlite.store.connection import Database

_UNINDEXED = "unindexed"
PORTION = 300   # records; a quarter of a second, far less than a writer waits for another


def begin(database: Database) -> None:
    """Replace the index by an empty one inside the caller's transaction; every record waits to be entered."""
    for statement in index.DROP + index.CREATE:
        database.execute(statement)
    highest = {kind: database.rows(f"SELECT coalesce(max(id), 0) FROM {records.TABLES[kind]}")[0][0] for kind in KINDS}
    _keep(database, highest)
    database.execute("INSERT OR REPLACE INTO meta VALUES ('index', ?)", (index.VERSION,))


def waiting(database: Database) -> int:
    """About how many records are not in the index yet."""
    return sum(_unindexed(database).values())


def advance(database: Database, most: int = PORTION) -> int:
    """Enter up to `most` waiting records inside the caller's transaction. Returns about how many still wait."""
    unindexed = _unindexed(database)
    for kind in KINDS:
        highest = unindexed.get(kind, 0)
        if not highest or most <= 0:
            continue
        rows = database.rows(
            f"{records.select(kind)} WHERE m.id <= ? ORDER BY m.id DESC LIMIT ?", (highest, most))
        places = {row[0]: (row[1], row[2]) for row in database.rows(
            f"SELECT id, project, session FROM {records.TABLES[kind]} WHERE id <= ? ORDER BY id DESC LIMIT ?",
            (highest, most))}
        for row in rows:
            record = records.to_record(kind, row)
            if database.row("SELECT 1 FROM catalogue WHERE key = ?", (index.key(kind, row["id"]),)) is None:
                index.add(database, record, *places[row["id"]])  # else it was changed and entered meanwhile
        unindexed[kind] = rows[-1]["id"] - 1 if len(rows) == most else 0
        most -= len(rows)
    _keep(database, unindexed)
    return sum(unindexed.values())


def finish(database: Database, progress: Callable[[int], None] | None = None) -> None:
    """Enter all waiting records, a portion a transaction; `progress` is called with how many went in."""
    left = waiting(database)
    while left:
        with database.transaction():
            now_left = advance(database)
        if progress:
            progress(left - now_left)
        left = now_left


def rebuild(database: Database, progress: Callable[[int], None] | None = None) -> int:
    """Make the whole index anew. Returns how many records it holds. Raises as Database."""
    with database.transaction():
        begin(database)
    finish(database, progress)
    return int(database.rows("SELECT count(*) FROM catalogue")[0][0])


def _unindexed(database: Database) -> dict[str, int]:
    row = database.row("SELECT value FROM meta WHERE key = ?", (_UNINDEXED,))
    return jsoncodec.loads(row[0]) if row else {}


def _keep(database: Database, unindexed: dict[str, int]) -> None:
    if any(unindexed.values()):
        database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_UNINDEXED, jsoncodec.dumps(unindexed)))
    else:
        database.execute("DELETE FROM meta WHERE key = ?", (_UNINDEXED,))
