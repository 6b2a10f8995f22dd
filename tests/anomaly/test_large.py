"""Large inputs are bounded: a hook stays within its time, and the rest is done behind its back."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from running import Program, long_session, payload

from memlite.store.database import open_database
from rows import Script
from stored import contents, sound

PATIENCE = {"Stop": 6.0, "SessionEnd": 1.5}  # seconds: what the reading may take, and the client's own limit
MEGABYTE = 1_000_000


def wait_for_background(home: Path, seconds: float) -> None:
    """Until no background reading holds its lock any more."""
    import fcntl

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.2)
        with open_database(str(home)) as database:
            done = database.row("SELECT 1 FROM meta WHERE key = 'backfilled'")
        with open(home / "import.lock", "a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
        if done:
            return
    pytest.fail("the background reading did not end")


@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_transcript_of_50_megabytes_is_read_in_slices(memlite: Program, tmp_path: Path, event: str) -> None:
    """The hook takes what it has time for; a detached process reads the rest; the result is that of one reading."""
    path = long_session(tmp_path / "claude" / "projects" / "p" / "s.jsonl", turns=3700)
    assert os.path.getsize(path) > 50 * MEGABYTE
    home = tmp_path / "home"
    begin = time.monotonic()
    environment = {"MEMLITE_BACKFILL": "1", "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    said = "Part 3699 now does what it should, and its tests pass."
    done = memlite.hook(str(home), event, path, environment=environment)
    assert done.was_silent() and time.monotonic() - begin < PATIENCE[event]
    wait_for_background(home, 120)
    assert memlite.run(str(home), "hook", "Stop", given=payload("Stop", path, last_assistant_message=said)).was_silent()
    with open_database(str(home)) as database:
        assert sound(database)
        found = contents(database)
    assert (len(found["prompts"]), len(found["summaries"]), len(found["observations"])) == (3703, 3703, 7405)


def test_input_of_many_megabytes_is_bounded(memlite: Program, tmp_path: Path) -> None:
    """A prompt of 5 MB, a tool output of 10 MB, a line of 20 MB: quick, bounded, and what follows is read."""
    home = tmp_path / "home"
    script = Script(session="s")
    script.prompt("look at the log")
    script.says("I print the whole log, which is rather long.")
    script.runs("cat huge.log && make", "line of the log\n" * 650_000)
    script.prompt("x" * (20 * MEGABYTE))
    script.says("That was too long for me, but this sentence is not.")
    path = script.write(tmp_path / "s.jsonl")
    begin = time.monotonic()
    given = payload("UserPromptSubmit", path, prompt="word " * MEGABYTE)
    assert memlite.run(str(home), "hook", "UserPromptSubmit", given=given).was_silent()
    assert memlite.hook(str(home), "Stop", path).was_silent()
    assert time.monotonic() - begin < 15
    with open_database(str(home)) as database:
        assert sound(database)
        found = contents(database)
    assert len(found["observations"]) == 2 and len(repr(found)) < 100_000
    assert os.path.getsize(home / "memlite.db") < MEGABYTE


@pytest.mark.parametrize("query", ["word " * 20_000, "x" * 100_000, " ".join(map(str, range(10_000))), "語" * 40_000,
                                   "\u202e\u0301👩‍👩‍👧", "\"'()*:^{}", "NEAR(a AND b)"])
def test_any_query_is_answered(memlite: Program, tmp_path: Path, query: str) -> None:
    """A hundred thousand characters, ten thousand words, other scripts, the syntax of the index."""
    home = tmp_path / "home"
    path = long_session(tmp_path / "s.jsonl", turns=3)
    assert memlite.hook(str(home), "Stop", path).was_silent()
    for arguments in (("query", "-a", "--json", query), ("query", "-a", query)):
        done = memlite.run(str(home), *arguments)
        assert done.code == 0 and "Traceback" not in done.errors, done
    assert isinstance(json.loads(memlite.run(str(home), "query", "-a", "--json", query).output), dict)
