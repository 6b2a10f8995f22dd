"""`memlite serve` in its frozen form, where it is two processes: a launcher and the program it unpacked."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import Machine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
PROMPT = "Why does the lighthouse blink twice?"


class Worker:
    """A running worker: its launcher, its address and the process that answers."""

    def __init__(self, machine: Machine, binary: Path) -> None:
        self.launcher = subprocess.Popen([str(binary), "serve", "--port", "0"], env=machine.environment,
                                         cwd=machine.home, stdout=subprocess.PIPE, text=True)
        assert self.launcher.stdout is not None
        self.url = self.launcher.stdout.readline().strip()
        [self.program] = children(self.launcher.pid)

    def get(self, path: str, **parameters: str) -> dict[str, object]:
        """The JSON at `path`. Raises OSError."""
        with urllib.request.urlopen(f"{self.url}{path}?{urllib.parse.urlencode(parameters)}", timeout=10) as answer:
            body = json.load(answer)
        assert isinstance(body, dict)
        return body


def children(process: int) -> list[int]:
    """The process ids of the children of `process`."""
    return [int(text) for text in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def lives(process: int) -> bool:
    """Whether `process` runs; a zombie does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def within(seconds: float, happened: Callable[[], bool]) -> bool:
    """Whether `happened` comes true in time."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def worker(machine: Machine) -> Iterator[Worker]:
    """A worker on a free port, run from a copy of the executable."""
    copy = machine.home / "memlite"
    shutil.copy2(machine.binary, copy)
    machine.remember(PROMPT)
    running = Worker(machine, copy)
    yield running
    for process in (running.launcher.pid, running.program):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    running.launcher.wait()
    running.launcher.stdout.close()  # type: ignore[union-attr]
    for left in machine.temporary.iterdir():
        shutil.rmtree(left)


def test_it_answers(worker: Worker) -> None:
    """Health and search come from the executable."""
    assert worker.get("/health")
    found = worker.get("/api/search", query="lighthouse")
    assert found["count"] == 1
    assert PROMPT in json.dumps(found["results"])


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_it_stops_cleanly(worker: Worker, machine: Machine, name: str) -> None:
    """The launcher passes the signal on, both processes end, the code is 0 and nothing is left unpacked."""
    worker.launcher.send_signal(signal.Signals[name])
    assert worker.launcher.wait(10) == 0
    assert not lives(worker.program)
    assert machine.unpacked() == []


def test_it_does_not_outlive_its_launcher(worker: Worker, machine: Machine) -> None:
    """A launcher killed outright takes the program with it within two seconds, unpacked files included."""
    assert lives(worker.program)
    assert machine.unpacked() != []
    worker.launcher.kill()
    worker.launcher.wait()
    assert within(2, lambda: not lives(worker.program))
    assert machine.unpacked() == []


def test_it_survives_an_update_of_the_executable(worker: Worker, machine: Machine) -> None:
    """With another file in its executable's place the worker still loads what it has not loaded yet."""
    (machine.home / "new").write_bytes(b"another program")
    os.replace(machine.home / "new", machine.home / "memlite")
    assert worker.get("/api/search", query="lighthouse")["count"] == 1
    assert worker.get("/health")


def test_background_import_outlives_the_hook_that_started_it(machine: Machine, tmp_path: Path) -> None:
    """SessionStart returns at once; the transcripts it found are read by a process of their own, which cleans
    up."""
    sessions = tmp_path / "claude" / "projects" / "-a-project"
    sessions.mkdir(parents=True)
    row = {"type": "user", "uuid": "11111111-0000-4000-8000-000000000001", "parentUuid": None, "isSidechain": False,
           "sessionId": "11111111-0000-4000-8000-000000000000", "cwd": str(machine.home), "version": "2.1.197",
           "timestamp": "2026-01-02T03:04:05.000Z", "message": {"role": "user", "content": PROMPT}}
    (sessions / "11111111-0000-4000-8000-000000000000.jsonl").write_text(json.dumps(row) + "\n")
    machine.environment["CLAUDE_CONFIG_DIR"] = str(tmp_path / "claude")
    given = {"hook_event_name": "SessionStart", "source": "startup", "cwd": str(machine.home),
             "session_id": "22222222-0000-4000-8000-000000000000", "transcript_path": str(sessions / "none.jsonl")}
    done = machine.run("hook", "SessionStart", given=json.dumps(given))
    assert (done.returncode, done.stderr) == (0, "")
    assert within(20, lambda: "lighthouse" in machine.found("lighthouse", "--all-projects"))
    assert within(10, lambda: machine.unpacked() == [])


def test_worker_in_the_background_starts_answers_and_stops(machine: Machine) -> None:
    """`memlite start` leaves a worker that has its own unpacked folder; `memlite stop` leaves nothing."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        machine.environment["MEMLITE_PORT"] = str(probe.getsockname()[1])
    machine.remember(PROMPT)
    assert machine.run("start").returncode == 0
    try:
        assert len(machine.unpacked()) == 1
        address = machine.run("url").stdout.strip()
        with urllib.request.urlopen(f"{address}/api/search?query=lighthouse", timeout=10) as answer:
            assert PROMPT in answer.read().decode()
        assert machine.run("start").returncode == 0
        assert len(machine.unpacked()) == 1  # still one worker
    finally:
        assert machine.run("stop").returncode == 0
    assert within(5, lambda: machine.unpacked() == [])
    assert machine.run("status").returncode == 0


def test_folder_of_a_killed_run_is_swept_by_a_later_one(machine: Machine) -> None:
    """Launcher and program killed at once leave their folder; the next background import an hour later takes it."""
    running = subprocess.Popen([str(machine.binary), "serve", "--port", "0"], env=machine.environment,
                               cwd=machine.home, stdout=subprocess.PIPE, start_new_session=True)
    assert running.stdout is not None
    running.stdout.readline()
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    running.stdout.close()
    [left] = machine.unpacked()
    machine.run("import", "transcripts", "--background")
    assert machine.unpacked() == [left]
    an_hour_ago = time.time() - 3601
    os.utime(machine.temporary / left, (an_hour_ago, an_hour_ago))
    machine.run("import", "transcripts", "--background")
    assert machine.unpacked() == []
