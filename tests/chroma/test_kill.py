"""Killed at any moment, worker or helper or both: no process stays, the index opens, nothing is missing from it."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path

import pytest

from fake_chroma import filled, until
from memlite.chroma import sync
from memlite.chroma.engine import Engine
from memlite.store.database import open_database
from shop_store import observed, store
from worker_process import WorkerProcess

ROUNDS = int(os.environ.get("MEMLITE_KILLS", "6"))


def processes_of(home: str) -> list[int]:
    """The processes that were started for this data directory."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                line = Path("/proc", name, "cmdline").read_bytes()
                state = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[0]
                if home.encode() in line and state != "Z":
                    found.append(int(name))
            except OSError:
                continue
    return found


@pytest.mark.parametrize("victim", ["worker", "helper", "both"])
def test_kill_leaves_no_process_and_loses_no_record(home: str, environment: dict[str, str], victim: str,
                                                    engine_for: Callable[..., Engine]) -> None:
    """While records come in and queries are asked."""
    chance = random.Random(victim)
    number = 0
    for _ in range(max(1, ROUNDS // 3)):
        with WorkerProcess(home, **environment) as worker:
            stop = threading.Event()

            def ask(worker: WorkerProcess = worker, stop: threading.Event = stop) -> None:
                while not stop.is_set():
                    connection = worker.connect()
                    try:
                        connection.request("GET", "/api/search?query=login")
                        connection.getresponse().read()
                    except (OSError, HTTPException):
                        return
                    finally:
                        connection.close()

            thread = threading.Thread(target=ask)
            thread.start()
            for _ in range(40):
                number += 1
                store(home, observed(f"Login number {number} fails", number))
            until(lambda: worker.get("/health")["chroma"]["state"] == "ready")
            helper = worker.get("/health")["chroma"]["pid"]
            time.sleep(chance.random())
            if victim in ("worker", "both"):
                worker.process.kill()
            if victim in ("helper", "both"):
                os.kill(helper, signal.SIGKILL)
            if victim == "helper":
                found = worker.get("/api/search?query=login&limit=5")
                assert found["count"] == 5   # the words' hits at least
                until(lambda: worker.get("/health")["chroma"]["pid"] not in (None, helper))  # noqa: B023
                worker.process.kill()
            killed = time.monotonic()
            until(lambda: not processes_of(home))
            assert time.monotonic() - killed < 2
            stop.set()
            thread.join(20)
    engine = filled(engine_for(home))
    with open_database(home) as database:
        keys = [row[0] for row in database.rows("SELECT key FROM catalogue")]
    assert len(keys) == number == engine.count
    where = [sync.vector_id(engine._position.owner, key) for key in keys]
    helper_process = engine._helper
    assert helper_process is not None
    known = helper_process.call("near", 20, text="login", where=[], also=where, most=1)["near"]
    assert set(known) == set(where)
