"""Which records a session was given unasked, so that nothing is given twice."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.model import Memory
    from memlite.store.connection import Database


def given(database: Database, session_id: str) -> set[tuple[str, int]]:
    """(kind, id) of the records the session was given."""
    return {(row[0], row[1]) for row in database.rows("SELECT kind, id FROM shown WHERE session_id = ?", (session_id,))}


def note(database: Database, session_id: str, found: list[Memory]) -> None:
    """Remember that the session was given these records; the caller holds the transaction."""
    for record in found:
        database.execute("INSERT OR IGNORE INTO shown VALUES (?, ?, ?)", (session_id, record.KIND, record.id))


def forget_session(database: Database, session_id: str) -> None:
    """The session has ended or begins with an empty context: it may be given everything again."""
    database.execute("DELETE FROM shown WHERE session_id = ?", (session_id,))
