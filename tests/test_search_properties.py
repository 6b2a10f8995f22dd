"""Searches over a filled store: any text is a query, filters mean what they say, pages fit, the order is stable."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memlite import model
from memlite.clock import iso_to_ms
from memlite.jsoncodec import dumps
from memlite.model import OBSERVATION, PROMPT, SUMMARY, Memory, Observation, Project, Prompt, Session, Summary
from memlite.render import items, markdown, text
from memlite.search import candidates, ranking, repetitions
from memlite.search.controller import Answer, search
from memlite.search.parameters import SEARCH, Parameters, search_request
from memlite.search.request import SearchRequest
from memlite.store import find, index, records, reindex, write
from memlite.store.database import Database, open_database

NOW = iso_to_ms("2026-11-30T12:00:00Z") or 0
DAY = 86_400_000
BEGIN = NOW - 40 * DAY
# Words that are nobody's synonym and each other's neither.
WORDS = ("zorbel", "quibnix", "wompat", "flurgle", "dringo", "plevka")
PROJECTS = (Project(root="/code/shop", name="Shop"), Project(root="/else/shop", name="shop"),
            Project(root="/code/my tool", name="my tool"))
FILES = ("src/Auth.py", "src/auth_test.py", "docs/README.md", "web/App.tsx", "src/ünï.py")
BRANCHES = ("main", "feature/x", "")
CONCEPTS = ("gotcha", "what-changed", "how-it-works")


def memories() -> Iterator[tuple[Memory, Session]]:
    """120 memories of all kinds, types and projects; many share a millisecond, some have none of the words."""
    chosen = random.Random(4)
    for number in range(120):
        said = " ".join(chosen.choices(WORDS, k=chosen.choice((0, 1, 1, 2, 3)))) or "nothing"
        project = chosen.choice(PROJECTS)
        common: dict[str, Any] = {
            "created_at_epoch": BEGIN + chosen.randrange(40) * DAY + chosen.choice((0, 0, 1, DAY // 2)),
            "uuids": [f"row-{number}"], "branch": chosen.choice(BRANCHES)}
        paths = chosen.sample(FILES, chosen.choice((0, 1, 2)))
        kind = chosen.choice((OBSERVATION, OBSERVATION, OBSERVATION, SUMMARY, PROMPT))
        if kind == OBSERVATION:
            record: Memory = Observation(
                type=chosen.choice((*model.TYPES, "Audit")), title=f"{said} {chr(97 + number % 26)}{number}",
                narrative=chosen.choice(("", said, "long " * 60)),
                concepts=chosen.sample(CONCEPTS, chosen.choice((0, 1, 2))),
                files_read=paths[:1], files_modified=paths[1:], **common)
        elif kind == SUMMARY:
            record = Summary(request=f"ask {number}", completed=said, files_edited=paths, **common)
        else:
            record = Prompt(text=f"{said} {number}", **common)
        yield record, Session(session_id=f"{project.root}-{number // 12}", project=project)


class Store(NamedTuple):
    """A filled store and all that is in it."""

    database: Database
    everything: list[Any]


def fill(home: str) -> Store:
    """A new store with the memories."""
    database = open_database(home)
    with database.transaction():
        for record, owner in memories():
            assert write.store(database, record, owner) is not None
    return Store(database, [record for kind in model.KINDS for record in records.every(database, kind)])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The filled store; nobody writes to it."""
    filled = fill(str(tmp_path_factory.mktemp("filled")))
    with filled.database:
        yield filled


def roots(database: Database) -> dict[tuple[str, str], str]:
    """The root of each session's project: two projects share a name."""
    return {(row[0], row[1]): row[2] for row in database.rows(
        "SELECT s.session_id, p.name, p.root FROM sessions s JOIN projects p ON p.id = s.project")}


class FilterCase(NamedTuple):
    """A filter as it is typed, as parameters of the API, and as plain Python."""

    typed: str
    parameters: tuple[tuple[str, str], ...]
    admits: Callable[[Any], bool]


def day(date: str, more: int = 0) -> int:
    """Local midnight of a date, `more` days later."""
    import datetime

    return int((datetime.datetime.fromisoformat(date) + datetime.timedelta(days=more)).timestamp() * 1000)


def paths(record: Any) -> list[str]:
    """All paths of a record, in lower case."""
    return [path.lower() for name in ("files_read", "files_modified", "files_edited")
            for path in getattr(record, name, ())]


FILTERS = (
    FilterCase("type:bugfix", (("obs_type", "bugfix"),), lambda r: getattr(r, "type", "") == "bugfix"),
    FilterCase("type:Audit,feature", (("type", "audit,feature"),),
               lambda r: getattr(r, "type", "") in ("Audit", "feature")),
    FilterCase("kind:prompt", (("type", "prompts"),), lambda r: r.KIND == PROMPT),
    FilterCase("kind:session,observation", (("type", "sessions"), ("type", "observation")), lambda r: r.KIND != PROMPT),
    FilterCase("concept:Gotcha", (("concepts", "gotcha"),), lambda r: "gotcha" in getattr(r, "concepts", ())),
    FilterCase("file:auth.py", (("filePath", "AUTH.py"),), lambda r: any("auth.py" in path for path in paths(r))),
    FilterCase("path:src/,web", (("files", "src/"), ("files", "Web")),
               lambda r: any("src/" in path or "web" in path for path in paths(r))),
    FilterCase("project:SHOP", (("project", "shop"),), lambda r: r.project.lower() == "shop"),
    FilterCase('project:"my tool"', (("project", "/code/my tool"),), lambda r: r.project == "my tool"),
    FilterCase("branch:main", (("branch", "main"),), lambda r: r.branch == "main"),
    FilterCase("since:2026-11-10", (("dateStart", "2026-11-10"),), lambda r: r.created_at_epoch >= day("2026-11-10")),
    FilterCase("until:2026-11-12", (("dateRange", '{"end": "2026-11-12"}'),),
               lambda r: r.created_at_epoch < day("2026-11-12", 1)),
    FilterCase("after:2026-11-10", (("since", "2026-11-11"),), lambda r: r.created_at_epoch >= day("2026-11-10", 1)),
    FilterCase("before:14d", (("until", str(NOW - 14 * DAY - 1)),), lambda r: r.created_at_epoch < NOW - 14 * DAY))
QUERIES = ("", "zorbel", "quibnix wompat -dringo")


def says(record: Any, query: str) -> bool:
    """Whether `record` answers one of QUERIES, by plain reading."""
    said = dumps(record.as_dict())
    wanted = [word for word in query.split() if word[0] != "-"]
    unwanted = [word[1:] for word in query.split() if word[0] == "-"]
    return (not wanted or any(word in said for word in wanted)) and not any(word in said for word in unwanted)


def ref(record: Any) -> tuple[int, int]:
    """A record's place in the total order of time."""
    return record.created_at_epoch, index.key(record.KIND, record.id)


def pages(database: Database, size: int, **request: Any) -> tuple[list[Memory], set[int]]:
    """(all results, page by page; the totals that the pages told)."""
    found: list[Memory] = []
    totals: set[int] = set()
    while True:
        answer = search(database, SearchRequest(limit=size, offset=len(found), **request), now=NOW)
        totals.add(answer.total)
        found += [hit.record for hit in answer.hits]
        if len(answer.hits) < size:
            return found, totals


def typed(database: Database, query: str, order: str) -> tuple[list[Memory], set[int]]:
    """As `pages`, for a query as it is typed."""
    return pages(database, 17, query=query, order=order)


def asked(database: Database, query: str, parameters: tuple[tuple[str, str], ...]) -> Answer:
    """The answer to the API's parameters, all on one page."""
    return search(database, search_request(Parameters([("query", query), ("limit", "100"), *parameters], SEARCH,
                                                      strict=True), now=NOW), now=NOW)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("case", FILTERS, ids=lambda case: case.typed)
def test_filter_and_each_pair_of_filters_admit_what_they_say(store: Store, case: FilterCase, query: str) -> None:
    """Typed, as parameters and in plain Python; whatever the order, the total is true and the pages fit together."""
    for other in FILTERS[FILTERS.index(case):]:
        chosen = [case] if other is case else [case, other]
        if len({case.typed.partition(":")[0].replace("path", "file") for case in chosen}) < len(chosen):
            continue  # of one name: alternatives
        expected = {record.ref for record in store.everything
                    if says(record, query) and all(filter_.admits(record) for filter_ in chosen)}
        line = " ".join([*(filter_.typed for filter_ in chosen), query])
        for order in ("relevance", "date_desc", "date_asc"):
            found, totals = typed(store.database, line, order)
            assert {record.ref for record in found} == expected, line
            assert totals == {len(expected)} and len(found) == len(expected), line
            if order != "relevance" or not query:
                assert found == sorted(found, key=ref, reverse=order != "date_asc"), line
        if sum(len(filter_.parameters) for filter_ in chosen) == len(
                {name for filter_ in chosen for name, _ in filter_.parameters}):
            answer = asked(store.database, query, tuple(pair for filter_ in chosen for pair in filter_.parameters))
            assert {hit.record.ref for hit in answer.hits} == expected and answer.total == len(expected), line


def test_filters_differ_and_none_is_idle(store: Store) -> None:
    """The control: each admits some and refuses some, with and without words."""
    for case, query in itertools.product(FILTERS, QUERIES):
        admitted = [case.admits(record) for record in store.everything if says(record, query)]
        assert 0 < sum(admitted) < len(admitted), (case.typed, query)


def test_values_of_one_filter_are_alternatives(store: Store) -> None:
    """However they are written."""
    one = {record.ref for record in typed(store.database, "type:bugfix,feature", "")[0]}
    two = {record.ref for record in typed(store.database, "type:bugfix zorbel type:feature", "")[0]}
    both = {record.ref for record in store.everything if getattr(record, "type", "") in ("bugfix", "feature")}
    assert one == both
    assert two == {record.ref for record in store.everything if record.ref in both and says(record, "zorbel")}


@pytest.mark.parametrize("query", ["zorbel", "zorbel quibnix wompat flurgle", "zorbel type:feature", "wompat last week",
                                   "retry zorbel", "zorbel -wompat", "backoff"])
@pytest.mark.parametrize("size", [1, 7, 100])
def test_pages_fit_together_however_little_is_scored(store: Store, monkeypatch: pytest.MonkeyPatch, query: str,
                                                     size: int) -> None:
    """As in a store that is so large that most matches are neither scored nor refined."""
    whole = {record.ref for record in pages(store.database, 100, query=query)[0]}
    for module, name, value in ((candidates, "CANDIDATES", 6), (repetitions, "CANDIDATES", 6), (find, "COUNTED", 5),
                                (candidates, "_SCORED_ROWS", 8), (candidates, "_SYNONYM_ROWS", 4),
                                (ranking, "_REFINED", 3)):
        monkeypatch.setattr(module, name, value)
    found, totals = pages(store.database, size, query=query)
    assert len(found) == len({record.ref for record in found}) and totals == {len(found)}
    assert {record.ref for record in found} == whole
    assert found == pages(store.database, 100, query=query)[0]
    scores = [hit.score for hit in search(store.database, SearchRequest(query=query, limit=100), now=NOW).hits]
    assert all(0 <= (score or 0) <= 1 for score in scores)


ASKED = ["zorbel", "quibnix zorbel", '"zorbel quibnix"', "wompat type:feature", "last week", "what did we do yesterday",
         "plev*", "flurgle -zorbel", "file:auth.py", "nothing long", "zzz", "dringo before:7d", "a1 b2"]


def printed(database: Database, query: str) -> str:
    """An answer in all three forms."""
    answer = search(database, SearchRequest(query=query, limit=100), now=NOW)
    return "\n".join([dumps(items.answer(answer)), markdown.answer(answer),
                      text.answer_text(answer, now=NOW, width=None, color=False)])


def test_same_question_has_the_same_bytes_twice_and_after_reindexing(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The index is disposable."""
    with fill(str(tmp_path_factory.mktemp("anew"))).database as database:
        first = [printed(database, query) for query in ASKED]
        assert len(set(first)) == len(ASKED)
        assert [printed(database, query) for query in ASKED] == first
        reindex.rebuild(database)
        assert [printed(database, query) for query in ASKED] == first


@pytest.mark.parametrize("elsewhere", [False, True])
def test_unrelated_memory_moves_nothing_that_differs(tmp_path_factory: pytest.TempPathFactory, elsewhere: bool) -> None:
    """It shares no word with the question: it is not found, the others are, and two whose scores differ by more than
    a twentieth keep their order. (What it does change is the number and the average length of records, on which bm25
    depends.)"""
    with fill(str(tmp_path_factory.mktemp("more"))).database as database:
        queries = ["zorbel", "quibnix zorbel", "flurgle dringo plevka", "wompat zorbel nothing"]
        before = {query: search(database, SearchRequest(query=query, limit=100), now=NOW).hits for query in queries}
        owner = Session(session_id="new", project=Project(root="/new", name="new") if elsewhere else PROJECTS[0])
        with database.transaction():
            write.store(database, Observation(title="Unrelated", narrative="an altogether other matter " * 30,
                                              created_at_epoch=NOW, uuids=["u"]), owner)
        for query, hits in before.items():
            after = search(database, SearchRequest(query=query, limit=100), now=NOW).hits
            place = {hit.record.ref: number for number, hit in enumerate(after)}
            assert set(place) == {hit.record.ref for hit in hits} and len(hits) > 20
            for better, worse in itertools.combinations(hits, 2):
                if (better.score or 0) > 1.05 * (worse.score or 0):
                    assert place[better.record.ref] < place[worse.record.ref], query


@settings(deadline=None, max_examples=150)
@given(query=st.text(st.characters(), max_size=60) | st.text(alphabet="\"'*():^-+ANDORNOTNEAR{} :typefilesince,|%_",
                                                           max_size=40)
       | st.lists(st.sampled_from([*WORDS, "type:", "file:x", "since:1d", "-", '"', "last", "week", "*", "(", "AND",
                                   "before", "yesterday", "a->b", "C++", "::", "NOT", "kind:prompt", 'project:"a b"']),
                  max_size=9).map(" ".join),
       order=st.sampled_from(["", "relevance", "date_desc", "date_asc"]))
@example(query="\x00\x00zorbel\x00", order="")
@example(query="\ud800 zorbel \udfff", order="")
@example(query="مرحبا \u202e zorbel \u200f", order="")
@example(query="👩‍👩‍👧 🏳️‍🌈 e\u0301 \u0301\u200b\ufeff", order="")
@example(query='-zorbel "quibnix wompat" type:feature last week', order="")
@example(query='yesterday -nothing', order="relevance")
def test_any_text_is_a_query(store: Store, query: str, order: str) -> None:
    """It has an answer, and the answer can be printed in every form; nothing is found twice."""
    answer = search(store.database, SearchRequest(query=query, order=order, limit=100), now=NOW)
    found = [hit.record.ref for hit in answer.hits]
    assert len(set(found)) == len(found) <= answer.total
    assert len(found) == min(100, answer.total)
    assert dumps(items.answer(answer)) and markdown.answer(answer)
    assert bool(text.answer_text(answer, now=NOW, width=40, color=True)) == bool(found)


@pytest.mark.parametrize("query", [
    "zorbel " * 14_000, "x" * 100_000, " ".join(f"w{number}" for number in range(10_000)) + " zorbel", "語" * 100_000,
    "\x00" * 100_000, "\ud800" * 50_000, "שלום " * 20_000, "🎉" * 50_000, '"' * 100_000, "(" * 100_000, "-a " * 30_000,
    "type:feature " * 8_000, "file:" + "a," * 40_000, "*" * 100_000, "last week " * 10_000, "a_b." * 25_000,
    '"' + "a b " * 25_000 + '"', "語言" * 50_000, "zörbel " * 15_000])
def test_huge_query_is_bounded(store: Store, query: str) -> None:
    """A hundred thousand characters, ten thousand terms, one word for all of them: an answer, and no long one."""
    asked_for: list[str] = []
    store.database.connection.set_trace_callback(asked_for.append)
    answer = search(store.database, SearchRequest(query=query), now=NOW)
    store.database.connection.set_trace_callback(None)
    ours = [statement for statement in asked_for if not statement.startswith("--")]  # the others are FTS5's own
    assert len(answer.hits) <= 10 and len(ours) < 1000 and len(asked_for) < 20_000
    assert all(len(statement) < 50_000 for statement in ours)
    assert items.answer(answer)
