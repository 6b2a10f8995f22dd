"""A Chroma server that several people share: each finds their own, filters hold, and leaving leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_meaning import PARAPHRASES, WORK, asked, fill, ids

from fake_chroma import filled, until
from memlite import settings
from memlite.chroma import install, places
from memlite.chroma.engine import Engine
from shop_store import BOAT, observed, store

Make = Callable[..., Engine]


@pytest.fixture
def server(tmp_path: Path, environment: dict[str, str]) -> Iterator[str]:
    """The address of a `chroma run` of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(environment["MEMLITE_CHROMA_PYTHON"]).parent / "chroma"
    process = subprocess.Popen(
        [str(program), "run", "--path", str(tmp_path / "server"), "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path, start_new_session=True)

    def answers() -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    until(answers)
    yield f"http://127.0.0.1:{port}"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_two_stores_share_a_server_without_seeing_each_other(tmp_path: Path, server: str, engine_for: Make) -> None:
    """The same keys, the same project rows, one collection; each answers from its own records alone."""
    mine, theirs = str(tmp_path / "mine"), str(tmp_path / "theirs")
    fill(mine)
    store(theirs, observed("People lose their login", 1))
    engines = {home: filled(engine_for(home, chroma_url=server)) for home in (mine, theirs)}
    for query, expected in PARAPHRASES.items():
        answer = asked(mine, engines[mine], query)
        assert (answer.used, answer.degraded, ids(answer)[0]) == ("hybrid", False, expected)
    answer = asked(theirs, engines[theirs], "users get signed out", mode="semantic")
    assert (ids(answer), answer.hits[0].record.headline) == ([1], "People lose their login")
    assert (engines[mine].count, engines[theirs].count) == (len(WORK), 1)
    assert not Path(mine, "chroma", "index", "chroma.sqlite3").exists()
    store(mine, observed("Money for the boat", 20), BOAT)
    until(lambda: engines[mine].count == len(WORK) + 1)
    assert ids(asked(mine, engines[mine], "rounding errors with currency", roots=("/r/boat",), mode="semantic")) in (
        [], [len(WORK) + 1])
    for engine in engines.values():
        engine.close()
    install.start_over(mine)
    again = filled(engine_for(mine, chroma_url=server))
    assert again.count == len(WORK) + 1
    again.close()
    settings.keep(mine, "chroma_url", server)
    settings.keep(mine, "chroma_python", again._places.python)
    install.disable(mine, print)
    assert not Path(mine, places.FOLDER).exists()
    assert filled(engine_for(theirs, chroma_url=server)).count == 1
    leftover = engine_for(mine, chroma_url=server)
    assert filled(leftover).count == len(WORK) + 1   # none of the old ones beside them


def test_server_that_goes_away_degrades_and_comes_back(home: str, server: str, engine_for: Make) -> None:
    """The words answer meanwhile."""
    fill(home)
    engine = engine_for(home, chroma_url="http://127.0.0.1:9")
    engine._wanted = True
    engine.start()
    until(lambda: engine.state == "failed")
    answer = asked(home, engine, "login", limit=3)
    assert (answer.used, answer.degraded, ids(answer)[0]) == ("keyword", True, 1)
    assert "does not answer" in (answer.reason or "")
    engine._chosen["chroma_url"] = server
    until(lambda: engine.state == "ready" and engine.count == len(WORK))
    assert not asked(home, engine, "login").degraded
