"""A damaged database: nothing crashes, the message names the file and the way out, and the way out works."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from running import Program, long_session

from memlite.capture.ingest import ingest
from memlite.store.database import open_database
from rows import shop_session
from stored import contents, sound

PAGE = 4096


def truncated_to_half(path: Path) -> None:
    """The second half is gone."""
    os.truncate(path, path.stat().st_size // 2 // PAGE * PAGE)


def truncated_in_a_page(path: Path) -> None:
    """In the middle of a page."""
    os.truncate(path, path.stat().st_size * 3 // 4 + 1000)


def truncated_to_nearly_nothing(path: Path) -> None:
    """Not even the header is whole."""
    os.truncate(path, 60)


def overwrite(path: Path, at: int, data: bytes) -> None:
    """Put `data` into the file."""
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


def zeroed_page(path: Path) -> None:
    """One page in the middle."""
    overwrite(path, path.stat().st_size // 2 // PAGE * PAGE, bytes(PAGE))


def zeroed_schema(path: Path) -> None:
    """The second page, where the first tables begin."""
    overwrite(path, PAGE, bytes(3 * PAGE))


def random_bytes(path: Path) -> None:
    """Here and there."""
    for part in range(1, 10):
        overwrite(path, path.stat().st_size * part // 10, b"\xff\x00\xa5" * 200)


def garbage_header(path: Path) -> None:
    """It does not look like a database any more."""
    overwrite(path, 0, b"garbage!" * 12)


def another_file(path: Path) -> None:
    """It is none."""
    path.write_text("Dear diary,\n" * 5000)


def folder_of_zeros(path: Path) -> None:
    """As a disk leaves it that lost its cache."""
    path.write_bytes(bytes(path.stat().st_size))


DAMAGES = [truncated_to_half, truncated_in_a_page, truncated_to_nearly_nothing, zeroed_page, zeroed_schema,
           random_bytes,
           garbage_header, another_file, folder_of_zeros]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A store of 1 MB whose transcripts are still there."""
    home = tmp_path / "home"
    with open_database(str(home)) as database:
        for number in range(4):
            ingest(database, long_session(tmp_path / "projects" / f"s{number}.jsonl", turns=20, name=f"n{number}"))
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return home


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_survived_named_and_mended(memlite: Program, home: Path, tmp_path: Path,
                                             damage: Callable[[Path], None]) -> None:
    """Hooks silent; commands without traceback; doctor names file and way out; --fix keeps the damaged bytes; reading
    the transcripts again brings back everything."""
    path = home / "memlite.db"
    with open_database(str(home)) as database:
        before = contents(database)
    damage(path)
    damaged = path.read_bytes()
    session = shop_session(session="new").write(tmp_path / "projects" / "new.jsonl")
    assert memlite.hook(str(home), "Stop", session).was_silent()
    assert memlite.hook(str(home), "SessionStart", session).was_silent()
    for arguments in (("query", "-a", "part"), ("query", "-a", "--json", "part"), ("recent", "-a"), ("show", "1"),
                      ("status",), ("timeline", "1")):
        done = memlite.run(str(home), *arguments)
        assert "Traceback" not in done.errors and done.code in (0, 1, 3), f"{arguments}: {done}"
        if done.code == 3:
            assert str(path) in done.errors and "memlite doctor" in done.errors, done
    found = memlite.run(str(home), "doctor")
    assert found.code == 1 and str(path) in found.output and "memlite doctor --fix" in found.output, found

    mended = memlite.run(str(home), "doctor", "--fix")
    assert mended.code == 0 and mended.errors == "", mended
    [kept] = [file for file in home.iterdir() if ".damaged-" in file.name and not file.name.endswith(("-wal", "-shm"))]
    if damage not in (zeroed_page, random_bytes, zeroed_schema):  # hooks could write into these
        assert kept.read_bytes() == damaged
    assert memlite.hook(str(home), "Stop", session).was_silent()
    assert memlite.run(str(home), "import", "transcripts", str(tmp_path / "projects")).code == 0
    with open_database(str(home)) as database:
        assert sound(database)
        after = contents(database)
    for table in ("observations", "summaries", "prompts"):
        assert {row[-1] for row in before[table]} <= {row[-1] for row in after[table]}, table
    assert len(after["observations"]) == len(before["observations"]) + 5


def test_log_that_is_missing_is_no_damage(memlite: Program, home: Path, tmp_path: Path) -> None:
    """What was in it alone is lost and comes back from the transcripts; the rest is as it was."""
    copy = tmp_path / "copy"
    with open_database(str(home)) as database:
        held = sqlite3.connect(home / "memlite.db")
        held.execute("SELECT count(*) FROM meta").fetchone()
        session = shop_session(session="late").write(tmp_path / "projects" / "late.jsonl")
        ingest(database, session)
        assert (home / "memlite.db-wal").stat().st_size > 0
        copy.mkdir()
        (copy / "memlite.db").write_bytes((home / "memlite.db").read_bytes())
        held.close()
    assert memlite.run(str(copy), "doctor").code == 0
    assert memlite.hook(str(copy), "Stop", session).was_silent()
    with open_database(str(copy)) as database, open_database(str(home)) as whole:
        assert sound(database) and contents(database) == contents(whole)


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_log_of_garbage_is_survived(memlite: Program, home: Path, tmp_path: Path, suffix: str) -> None:
    """SQLite tells by checksums what in it is its own."""
    with open_database(str(home)) as database:
        before = contents(database)
    (home / f"memlite.db{suffix}").write_bytes(b"garbage!" * 8192)
    session = shop_session(session="new").write(tmp_path / "new.jsonl")
    assert memlite.hook(str(home), "Stop", session).was_silent()
    with open_database(str(home)) as database:
        assert sound(database)
        assert len(contents(database)["observations"]) == len(before["observations"]) + 5
