"""repetitions: what tells nothing new comes later."""

from __future__ import annotations

from memlite.model import OBSERVATION, PROMPT, SUMMARY, Memory, Observation, Project, Prompt, Session, Summary
from memlite.search.controller import search
from memlite.search.repetitions import fold
from memlite.search.request import SearchRequest
from memlite.store import write
from memlite.store.database import Database
from memlite.store.find import Found

SHOP = Session(session_id="s-1", project=Project(root="/shop", name="shop"))
TOOL = Session(session_id="s-2", project=Project(root="/tool", name="tool"))


def fill(database: Database, *found: Memory, owner: Session = SHOP) -> None:
    """Store records, each with a transcript row of its own unless it has some."""
    with database.transaction():
        for record in found:
            record.uuids = record.uuids or [f"{owner.session_id}-{getattr(record, 'title', '')}"]
            assert write.store(database, record, owner)


def folded(database: Database, *references: tuple[str, int]) -> tuple[list[tuple[str, int]],
                                                                      dict[tuple[str, int], int]]:
    """The references in their new order, and the counts."""
    rows, similar = fold(database, [Found(kind=kind, id=ident, score=1.0) for kind, ident in references])
    return [(row.kind, row.id) for row in rows], similar


def test_near_duplicates_stand_behind_and_are_counted(fresh_db: Database) -> None:
    """The same headline but for its digits; another type, project or kind is another matter. The newest stands for
    those that answer as well."""
    fill(fresh_db, Observation(title="Run all tests — 297 passed"), Observation(title="run all tests — 309 passed"),
         Observation(title="Prices are parsed"), Observation(title="Run all tests — 1 passed", type="bugfix"),
         Prompt(text="Run all tests — 2 passed"))
    fill(fresh_db, Observation(title="Run all tests — 3 passed"), owner=TOOL)
    given = [(OBSERVATION, 1), (OBSERVATION, 2), (PROMPT, 1), (OBSERVATION, 4), (OBSERVATION, 5), (OBSERVATION, 3)]
    order, similar = folded(fresh_db, *given)
    assert order == [(OBSERVATION, 2), *given[2:], (OBSERVATION, 1)] and similar == {(OBSERVATION, 2): 1}
    rows, similar = fold(fresh_db, [Found(kind=OBSERVATION, id=1, score=1.0), Found(kind=OBSERVATION, id=2, score=0.5)])
    assert ([row.id for row in rows], similar) == ([1, 2], {(OBSERVATION, 1): 1})


def test_headlines_that_tell_nothing_are_no_duplicates(fresh_db: Database) -> None:
    """Dates and single words stand over anything."""
    fill(fresh_db, Observation(title="13 October, 2023"), Observation(title="14 October, 2023"),
         Observation(title="Tests 1"), Observation(title="Tests 2"))
    given = [(OBSERVATION, number) for number in (4, 3, 2, 1)]
    assert folded(fresh_db, *given) == (given, {})


def test_length_of_a_word_is_counted_in_characters(fresh_db: Database) -> None:
    """Of any script: a Korean date, amounts in euro, and words parted by a Japanese space."""
    titles = ("2026년 1월 5일", "2026년 2월 9일", "10 € 20 €", "30 € 40 €", "修复\u3000登录 1", "修复\u3000登录 2")
    fill(fresh_db, *(Observation(title=title) for title in titles))
    given = [(OBSERVATION, number + 1) for number in range(len(titles))]
    assert folded(fresh_db, *given) == (given, {})


def test_what_repeats_the_rows_of_a_better_one_stands_behind(fresh_db: Database) -> None:
    """A summary made of rows that two better ones have shown; with a row of its own it stays."""
    fill(fresh_db, Observation(title="comma parsed", uuids=["a", "b"]), Prompt(text="the comma", uuids=["c"]),
         Summary(request="the comma", completed="parsed", uuids=["c", "b"]), Observation(title="prices", uuids=["d"]))
    given = [(OBSERVATION, 1), (PROMPT, 1), (SUMMARY, 1), (OBSERVATION, 2)]
    assert folded(fresh_db, *given) == ([*given[:2], given[3], given[2]], {})
    assert folded(fresh_db, given[0], given[2])[0] == [given[0], given[2]]


def test_search_says_how_many_are_similar_and_pages_still_fit(fresh_db: Database) -> None:
    """Nothing is lost: the others come later."""
    fill(fresh_db, *(Observation(title=f"Run all tests — {number} passed", created_at_epoch=number)
                     for number in range(5)), Observation(title="Why the tests passed", narrative="A fluke."))
    answer = search(fresh_db, SearchRequest(query="tests passed"))
    assert answer.total == len(answer.hits) == 6
    leader = next(hit for hit in answer.hits if hit.record.headline.startswith("Run"))
    assert leader.similar == 4 and leader.record.headline == "Run all tests — 4 passed"
    assert [hit.similar for hit in answer.hits if hit is not leader] == [0] * 5
    assert "Why" in (answer.hits[0].record.headline + answer.hits[1].record.headline)
    pages = [search(fresh_db, SearchRequest(query="tests passed", limit=2, offset=at)).hits for at in (0, 2, 4)]
    assert [hit.record.ref for page in pages for hit in page] == [hit.record.ref for hit in answer.hits]


def test_nothing_is_folded_to_nothing(fresh_db: Database) -> None:
    """An empty ranking."""
    assert folded(fresh_db) == ([], {})
