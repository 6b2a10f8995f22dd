"""No room, no right to write, no home: hooks stay silent and quick, and doctor names the cause."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import Done, Program, payload

from memlite.store.database import open_database
from rows import shop_session
from stored import contents, sound

PATIENCE = 10.0  # seconds; the shortest time limit that hooks.json gives a hook whose disk may fail


@pytest.fixture
def transcript(tmp_path: Path) -> str:
    """A session to be read."""
    return shop_session(session="s").write(tmp_path / "s.jsonl")


def every_hook(memlite: Program, home: str, transcript: str, **how: object) -> list[Done]:
    """All events, one after another; each must be silent and in time."""
    answers = []
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd"):
        more = {"prompt": "fix the prices", "agent_type": "x", "agent_transcript_path": transcript,
                "last_assistant_message": "It was `shop/prices.py`, the function `parse`."}
        begin = time.monotonic()
        done = memlite.run(home, "hook", event, given=payload(event, transcript, **more), **how)
        assert time.monotonic() - begin < PATIENCE, event
        assert done.was_silent(), f"{event}: {done}"
        answers.append(done)
    return answers


def diagnosis(memlite: Program, home: str, **how: object) -> tuple[int, str]:
    """(exit code, the text of all findings that have failed) of memlite doctor."""
    done = memlite.run(home, "doctor", "--json", **how)
    assert "Traceback" not in done.errors, done
    told = json.loads(done.output)
    return done.code, "\n".join(f["text"] for f in told["findings"] if f["state"] == "fail")


class Disk:
    """A small disk of its own, mounted at a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.home = str(path / "home")

    def fill(self) -> None:
        """Until not one more byte goes in."""
        with open(self.path / "filler", "wb", buffering=0) as file:
            for size in (65536, 4096, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    continue

    def clear(self) -> None:
        """Room again."""
        (self.path / "filler").unlink()

    def remount(self, how: str) -> None:
        """Read-only (ro) or writable (rw)."""
        subprocess.run(["mount", "-o", f"remount,{how}", str(self.path)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Needs the right to mount; elsewhere the tests with file size limits stand for it."""
    path = tmp_path / "disk"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "memlite-test", str(path)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no right to mount a disk here: {mounted.stderr.decode().strip()}")
    try:
        yield Disk(path)
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def elsewhere(tmp_path: Path) -> dict[str, str]:
    """An environment in which the executable unpacks itself on another disk."""
    (tmp_path / "unpacked").mkdir(exist_ok=True)
    return {"TMPDIR": str(tmp_path / "unpacked")}


def start_on(disk: Disk, memlite: Program, transcript: str, tmp_path: Path) -> dict[str, object]:
    """Store a prompt while there is room. Returns how programs are to be run there."""
    Path(disk.home).mkdir()
    how: dict[str, object] = {"environment": elsewhere(tmp_path)}
    given = payload("UserPromptSubmit", transcript, prompt="before")
    assert memlite.run(disk.home, "hook", "UserPromptSubmit", given=given, **how).was_silent()
    return how


def test_full_disk_silences_nobody_for_good(memlite: Program, disk: Disk, transcript: str, tmp_path: Path) -> None:
    """Hooks are silent, doctor names the cause, and with room again nothing is missing."""
    how = start_on(disk, memlite, transcript, tmp_path)
    disk.fill()
    every_hook(memlite, disk.home, transcript, **how)
    code, failed = diagnosis(memlite, disk.home, **how)
    assert code == 1 and "full" in failed and disk.home in failed
    done = memlite.run(disk.home, "query", "-a", "before", **how)
    assert "Traceback" not in done.errors and (done.code == 0 or "full" in done.errors or "space" in done.errors), done
    disk.clear()
    assert memlite.hook(disk.home, "Stop", transcript, **how).was_silent()
    with open_database(disk.home) as database:
        assert sound(database)
        found = contents(database)
    assert len(found["observations"]) == 5 and "before" in {row[2] for row in found["prompts"]}


def test_import_into_a_full_disk_says_so(memlite: Program, disk: Disk, transcript: str, tmp_path: Path) -> None:
    """In words, without a traceback; repeated with room it is complete."""
    how = start_on(disk, memlite, transcript, tmp_path)
    disk.fill()
    done = memlite.run(disk.home, "import", "transcripts", transcript, **how)
    assert done.code == 3 and "Traceback" not in done.errors and ("full" in done.errors or "space" in done.errors), done
    disk.clear()
    assert memlite.run(disk.home, "import", "transcripts", transcript, **how).code == 0
    with open_database(disk.home) as database:
        assert sound(database) and len(contents(database)["observations"]) == 5


def test_read_only_disk_is_read(memlite: Program, disk: Disk, transcript: str, tmp_path: Path) -> None:
    """Hooks are silent, searching works, doctor names the cause; writable again nothing is missing."""
    how = start_on(disk, memlite, transcript, tmp_path)
    disk.remount("ro")
    every_hook(memlite, disk.home, transcript, **how)
    code, failed = diagnosis(memlite, disk.home, **how)
    assert code == 1 and "read-only" in failed
    done = memlite.run(disk.home, "query", "-a", "before", **how)
    assert done.code == 0 and "before" in done.output, done
    disk.remount("rw")
    assert memlite.hook(disk.home, "Stop", transcript, **how).was_silent()
    with open_database(disk.home) as database:
        assert sound(database) and len(contents(database)["observations"]) == 5


@pytest.mark.parametrize("limit", [0, 4096, 40_000, 100_000, 150_000])
def test_files_that_can_not_grow_leave_the_store_sound(tmp_path: Path, transcript: str, limit: int) -> None:
    """A limit on the size of files, hit anywhere in the store's making or in a transaction. From source: the
    executable could not unpack itself within such a limit."""
    memlite = Program([sys.executable, "-m", "memlite"])
    home = str(tmp_path / "home")
    wrapped = ["sh", "-c", f'ulimit -f {limit // 512}; exec "$@"', "sh"]
    every_hook(memlite, home, transcript, wrapped=wrapped)
    assert memlite.hook(home, "Stop", transcript).was_silent()
    with open_database(home) as database:
        assert sound(database) and len(contents(database)["observations"]) == 5


@pytest.mark.parametrize("obstacle", ["file", "below a file", "link to nowhere", "device"])
def test_home_that_can_not_be_is_named(memlite: Program, tmp_path: Path, transcript: str, obstacle: str) -> None:
    """Whatever lies in its place: hooks are silent, doctor says what it is."""
    place = tmp_path / "place"
    home = str(place)
    if obstacle == "file":
        place.write_text("x")
    elif obstacle == "below a file":
        place.write_text("x")
        home = str(place / "home")
    elif obstacle == "link to nowhere":
        place.symlink_to(tmp_path / "no" / "where")
    else:
        home = "/dev/null"
    how = {"environment": elsewhere(tmp_path)}
    every_hook_at(memlite, home, transcript, tmp_path)
    done = memlite.run(str(tmp_path / "unused"), "doctor", environment={**how["environment"], "MEMLITE_HOME": home})
    assert done.code == 1 and "Traceback" not in done.errors and home in done.output, done


def every_hook_at(memlite: Program, home: str, transcript: str, tmp_path: Path) -> None:
    """All events with a home that the test's own helpers must not touch."""
    every_hook(memlite, str(tmp_path / "unused"), transcript,
               environment={**elsewhere(tmp_path), "MEMLITE_HOME": home})
    shutil.rmtree(tmp_path / "unused", ignore_errors=True)


def test_hook_without_any_environment_is_silent(memlite: Program, tmp_path: Path) -> None:
    """No HOME, no PATH, no MEMLITE_HOME, an event that needs no store."""
    bare = {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))} if len(memlite.command) > 1 else {}
    done = subprocess.run([*memlite.command, "hook", "SubagentStop"], input=b"{}", capture_output=True, env=bare,
                          cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; the read-only disk stands for it")
def test_home_without_the_right_to_write_is_named(memlite: Program, tmp_path: Path, transcript: str) -> None:
    """Its permissions taken away after the fact."""
    home = tmp_path / "home"
    assert memlite.hook(str(home), "Stop", transcript).was_silent()
    home.chmod(0o500)
    try:
        every_hook(memlite, str(home), transcript)
        assert diagnosis(memlite, str(home))[0] in (0, 1)
    finally:
        home.chmod(0o700)
