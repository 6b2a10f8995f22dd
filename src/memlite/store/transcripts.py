"""How far each transcript has been read."""

from __future__ import annotations

from memlite import jsoncodec
from memlite.clock import now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.store.database import Database


class Position:
    """The place to read on from: all rows before `offset` are stored; `state` is what the reader must remember there.

    `head` identifies the file, so that another file under the same name is read from its start.
    """

    __slots__ = ("offset", "size", "head", "state")

    def __init__(self, offset: int = 0, size: int = 0, head: str = "", state: dict[str, Any] | None = None) -> None:
        self.offset = offset
        self.size = size
        self.head = head
        self.state = state or {}


def position(database: Database, path: str) -> Position:
    """Where reading of the transcript `path` stands; offset 0 when it is new."""
    row = database.row("SELECT offset, size, head, state FROM transcripts WHERE path = ?", (path,))
    return Position(row[0], row[1], row[2], jsoncodec.loads(row[3])) if row else Position()


def sizes(database: Database) -> dict[str, int]:
    """The size each known transcript had when it was last read, by path."""
    return {row[0]: row[1] for row in database.rows("SELECT path, size FROM transcripts")}


def unfinished(database: Database) -> list[tuple[str, int]]:
    """(path, epoch ms of the last reading) of each transcript that was not read to its end."""
    return [(row[0], row[1]) for row in database.rows("SELECT path, read_at_epoch FROM transcripts WHERE offset < size")]


def advance(database: Database, path: str, before: Position, after: Position) -> bool:
    """Move the position from `before` to `after` inside the caller's transaction.

    False when another process has moved it since `before` was read: the caller then drops what it read.
    """
    current = position(database, path)
    if (current.offset, current.head) != (before.offset, before.head):
        return False
    database.execute(
        "INSERT INTO transcripts(path, head, offset, size, state, read_at_epoch) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT(path) DO UPDATE SET head = excluded.head, offset = excluded.offset, size = excluded.size, "
        "state = excluded.state, read_at_epoch = excluded.read_at_epoch",
        (path, after.head, after.offset, after.size, jsoncodec.dumps(after.state), now_ms()))
    return True
