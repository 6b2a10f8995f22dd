"""background: which transcripts wait, and the process that reads them."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from memlite import processes
from memlite.capture.ingest import MIDDLE, QUIET, ingest
from memlite.hooks import background
from memlite.store.database import Database, open_database
from rows import Script, shop_session


@pytest.fixture
def backfilled(fresh_db: Database) -> Database:
    """A store whose first reading of everything is done."""
    fresh_db.execute("INSERT INTO meta VALUES ('backfilled', '{}')")
    return fresh_db


def test_store_that_never_read_the_past_is_behind(fresh_db: Database, tmp_path: Path) -> None:
    """A first run has everything before it."""
    assert background.behind(fresh_db, str(tmp_path / "s.jsonl"))


def test_transcript_beside_that_grew_unseen_is_behind(backfilled: Database, tmp_path: Path) -> None:
    """The session's own file is not asked: its hooks read it."""
    own, other = tmp_path / "own.jsonl", tmp_path / "other.jsonl"
    shop_session().write(own)
    assert not background.behind(backfilled, str(own))
    shop_session(name="o").write(other)
    assert background.behind(backfilled, str(own))
    ingest(backfilled, str(other))
    assert not background.behind(backfilled, str(own))
    with open(other, "ab") as file:
        file.write(b"{}\n")
    assert background.behind(backfilled, str(own))


def test_session_left_open_is_behind_once_it_has_been_quiet(backfilled: Database, tmp_path: Path) -> None:
    """In whatever folder; read once more it no longer is, even if a torn row stays."""
    script = Script()
    script.prompt("fix it")
    script.says("I replace the parser now, which takes three steps.")
    script.edits("/nowhere/shop/a.py")
    path = script.write(tmp_path / "elsewhere" / "s.jsonl")
    with open(path, "ab") as file:
        file.write(b'{"torn')
    ingest(backfilled, path, ends=MIDDLE)
    asking = str(tmp_path / "here" / "own.jsonl")
    assert not background.behind(backfilled, asking)
    past = time.time() - 700
    os.utime(path, (past, past))
    backfilled.execute("UPDATE transcripts SET read_at_epoch = ?", (int(past * 1000),))
    assert background.behind(backfilled, asking)
    assert ingest(backfilled, path, ends=QUIET).observations == 1
    assert not background.behind(backfilled, asking)


def test_files_that_are_gone_are_not_behind(backfilled: Database, tmp_path: Path) -> None:
    """The client deletes transcripts after a month."""
    path = shop_session().write(tmp_path / "s.jsonl")
    with open(path, "ab") as file:
        file.write(b'{"torn')
    ingest(backfilled, path, ends=MIDDLE)
    os.unlink(path)
    assert not background.behind(backfilled, str(tmp_path / "own.jsonl"))
    assert not background.behind(backfilled, str(tmp_path / "no" / "such" / "folder.jsonl"))
    assert not background.behind(backfilled, "")


def test_subagents_of_a_session_are_listed_by_name(tmp_path: Path) -> None:
    """Without the compaction's own; none when there is no folder."""
    folder = tmp_path / "s" / "subagents"
    folder.mkdir(parents=True)
    for name in ("agent-b.jsonl", "agent-a.jsonl", "agent-acompact-1.jsonl", "agent-a.meta.json"):
        (folder / name).touch()
    found = background.subagent_transcripts(str(tmp_path / "s.jsonl"))
    assert found == [str(folder / "agent-a.jsonl"), str(folder / "agent-b.jsonl")]
    assert background.subagent_transcripts(str(tmp_path / "t.jsonl")) == []


def test_command_runs_this_same_memlite(monkeypatch: pytest.MonkeyPatch) -> None:
    """From source by the interpreter, frozen by itself."""
    assert processes.command() == [sys.executable, "-m", "memlite"]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert processes.command() == [sys.executable]


def test_started_import_is_detached_and_reads_what_waits(home: str, tmp_path: Path) -> None:
    """It has a session of its own and does its work after the hook is gone."""
    path = shop_session().write(tmp_path / "claude" / "projects" / "-nowhere-shop" / "s.jsonl")
    background.start_import(home, path)
    deadline = time.monotonic() + 30
    done = None
    while done is None and time.monotonic() < deadline:
        time.sleep(0.05)
        if os.path.exists(os.path.join(home, "memlite.db")):
            with open_database(home) as database:
                done = database.row("SELECT 1 FROM meta WHERE key = 'backfilled'")
    with open_database(home) as database:
        assert database.rows("SELECT count(*) FROM observations")[0][0] == 5
    os.waitpid(-1, os.WNOHANG)
