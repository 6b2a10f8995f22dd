"""remote: a command asks the running worker for meanings, and waits for nothing else."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from fake_chroma import FakeChroma, until
from memlite import worker_file
from memlite.chroma import remote
from memlite.errors import SemanticUnavailable
from memlite.store.find import Filter
from shop_store import fill
from worker_process import WorkerProcess


@pytest.fixture
def chroma(tmp_path: Path) -> FakeChroma:
    return FakeChroma(tmp_path / "fake")


def memlite(home: str, *arguments: str, **environment: str) -> Any:
    """The JSON that a command prints."""
    done = subprocess.run([sys.executable, "-m", "memlite", *arguments, "--json"], capture_output=True, text=True,
                          env={**os.environ, "MEMLITE_HOME": home, **environment}, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_command_finds_by_meaning_through_the_worker(home: str, chroma: FakeChroma) -> None:
    """With filters of all sorts; without a worker it answers by words and says so."""
    fill(home)
    ask = ("query", "--all-projects", "amounts")
    with WorkerProcess(home, **chroma.environment) as worker:
        until(lambda: worker.get("/health")["chroma"]["records"] == 9)
        told = worker.get("/health")["chroma"]
        assert (told["processes"], told["records"], told["waiting"]) == (1, 9, 0) and told["pid"]
        found = memlite(home, *ask, **chroma.environment)
        assert found["search"] == {"requested": "auto", "used": "hybrid", "degraded": False, "reason": None}
        assert {item["id"] for item in found["results"]} == {"1", "2", "3", "P1", "S1"}
        assert found["results"] == worker.get("/api/search?query=amounts&limit=10")["results"]
        found = memlite(home, *ask, "--type", "decision", "--file", "x", **chroma.environment)
        assert found["results"] == []
        found = memlite(home, *ask, "--file", "prices.py", "--kind", "observation", **chroma.environment)
        assert {item["id"] for item in found["results"]} == {"1", "2"}
        found = memlite(home, "query", "-a", "amounts type:decision", **chroma.environment)
        assert [item["id"] for item in found["results"]] == ["3"]
        assert memlite(home, "status", **chroma.environment)["chroma"]["state"] == "ready"
        helper = told["pid"]
        assert worker.terminate() == 0
    until(lambda: not os.path.exists(f"/proc/{helper}"), "the helper's end")
    found = memlite(home, "query", "--all-projects", "comma", **chroma.environment)
    assert (found["search"]["used"], found["search"]["degraded"]) == ("keyword", True) and found["results"]
    assert "no worker runs" in found["search"]["reason"]
    assert not [name for name in os.listdir(home) if name == worker_file.FILE]


def test_worker_that_is_killed_takes_its_helper_along(home: str, chroma: FakeChroma) -> None:
    """And the next worker's helper owns the same index."""
    fill(home)
    for _ in range(3):
        with WorkerProcess(home, **chroma.environment) as worker:
            worker.get("/api/search?query=comma")
            until(lambda: worker.get("/health")["chroma"]["state"] == "ready")
            helper = worker.get("/health")["chroma"]["pid"]
            worker.process.kill()
        until(lambda: not os.path.exists(f"/proc/{helper}"), "the helper's end")  # noqa: B023


def test_without_chroma_no_command_looks_for_a_worker(home: str) -> None:
    """One look at the disk, and nothing is degraded."""
    fill(home)
    assert remote.index_of(home) is None
    found = memlite(home, "query", "-a", "comma", MEMLITE_CHROMA="1")
    assert found["search"] == {"requested": "auto", "used": "keyword", "degraded": False, "reason": None}
    os.mkdir(os.path.join(home, remote.FOLDER))
    assert remote.index_of(home) is None      # MEMLITE_CHROMA=0 in tests
    os.environ["MEMLITE_CHROMA"] = "1"        # put back by the fixture that set it
    assert isinstance(remote.index_of(home), remote.Remote)


def told(home: str, port: int) -> None:
    os.makedirs(home, exist_ok=True)
    worker_file.write(home, {"pid": 1, "port": port, "host": "127.0.0.1", "version": "1", "commit": "c", "nonce": "n"})


def ask(home: str) -> dict[int, float]:
    return remote.Remote(home, 90).nearest("a", Filter(), [], 5)


def test_worker_file_without_worker_is_no_worker(home: str) -> None:
    """A stale one, and none at all."""
    with pytest.raises(SemanticUnavailable, match="no worker runs"):
        ask(home)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told(home, port)
    with pytest.raises(SemanticUnavailable, match="the worker did not answer"):
        ask(home)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.0 200 OK\r\n\r\n", b"HTTP/1.0 200 OK\r\n\r\n[1]", b"\x00\xff" * 50,
                                    b"HTTP/1.0 404 Not Found\r\n\r\n{}", None, b"x" * 300_000])
def test_stranger_on_the_port_is_no_worker(home: str, answer: bytes | None) -> None:
    """Whatever it says, or when it says nothing and keeps the line open."""
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        told(home, stranger.getsockname()[1])
        held = []

        def talk() -> None:
            connection, _ = stranger.accept()
            held.append(connection)
            connection.recv(65536)
            if answer is not None:
                try:
                    connection.sendall(answer)
                except OSError:
                    pass
                connection.close()

        thread = threading.Thread(target=talk)
        thread.start()
        with pytest.raises(SemanticUnavailable, match="did not answer"):
            ask(home)
        thread.join(20)
        for connection in held:
            connection.close()


def test_filter_survives_the_way_to_the_worker() -> None:
    """Every field of it, and the filter within."""
    from memlite.serve.meaning import _filter

    where = Filter(kinds=("summary",), types=("a",), concepts=("b",), either=True, files=("c",), branches=("d",),
                   projects=(1, 2), since=3, until=4, also=Filter(projects=()))
    assert _filter(json.loads(json.dumps(remote.where_as_json(where)))) == where


def test_route_for_commands_refuses_nonsense(home: str) -> None:
    """With a client error, not a fault of the worker's."""
    from webtest import TestApp

    from memlite.serve.app import application
    from memlite.serve.calls import Worker

    worker = Worker(home)
    app = TestApp(application(worker), extra_environ={"HTTP_HOST": "127.0.0.1:80", "SERVER_PORT": "80"})
    body = {"text": "a", "where": "{}", "also": [], "limit": 5}
    answer = app.post_json(remote.PATH, body, status=503).json
    assert answer["absent"] and "switched off" in answer["error"]
    worker.semantic.state = "ready"
    for wrong in ({"where": "[]"}, {"where": "no json"}, {"where": '{"colour": 1}'}, {"also": ["x"]}, {"text": 3}):
        app.post_json(remote.PATH, {**body, **wrong}, status=400)
    worker.close()
