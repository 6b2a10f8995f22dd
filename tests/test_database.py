"""database: opening is safe, private and quick; every failure says which file and what to do."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memlite.errors import HomeUnusable, StoreBusy, StoreDamaged, StoreNewer, StoreUnusable
from memlite.store import index
from memlite.store.connection import snapshot
from memlite.store.database import Database, backup, copy_in_memory, explain, open_database, open_for_reading
from stored import sound


def names(database: Database) -> list[str]:
    """The projects' names, in order."""
    return [row[0] for row in database.rows("SELECT name FROM projects ORDER BY name")]


def test_files_are_private_whatever_the_umask(home: str) -> None:
    """The directory is 0700, the database, its log and its shared memory 0600."""
    before = os.umask(0)
    try:
        with open_database(home) as database:
            database.execute("INSERT INTO projects(root, name) VALUES ('/a', 'a')")
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in Path(home).iterdir()}
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(home).st_mode) == 0o700
    assert modes == dict.fromkeys(("memlite.db", "memlite.db-wal", "memlite.db-shm"), 0o600)


def test_store_keeps_a_write_ahead_log_and_erases_what_it_deletes(fresh_db: Database) -> None:
    """Readers and a writer don't block each other; forgotten text leaves the file."""
    settings = {name: fresh_db.rows(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous",
                                                                         "secure_delete")}
    assert settings == {"journal_mode": "wal", "synchronous": 1, "secure_delete": 1}


def test_transaction_is_all_or_nothing(fresh_db: Database) -> None:
    """An error inside rolls back; the connection goes on."""
    with pytest.raises(RuntimeError), fresh_db.transaction():
        fresh_db.execute("INSERT INTO projects(root, name) VALUES ('/a', 'a')")
        raise RuntimeError
    with fresh_db.transaction():
        fresh_db.execute("INSERT INTO projects(root, name) VALUES ('/b', 'b')")
    assert names(fresh_db) == ["b"]


def test_writer_that_waits_too_long_is_told_who_is_busy(fresh_db: Database, home: str) -> None:
    """StoreBusy, not a traceback of SQLite's; reading goes on meanwhile."""
    with fresh_db.transaction(), open_database(home, busy_ms=1) as other:
        assert names(other) == []
        with pytest.raises(StoreBusy) as refusal, other.transaction():
            pass
    assert "another process" in refusal.value.message


def test_no_store_yet_is_none_for_a_reader(home: str) -> None:
    """Nothing is created by asking; an empty file counts as no store."""
    assert open_for_reading(home) is None
    assert not os.path.exists(home)
    os.mkdir(home, 0o700)
    Path(home, "memlite.db").touch()
    assert open_for_reading(home) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes where it likes; tests/anomaly mounts a read-only disk")
def test_reader_of_a_read_only_folder_reads(home: str) -> None:
    """As on a backup disk."""
    with open_database(home) as database:
        database.execute("INSERT INTO projects(root, name) VALUES ('/a', 'a')")
    os.chmod(Path(home, "memlite.db"), 0o400)
    os.chmod(home, 0o500)
    try:
        with open_for_reading(home) as reader:  # type: ignore[union-attr]
            assert names(reader) == ["a"] and not reader.writable
    finally:
        os.chmod(home, 0o700)


def test_odd_characters_in_the_path_are_no_obstacle(tmp_path: Path) -> None:
    """What an URI would take for its own syntax is quoted."""
    home = str(tmp_path / "a?b#c%41 d&mode=ro é")
    open_database(home).close()
    assert os.path.getsize(os.path.join(home, "memlite.db")) > 0


def test_index_of_another_version_is_rebuilt_at_opening(home: str) -> None:
    """It is derived, so an upgrade makes it anew."""
    with open_database(home) as database:
        database.execute("UPDATE meta SET value = 'of yore' WHERE key = 'index'")
        database.execute("DROP TABLE words")
    with open_database(home) as database:
        assert index.is_current(database) and sound(database)


def test_backup_is_whole_private_and_taken_while_others_write(fresh_db: Database, tmp_path: Path) -> None:
    """What was committed is in it; an unfinished transaction is not."""
    fresh_db.execute("INSERT INTO projects(root, name) VALUES ('/a', 'a')")
    target = tmp_path / "copy.db"
    with fresh_db.transaction():
        fresh_db.execute("INSERT INTO projects(root, name) VALUES ('/b', 'b')")
        with open_database(str(tmp_path / "home")) as other:
            backup(other, str(target))
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    copy = sqlite3.connect(target)
    assert copy.execute("SELECT name FROM projects").fetchall() == [("a",)]
    copy.close()


def test_backup_that_can_not_be_written_says_where(fresh_db: Database, tmp_path: Path) -> None:
    """The target is named."""
    with pytest.raises(StoreUnusable, match="nowhere/copy.db"):
        backup(fresh_db, str(tmp_path / "nowhere" / "copy.db"))


def test_copy_in_memory_changes_nothing_on_disk(fresh_db: Database, home: str) -> None:
    """A dry run writes into it; the store stays as it was."""
    fresh_db.execute("INSERT INTO projects(root, name) VALUES ('/a', 'a')")
    with copy_in_memory(home) as copy:
        copy.execute("INSERT INTO projects(root, name) VALUES ('/b', 'b')")
        assert names(copy) == ["a", "b"]
    assert names(fresh_db) == ["a"]


def test_copy_of_no_store_is_an_empty_one(home: str) -> None:
    """A dry run works before the first real one, and leaves nothing behind."""
    with copy_in_memory(home) as copy:
        assert names(copy) == [] and sound(copy)
    assert not os.path.exists(home)


@pytest.mark.parametrize("content",
                         [b"not a database, but long enough to be one" * 100, b"\x00" * 8192, b"SQLite format 3\x00"])
def test_file_that_is_no_database_is_damaged(home: str, content: bytes) -> None:
    """Readers and writers name the file and the command that helps."""
    os.mkdir(home, 0o700)
    path = Path(home, "memlite.db")
    path.write_bytes(content)
    for opening in (open_database, open_for_reading):
        with pytest.raises(StoreDamaged) as refusal:
            opening(home)
        assert str(path) in refusal.value.message and "memlite doctor --fix" in refusal.value.hint
    assert path.read_bytes() == content


def test_folder_in_place_of_the_file_is_unusable(home: str) -> None:
    """Neither created nor removed."""
    os.makedirs(os.path.join(home, "memlite.db"))
    with pytest.raises((HomeUnusable, StoreUnusable)) as refusal:
        open_database(home)
    assert "memlite.db" in refusal.value.message


@pytest.mark.parametrize(("text", "error", "said"), [
    ("database is locked", StoreBusy, "another process"), ("database disk image is malformed", StoreDamaged, "damaged"),
    ("file is not a database", StoreDamaged, "damaged"), ("database or disk is full", StoreUnusable, "full"),
    ("attempt to write a readonly database", StoreUnusable, "read-only"),
    ("disk I/O error", StoreUnusable, "disk I/O")])
def test_every_failure_of_sqlite_has_words(text: str, error: type[StoreUnusable], said: str) -> None:
    """By the text alone too: Python before 3.11 has no error codes."""
    told = explain(sqlite3.OperationalError(text), "/a/memlite.db")
    assert type(told) is error and said in told.message and "/a/memlite.db" in told.message and told.hint


WRITER = """
import sys
from memlite.model import Observation, Project, Session
from memlite.store import write
from memlite.store.database import open_database
home, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(count):
    with open_database(home) as database, database.transaction():
        record = Observation(title=f"memory {number} of {name}", uuids=[f"{name}-{number}"], created_at_epoch=number)
        owner = Session(session_id=f"s-{number % 5}", project=Project(root="/shop", name="shop"))
        assert write.store(database, record, owner) is not None
"""


def test_writers_at_once_lose_nothing(home: str) -> None:
    """Four processes that create the store together and write 20 memories each: 80 memories, each once."""
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, home, str(n), "20"], stderr=subprocess.PIPE)
               for n in range(4)]
    assert [(writer.wait(), writer.communicate()[1]) for writer in writers] == [(0, b"")] * 4
    with open_database(home) as database:
        titles = [row[0] for row in database.rows("SELECT title FROM observations")]
        assert sorted(titles) == sorted(f"memory {n} of {w}" for n in range(20) for w in range(4))
        assert sound(database)
        assert database.rows("SELECT count(*) FROM sessions")[0][0] == 5


OPENER = """
import os, sys, time
from memlite.store.database import open_database
while not os.path.exists(sys.argv[1] + ".go"):
    time.sleep(0.0005)
open_database(sys.argv[1]).close()
"""


@pytest.mark.parametrize("attempt", range(8))
def test_those_who_create_the_store_at_once_wait_for_each_other(home: str, attempt: int) -> None:
    """SQLite itself does not wait when two processes switch a new file to the write-ahead log together."""
    openers = [subprocess.Popen([sys.executable, "-c", OPENER, home], stderr=subprocess.PIPE) for _ in range(6)]
    time.sleep(0.3)     # all of them are at the gate
    Path(home + ".go").touch()
    assert [(opener.wait(), opener.communicate()[1]) for opener in openers] == [(0, b"")] * 6


def test_a_snapshot_sees_nothing_of_what_others_do(fresh_db: Database, home: str) -> None:
    """Statements within one see the store as it was; what comes after it sees what was written meanwhile."""
    count = "SELECT count(*) FROM projects"
    with open_database(home) as other, snapshot(fresh_db):
        before = fresh_db.rows(count)[0][0]
        other.execute("INSERT INTO projects (root, name) VALUES ('/new', 'new')")
        with snapshot(fresh_db):
            assert fresh_db.rows(count)[0][0] == before
        assert fresh_db.rows(count)[0][0] == before
    assert fresh_db.rows(count)[0][0] == before + 1
    with pytest.raises(ZeroDivisionError), snapshot(fresh_db):
        raise ZeroDivisionError
    assert not fresh_db.connection.in_transaction
    with snapshot(None):
        pass


def test_opening_again_keeps_the_locks_of_an_open_connection(fresh_db: Database, home: str) -> None:
    """A process that comes and goes finds the store in use and leaves its log alone; with the last it goes."""
    code = "import sys; from memlite.store.database import open_database as o; o(sys.argv[1]).close()"
    come_and_go = [sys.executable, "-c", code, home]
    with fresh_db.transaction():
        fresh_db.execute("INSERT INTO projects(root, name) VALUES ('/a', 'a')")
    open_database(home).close()
    subprocess.run(come_and_go, check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert (Path(home) / "memlite.db-wal").exists()
    assert names(fresh_db) == ["a"]
    fresh_db.close()
    assert not (Path(home) / "memlite.db-wal").exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owners there")
def test_store_of_someone_else_is_not_read_either(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one that can't be written: its owner would decide what a session is told."""
    open_database(home).close()
    me = os.getuid()
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        own = open_for_reading(home)
        assert own is not None
        own.close()
        patch.setattr(os, "getuid", lambda: me + 1)
        with pytest.raises(HomeUnusable, match="belongs to user"):
            open_for_reading(home)


def test_newer_index_is_left_alone(home: str) -> None:
    """Two versions at work at once, as after an update, must not keep wiping each other's; the control is older."""
    with open_database(home) as database:
        database.execute("UPDATE meta SET value = '999' WHERE key = 'index'")
    with pytest.raises(StoreNewer, match="newer memlite"):
        open_database(home)
    with sqlite3.connect(os.path.join(home, "memlite.db")) as connection:
        assert connection.execute("SELECT value FROM meta WHERE key = 'index'").fetchone() == ("999",)
        connection.execute("UPDATE meta SET value = '0' WHERE key = 'index'")
    connection.close()
    with open_database(home) as database:
        assert index.is_current(database)
