"""Forgetting: a memory leaves the tables, the index and the bytes of the file, and does not come back.

What stays is a tombstone: the record's fingerprint, which tells nothing of its text but lets the write point refuse
the same work when a transcript or an import brings it again.
"""

from __future__ import annotations

import time

from memlite.clock import now_ms
from memlite.store import index, records, transcripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.store.connection import Database

_ERASE_SECONDS = 5.0   # how long to wait for other processes that are reading


def forget(database: Database, references: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Forget the records with these (kind, id) in one transaction. Returns those that were there. Raises as Database.

    Their bytes are still in the file until `erase`.
    """
    gone = []
    with database.transaction():
        for record in records.fetch(database, dict.fromkeys(references)):
            table = records.TABLES[record.KIND]
            mark = database.rows(f"SELECT fingerprint FROM {table} WHERE id = ?", (record.id,))[0][0]
            index.remove(database, record)
            database.execute(f"DELETE FROM {table} WHERE id = ?", (record.id,))
            database.execute("INSERT OR REPLACE INTO tombstones VALUES (?, ?)", (mark, now_ms()))
            transcripts.forget_words(database, record.transcript)
            gone.append((record.KIND, record.id or 0))
    return gone


def of_same_turn(database: Database, references: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The (kind, id) of what else was stored of the turns that these records belong to: a prompt, what was done for
    it, and its summary may hold the same words. Raises as Database."""
    found: dict[tuple[str, int], None] = {}
    for kind, ident in references:
        for other, table in records.TABLES.items():
            rows = database.rows(f"SELECT o.id FROM {table} o JOIN {records.TABLES[kind]} m ON m.session = o.session "
                                 "AND m.prompt_number = o.prompt_number WHERE m.id = ? ORDER BY o.id", (ident,))
            found.update(((other, row[0]), None) for row in rows)
    return [reference for reference in found if reference not in references]


def erase(database: Database) -> bool:
    """Take the bytes of what was forgotten out of the file and the log beside it.

    `secure_delete` has overwritten the rows; the full-text index still holds their words in older segments until they
    are merged, and the write-ahead log the pages as they were (measured: 3 copies without these two steps, 0 with).
    Returns False when another process kept reading for too long; then a later call succeeds. Raises as Database.
    """
    database.execute("INSERT INTO words(words) VALUES ('optimize')")
    deadline = time.monotonic() + _ERASE_SECONDS
    while True:
        busy = database.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
        if not busy:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
