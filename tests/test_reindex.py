"""reindex: the index is made anew in portions while the store is in use."""

from __future__ import annotations

import pytest

from memlite.model import Observation, Project, Prompt, Session
from memlite.search.controller import search
from memlite.search.request import SearchRequest
from memlite.store import index, reindex, write
from memlite.store.database import Database, open_database
from stored import sound

OWNER = Session(session_id="s", project=Project(root="/code/shop", name="shop"))


def observation(number: int) -> Observation:
    """One of many: a word all share, a word of its own."""
    return Observation(title=f"common number{number}", created_at_epoch=number, uuids=[f"u{number}"])


@pytest.fixture
def filled(fresh_db: Database) -> Database:
    """Ten observations and three prompts."""
    with fresh_db.transaction():
        for number in range(10):
            write.store(fresh_db, observation(number), OWNER)
        for number in range(3):
            write.store(fresh_db, Prompt(text=f"common prompt{number}", created_at_epoch=number, uuids=[f"p{number}"]),
                        OWNER)
    return fresh_db


def found(database: Database, query: str) -> list[tuple[str, float | None]]:
    """Ids and scores of the answer."""
    return [(hit.record.ref, hit.score) for hit in search(database, SearchRequest(query=query, limit=50)).hits]


def test_rebuilt_index_gives_the_same_answers_in_the_same_order(filled: Database) -> None:
    """Dropped and made anew, whatever the portions."""
    before = [found(filled, query) for query in ("common", "number3", "prompt1", "nothing")]
    assert before[0] and before[1][0][0] == "4"
    seen: list[int] = []
    assert reindex.rebuild(filled, seen.append) == 13
    assert sum(seen) == 13 and reindex.waiting(filled) == 0
    assert [found(filled, query) for query in ("common", "number3", "prompt1", "nothing")] == before
    assert sound(filled)


def test_newest_are_found_first_and_the_answer_says_what_waits(filled: Database) -> None:
    """A portion at a time, from the newest on; new records need not wait."""
    with filled.transaction():
        reindex.begin(filled)
    assert found(filled, "common") == []
    with filled.transaction():
        reindex.advance(filled, 4)
        write.store(filled, observation(10), OWNER)
    answer = search(filled, SearchRequest(query="common", limit=50))
    assert sorted(int(hit.record.ref) for hit in answer.hits) == [7, 8, 9, 10, 11]
    assert answer.reason and "made anew" in answer.reason
    reindex.finish(filled)
    answer = search(filled, SearchRequest(query="common", limit=50))
    assert len(answer.hits) == 14 and answer.reason is None


def test_record_changed_while_it_waits_is_entered_once(filled: Database) -> None:
    """A prompt that gains its transcript row meanwhile enters the index then, and not again."""
    typed = Prompt(text="typed early", created_at_epoch=50, prompt_id="x")
    with filled.transaction():
        write.store(filled, typed, OWNER)
        reindex.begin(filled)
        write.store(filled, Prompt(text="typed early", created_at_epoch=50, prompt_id="x", uuids=["row"]), OWNER)
    reindex.finish(filled)
    assert [ref for ref, _ in found(filled, "typed early")] == [f"P{typed.id}"]
    assert sound(filled)


def test_opening_an_older_index_enters_only_a_portion(filled: Database, home: str,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that opens a large store after an update does not wait for the whole index."""
    monkeypatch.setattr(index, "VERSION", "999")
    monkeypatch.setattr(reindex, "PORTION", 5)
    monkeypatch.setattr(reindex.advance, "__defaults__", (5,))
    filled.close()
    with open_database(home) as database:
        assert index.is_current(database)
        assert reindex.waiting(database) > 0
        assert len(found(database, "common")) == 5
        reindex.finish(database)
        assert len(found(database, "common")) == 13
