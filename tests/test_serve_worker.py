"""The worker as a process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

import pytest

from memlite.serve.pool import Pool
from memlite.serve.routes import ROUTES
from shop_store import fill
from worker_process import WorkerProcess


def test_it_prints_its_address_answers_and_ends_cleanly_on_sigterm(home: str) -> None:
    with WorkerProcess(home) as worker:
        assert worker.get("/health")["pid"] == worker.process.pid
        kept_alive = worker.connect()
        kept_alive.request("GET", "/health")
        kept_alive.getresponse().read()
        half_open = socket.create_connection(worker.address)
        assert worker.terminate() == 0
        half_open.close()
        kept_alive.close()
        assert worker.process.communicate()[1] == ""


def test_it_needs_no_store_and_makes_none(home: str) -> None:
    with WorkerProcess(home) as worker:
        assert worker.get("/api/search?query=anything")["results"] == []
        assert worker.terminate() == 0
    assert not os.path.exists(os.path.join(home, "memlite.db"))


def test_all_is_imported_before_it_says_it_is_ready(home: str) -> None:
    """A replaced executable can't be imported from any more."""
    fill(home)
    calls: list[tuple[str, str, bytes | None]] = [
        ("GET", path, None) for path in ("/nowhere", "/api/search?q=a+%E4%BF%AE+yesterday", "/api/search?since=7d",
                                         "/api/search?limit=x", "/api/search?q=comma&output=markdown",
                                         "/api/timeline?anchor=2026-05-29T12:00&output=markdown",
                                         "/api/contextualize?output=mcp", "/api/observation/1?output=markdown")]
    bodies = {"ids": b'{"ids": [1]}', "text": b'{"text": "a"}'}
    for route in ROUTES:
        path = route.example.partition(" ")[0].replace("123", "1").replace("S5", "S1").replace("P7", "P1")
        calls.append((route.method, path, bodies[route.body[0][0]] if route.body else None))
    code = ("import sys\n"
            "from memlite.serve import access_token, run\n"
            "def ready(server):\n"
            "    import threading, urllib.request, urllib.error\n"
            "    def use():\n"
            "        before = set(sys.modules)\n"
            f"        for method, path, body in {calls!r}:\n"
            "            asked = urllib.request.Request(server.url + path, method=method, data=body)\n"
            "            asked.add_header('Content-Type', 'application/json')\n"
            f"            asked.add_header('X-Memlite-Token', access_token.read({home!r}))\n"
            "            try: urllib.request.urlopen(asked, timeout=5).read(5)\n"
            "            except urllib.error.HTTPError as failure: failure.read()\n"
            "        print(sorted(set(sys.modules) - before))\n"
            "        server.stop()\n"
            "    'a'.encode('idna')   # the client's\n"
            "    threading.Thread(target=use).start()\n"
            f"run.serve({home!r}, '127.0.0.1', 0, exactly=True, ready=ready)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("[]\n", "", 0)


def test_a_taken_port_is_passed_over_unless_it_was_asked_for(home: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        taken = stranger.getsockname()[1]
        asked = subprocess.run([sys.executable, "-m", "memlite", "serve", "--port", str(taken)], capture_output=True,
                               text=True, timeout=30, check=False)
        assert asked.returncode == 4
        assert str(taken) in asked.stderr
        process = subprocess.Popen([sys.executable, "-m", "memlite", "serve"], stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "MEMLITE_PORT": str(taken)})
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        process.terminate()
        assert process.wait(10) == 0
        process.communicate()
        assert taken < int(url.rpartition(":")[2]) <= taken + 20


def test_the_pool_lends_the_last_returned_first_and_forgets_a_replaced_file(home: str) -> None:
    pool = Pool(home)
    with pool.lend() as nothing:
        assert nothing is None
    with pool.lend(create=True) as first, pool.lend() as second:
        assert first is not None and second is not None and first is not second
    with pool.lend() as again:
        assert again is first
    os.replace(f"{home}/memlite.db", f"{home}/aside.db")
    with pool.lend() as gone:
        assert gone is None
    pool.close()


def test_a_connection_that_failed_is_not_lent_again(home: str) -> None:
    pool = Pool(home)
    with pytest.raises(RuntimeError), pool.lend(create=True) as failed:
        raise RuntimeError
    with pool.lend() as next_one:
        assert next_one is not None and next_one is not failed
    pool.close()


def test_an_answer_takes_no_longer_while_streams_of_bytes_trickle_in(home: str) -> None:
    with WorkerProcess(home) as worker:
        def fastest() -> float:
            connection = worker.connect()
            times = []
            for _ in range(30):
                begun = time.perf_counter()
                connection.request("GET", "/health")
                connection.getresponse().read()
                times.append(time.perf_counter() - begun)
            connection.close()
            return min(times)

        alone = fastest()
        slow = [socket.create_connection(worker.address) for _ in range(40)]
        for client in slow:
            client.sendall(b"GET /health HT")
        crowded = fastest()
        for client in slow:
            client.close()
        assert crowded < 10 * alone + 0.01


def test_the_pool_lends_so_many_at_once_and_then_waits(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from memlite.errors import StoreBusy
    from memlite.serve import pool as module

    monkeypatch.setattr(module, "WAIT_SECONDS", 0.05)
    pool = Pool(home, lent=2)
    with pool.lend(create=True), pool.lend(), pytest.raises(StoreBusy), pool.lend():
        pass
    with pool.lend() as free, pool.lend() as other:
        assert free is not None and other is not None
    with pytest.raises(RuntimeError), pool.lend():
        raise RuntimeError
    with pool.lend(), pool.lend():
        pass
    pool.close()


def test_beyond_loopback_reading_needs_the_token(home: str) -> None:
    from memlite.serve import access_token

    with WorkerProcess(home, "--host", "0.0.0.0") as worker:
        connection = worker.connect()
        statuses = []
        for headers in ({}, {"X-Memlite-Token": "0" * 64}, {"X-Memlite-Token": str(access_token.read(home))}):
            for path in ("/health", "/api/search?query=x"):
                connection.request("GET", path, headers=headers)
                answer = connection.getresponse()
                answer.read()
                statuses.append(answer.status)
        connection.close()
    assert statuses == [403, 403, 403, 403, 200, 200]


class Used:
    """As much of a server as decides whether it is idle."""

    def __init__(self) -> None:
        self.last_used = time.monotonic()
        self.busy = False

    def in_use(self) -> bool:
        return self.busy


def test_it_goes_when_nobody_has_used_it_for_long(capsys: pytest.CaptureFixture[str]) -> None:
    from memlite.serve import run

    server = Used()
    assert run._watch(server, 30)()   # type: ignore[arg-type]
    server.last_used -= 29 * 60
    assert run._watch(server, 30)()   # type: ignore[arg-type]
    server.last_used -= 2 * 60
    assert not run._watch(server, 30)()   # type: ignore[arg-type]
    assert "not used for 30 minutes" in capsys.readouterr().err
    assert run._watch(server, 0)()   # type: ignore[arg-type]
    server.busy = True   # somebody listens to the stream
    assert run._watch(server, 30)()   # type: ignore[arg-type]


def test_an_idle_worker_in_the_background_ends_and_takes_its_file_along(home: str) -> None:
    """By a watch of its own that thinks a minute is over."""
    code = ("import sys, time\n"
            "from memlite.serve import run\n"
            "from memlite.serve.server import Server\n"
            "def ready(server):\n"
            "    server.last_used -= 61\n"
            f"run.serve({home!r}, '127.0.0.1', 0, exactly=True, idle_minutes=1, ready=ready)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0
    assert "not used for 1 minutes" in done.stderr
    assert "worker.json" not in os.listdir(home)
