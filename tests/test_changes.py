"""Positions in the store and what came in after them."""

from __future__ import annotations

import pytest

from memlite.model import OBSERVATION, PROMPT, SUMMARY, Prompt
from memlite.store import changes, write
from memlite.store.database import Database
from memlite.store.forget import forget
from shop_store import BEGIN, BOAT, SHOP, fill, observed, store


def sources(found: list[changes.Change]) -> list[str]:
    return [change.source for change in found]


def test_everything_came_in_after_nothing(fresh_db: Database, home: str) -> None:
    fill(home)
    found, at = changes.since(fresh_db, (0, 0, 0, 0, 0), 100)
    assert [(change.source, change.id) for change in found if change.source in (OBSERVATION, SUMMARY, PROMPT)] == [
        (PROMPT, 1), (OBSERVATION, 1), (OBSERVATION, 2), (OBSERVATION, 3), (SUMMARY, 1), (OBSERVATION, 4), (PROMPT, 2),
        (OBSERVATION, 5), (SUMMARY, 2)]
    assert sources(found).count("session_start") == 2
    assert at == changes.position(fresh_db) == (5, 2, 2, 2, 0)
    assert changes.since(fresh_db, at, 100) == ([], at)


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_reading_on_from_any_change_gives_the_rest_once(fresh_db: Database, home: str, limit: int) -> None:
    fill(home)
    whole, _ = changes.since(fresh_db, (0, 0, 0, 0, 0), 100)
    everything = {(change.source, change.id) for change in whole}
    for stop in range(len(whole)):
        seen = [(change.source, change.id) for change in whole[:stop]]
        at = whole[stop - 1].position if stop else (0, 0, 0, 0, 0)
        while True:
            page, at = changes.since(fresh_db, at, limit)
            if not page:
                break
            seen += [(change.source, change.id) for change in page]
        assert len(seen) == len(everything)
        assert set(seen) == everything


def test_the_end_of_a_session_is_a_change(fresh_db: Database, home: str) -> None:
    store(home, observed("Anything", 1))
    at = changes.position(fresh_db)
    with fresh_db.transaction():
        assert write.session_ended(fresh_db, "s-shop", "logout", BEGIN)
        assert not write.session_ended(fresh_db, "unheard-of", "logout", BEGIN)
    found, _ = changes.since(fresh_db, at, 100)
    assert [(change.source, change.value["session_id"], change.value["reason"], change.value["project"])
            for change in found] == [("session_end", "s-shop", "logout", "shop")]


def test_changes_know_their_project(fresh_db: Database, home: str) -> None:
    store(home, observed("In the shop", 1))
    store(home, observed("On the boat", 2), BOAT)
    found, _ = changes.since(fresh_db, (0, 0, 0, 0, 0), 100)
    projects = {change.value.title: change.project for change in found if change.source == OBSERVATION}
    assert projects["In the shop"] != projects["On the boat"]
    assert {change.project for change in found} == set(projects.values())


def test_forgetting_moves_no_position_back(fresh_db: Database, home: str) -> None:
    fill(home)
    at = changes.position(fresh_db)
    forget(fresh_db, [(OBSERVATION, 5), (SUMMARY, 2)])
    assert changes.position(fresh_db) == at
    assert changes.since(fresh_db, at, 100) == ([], at)
    store(home, observed("After the forgetting", 9))
    found, _ = changes.since(fresh_db, at, 100)
    assert [change.value.title for change in found] == ["After the forgetting"]


def test_a_position_of_another_store_counts_as_now(fresh_db: Database, home: str) -> None:
    fill(home)
    beyond = (99, 99, 99, 99, 99)
    assert changes.since(fresh_db, beyond, 100)[0] == []
    store(home, Prompt(text="and then?", created_at_epoch=BEGIN, prompt_number=2), SHOP)
    assert changes.since(fresh_db, (99, 99, 2, 99, 99), 100)[0][0].value.text == "and then?"


def test_positions_are_words_and_back() -> None:
    assert changes.written((5, 2, 2, 2, 0)) == "5-2-2-2-0"
    assert changes.read(" 5-2-2-2-0 ") == (5, 2, 2, 2, 0)


@pytest.mark.parametrize("text", ["", "5", "5-2-2-2", "5-2-2-2-0-1", "5-2--2-0", "a-b-c-d-e", "-1-2-3-4-5",
                                  "5-2-2-2-" + "9" * 30, "٥-2-2-2-0"])
def test_other_words_are_no_position(text: str) -> None:
    assert changes.read(text) is None
