"""Answers given before: given again while nothing has changed, and never when anything has."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from webtest import TestApp

from fake_chroma import FakeChroma, filled, until
from memlite.chroma import sync
from memlite.search import controller
from memlite.serve import access_token, calls, given
from memlite.serve.app import application
from memlite.serve.calls import Worker
from memlite.store import forget
from memlite.store.database import open_database
from shop_store import BOAT, fill, observed, store

ASKED = "/api/search?query=prices"


class Counted:
    """An application over the shop's store that counts the searches it makes."""

    def __init__(self, home: str, patch: pytest.MonkeyPatch) -> None:
        self.searches = 0
        self.degraded = False
        self.worker = Worker(home)
        self.app = TestApp(application(self.worker), extra_environ={"HTTP_HOST": "127.0.0.1:37777",
                                                                    "SERVER_PORT": "37777"})
        patch.setattr(calls.controller, "search", self.search)

    def search(self, *arguments: Any, **named: Any) -> controller.Answer:
        """As the controller does."""
        self.searches += 1
        found = WHOLE(*arguments, **named)
        found.degraded = self.degraded
        return found

    def ids(self, path: str = ASKED) -> list[str]:
        """Of the results."""
        return [item["id"] for item in self.app.get(path).json["results"]]


WHOLE = controller.search


@pytest.fixture
def counted(home: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counted]:
    fill(home)
    found = Counted(home, monkeypatch)
    yield found
    found.worker.close()


def test_the_same_is_searched_for_once(counted: Counted) -> None:
    """Another question, form or kind of answer is another one."""
    first = counted.app.get(ASKED)
    assert counted.app.get(ASKED).body == first.body and counted.searches == 1
    for path in (f"{ASKED}&limit=1", f"{ASKED}&output=markdown", "/api/decisions?query=prices"):
        assert counted.app.get(path).body != first.body
    assert counted.app.get(ASKED, headers={"Accept": "text/markdown"}).content_type == "text/markdown"
    assert counted.searches == 5
    assert counted.app.get("/api/v1/search?query=prices").body == first.body


def test_what_is_stored_or_forgotten_is_seen_at_once(counted: Counted, home: str) -> None:
    """Whoever does it: another process, as here by a connection of its own, or the worker."""
    before = counted.ids()
    new = store(home, observed("Prices rounded up", 50))
    assert set(counted.ids()) == {*before, str(new)}
    with open_database(home) as database:
        forget.forget(database, [("observation", new)])
    assert counted.ids() == before
    token = {"Authorization": f"Bearer {access_token.ensure(home)}"}
    made = counted.app.post_json("/api/memory/save", {"text": "prices in euro", "project": "shop"}, headers=token)
    assert str(made.json["id"]) in counted.ids()


def test_another_file_in_the_stores_place_is_noticed(counted: Counted, home: str, tmp_path: Any) -> None:
    """A restored copy, say."""
    assert counted.ids()
    other = str(tmp_path / "other")
    store(other, observed("Prices of another shop", 1))
    with open_database(other) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for name in ("memlite.db-wal", "memlite.db-shm"):
        (tmp_path / home / name).unlink(missing_ok=True)
    (tmp_path / "other" / "memlite.db").replace(f"{home}/memlite.db")
    assert counted.ids() == ["1"]


def test_errors_degraded_and_large_answers_are_not_kept(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one may be better; and memory has its bounds."""
    counted.degraded = True
    assert counted.ids() == counted.ids() and counted.searches == 2
    counted.degraded = False
    for _ in range(2):
        assert counted.app.get(f"{ASKED}&limit=0", status=400).json["code"]
    monkeypatch.setattr(given, "MOST", 10)
    assert counted.ids() == counted.ids() and counted.searches == 4


def test_only_so_many_are_kept_and_only_so_long(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest go first; what an answer says of "yesterday" goes by the clock."""
    for query in ("one", "two"):
        counted.app.get(f"/api/search?query={query}")
    monkeypatch.setattr(given, "MOST", counted.worker.given._size)
    for query in ("six", "two", "one"):  # as long as the others
        counted.app.get(f"/api/search?query={query}")
    assert counted.searches == 4
    now = time.monotonic()
    monkeypatch.setattr(given.time, "monotonic", lambda: now + given.SECONDS + 1)
    counted.app.get("/api/search?query=one")
    assert counted.searches == 5


def test_without_a_store_nothing_is_kept(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the first memory is found at once."""
    counted = Counted(home, monkeypatch)
    assert counted.ids() == counted.ids() == []
    store(home, observed("Prices", 1))
    assert counted.ids() == ["1"]
    counted.worker.close()


def test_what_was_asked_counts_too(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long question is kept beside its answer; of an Accept header only what it decides, and nothing beyond its
    time."""
    monkeypatch.setattr(given, "MOST", 20_000)
    for number in range(30):
        counted.app.get(f"{ASKED}&branch={'x' * 3000}{number}")
    assert 0 < len(counted.worker.given._kept) <= 6
    searches = counted.searches
    for number in range(30):
        counted.app.get(ASKED, headers={"Accept": f"application/json, x/{'y' * 3000}{number}"})
    assert counted.searches == searches + 1
    now = time.monotonic()
    monkeypatch.setattr(given.time, "monotonic", lambda: now + given.SECONDS + 1)
    counted.app.get(ASKED)
    assert (len(counted.worker.given._kept), counted.searches) == (1, searches + 2)


def test_what_enters_the_index_of_meanings_is_seen(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it holds as many records as before: one was forgotten, one stored, and asked for before they were in."""
    fill(home)
    counted = Counted(home, monkeypatch)
    counted.worker.semantic = filled(FakeChroma(tmp_path / "fake").engine(home))
    asked = "/api/search?query=seaworthy"    # which means hull to the fake
    [hull] = [item["id"] for item in counted.app.get(f"{asked}&mode=semantic").json["results"]
              if item["title"] == "Hull of the boat"]
    looks, whole = [], sync.waiting
    monkeypatch.setattr(sync, "waiting", lambda *given: looks.append(given) or 0)    # it has not looked yet
    with open_database(home) as database:
        forget.forget(database, [("observation", int(hull))])
    new = store(home, observed("Hull repaired", 60), BOAT)
    assert str(new) not in counted.ids(asked)
    monkeypatch.setattr(sync, "waiting", whole)
    until(lambda: str(new) in counted.ids(asked))
    counted.worker.close()
