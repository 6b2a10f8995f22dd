"""schema: an older file is migrated in one step or not at all, a newer one is never touched."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from pathlib import Path
from subprocess import run

import pytest

from memlite.errors import StoreNewer, StoreUnusable
from memlite.store import schema
from memlite.store.database import open_database, open_for_reading


def as_of(home: str, version: int) -> Path:
    """A database file as a memlite of that schema version left it, with one session in it."""
    Path(home).mkdir(mode=0o700, exist_ok=True)
    path = Path(home) / "memlite.db"
    connection = sqlite3.connect(path, isolation_level=None)
    for step in schema.MIGRATIONS[:version]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version}")
    if 0 < version <= schema.VERSION:
        connection.execute("INSERT INTO projects VALUES (1, '/nowhere/shop', 'shop')")
        connection.execute("INSERT INTO sessions(session_id, project) VALUES ('s-1', 1)")
    connection.close()
    return path


@pytest.fixture
def one_more_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A memlite of the next version, whose step adds a column."""
    step = ("ALTER TABLE sessions ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'",)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, step))
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)


def test_version_counts_the_steps() -> None:
    """The number in the file is the number of steps taken."""
    assert len(schema.MIGRATIONS) == schema.VERSION


def test_empty_file_is_brought_to_todays_schema(home: str) -> None:
    """As is one that another process has just created."""
    as_of(home, 0)
    with open_database(home) as database:
        assert database.rows("PRAGMA user_version")[0][0] == schema.VERSION
        assert database.rows("SELECT count(*) FROM observations")[0][0] == 0


def test_older_file_is_migrated_after_a_backup(home: str, one_more_step: None) -> None:
    """What was in it is still there; the backup is the old file and private."""
    as_of(home, schema.VERSION - 1)
    with open_database(home) as database:
        assert database.rows("PRAGMA user_version")[0][0] == schema.VERSION
        assert tuple(database.rows("SELECT session_id, mood FROM sessions")[0]) == ("s-1", "calm")
    backups = sorted(Path(home).glob("memlite.db.schema*.bak"))
    assert len(backups) == 1 and backups[0].stat().st_mode & 0o777 == 0o600
    kept = sqlite3.connect(backups[0])
    assert kept.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION - 1
    assert kept.execute("SELECT session_id FROM sessions").fetchall() == [("s-1",)]
    kept.close()
    open_database(home).close()
    assert len(list(Path(home).glob("*.bak"))) == 1  # once migrated, no further backup


def test_step_that_fails_leaves_the_old_file(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of a migration or nothing of it."""
    as_of(home, schema.VERSION)
    steps = (*schema.MIGRATIONS, ("ALTER TABLE sessions ADD COLUMN mood TEXT", "no SQL at all"))
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    monkeypatch.setattr(schema, "VERSION", len(steps))
    with pytest.raises(StoreUnusable):
        open_database(home)
    left = sqlite3.connect(Path(home) / "memlite.db")
    assert left.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION - 1
    assert "mood" not in [row[1] for row in left.execute("PRAGMA table_info(sessions)")]
    assert left.execute("SELECT session_id FROM sessions").fetchall() == [("s-1",)]
    left.close()


@pytest.mark.parametrize("statements", range(1, 4))
def test_migration_killed_midway_leaves_the_old_file(home: str, statements: int) -> None:
    """The process dies between two statements; the next opening migrates as if nothing had been."""
    as_of(home, schema.VERSION)
    code = f"""
import os, sys
from memlite.store import schema, database
step = tuple("CREATE TABLE extra%d (x)" % n for n in range(3))
schema.MIGRATIONS = (*schema.MIGRATIONS, step)
schema.VERSION += 1
class Dying:
    def __init__(self, connection): self.connection, self.left = connection, {statements}
    def execute(self, sql):
        self.connection.execute(sql)
        self.left -= 1
        if not self.left: os.kill(os.getpid(), 9)
whole = schema.migrate
if sys.argv[2] == "die":
    schema.migrate = lambda connection, found: whole(Dying(connection), found)
with database.open_database(sys.argv[1]) as opened:
    extra = opened.rows("SELECT name FROM sqlite_master WHERE name LIKE 'extra%'")
    print(opened.rows("PRAGMA user_version")[0][0], len(extra))
"""
    killed = run([sys.executable, "-c", code, home, "die"], capture_output=True, text=True)
    assert killed.returncode == -9 and killed.stdout == ""
    left = sqlite3.connect(Path(home) / "memlite.db")
    assert left.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION
    assert left.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'extra%'").fetchone()[0] == 0
    left.close()
    again = run([sys.executable, "-c", code, home, "live"], capture_output=True, text=True)
    assert again.stdout == f"{schema.VERSION + 1} 3\n", again.stderr


def test_newer_file_is_refused_and_not_one_byte_changes(home: str) -> None:
    """Neither writing nor reading touches it, and the message names file, versions and way out."""
    path = as_of(home, schema.VERSION)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 3}")
    connection.close()
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    for opening in (open_database, open_for_reading):
        with pytest.raises(StoreNewer) as refusal:
            opening(home)
        assert str(path) in refusal.value.message and str(schema.VERSION + 3) in refusal.value.message
        assert "update" in refusal.value.hint
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert sorted(os.listdir(home)) == ["memlite.db"]
