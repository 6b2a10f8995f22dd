"""transcripts: how far each file has been read, moved by one process at a time."""

from __future__ import annotations

import pytest

from memlite.clock import now_ms
from memlite.store import transcripts
from memlite.store.database import Database, open_database
from memlite.store.transcripts import Position

PATH = "/nowhere/s.jsonl"


def advance(database: Database, before: Position, after: Position) -> bool:
    """Advance in a transaction of its own."""
    with database.transaction():
        return transcripts.advance(database, PATH, before, after)


def test_unknown_file_is_read_from_its_start(fresh_db: Database) -> None:
    """Offset 0, no state."""
    found = transcripts.position(fresh_db, PATH)
    assert (found.offset, found.size, found.head, found.state) == (0, 0, "", {})


def test_position_is_kept_with_its_state(fresh_db: Database) -> None:
    """What the reader must remember comes back as it was."""
    state = {"s-1": {"number": 3, "titles": ["a", "é"], "said": True}}
    assert advance(fresh_db, Position(), Position(10, 20, "h", state))
    found = transcripts.position(fresh_db, PATH)
    assert (found.offset, found.size, found.head, found.state) == (10, 20, "h", state)
    assert transcripts.sizes(fresh_db) == {PATH: 20}


def test_second_reader_of_the_same_rows_is_turned_away(fresh_db: Database, home: str) -> None:
    """Who read from a position that has moved drops what it read."""
    with open_database(home) as other:
        start = transcripts.position(other, PATH)
        assert advance(fresh_db, start, Position(10, 10, "h"))
        assert not advance(other, start, Position(10, 10, "h"))
        assert transcripts.position(other, PATH).offset == 10
        assert advance(other, transcripts.position(other, PATH), Position(30, 30, "h"))


@pytest.mark.parametrize("moved", [Position(9, 20, "h"), Position(10, 20, "i")])
def test_another_offset_or_another_file_is_another_position(fresh_db: Database, moved: Position) -> None:
    """Both are looked at."""
    advance(fresh_db, Position(), Position(10, 20, "h"))
    assert not advance(fresh_db, moved, Position(20, 20, "h"))


def test_unfinished_are_those_not_read_to_their_end(fresh_db: Database) -> None:
    """With the moment they were last looked at."""
    before = now_ms()
    advance(fresh_db, Position(), Position(10, 20, "h"))
    [(path, read_at)] = transcripts.unfinished(fresh_db)
    assert path == PATH and before <= read_at <= now_ms()
    advance(fresh_db, Position(10, 20, "h"), Position(20, 20, "h"))
    assert transcripts.unfinished(fresh_db) == []
