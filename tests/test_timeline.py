"""timeline: at every edge exactly what a plain model of "so many before, the anchor, so many after" gives."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlite.clock import ms_to_iso
from memlite.errors import NotFound, UsageError
from memlite.model import CAPTURED, KINDS, Memory, Observation, Project, Prompt, Session, Summary
from memlite.search.request import TimelineRequest
from memlite.search.timeline import timeline
from memlite.store import records, write
from memlite.store.database import Database, open_database

BEGIN = 1_780_000_000_000
NOW = BEGIN + 86_400_000
PROJECTS = ("shop", "boat", "quay")
DEPTHS = (0, 1, 2, 7, 100)
FILTERS: tuple[tuple[str, ...], ...] = ((), ("shop",), ("shop", "boat"), ("nowhere",))


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """48 records of all kinds in three projects, stored in no order of time; most moments are shared by several."""
    chosen = random.Random(4)
    moments = [BEGIN + chosen.choice((0, 1, 1000, 60_000)) * number for number in range(12)] * 3
    moments += [BEGIN + 7 + number * 20_000 for number in range(12)]
    chosen.shuffle(moments)
    with open_database(str(tmp_path_factory.mktemp("timeline") / "home")) as database:
        with database.transaction():
            for number, moment in enumerate(moments):
                name = chosen.choice(PROJECTS)
                record: Memory = (
                    Observation(title=f"Finding {number}", narrative="n", type="discovery", origin=CAPTURED),
                    Summary(request=f"Request {number}", completed="c"), Prompt(text=f"Prompt {number}"))[number % 3]
                record.created_at_epoch = moment
                owner = Session(session_id=f"s-{name}", project=Project(root=f"/r/{name}", name=name))
                assert write.store(database, record, owner)
        yield database


@pytest.fixture(scope="module")
def everything(database: Database) -> list[Memory]:
    """All records in the total order: by time, then id, then kind."""
    found = [record for kind in KINDS for record in records.every(database, kind)]
    return sorted(found, key=lambda record: (record.created_at_epoch, record.id, KINDS.index(record.KIND)))


def refs(found: list[Memory]) -> list[str]:
    return [record.ref for record in found]


def ask(database: Database, anchor: str, before: int, after: int, projects: tuple[str, ...] = ()) -> list[str]:
    """The ids that a timeline holds, in its order."""
    found = timeline(database, TimelineRequest(anchor=anchor, before=before, after=after, projects=projects), now=NOW)
    return refs(found.items)


def test_the_store_has_the_edges_that_are_to_be_tested(everything: list[Memory]) -> None:
    sharing = [len(list(group)) for _, group in itertools.groupby(record.created_at_epoch for record in everything)]
    assert sharing.count(1) >= 5
    assert len([count for count in sharing if count > 1]) >= 5
    assert {record.KIND for record in everything} == set(KINDS)
    assert {record.project for record in everything} == set(PROJECTS)
    assert refs(everything) != refs(sorted(everything, key=lambda record: record.id or 0))


@pytest.mark.parametrize("projects", FILTERS, ids=str)
def test_around_every_record(database: Database, everything: list[Memory], projects: tuple[str, ...]) -> None:
    for place, record in enumerate(everything):
        earlier = [item for item in everything[:place] if not projects or item.project in projects]
        later = [item for item in everything[place + 1:] if not projects or item.project in projects]
        for before, after in itertools.product(DEPTHS, DEPTHS):
            expected = refs([*earlier[max(0, len(earlier) - before):], record, *later[:after]])
            assert ask(database, record.ref, before, after, projects) == expected, (record.ref, before, after)


@pytest.mark.parametrize("projects", FILTERS, ids=str)
def test_around_every_moment(database: Database, everything: list[Memory], projects: tuple[str, ...]) -> None:
    admitted = [item for item in everything if not projects or item.project in projects]
    moments = {record.created_at_epoch + step for record in everything for step in (-1, 0, 1)}
    for moment in sorted(moments):
        earlier = [item for item in admitted if item.created_at_epoch < moment]
        later = [item for item in admitted if item.created_at_epoch >= moment]
        for before, after in itertools.product(DEPTHS, DEPTHS):
            expected = refs([*earlier[max(0, len(earlier) - before):], *later[:after]])
            assert ask(database, str(moment), before, after, projects) == expected, (moment, before, after)


def test_every_spelling_of_a_moment_is_the_same_moment(database: Database, everything: list[Memory]) -> None:
    for record in everything:
        moment = record.created_at_epoch
        iso = ms_to_iso(moment)
        expected = ask(database, str(moment), 3, 3)
        assert ask(database, iso, 3, 3) == expected
        assert ask(database, iso.replace("Z", "+00:00"), 3, 3) == expected
        assert ask(database, iso.replace("T", " "), 3, 3) == expected


def test_every_spelling_of_an_id_is_the_same_record(database: Database, everything: list[Memory]) -> None:
    for record in everything:
        expected = ask(database, record.ref, 2, 2)
        for spelling in (f"#{record.ref}", record.ref.lower(), f" {record.ref} "):
            assert ask(database, spelling, 2, 2) == expected


def test_ids_of_different_kinds_are_different_anchors(database: Database) -> None:
    for reference in ("1", "S1", "P1"):
        found = timeline(database, TimelineRequest(anchor=reference, before=0, after=0), now=NOW)
        assert refs(found.items) == [reference]
        assert found.anchor is not None and found.anchor.ref == reference
        assert found.moment == found.anchor.created_at_epoch


def test_a_moment_is_no_record_though_one_was_made_then(database: Database, everything: list[Memory]) -> None:
    found = timeline(database, TimelineRequest(anchor=str(everything[0].created_at_epoch), before=0, after=0), now=NOW)
    assert (found.items, found.anchor, found.moment) == ([], None, everything[0].created_at_epoch)


def test_around_the_best_match_of_a_query(database: Database, everything: list[Memory]) -> None:
    for kind, word in (("observation", "finding"), ("summary", "request"), ("prompt", "prompt")):
        some = [record for record in everything if kind == record.KIND][5]
        number = some.headline.rpartition(" ")[2]
        found = timeline(database, TimelineRequest(query=f"{word} {number}", before=4, after=3), now=NOW)
        assert found.match is not None and found.match.ref == some.ref
        assert refs(found.items) == ask(database, some.ref, 4, 3)


def test_a_query_looks_among_the_kinds_and_projects_asked_for(database: Database) -> None:
    request = TimelineRequest(query="finding", kinds=("prompt",), before=0, after=0)
    assert timeline(database, request, now=NOW).match is None
    for name in PROJECTS:
        found = timeline(database, TimelineRequest(query="finding", projects=(name,), before=9, after=9), now=NOW)
        assert found.match is not None and found.match.project == name
        assert {record.project for record in found.items} == {name}


def test_ids_that_are_not_there_and_anchors_that_are_none(database: Database) -> None:
    for reference in ("999", "S999", "P999", "0"):
        with pytest.raises(NotFound):
            ask(database, reference, 1, 1)
    for nonsense in ("soon", "X1", "-1", "2026-02-30", "S"):
        with pytest.raises(UsageError, match="Invalid timestamp"):
            ask(database, nonsense, 1, 1)
    with pytest.raises(NotFound):
        timeline(None, TimelineRequest(anchor="1"), now=NOW)
    assert timeline(None, TimelineRequest(anchor="2026-01-01"), now=NOW).items == []


def test_the_last_record_of_a_store_of_one_stands_alone(tmp_path: Path) -> None:
    with open_database(str(tmp_path / "one")) as database:
        with database.transaction():
            write.store(database, Prompt(text="Alone", created_at_epoch=BEGIN),
                        Session(session_id="s", project=Project(root="/r", name="r")))
        assert ask(database, "P1", 100, 100) == ["P1"]
        assert ask(database, str(BEGIN), 0, 1) == ask(database, str(BEGIN + 1), 1, 0) == ["P1"]
        assert ask(database, str(BEGIN), 1, 0) == ask(database, str(BEGIN + 1), 0, 1) == []
