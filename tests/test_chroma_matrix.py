"""Every way of asking × every state of Chroma × filters: the route, the results, and what the answer says of itself."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_chroma import FakeChroma, filled, until
from memlite.chroma.engine import Engine
from memlite.search.controller import Answer, search
from memlite.search.request import SearchRequest
from memlite.search.semantic import Semantic
from memlite.store.database import open_database
from shop_store import BEGIN, BOAT, fill, observed, store

# What each state of Chroma makes of a query: (used, degraded, part of the reason; None: no reason).
STATES: dict[str, tuple[str, bool, str | None]] = {
    "absent": ("keyword", False, None),
    "off": ("keyword", False, None),
    "healthy": ("hybrid", False, None),
    "empty": ("hybrid", False, None),
    "partly filled": ("hybrid", False, "1 record not in the index of meanings yet"),
    "raising": ("keyword", True, "no such table"),
    "hanging": ("keyword", True, "did not answer within"),
    "dying in a query": ("keyword", True, "has ended"),
    "killed": ("keyword", True, ""),
    "wrong dimension": ("keyword", True, "dimension"),
    "locked by another": ("keyword", True, "another process has the index open"),
    "talking garbage": ("keyword", True, "did not answer within"),
}
FILTERS: dict[str, dict[str, Any]] = {
    "no filter": {}, "kind": {"kinds": ("observation",)}, "type": {"types": ("decision", "bugfix")},
    "concept": {"concepts": ("trade-off", "gotcha")}, "type or concept": {
        "types": ("bugfix",), "concepts": ("trade-off",), "either": True},
    "file": {"files": ("prices.py",)}, "project": {"roots": ("/r/shop",)}, "unknown project": {"roots": ("/r/none",)},
    "dates": {"since": BEGIN + 60_000, "until": BEGIN + 200_000},
    "all of them": {"kinds": ("observation",), "types": ("bugfix", "decision"), "files": ("prices.py",),
                    "roots": ("/r/shop",), "since": BEGIN}}
QUERY = "comma prices amounts"      # `amounts` means prices to the fake


@pytest.fixture
def chroma(tmp_path: Path) -> FakeChroma:
    return FakeChroma(tmp_path / "fake")


@pytest.fixture
def engine(home: str, chroma: FakeChroma, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An engine in the state that the test's parameter names."""
    fill(home)
    state = request.param
    if state == "absent":
        chroma.python.unlink()
    found = chroma.engine(home)
    if state == "off":
        found.state = "off"
        found.start()
    elif state == "absent":
        found.start()
    elif state == "locked by another":
        chroma.behave("locked")
        found.start()
        until(lambda: found.state == "failed")
    elif state == "partly filled":
        filled(found)
        chroma.behave("busy")
        store(home, observed("Nothing like it", 90), BOAT)
        until(lambda: found.waiting == 1)
    else:
        filled(found)
        chroma.behave({"empty": "empty", "raising": "raise", "hanging": "hang", "dying in a query": "die",
                       "wrong dimension": "dimension", "talking garbage": "garbage"}.get(state, "well"))
        if state == "killed":
            os.kill(found.status()["pid"], signal.SIGKILL)
            until(lambda: found.status()["processes"] == 0)
    found.test_state = state  # type: ignore[attr-defined]
    yield found
    chroma.behave("well")
    found.close()


def asked(home: str, semantic: Semantic | None, query: str, **fields: Any) -> Answer:
    with open_database(home) as database:
        return search(database, SearchRequest(query=query, **fields), semantic=semantic)


def refs(answer: Answer) -> list[str]:
    return [hit.record.ref for hit in answer.hits]


@pytest.mark.parametrize("engine", STATES, indirect=True)
@pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS)
def test_query_gets_its_keyword_hits_and_says_how(home: str, engine: Engine, filters: dict[str, Any]) -> None:
    """Whatever state Chroma is in."""
    words = refs(asked(home, None, QUERY, **filters))
    assert bool(words) == (filters != FILTERS["unknown project"])
    answer = asked(home, engine, QUERY, **filters)
    used, degraded, reason = STATES[engine.test_state]  # type: ignore[attr-defined]
    assert set(words) <= set(refs(answer))
    if used == "keyword":
        assert refs(answer) == words
    told = (answer.used, answer.degraded)
    if filters == FILTERS["unknown project"] and engine.test_state in (  # type: ignore[attr-defined]
            "raising", "hanging", "dying in a query", "wrong dimension", "talking garbage"):
        assert told == ("hybrid", False)    # no project, nothing to ask Chroma for
        return
    assert told == (used, degraded)
    if reason is None:
        assert answer.reason is None
    else:
        assert reason in (answer.reason or "")


@pytest.mark.parametrize("engine", STATES, indirect=True)
def test_filters_alone_never_reach_chroma(home: str, chroma: FakeChroma, engine: Engine) -> None:
    """Not even one that hangs; the control is in the log of a query."""
    before = chroma.log().count("near")
    for filters in FILTERS.values():
        answer = asked(home, engine, "", **filters)
        assert (answer.used, answer.degraded, answer.reason) == ("filter", False, None)
    assert chroma.log().count("near") == before
    asked(home, engine, "comma")
    if engine.test_state in ("healthy", "raising", "hanging"):  # type: ignore[attr-defined]
        assert chroma.log().count("near") == before + 1


@pytest.mark.parametrize("engine", ["healthy"], indirect=True)
@pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS)
def test_what_only_meaning_finds_obeys_the_filters(home: str, engine: Engine, filters: dict[str, Any]) -> None:
    """The words alone find nothing; by meaning exactly the records that the filter admits and the fake thinks alike."""
    assert refs(asked(home, None, "amounts", **filters)) == []
    admitted = set(refs(asked(home, None, "", limit=100, **filters)))
    alike = {"1", "2", "3", "P1", "S1"}     # those that speak of prices
    assert set(refs(asked(home, engine, "amounts", **filters))) == admitted & alike
    assert set(refs(asked(home, engine, "amounts", mode="semantic", **filters))) == admitted & alike


@pytest.mark.parametrize("engine", STATES, indirect=True)
def test_pure_modes(home: str, engine: Engine) -> None:
    """keyword is never degraded; semantic says when it had to give keyword hits instead."""
    answer = asked(home, engine, QUERY, mode="keyword")
    assert (answer.used, answer.degraded, answer.reason) == ("keyword", False, None) and answer.hits
    answer = asked(home, engine, QUERY, mode="semantic")
    if STATES[engine.test_state][0] == "hybrid":  # type: ignore[attr-defined]
        assert (answer.used, answer.degraded) == ("semantic", False)
        assert bool(answer.hits) == (engine.test_state != "empty")  # type: ignore[attr-defined]
    else:
        assert (answer.used, answer.degraded) == ("keyword", True) and answer.hits and answer.reason


@pytest.mark.parametrize("engine", ["healthy"], indirect=True)
def test_zero_hits_of_a_healthy_chroma_are_final(home: str, engine: Engine) -> None:
    """No word and no meaning: nothing is made up."""
    answer = asked(home, engine, "zebra crossing")
    assert (refs(answer), answer.total, answer.used, answer.degraded) == ([], 0, "hybrid", False)


@pytest.mark.parametrize("engine", ["hanging"], indirect=True)
def test_hanging_chroma_is_not_waited_for(home: str, chroma: FakeChroma, engine: Engine) -> None:
    """The answers of many at once come while it still hangs; after three it is ended and left alone for a while."""
    answers: list[Answer] = []
    threads = [threading.Thread(target=lambda: answers.append(asked(home, engine, QUERY))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(answers) == 4 and all(answer.hits and answer.degraded for answer in answers)
    until(lambda: engine.status()["processes"] == 0)
    near = chroma.log().count("near")
    assert asked(home, engine, QUERY).degraded and chroma.log().count("near") == near


@pytest.mark.parametrize("engine", ["dying in a query"], indirect=True)
def test_chroma_that_died_comes_back(home: str, chroma: FakeChroma, engine: Engine) -> None:
    """After a pause, with all it knew and what came in meanwhile."""
    assert asked(home, engine, QUERY).degraded
    store(home, observed("A vessel", 9))
    chroma.behave("well")
    until(lambda: engine.state == "ready" and not engine.waiting)
    answer = asked(home, engine, "seaworthy vessel")
    assert (answer.used, answer.degraded) == ("hybrid", False) and {"5", "6"} <= set(refs(answer))
