"""Many clients of one worker for a minute: none is refused, no event is lost, the memory stays as it is.

Environment: MEMLITE_LOAD_SECONDS (how long, by default 60; the memory is judged from 40 on).
"""

from __future__ import annotations

import http.client
import json
import os
import random
import socket
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from running import Program, kill

from memlite.store import write
from memlite.store.database import open_database
from shop_store import SHOP, fill, observed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the memory in use from /proc")
SECONDS = float(os.environ.get("MEMLITE_LOAD_SECONDS", "60"))
READERS, WRITERS, LISTENERS, SLOW = 32, 4, 3, 5
PATHS = ("/api/search?query=part+seven", "/api/search?limit=5", "/api/timeline?anchor=3", "/health",
         "/api/observation/2", "/api/contextualize", "/api/projects", "/api/search?query=prices&output=markdown")


class Load:
    """A worker and what its clients have met with."""

    def __init__(self, memlite: Program, home: str) -> None:
        self.process = memlite.start(home, "serve", "--port", "0")
        assert self.process.stdout is not None
        parts = urlsplit(self.process.stdout.readline().decode().strip())
        self.address = (parts.hostname or "", parts.port or 0)
        self.token = Path(home, "token").read_text(encoding="ascii").strip()
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.program = int(children[0]) if children else self.process.pid   # the executable's launcher has a child
        self.end = time.monotonic() + SECONDS
        self.faults: list[object] = []
        self.saved: list[int] = []
        self.heard: list[list[int]] = [[] for _ in range(LISTENERS)]
        self.times: list[float] = []

    def connect(self) -> http.client.HTTPConnection:
        """A connection that is kept alive."""
        return http.client.HTTPConnection(*self.address, timeout=30)

    def read(self, number: int) -> None:
        """A client that reads without pause."""
        connection, chance = self.connect(), random.Random(number)
        while time.monotonic() < self.end:
            begun = time.monotonic()
            try:
                connection.request("GET", chance.choice(PATHS))
                answer = connection.getresponse()
                body = answer.read()
                if answer.status != 200:
                    self.faults.append((answer.status, body))
            except OSError as failure:
                self.faults.append(failure)
                connection.close()
            self.times.append(time.monotonic() - begun)
        connection.close()

    def save(self, number: int) -> None:
        """A client that stores something thirty times a second at most."""
        connection = self.connect()
        count = 0
        while time.monotonic() < self.end:
            count += 1
            body = json.dumps({"text": f"Writer {number} has found out thing {count}.", "project": "shop"})
            connection.request("POST", "/api/memory/save", body, {"Content-Type": "application/json",
                                                                  "Authorization": f"Bearer {self.token}"})
            answer = connection.getresponse()
            told = json.loads(answer.read())
            if answer.status == 201:
                self.saved.append(told["id"])
            else:
                self.faults.append((answer.status, told))
            time.sleep(0.03)
        connection.close()

    def listen(self, number: int) -> None:
        """A client of the stream, until the worker ends it."""
        connection = self.connect()
        connection.request("GET", "/stream", headers={"Last-Event-ID": "0-0-0-0-0"})
        answer = connection.getresponse()
        while line := answer.readline():
            if line.startswith(b"data: ") and (told := json.loads(line[6:])).get("kind") == "observation":
                self.heard[number].append(int(told["id"]))
        connection.close()

    def dawdle(self) -> None:
        """A client that sends a byte a second."""
        with socket.create_connection(self.address) as client:
            for byte in b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n" * 100:
                if time.monotonic() > self.end:
                    return
                try:
                    client.send(bytes([byte]))
                except OSError:
                    return   # it was cut off, as it should be
                time.sleep(1)

    def memory(self) -> float:
        """What the worker has resident, in MB."""
        return int(Path(f"/proc/{self.program}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.fixture
def load(memlite: Program, tmp_path: Path) -> Iterator[Load]:
    """A worker over a thousand memories."""
    home = str(tmp_path / "home")
    fill(home)
    with open_database(home) as database, database.transaction():
        for number in range(1000):
            assert write.store(database, observed(f"Part {number} of the shop now has prices", number), SHOP)
    load = Load(memlite, home)
    yield load
    kill(load.process)


def test_many_readers_and_writers_meet_no_error_and_no_event_is_lost(load: Load) -> None:
    """32 read, 4 write, 3 listen and 5 dawdle."""
    listeners = [threading.Thread(target=load.listen, args=(number,)) for number in range(LISTENERS)]
    clients = [threading.Thread(target=load.read, args=(number,)) for number in range(READERS)]
    clients += [threading.Thread(target=load.save, args=(number,)) for number in range(WRITERS)]
    clients += [threading.Thread(target=load.dawdle) for _ in range(SLOW)]
    for thread in [*listeners, *clients]:
        thread.start()
    used: list[float] = []
    while time.monotonic() < load.end:
        time.sleep(0.5)
        used.append(load.memory())
    for thread in clients:
        thread.join(60)
    deadline = time.monotonic() + 10
    while not all(set(load.saved) <= set(heard) for heard in load.heard) and time.monotonic() < deadline:
        time.sleep(0.1)
    load.process.terminate()
    assert load.process.wait(10) == 0
    for thread in listeners:
        thread.join(10)
    assert load.faults == []
    assert len(load.times) > 10 * READERS and len(load.saved) > 10 * WRITERS
    for heard in load.heard:
        assert set(load.saved) <= set(heard)
        assert heard == sorted(set(heard))   # each once, in order
    if SECONDS >= 40:
        half = used[len(used) // 2:]
        third = len(half) // 3
        first, last = statistics.median(half[:third]), statistics.median(half[-third:])
        assert last <= 1.05 * first, f"from {first:.1f} to {last:.1f} MB"
    assert statistics.median(load.times) < 2
