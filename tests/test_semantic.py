"""semantic: words and meanings are joined; whatever happens to the meanings, no hit of the words is lost."""

from __future__ import annotations

from typing import Any

import pytest

from memlite.errors import SemanticUnavailable
from memlite.model import OBSERVATION, SUMMARY
from memlite.search.controller import Answer, search
from memlite.search.request import DATE_ASC, SearchRequest
from memlite.search.semantic import NEAREST, Semantic
from memlite.store import index
from memlite.store.database import open_database
from memlite.store.find import Filter
from shop_store import BEGIN, BOAT, fill, observed, store

NOW = BEGIN + 3_600_000
HULL = index.key(OBSERVATION, 5)
CENTS = index.key(OBSERVATION, 3)
FLOATS = index.key(SUMMARY, 2)


class Meanings(Semantic):
    """An index that answers what it is told to, and keeps what it was asked."""

    def __init__(self, near: dict[int, float], failure: SemanticUnavailable | None = None, gap: str = "") -> None:
        self.near, self.failure, self.lacks = near, failure, gap
        self.asked: list[tuple[str, Filter, list[int], int]] = []

    def nearest(self, text: str, where: Filter, also: list[int], limit: int) -> dict[int, float]:
        self.asked.append((text, where, also, limit))
        if self.failure:
            raise self.failure
        return dict(self.near)

    def gap(self) -> str:
        return self.lacks


def asked(home: str, query: str, semantic: Semantic | None, **fields: Any) -> Answer:
    with open_database(home) as database:
        return search(database, SearchRequest(query=query, **fields), semantic=semantic, now=NOW)


def refs(answer: Answer) -> list[str]:
    return [hit.record.ref for hit in answer.hits]


@pytest.fixture(autouse=True)
def filled(home: str) -> None:
    fill(home)


def test_meaning_finds_what_no_word_says(home: str) -> None:
    """The words alone find nothing; the first of the joined answer is the nearest record."""
    assert refs(asked(home, "vessel seaworthy", None)) == []
    answer = asked(home, "vessel seaworthy", Meanings({HULL: 0.5, CENTS: 0.3}))
    assert refs(answer) == ["5", "3"]
    assert (answer.used, answer.degraded, answer.reason, answer.total) == ("hybrid", False, None, 2)


def test_record_without_vector_is_still_found_by_its_words(home: str) -> None:
    """An index that knows one other record only hides nothing, and the answer says what it lacks."""
    words = refs(asked(home, "comma prices", None))
    answer = asked(home, "comma prices", Meanings({HULL: 0.3}, gap="7 records are not in it yet"))
    assert set(refs(answer)) == {*words, "5"} and len(words) > 2
    assert answer.reason == "7 records are not in it yet"


def test_what_is_not_like_the_question_is_no_hit(home: str) -> None:
    """The nearest of an index may be far; zero hits are then the answer."""
    answer = asked(home, "zebra crossing", Meanings({HULL: 0.05, CENTS: -0.1}))
    assert (refs(answer), answer.total, answer.used) == ([], 0, "hybrid")


def test_meaning_sets_the_order_of_what_the_words_found(home: str) -> None:
    """Of two that hold the same words the one nearer in meaning comes first, whichever it is."""
    words = refs(asked(home, "price", None, kinds=(OBSERVATION,)))
    for ref in words[:2]:
        near = {index.key(OBSERVATION, int(other)): 0.9 if other == ref else 0.0 for other in words}
        assert refs(asked(home, "price", Meanings(near), kinds=(OBSERVATION,)))[0] == ref


def test_nothing_outside_the_filter_comes_in(home: str) -> None:
    """An index that is behind the store may name anything; what was forgotten or belongs elsewhere is left out."""
    near = {HULL: 0.9, CENTS: 0.8, 999_999 * 4: 0.9}
    assert refs(asked(home, "vessel", Meanings(near), roots=("/r/shop",))) == ["3"]
    assert refs(asked(home, "vessel", Meanings(near), types=("feature",))) == ["5"]
    assert refs(asked(home, "vessel", Meanings(near))) == ["5", "3"]


def test_filters_reach_the_index(home: str) -> None:
    """They are for the query among the vectors, not for its result."""
    index_of_meanings = Meanings({})
    asked(home, "comma type:decision", index_of_meanings, roots=("/r/shop",), branches=("main",))
    text, where, also, limit = index_of_meanings.asked[0]
    assert (text, limit) == ("comma", NEAREST)
    assert (where.branches, where.projects, where.also and where.also.types) == (("main",), (1,), ("decision",))
    assert also == []  # the words found nothing under that filter


def test_words_best_hits_are_judged_by_their_meaning_too(home: str) -> None:
    """Even when they are not among the nearest."""
    index_of_meanings = Meanings({})
    found = asked(home, "comma prices", index_of_meanings)
    assert {index.reference(key) for key in index_of_meanings.asked[0][2]} == {
        (hit.record.KIND, hit.record.id) for hit in found.hits}


def test_index_looks_back_90_days_unless_dates_are_named(home: str) -> None:
    """By the request, in the query or in words; what is older is still found by its words."""
    index_of_meanings = Meanings({})
    day = 86_400_000
    asked(home, "comma", index_of_meanings)
    assert index_of_meanings.asked[-1][1].since == NOW - 90 * day
    for fields in ({"query": "comma", "since": 5}, {"query": "comma", "until": NOW},
                   {"query": "comma since:2020-01-01"}, {"query": "comma last year"}):
        request = dict(fields)
        asked(home, str(request.pop("query")), index_of_meanings, **request)
        assert index_of_meanings.asked[-1][1].since == fields.get("since"), fields
    index_of_meanings.days = 0
    asked(home, "comma", index_of_meanings)
    assert index_of_meanings.asked[-1][1].since is None
    store(home, observed("An old comma", -200 * 24 * 60))
    assert "6" in refs(asked(home, "comma", Meanings({})))


def test_modes_are_pure(home: str) -> None:
    """keyword never asks for meanings; semantic gives the nearest and nothing else, best first."""
    index_of_meanings = Meanings({HULL: 0.4, FLOATS: 0.6, CENTS: 0.1})
    answer = asked(home, "comma prices", index_of_meanings, mode="keyword")
    assert index_of_meanings.asked == [] and answer.used == "keyword" and len(answer.hits) > 2
    answer = asked(home, "comma prices", index_of_meanings, mode="semantic")
    assert refs(answer) == ["S2", "5"]
    assert (answer.used, answer.degraded, answer.total) == ("semantic", False, 2)
    assert refs(asked(home, "comma prices", index_of_meanings, mode="semantic", order=DATE_ASC)) == ["5", "S2"]


def test_query_without_words_never_asks(home: str) -> None:
    """Filters alone are the store's business."""
    index_of_meanings = Meanings({HULL: 0.9})
    for query in ("", "type:decision"):
        assert asked(home, query, index_of_meanings).used == "filter"
    assert index_of_meanings.asked == []


@pytest.mark.parametrize("mode", ["auto", "semantic"])
def test_failure_gives_what_the_words_found_and_the_reason(home: str, mode: str) -> None:
    """The same hits in the same order as without any index of meanings."""
    words = refs(asked(home, "comma prices", None, mode="keyword"))
    answer = asked(home, "comma prices", Meanings({}, SemanticUnavailable("it hangs")), mode=mode)
    assert refs(answer) == words != []
    assert (answer.used, answer.degraded, answer.reason) == ("keyword", True, "it hangs")


def test_index_that_never_was_is_missed_by_nobody(home: str) -> None:
    """Unless the caller insists on meaning."""
    for semantic in (None, Meanings({}, SemanticUnavailable("none here", absent=True))):
        answer = asked(home, "comma", semantic)
        assert (answer.used, answer.degraded, answer.reason) == ("keyword", False, None)
        answer = asked(home, "comma", semantic, mode="semantic")
        assert (answer.used, answer.degraded) == ("keyword", True) and answer.reason and answer.hits


def test_exact_phrases_and_exclusions_hold_for_meanings_too(home: str) -> None:
    """What does not hold the phrase, or holds the word that was excluded, is no hit however near it is."""
    near = {HULL: 0.9, CENTS: 0.8}
    assert refs(asked(home, 'vessel "integers of cents"', Meanings(near))) == ["3"]
    assert refs(asked(home, "vessel -cents", Meanings(near))) == ["5"]


def test_neighbours_of_a_near_record_gain(home: str) -> None:
    """In the same session; the control lies as near but has no such neighbour."""
    for number in range(6):
        store(home, observed(f"Log {number}", 20 + number), BOAT)   # observations 6–11
    keys = {ref: index.key(OBSERVATION, ref) for ref in (6, 10, 11)}
    answer = asked(home, "voyage", Meanings({keys[11]: 0.6, keys[10]: 0.3, keys[6]: 0.3}))
    assert refs(answer) == ["11", "10", "6"]
    assert answer.hits[1].score and answer.hits[1].score > (answer.hits[2].score or 0)


def test_best_by_meaning_alone_is_only_as_sure_as_it_is_near(home: str) -> None:
    """A far one is shown as no good match."""
    assert not asked(home, "vessel", Meanings({HULL: 0.3})).confident
    assert asked(home, "vessel", Meanings({HULL: 0.6})).confident
