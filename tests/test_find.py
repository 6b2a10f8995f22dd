"""find: filters first, then a total and stable order, then the page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite.model import OBSERVATION, PROMPT, SUMMARY, Observation, Project, Prompt, Session, Summary
from memlite.store import find, write
from memlite.store.database import Database
from memlite.store.find import Filter

SHOP = Session(session_id="s-1", project=Project(root="/code/shop", name="Shop"))
TOOL = Session(session_id="s-2", project=Project(root="/code/tool", name="tool"))


@pytest.fixture
def filled(fresh_db: Database) -> Database:
    """Six memories of two projects; three have the same millisecond."""
    given = [(Observation(title="comma bug", type="bugfix", created_at_epoch=100, uuids=["a"], concepts=["gotcha"],
                          files_modified=["src/Prices.py"], branch="main"), SHOP),
             (Observation(title="comma feature", type="feature", created_at_epoch=100, uuids=["b"]), SHOP),
             (Summary(request="comma", created_at_epoch=100, uuids=["c"]), SHOP),
             (Prompt(text="comma please", created_at_epoch=90, uuids=["d"]), SHOP),
             (Observation(title="comma elsewhere", type="bugfix", created_at_epoch=300, uuids=["e"]), TOOL),
             (Observation(title="unrelated", created_at_epoch=200, uuids=["f"]), TOOL)]
    with fresh_db.transaction():
        for record, owner in given:
            write.store(fresh_db, record, owner)
    return fresh_db


def newest(database: Database, limit: int = 50, offset: int = 0, ascending: bool = False, **where: object) -> list[str]:
    """The admitted records by time, as ids to cite."""
    rows, total = find.newest(database, Filter(**where), limit, offset, ascending=ascending)
    assert total >= len(rows)
    return [{OBSERVATION: "", SUMMARY: "S", PROMPT: "P"}[row.kind] + str(row.id) for row in rows]


def matching(database: Database, expression: str, ascending: bool | None = None,
             **where: object) -> list[tuple[str, int]]:
    """The matching records, best first, or by time."""
    if ascending is None:
        rows, total = find.matching(database, expression, (1.0,) * 5, Filter(**where), 50)
    else:
        rows, total = find.matching_by_time(database, expression, Filter(**where), 50, 0, ascending=ascending)
    assert total == len(rows) == find.count(database, expression, Filter(**where))
    return [(row.kind, row.id) for row in rows]


def test_newest_come_first_and_equal_moments_have_a_fixed_order(filled: Database) -> None:
    """Descending and ascending are each other's mirror, though three share a millisecond."""
    down = newest(filled)
    assert down == ["3", "4", "2", "S1", "1", "P1"]
    assert newest(filled, ascending=True) == down[::-1]


def test_pages_fit_together(filled: Database) -> None:
    """Nothing twice, nothing left out."""
    assert sum((newest(filled, 2, offset) for offset in (0, 2, 4, 6)), []) == newest(filled)


@pytest.mark.parametrize(("where", "found"), [
    ({"kinds": (SUMMARY, PROMPT)}, ["S1", "P1"]), ({"types": ("bugfix",)}, ["3", "1"]),
    ({"since": 100, "until": 300}, ["4", "2", "S1", "1"]), ({"concepts": ("gotcha",)}, ["1"]),
    ({"files": ("prices.py",)}, ["1"]), ({"branches": ("main",)}, ["1"]), ({"projects": ()}, []),
    ({"types": ("feature",), "concepts": ("gotcha",)}, []),
    ({"types": ("feature",), "concepts": ("gotcha",), "either": True}, ["2", "1"]),
    ({}, ["3", "4", "2", "S1", "1", "P1"])])
def test_filters_admit_what_they_say(filled: Database, where: dict[str, object], found: list[str]) -> None:
    """With and without a query; `until` is exclusive, `since` inclusive."""
    assert newest(filled, **where) == found
    keyed = {("" if kind == OBSERVATION else kind[0].upper()) + str(ident) for kind, ident in
             matching(filled, '"comma"', **where)}
    assert keyed == set(found) - {"4"}


def test_projects_are_found_by_name_in_any_case_and_by_root(filled: Database) -> None:
    """Unknown names give the empty tuple, which admits nothing; none given admits all."""
    assert find.project_rows(filled, ("shop",), ()) == find.project_rows(filled, (), ("/code/shop",)) == (1,)
    assert find.project_rows(filled, ("SHOP", "tool"), ()) == (1, 2)
    assert find.project_rows(filled, ("nobody's",), ()) == ()
    assert find.project_rows(filled, (), ()) is None
    assert newest(filled, projects=find.project_rows(filled, ("tool",), ())) == ["3", "4"]


def test_matches_come_by_score_then_newest(filled: Database) -> None:
    """Shorter text with the word ranks higher; a time order can be asked for instead."""
    assert matching(filled, '"comma"')[0] == (SUMMARY, 1)
    assert matching(filled, '"comma"', ascending=True)[0] == (PROMPT, 1)
    assert matching(filled, '"comma"', ascending=False)[0] == (OBSERVATION, 3)
    assert matching(filled, '"absent"') == []


def test_neighbours_are_those_next_in_the_total_order(filled: Database) -> None:
    """Earliest first, the anchor left out, though three share its millisecond."""
    anchor = 4 * 1  # observation 1
    assert find.moment_of(filled, OBSERVATION, 1) == 100 and find.moment_of(filled, OBSERVATION, 99) is None
    around = find.around(filled, 100, anchor, Filter(), 2, 3)
    assert [(row.kind, row.id) for row in around] == [(PROMPT, 1), (SUMMARY, 1), (OBSERVATION, 2), (OBSERVATION, 4)]


@given(st.lists(st.sampled_from(["kinds", "types", "concepts", "files", "branches"]), unique=True), st.booleans())
def test_conditions_have_a_parameter_for_each_mark(fields: list[str], either: bool) -> None:
    """Values are always bound, never written into the SQL."""
    values = {name: ("observation",) if name == "kinds" else ("x'; --", "y") for name in fields}
    condition, bound = Filter(either=either, projects=(1,), since=1, until=2, **values).sql()
    assert condition.count("?") == len(bound) and "x'" not in condition
