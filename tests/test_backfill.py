"""backfill: many transcripts at once, in the foreground with a report or in the background once."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from memlite.capture import backfill
from memlite.errors import UsageError
from memlite.model import OBSERVATION
from memlite.store import records
from memlite.store.database import Database, open_database
from rows import Script, shop_session
from stored import contents


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """Claude Code's projects folder with two sessions and a subagent, the second session the older one."""
    folder = tmp_path / "claude" / "projects"
    now = time.time()
    for name, age in (("one", 100), ("two", 200)):
        path = shop_session(session=name, name=name).write(folder / "-nowhere-shop" / f"{name}.jsonl")
        os.utime(path, (now - age, now - age))
    agent = shop_session(session="one", name="a",
                         agent="a1").write(folder / "-nowhere-shop/one/subagents/agent-a1.jsonl")
    os.utime(agent, (now - 150, now - 150))
    shop_session(name="c", agent="c").write(folder / "-nowhere-shop/one/subagents/agent-acompact-1.jsonl")
    (folder / "-nowhere-shop" / "notes.txt").write_text("no transcript")
    return folder


def test_transcripts_below_a_folder_are_found_oldest_first(projects: Path) -> None:
    """With their sizes; the compaction's own and other files are not among them."""
    found = backfill.transcript_files(str(projects))
    assert [os.path.basename(path) for path, _ in found] == ["two.jsonl", "agent-a1.jsonl", "one.jsonl"]
    assert all(size == os.path.getsize(path) for path, size in found)


def test_one_file_is_itself_and_no_file_is_refused(projects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path becomes absolute: that is what hooks know it by."""
    monkeypatch.chdir(projects / "-nowhere-shop")
    path = str(projects / "-nowhere-shop" / "one.jsonl")
    assert backfill.transcript_files("one.jsonl") == [(path, os.path.getsize(path))]
    with pytest.raises(UsageError, match="no file or folder nowhere"):
        backfill.transcript_files("nowhere")


def test_report_counts_what_was_read_and_what_was_skipped(fresh_db: Database, projects: Path) -> None:
    """As a sentence and as numbers; a file that can't be read is passed over by name."""
    with open(projects / "-nowhere-shop" / "one.jsonl", "ab") as file:
        file.write(b'no json\n{"type": "novelty"}\n{"torn')
    os.utime(projects / "-nowhere-shop" / "one.jsonl", (0, 0))
    files = [*backfill.transcript_files(str(projects)), ("/nowhere/gone.jsonl", 5)]
    report = backfill.run(fresh_db, files)
    assert report.as_dict() == {
        "files": 3, "bytes": sum(size for _, size in files) - 5 - len(b'{"torn'), "observations": 15, "summaries": 6,
        "prompts": 6, "idle": 3, "skipped": {"not_json": 1, "too_long": 0, "unknown_type": 1, "torn": 1},
        "unreadable": [["/nowhere/gone.jsonl", "No such file or directory"]]}
    assert report.text(dry_run=False).splitlines() == [
        "3 transcripts read (0.0 MB): stored 15 observations, 6 summaries, 6 prompts; 3 idle steps left out",
        "rows skipped: 1 not json, 1 unknown type, 1 torn"]
    assert "would store" in report.text(dry_run=True)


def test_name_that_is_no_text_is_reported(fresh_db: Database, tmp_path: Path) -> None:
    """A file name may be any bytes; the others are read all the same."""
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl")
    shop_session().write(odd)
    report = backfill.run(fresh_db, [(odd, 1), (shop_session().write(tmp_path / "good.jsonl"), 1)])
    assert (report.files, [name for name, _ in report.unreadable]) == (1, [odd])


def test_dry_run_stores_nothing_and_counts_the_same(home: str, projects: Path) -> None:
    """It reads into a copy of the store in memory."""
    files = backfill.transcript_files(str(projects))
    with backfill.target(home, dry_run=True) as copy:
        dry = backfill.run(copy, files).as_dict()
    assert not os.path.exists(home)
    with backfill.target(home, dry_run=False) as store:
        assert backfill.run(store, files).as_dict() == dry
        with backfill.target(home, dry_run=True) as copy:
            assert backfill.run(copy, files).observations == 0


def test_importing_twice_changes_nothing(fresh_db: Database, projects: Path) -> None:
    """Whatever order the files come in."""
    files = backfill.transcript_files(str(projects))
    backfill.run(fresh_db, files)
    before = contents(fresh_db)
    assert backfill.run(fresh_db, files[::-1]).observations == 0
    assert contents(fresh_db) == before


def test_background_reads_everything_and_notes_that_it_did(home: str, projects: Path) -> None:
    """A session at work is left in the middle of its turn; the transcript named as ended is not."""
    script = Script(session="live", name="live")
    script.prompt("fix it")
    script.says("I replace the parser now, which takes three steps.")
    script.edits("/nowhere/shop/a.py")
    live = script.write(projects / "-nowhere-shop" / "live.jsonl")
    for name in ("one.jsonl", "two.jsonl", "one/subagents/agent-a1.jsonl"):
        os.utime(projects / "-nowhere-shop" / name, (0, 0))
    report = backfill.in_background(home)
    assert report is not None and (report.files, report.observations, report.prompts) == (4, 15, 7)
    with open_database(home) as database:
        assert database.row("SELECT value FROM meta WHERE key = 'backfilled'") is not None
    report = backfill.in_background(home, live)
    assert report is not None and report.observations == 1
    with open_database(home) as database:
        assert list(records.every(database, OBSERVATION))[-1].session_id == "live"


def test_only_one_background_reading_runs(home: str, projects: Path) -> None:
    """A second one ends at once; the lock dies with its process and is private."""
    os.mkdir(home, 0o700)
    lock = os.path.join(home, backfill.LOCK)
    with open(lock, "a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert backfill.in_background(home) is None
    assert backfill.in_background(home) is not None
    assert os.stat(lock).st_mode & 0o777 == 0o600


def test_background_without_any_transcripts_is_content(home: str) -> None:
    """A fresh machine has no projects folder."""
    report = backfill.in_background(home)
    assert report is not None and report.files == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe_and_device_are_no_transcripts(fresh_db: Database, tmp_path: Path) -> None:
    """Their reading never ends, and would hold the importer's lock for good."""
    good = shop_session().write(tmp_path / "good.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "zero.jsonl").symlink_to("/dev/zero")
    assert [file for file, _ in backfill.transcript_files(str(tmp_path))] == [str(good)]
    report = backfill.run(fresh_db, [(str(tmp_path / name), 0) for name in ("pipe.jsonl", "zero.jsonl", "good.jsonl")])
    assert report.files == 1 and [reason for _, reason in report.unreadable] == ["not a regular file"] * 2
