"""How far each transcript has been read."""

from __future__ import annotations

from memlite import jsoncodec
from memlite.clock import now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.store.connection import Database


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
    rows = database.rows("SELECT path, read_at_epoch FROM transcripts WHERE offset < size")
    return [(row[0], row[1]) for row in rows]


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


def forget_words(database: Database, path: str) -> None:
    """Blank what the reader of the transcript `path` remembers in words (the open turn's prompt, closing words and
    titles) inside the caller's transaction; where to read on stays."""
    row = database.row("SELECT state FROM transcripts WHERE path = ?", (path,))
    if row is None:
        return
    state = jsoncodec.loads(row[0])
    for turn in state.values():
        turn.update({name: type(value)() for name, value in turn.items()
                     if isinstance(value, (str, list)) and name not in ("cwd", "branch", "prompt_uuid",
                                                                        "closing_uuid")})
    database.execute("UPDATE transcripts SET state = ? WHERE path = ?", (jsoncodec.dumps(state), path))
