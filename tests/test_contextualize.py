"""contextualize: on stores of every shape exactly what a plain reading of its definition gives."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from memlite.model import KINDS, OBSERVATION, Memory, Observation, Project, Prompt, Session, Summary
from memlite.search.contextualize import Context, contextualize
from memlite.store import records, write
from memlite.store.database import Database, open_database

BEGIN = 1_780_000_000_000
NOW = BEGIN + 86_400_000
WORD = "lighthouse"    # is in every second record


def place(record: Memory) -> tuple[int, int, int]:
    """Its place in the total order."""
    return record.created_at_epoch, record.id or 0, KINDS.index(record.KIND)


def fill(home: str, counts: dict[str, int], *, seed: int, step: int = 1000, projects: tuple[str, ...] = ("shop",)
         ) -> list[Memory]:
    """Store so many records of each sort in an order of its own and return them all. With a `step` of 0 they are all
    of one moment."""
    chosen = random.Random(seed)
    sorts = [sort for sort, count in counts.items() for _ in range(count)]
    chosen.shuffle(sorts)
    with open_database(home) as database:
        with database.transaction():
            for number, sort in enumerate(sorts):
                title = f"{sort} number{number}" + (f" {WORD}" if number % 2 else "")
                record: Memory = {
                    "decision": Observation(title=title, narrative=f"Why {title}", type="decision"),
                    "change": Observation(title=title, narrative=f"How {title}", type="change"),
                    "what-changed": Observation(title=title, narrative="n", type="feature", concepts=["what-changed"]),
                    "how-it-works": Observation(title=title, narrative="n", type="discovery",
                                                concepts=["how-it-works"]),
                    "both": Observation(title=title, narrative="n", type="decision",
                                        concepts=["how-it-works", "what-changed"]),
                    "other": Observation(title=title, narrative="n", type="bugfix", concepts=["gotcha"]),
                    "summary": Summary(request=title, completed="c"), "prompt": Prompt(text=title)}[sort]
                record.created_at_epoch = BEGIN + number * step + (chosen.choice((0, step)) if step else 0)
                name = projects[number % len(projects)]
                owner = Session(session_id=f"s-{name}", project=Project(root=f"/r/{name}", name=name))
                assert write.store(database, record, owner)
        return [record for kind in KINDS for record in records.every(database, kind)]


def model(everything: list[Memory], *, word: str = "", project: str = "") -> tuple[list[str], dict[str, str]]:
    """(ids of the timeline, id of the newest of each part), straight from the definition."""
    admitted = sorted((item for item in everything if not project or item.project == project), key=place)

    def newest(count: int, types: set[str], concepts: set[str]) -> list[Memory]:
        found = [item for item in admitted if isinstance(item, Observation) and item.KIND == OBSERVATION
                 and (item.type in types or concepts & set(item.concepts)) and word in item.title]
        return found[-count:]

    parts = {"decision": newest(7, {"decision"}, set()),
             "change": newest(7, {"change"}, {"change", "what-changed"}),
             "how_it_works": newest(3, set(), {"how-it-works"})}
    chosen = [item for part in parts.values() for item in part]
    if not chosen:
        return [], {}
    middle = admitted.index(max(chosen, key=place))
    window = admitted[max(0, middle - 7):middle + 8]
    whole = sorted({place(item): item for item in [*chosen, *window]}.values(), key=place, reverse=True)
    return [item.ref for item in whole], {name: part[-1].ref for name, part in parts.items() if part}


def shape(found: Context) -> tuple[list[str], dict[str, str]]:
    return [item.ref for item in found.items], {name: item.ref for name, item in found.newest.items()}


STORES: dict[str, dict[str, int]] = {
    "plenty": {"decision": 12, "change": 9, "what-changed": 8, "how-it-works": 9, "other": 20, "summary": 9,
               "prompt": 9},
    "few": {"decision": 3, "change": 2, "how-it-works": 1, "other": 4, "summary": 2, "prompt": 2},
    "one of each": {"decision": 1, "change": 1, "how-it-works": 1},
    "decisions only": {"decision": 9, "prompt": 3},
    "changes by concept only": {"what-changed": 10, "other": 5},
    "explanations only": {"how-it-works": 5, "summary": 12, "prompt": 12},
    "one of all parts at once": {"both": 1, "other": 3},
    "all of all parts at once": {"both": 20, "prompt": 9},
    "none of them": {"other": 5, "summary": 5, "prompt": 5},
    "a single record": {"decision": 1},
    "nothing": {},
}


@pytest.mark.parametrize("step", [1000, 1, 0], ids=["apart", "close", "at one moment"])
@pytest.mark.parametrize("name", STORES)
def test_it_is_what_the_definition_says(home: str, name: str, step: int) -> None:
    everything = fill(home, STORES[name], seed=len(name), step=step)
    with open_database(home) as database:
        assert shape(contextualize(database, now=NOW)) == model(everything)
        assert shape(contextualize(database, query=WORD, now=NOW)) == model(everything, word=WORD)
        assert shape(contextualize(database, query="zebra", now=NOW)) == ([], {})


@pytest.mark.parametrize("seed", range(12))
def test_one_project_of_many_is_as_if_it_were_alone(home: str, seed: int) -> None:
    chosen = random.Random(seed)
    counts = {sort: chosen.randint(0, 14) for sort in (*STORES["plenty"], "both")}
    everything = fill(home, counts, seed=seed, step=chosen.choice((0, 1, 1000)), projects=("shop", "boat", "quay"))
    with open_database(home) as database:
        for project in ("shop", "boat", "quay"):
            found = contextualize(database, projects=(project,), now=NOW)
            assert shape(found) == model(everything, project=project)
            assert {item.project for item in found.items} <= {project}
            assert shape(contextualize(database, roots=(f"/r/{project}",), now=NOW)) == shape(found)
            assert shape(contextualize(database, query=WORD, projects=(project,), now=NOW)) == model(
                everything, word=WORD, project=project)
        assert shape(contextualize(database, projects=("nowhere",), now=NOW)) == ([], {})
        assert shape(contextualize(database, now=NOW)) == model(everything)


def test_it_is_newest_first_and_nothing_comes_twice(home: str) -> None:
    everything = fill(home, STORES["all of all parts at once"], seed=1, step=0)
    with open_database(home) as database:
        found = contextualize(database, now=NOW).items
    assert [place(item) for item in found] == sorted((place(item) for item in found), reverse=True)
    assert len({place(item) for item in found}) == len(found) < len(everything)


def test_what_lies_far_back_is_in_it_beside_the_window(home: str) -> None:
    """A decision older than the seven records before the newest change comes along all the same."""
    with open_database(home) as database:
        with database.transaction():
            owner = Session(session_id="s", project=Project(root="/r", name="r"))
            old = Observation(title="Keep cents", narrative="n", type="decision", created_at_epoch=BEGIN)
            assert write.store(database, old, owner)
            for number in range(1, 31):
                record = Observation(title=f"Finding {number}", narrative="n", type="discovery",
                                     created_at_epoch=BEGIN + number)
                assert write.store(database, record, owner)
            late = Observation(title="Column renamed", narrative="n", type="change", created_at_epoch=BEGIN + 25)
            assert write.store(database, late, owner)
        found = contextualize(database, now=NOW)
    titles = [item.headline for item in found.items]
    assert titles[-1] == "Keep cents"
    assert titles.index("Column renamed") == 5
    assert len(titles) == 1 + 5 + 1 + 7
    assert found.moment == BEGIN + 25


def test_without_a_store_there_is_nothing(tmp_path: Path) -> None:
    database: Database | None = None
    assert shape(contextualize(database, now=NOW)) == ([], {})
