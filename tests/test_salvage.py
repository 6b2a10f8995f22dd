"""salvage: a damaged store is moved aside with its bytes, and what can be read of it goes on living."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from memlite.capture.ingest import ingest
from memlite.errors import StoreDamaged, StoreUnusable
from memlite.model import OBSERVATION, Observation, Project, Session
from memlite.store import index, records, salvage, write
from memlite.store.database import open_database
from rows import shop_session
from stored import contents, sound

PAGE = 4096


@pytest.fixture
def path(home: str, tmp_path: Path) -> Path:
    """The file of a store with a few hundred memories, all of it in the main file."""
    with open_database(home) as database:
        ingest(database, shop_session().write(tmp_path / "s.jsonl"))
        with database.transaction():
            for number in range(400):
                record = Observation(title=f"memory number {number}", narrative="word " * 100, uuids=[f"o-{number}"],
                                     created_at_epoch=number)
                owner = Session(session_id=f"s-{number % 7}", project=Project(root="/nowhere/shop", name="shop"))
                write.store(database, record, owner)
            database.execute("INSERT INTO tombstones VALUES ('forgotten', 5)")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Path(home, "memlite.db")


def truncated(data: bytearray) -> bytearray:
    """Without its last third."""
    return data[:len(data) * 2 // 3 // PAGE * PAGE]


def zeroed_page(data: bytearray) -> bytearray:
    """With a page in the middle of zeros."""
    at = len(data) // 2 // PAGE * PAGE
    data[at:at + PAGE] = bytes(PAGE)
    return data


def garbage_header(data: bytearray) -> bytearray:
    """With something else in its first hundred bytes."""
    data[:100] = b"garbage!" * 12 + b"garb"
    return data


def garbage_everywhere(data: bytearray) -> bytearray:
    """Nothing is left of it."""
    return bytearray(b"garbage!" * (len(data) // 8))


def titles(home: str) -> set[str]:
    """The titles in the store."""
    with open_database(home) as database:
        assert sound(database)
        return {record.title for record in records.every(database, OBSERVATION)}  # type: ignore[attr-defined]


def test_sound_store_has_no_problems(home: str, path: Path) -> None:
    """And asking changes nothing of it."""
    before = path.read_bytes()
    assert salvage.problems(home) == []
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", [truncated, zeroed_page, garbage_header, garbage_everywhere])
def test_damage_is_found(home: str, path: Path, damage: Callable[[bytearray], bytearray]) -> None:
    """As an answer, or as an error when the file can't be looked at."""
    path.write_bytes(damage(bytearray(path.read_bytes())))
    before = path.read_bytes()
    try:
        assert salvage.problems(home)
    except StoreUnusable as failure:
        assert isinstance(failure, StoreDamaged)
    assert path.read_bytes() == before


def test_word_index_that_lies_is_found(home: str, path: Path) -> None:
    """Though the file itself is sound."""
    with open_database(home) as database:
        database.execute("DELETE FROM words_data WHERE id > 10")
    [problem] = salvage.problems(home)
    assert "full-text index" in problem


@pytest.mark.parametrize(("damage", "least"), [(truncated, 30), (zeroed_page, 200), (garbage_header, 405),
                                               (garbage_everywhere, 0)])
def test_what_can_be_read_is_saved(home: str, path: Path, damage: Callable[[bytearray], bytearray], least: int) -> None:
    """The damaged bytes stay as they are; nothing is invented; ids are kept; nothing is left over."""
    before = titles(home)
    with open_database(home) as database:
        known = {record.id: record for record in records.every(database, OBSERVATION)}
    path.write_bytes(damage(bytearray(path.read_bytes())))
    damaged = path.read_bytes()
    target = salvage.move_aside(home, "20260101")
    assert Path(target).read_bytes() == damaged and not path.exists()
    assert salvage.unsaved(home) == [target]
    counts = salvage.save(home, target)
    assert salvage.unsaved(home) == [] and Path(target).read_bytes() == damaged
    assert least <= counts["observations"] == len(titles(home)) and titles(home) <= before
    with open_database(home) as database:
        for record in records.every(database, OBSERVATION):
            found = known[record.id]
            assert record.title == found.title and record.uuids == found.uuids  # type: ignore[attr-defined]
    assert not [name for name in os.listdir(home) if name.endswith(".header")]


def test_everything_of_a_sound_file_is_saved(home: str, path: Path) -> None:
    """Saving is lossless but for the positions in transcripts, and twice is once."""
    with open_database(home) as database:
        before = contents(database)
    target = salvage.move_aside(home, "20260101")
    for _ in range(2):
        salvage.save(home, target)
        with open_database(home) as database:
            assert contents(database) == before
            assert database.rows("SELECT fingerprint FROM tombstones")[0][0] == "forgotten"
            assert database.rows("SELECT count(*) FROM transcripts")[0][0] == 0


def test_log_that_was_not_merged_is_saved_too(home: str, path: Path) -> None:
    """Committed work may stand in the -wal alone; it moves along."""
    with open_database(home) as database:
        database.execute("INSERT INTO projects(root, name) VALUES ('/late', 'late')")
        held = sqlite3.connect(path)  # keeps the log from being merged at closing
        held.execute("SELECT count(*) FROM projects").fetchone()
    target = salvage.move_aside(home, "20260101")
    assert os.path.exists(f"{target}-wal")
    held.close()
    salvage.save(home, target)
    with open_database(home) as database:
        assert "late" in [row[0] for row in database.rows("SELECT name FROM projects")]


def test_store_made_in_the_meantime_keeps_its_own(home: str, path: Path) -> None:
    """A hook may have written before the rows come: ids that are taken are given anew."""
    target = salvage.move_aside(home, "20260101")
    with open_database(home) as database, database.transaction():
        record = Observation(title="in the meantime", uuids=["new"])
        assert write.store(database, record, Session(session_id="s-9", project=Project(root="/x", name="x"))) == 1
    salvage.save(home, target)
    assert len(titles(home)) == 406 and "in the meantime" in titles(home)
    with open_database(home) as database:
        first = records.fetch(database, [(OBSERVATION, 1)])[0]
        assert first.title == "in the meantime"  # type: ignore[attr-defined]


def test_lost_session_and_project_are_stood_in_for(home: str, path: Path) -> None:
    """A memory is worth keeping without knowing whose it was."""
    with open_database(home) as database:
        database.execute("DELETE FROM sessions")
        database.execute("DELETE FROM projects")
    salvage.save(home, salvage.move_aside(home, "20260101"))
    with open_database(home) as database:
        assert len(list(records.every(database, OBSERVATION))) == 405
        assert {record.project for record in records.every(database, OBSERVATION)} == {"unknown"}


def test_rows_that_make_no_sense_are_left_out(home: str, path: Path) -> None:
    """A list that is none, a number that is text: they would break the store they come into."""
    with open_database(home) as database:
        database.execute("UPDATE observations SET facts = 'no json' WHERE id = 7")
        database.execute("UPDATE observations SET uuids = '[1]' WHERE id = 8")
        database.execute("UPDATE observations SET created_at_epoch = 'then' WHERE id = 9")
        database.execute("UPDATE observations SET title = x'ff' WHERE id = 10")
        database.execute("UPDATE observations SET fingerprint = 'cut off' || char(0) WHERE id = 11")
        database.execute("UPDATE observations SET uuids = '[\"another\"]' WHERE id = 12")
        with pytest.raises(StoreDamaged, match="facts of record 7"):
            list(records.every(database, OBSERVATION))
    assert salvage.save(home, salvage.move_aside(home, "20260101"))["observations"] == 399


def test_files_of_the_same_moment_do_not_replace_each_other(home: str, path: Path) -> None:
    """Never deleted, never overwritten."""
    one = salvage.move_aside(home, "20260101")
    open_database(home).close()
    two = salvage.move_aside(home, "20260101")
    assert one != two and salvage.aside(home) == sorted(map(os.path.basename, (one, two)))


def test_index_is_made_from_what_was_saved(home: str, path: Path) -> None:
    """Searching works at once."""
    salvage.save(home, salvage.move_aside(home, "20260101"))
    with open_database(home) as database:
        assert index.is_current(database)
        assert len(database.rows("SELECT rowid FROM words WHERE words MATCH 'memory'")) == 400
