"""Many at once: 32 clients read and 4 write for ninety seconds, some send a byte a second, one listens to it all.

Environment: MEMLITE_CROWD_SECONDS (by default 90: the memory is judged once it has levelled off).
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from running import Program, payload

from shop_store import fill

SECONDS = float(os.environ.get("MEMLITE_CROWD_SECONDS") or 90)
READERS, POSTING, HOOKING, SLOW = 32, 2, 2, 8
PATIENCE = 30.0          # for one answer; the server gives a slow client's request 10
STRETCH = min(30.0, SECONDS / 2)
GROWTH = 1.05            # of the memory over the last so many seconds
only_executable = pytest.mark.parametrize("memlite", ["executable"], indirect=True)
WORDS = ("prices", "comma", "boat", "hull", "cents", "lighthouse", "ferry", "harbour", "quay", "lamp")
PATHS = (
    "/api/search?{q}", "/api/search?{q}&format=full&limit=5", "/api/search?{q}&type=prompts&output=markdown",
    "/api/search?limit=20&offset=10", "/api/timeline?anchor=3", "/api/timeline?{q}", "/api/decisions?{q}",
    "/api/changes", "/api/how-it-works", "/api/contextualize?project=shop", "/api/observations?limit=50",
    "/api/observation/3", "/api/projects", "/api/stats", "/health", "/api/context/inject?project=/r/shop",
    "/api/search/observations?{q}", "/api/search/by-type?type=decision", "/api/timeline/by-query?{q}")


class Served:
    """The executable's worker over the small store."""

    def __init__(self, memlite: Program, home: str) -> None:
        fill(home)
        self.home = home
        unpacked = f"{home}-unpacked"
        os.makedirs(unpacked, exist_ok=True)
        self.process = subprocess.Popen(
            [*memlite.command, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "MEMLITE_HOME": home, "TMPDIR": unpacked})
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        self.address = (urlsplit(self.url).hostname or "", urlsplit(self.url).port or 0)
        self.token = Path(home, "token").read_text().strip()

    def connect(self) -> http.client.HTTPConnection:
        """A connection that is kept alive."""
        return http.client.HTTPConnection(*self.address, timeout=PATIENCE)

    def stop(self) -> None:
        """End it; it has to go in peace, whoever is connected."""
        self.process.send_signal(signal.SIGTERM)
        try:
            assert self.process.wait(10) == 0
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()


@pytest.fixture
def served(memlite: Program, tmp_path: Path) -> Iterator[Served]:
    """A worker of the test's own."""
    running = Served(memlite, str(tmp_path / "home"))
    yield running
    running.stop()


class Crowd:
    """Threads that do something over and over until it is over; what goes wrong in one is kept."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.wrong: list[str] = []
        self._threads: list[threading.Thread] = []

    def add(self, work: Callable[[int], None], count: int = 1) -> None:
        """`count` threads, each of which calls work(its number) once."""
        for number in range(count):
            thread = threading.Thread(target=self._guarded, args=(work, number))
            self._threads.append(thread)
            thread.start()

    def _guarded(self, work: Callable[[int], None], number: int) -> None:
        try:
            work(number)
        except Exception as failure:    # whatever it was, it is a fault
            self.wrong.append(f"{work.__name__} {number}: {failure!r}")

    def end(self) -> None:
        """Let everybody come to an end."""
        self.over.set()
        for thread in self._threads:
            thread.join(PATIENCE + 15)
            assert not thread.is_alive(), self.wrong


def dripping(served: Served, crowd: Crowd, cut: list[float]) -> None:
    """One client that sends a byte a second, and when it is cut off begins anew. `cut` gets the seconds it had."""
    request = b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"X-Slow: " + b"x" * 1000
    while not crowd.over.is_set():
        started = time.monotonic()
        with socket.create_connection(served.address, timeout=5) as client:
            for byte in request:
                if crowd.over.wait(1):
                    return
                try:
                    client.settimeout(0.01)
                    client.sendall(bytes([byte]))
                    if client.recv(100) == b"":
                        break
                except TimeoutError:
                    continue    # nothing came, as it should be
                except OSError:
                    break
        cut.append(time.monotonic() - started)


@only_executable
def test_readers_writers_slow_ones_and_a_listener_at_once(served: Served, memlite: Program, tmp_path: Path) -> None:
    """No error, no event lost or doubled, nobody stalled, and no memory that only grows."""
    crowd = Crowd()
    slowest: list[float] = []
    answered: list[int] = []
    saved: set[str] = set()
    prompted: set[str] = set()
    heard: list[tuple[str, str, str]] = []
    memory: list[tuple[float, int]] = []
    cut: list[float] = []
    began = time.monotonic()

    def read(number: int) -> None:
        chosen = random.Random(number)
        connection = served.connect()
        longest, count = 0.0, 0
        while not crowd.over.is_set():
            path = chosen.choice(PATHS).replace("{q}", urlencode({"query": " ".join(chosen.sample(WORDS, 2))}))
            started = time.monotonic()
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            longest, count = max(longest, time.monotonic() - started), count + 1
            if answer.status != 200:
                crowd.wrong.append(f"GET {path}: {answer.status} {body[:200]!r}")
            time.sleep(0.01)
        connection.close()
        slowest.append(longest)
        answered.append(count)

    def post(number: int) -> None:
        connection = served.connect()
        count = 0
        while not crowd.over.wait(0.02):
            count += 1
            text = f"Posted {number}-{count}: the {WORDS[count % len(WORDS)]} is seen to."
            connection.request("POST", "/api/memory/save", json.dumps({"text": text, "project": "/r/shop"}),
                               {"Content-Type": "application/json", "Authorization": f"Bearer {served.token}"})
            answer = connection.getresponse()
            body = answer.read()
            if answer.status == 201:
                saved.add(str(json.loads(body)["id"]))
            else:
                crowd.wrong.append(f"save: {answer.status} {body[:200]!r}")
        connection.close()

    def hook(number: int) -> None:
        count = 0
        while not crowd.over.wait(0.1):
            count += 1
            prompt = f"Prompt {number}-{count}: what of the {WORDS[count % len(WORDS)]}?"
            given = payload("UserPromptSubmit", str(tmp_path / f"session-{number}.jsonl"), prompt=prompt)
            done = memlite.run(served.home, "hook", "UserPromptSubmit", given=given)
            if not done.was_silent():
                crowd.wrong.append(f"hook: {done}")
            prompted.add(prompt)

    def listen(number: int) -> None:
        connection = served.connect()
        connection.request("GET", "/stream")
        answer = connection.getresponse()
        kind = ""
        while True:
            line = answer.readline().decode()
            if not line:
                raise EOFError("the stream has ended")
            name, _, value = line.rstrip("\n").partition(": ")
            if name == "event":
                kind = value
            if name == "data":
                told = json.loads(value)
                if told.get("title") == "The last word.":
                    connection.close()
                    return
                heard.append((kind, str(told.get("id", "")), str(told.get("title", ""))))

    def measure(number: int) -> None:
        connection = served.connect()
        while not crowd.over.wait(1):
            connection.request("GET", "/health")
            memory.append((time.monotonic() - began, json.loads(connection.getresponse().read())["rss_bytes"]))
        connection.close()

    crowd.add(listen)
    time.sleep(0.5)
    crowd.add(lambda number: dripping(served, crowd, cut), SLOW)
    for work, count in ((read, READERS), (post, POSTING), (hook, HOOKING), (measure, 1)):
        crowd.add(work, count)
    time.sleep(SECONDS)
    crowd.over.set()
    time.sleep(1)
    connection = served.connect()
    connection.request("POST", "/api/memory/save", json.dumps({"text": "The last word."}),
                       {"Content-Type": "application/json", "Authorization": f"Bearer {served.token}"})
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 201, body
    crowd.end()
    connection.request("GET", "/api/stats")
    counts = json.loads(connection.getresponse().read())["database"]
    connection.close()

    assert crowd.wrong == []
    assert len(answered) == READERS and min(answered) > 5
    observations = [ident for kind, ident, _ in heard if kind == "observation"]
    prompts = [title for kind, _, title in heard if kind == "prompt"]
    assert len(saved) > 20 and len(prompted) > 20
    assert sorted(observations) == sorted(saved)
    assert sorted(prompts) == sorted(prompted)
    assert (counts["observations"], counts["prompts"]) == (5 + len(saved) + 1, 2 + len(prompted))
    assert cut or SECONDS < 15
    assert all(seconds < 15 for seconds in cut)
    assert max(slowest) < 10    # so long a slow client may take for its own request
    middle = [size for moment, size in memory if SECONDS - STRETCH <= moment < SECONDS - STRETCH + 5]
    last = [size for moment, size in memory if moment >= SECONDS - 5]
    print(f"{sum(answered)} answers, slowest {max(slowest):.2f} s; {len(saved)} saved, {len(prompted)} prompts; "
          f"memory {statistics.median(middle) / 1e6:.1f} → {statistics.median(last) / 1e6:.1f} MB; {len(cut)} cut off")
    assert statistics.median(last) <= GROWTH * statistics.median(middle)


@only_executable
def test_fifty_that_send_a_byte_a_second_hold_up_nobody(served: Served) -> None:
    """They are cut off after their ten seconds; until then everybody else is answered as if they were not there."""
    crowd = Crowd()
    cut: list[float] = []
    connection = served.connect()

    def answers() -> float:
        taken = []
        for _ in range(50):
            started = time.monotonic()
            connection.request("GET", "/api/search?query=prices")
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
            taken.append(time.monotonic() - started)
        return statistics.median(taken)

    before = answers()
    crowd.add(lambda number: dripping(served, crowd, cut), 50)
    time.sleep(2)
    during = answers()
    time.sleep(11)
    crowd.end()
    connection.close()
    assert crowd.wrong == []
    assert during < 5 * before + 0.05
    assert len(cut) >= 50 and all(8 < seconds < 15 for seconds in cut[:50])
