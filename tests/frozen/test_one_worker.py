"""However many sessions begin at once, one worker comes of it, and nothing outlives it."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from test_worker import lives, within

from conftest import Machine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")


@pytest.fixture
def lively(machine: Machine) -> Iterator[Machine]:
    """An account whose sessions start the worker, on a port that nobody else has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        machine.environment["MEMLITE_PORT"] = str(probe.getsockname()[1])
    machine.environment["MEMLITE_WORKER"] = "1"
    yield machine
    assert machine.run("stop").returncode == 0
    assert within(5, lambda: processes(machine) == [])


def processes(machine: Machine) -> list[int]:
    """The processes of memlite that this account has, launchers included."""
    found = []
    home = f"HOME={machine.home}".encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and lives(int(entry.name)):
                mine = home in (entry / "environ").read_bytes().split(b"\0")
                if mine and b"memlite" in (entry / "cmdline").read_bytes().split(b"\0")[0]:
                    found.append(int(entry.name))
        except OSError:
            continue
    return found


def running(machine: Machine) -> int | None:
    """The process id of the worker that `memlite status` tells of."""
    worker = json.loads(machine.run("status", "--json").stdout)["worker"]
    return int(worker["pid"]) if worker else None


def begin_session(machine: Machine, number: int) -> tuple[int, str]:
    """A SessionStart hook: its exit code and what it complains of."""
    given = {"hook_event_name": "SessionStart", "source": "startup", "cwd": str(machine.home),
             "session_id": f"00000000-0000-4000-8000-{number:012d}",
             "transcript_path": str(machine.home / "none.jsonl")}
    done = machine.run("hook", "SessionStart", given=json.dumps(given))
    return done.returncode, done.stderr


def test_a_hundred_sessions_that_begin_have_one_worker(lively: Machine) -> None:
    """Ten at a time; the worker is a launcher and a program."""
    with ThreadPoolExecutor(10) as pool:
        ended = list(pool.map(lambda number: begin_session(lively, number), range(100)))
    assert set(ended) == {(0, "")}
    assert within(20, lambda: len(processes(lively)) == 2)
    worker = running(lively)
    assert worker in processes(lively)
    assert begin_session(lively, 100) == (0, "")
    assert within(5, lambda: len(processes(lively)) == 2)
    assert running(lively) == worker
    assert "Traceback" not in lively.run("logs").stdout


def test_stopping_it_leaves_nothing_within_two_seconds(lively: Machine) -> None:
    """Neither process nor unpacked files."""
    assert lively.run("start").returncode == 0
    assert len(processes(lively)) == 2
    assert lively.run("stop").returncode == 0
    assert within(2, lambda: processes(lively) == [] and lively.unpacked() == [])


def test_a_worker_that_is_killed_is_followed_by_another(lively: Machine) -> None:
    """Its file is stale then; the next session notices."""
    assert lively.run("start").returncode == 0
    first = running(lively)
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert within(2, lambda: processes(lively) == [])
    assert begin_session(lively, 1) == (0, "")
    assert within(20, lambda: running(lively) not in (None, first))
