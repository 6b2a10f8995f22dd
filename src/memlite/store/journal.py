"""What has changed in the store since a given moment: inserts, edits and removals alike, by ever growing numbers.

The database's own triggers keep it (see `schema`), one row for each record, moved to the end when the record changes.
Numbers follow the order of commits, since only one transaction writes at a time; so whoever has seen number n has
seen all before it. A record that was forgotten leaves its key and nothing else.
"""

from __future__ import annotations

from memlite.store import index, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.store.connection import Database


def birth(database: Database) -> str:
    """The random name of this file's numbering; another file has another one."""
    return str(database.rows("SELECT value FROM meta WHERE key = 'journal'")[0][0])


def last(database: Database) -> int:
    """The highest number given so far; 0 when nothing was ever stored."""
    row = database.row("SELECT seq FROM sqlite_sequence WHERE name = 'journal'")
    return int(row[0]) if row else 0


def after(database: Database, number: int, limit: int) -> list[tuple[int, int]]:
    """The (number, key) of up to `limit` changes after `number`, in their order; key as in `index.key`."""
    return [(row[0], row[1]) for row in
            database.rows("SELECT seq, key FROM journal WHERE seq > ? ORDER BY seq LIMIT ?", (number, limit))]


def before(database: Database, number: int, limit: int) -> list[tuple[int, int]]:
    """The (number, key) of up to `limit` changes before `number`, the latest first."""
    return [(row[0], row[1]) for row in
            database.rows("SELECT seq, key FROM journal WHERE seq < ? ORDER BY seq DESC LIMIT ?", (number, limit))]


def outside(database: Database, low: int, high: int) -> int:
    """How many changes have a number below `low` or above `high`."""
    return int(database.rows("SELECT (SELECT count(*) FROM journal WHERE seq < ?) + "
                             "(SELECT count(*) FROM journal WHERE seq > ?)", (low, high))[0][0])


def projects(database: Database, keys: list[int]) -> dict[int, int]:
    """{key: project's row number} of those of `keys` whose records are still there."""
    found: dict[int, int] = {}
    for kind, table in records.TABLES.items():
        ids = [ident for k, ident in map(index.reference, keys) if k == kind]
        if ids:
            rows = database.rows(f"SELECT id, project FROM {table} WHERE id IN ({','.join('?' * len(ids))})", ids)
            found.update((index.key(kind, row[0]), row[1]) for row in rows)
    return found
