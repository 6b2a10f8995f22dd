"""The real thing: what words miss is found by meaning, filters hold inside the vector query, nothing lags or stays."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fake_chroma import filled, until
from memlite.chroma.engine import Engine
from memlite.model import OBSERVATION, Project, Session
from memlite.search.controller import Answer, _filter, search
from memlite.search.language import Question
from memlite.search.request import SearchRequest
from memlite.search.semantic import Semantic
from memlite.store import forget, write
from memlite.store.database import open_database
from memlite.store.find import Filter
from shop_store import BOAT, SHOP, observed, store

Make = Callable[..., Engine]

WORK = [
    ("Login fails after an hour", "The session token expired and nobody renewed it."),
    ("Money is kept as integers of cents", "Floating point numbers lost a penny in sums."),
    ("Images load slowly", "Thumbnails are now made once and cached on disk."),
    ("Deploy script rewritten", "Releases go out through the pipeline instead of by hand."),
    ("Search box ignores accents", "Letters are folded before they are compared."),
    ("Nightly backup", "A copy of the database is written to another machine every night."),
    ("Flaky test removed", "It depended on the order of a dictionary."),
    ("Mail is sent from a queue", "The web request no longer waits for the mail server."),
]
# No word of the question stands in its answer.
PARAPHRASES = {"users get signed out": 1, "rounding errors with currency": 2, "protecting against data loss": 6,
               "diacritics are skipped when looking something up": 5, "disaster recovery": 6}


def fill(home: str) -> None:
    for number, (title, narrative) in enumerate(WORK):
        record = observed(title, number)
        record.narrative = narrative
        store(home, record)


def asked(home: str, semantic: Semantic | None, query: str, **fields: Any) -> Answer:
    with open_database(home) as database:
        return search(database, SearchRequest(query=query, **fields), semantic=semantic)


def ids(answer: Answer) -> list[int]:
    return [hit.record.id or 0 for hit in answer.hits]


def test_paraphrase_that_words_miss_is_found(home: str, engine_for: Make) -> None:
    """First, by both legs together and by meaning alone; and the words alone do miss it."""
    fill(home)
    engine = filled(engine_for(home))
    for query, expected in PARAPHRASES.items():
        assert expected not in ids(asked(home, None, query))[:1], query
        for mode in ("auto", "semantic"):
            answer = asked(home, engine, query, mode=mode)
            assert ids(answer)[0] == expected and not answer.degraded, (query, mode)


def test_filters_hold_inside_the_vector_query(home: str, engine_for: Make) -> None:
    """A record that 150 others outdo is found when the filter leaves only it."""
    with open_database(home) as database, database.transaction():
        for number in range(150):
            write.store(database, observed(f"The session token expired again, case {number}", number), SHOP)
        lone = observed("Money is kept as integers", 200, type="decision", concepts=["trade-off"],
                        files_modified=["/r/boat/ledger.py"], branch="Main")
        write.store(database, lone, BOAT)
    engine = filled(engine_for(home))
    query = "users get signed out"
    assert 151 not in ids(asked(home, engine, query, mode="semantic", limit=100))
    near = engine.nearest
    for fields in ({"roots": ("/r/boat",)}, {"types": ("decision",)}, {"concepts": ("trade-off", "gotcha")},
                   {"files": ("ledger",)}, {"branches": ("main",)}, {"since": lone.created_at_epoch},
                   {"types": ("feature",), "concepts": ("trade-off",), "either": True}):
        with open_database(home) as database:
            where = _filter(database, SearchRequest(query=query, **fields), Question())
        assert set(near(query, where, [], 100)) == {151 * 4}, fields


def test_a_filter_that_admits_nearly_all_leaves_out_the_rest(home: str, engine_for: Make) -> None:
    """Even what is nearest of all; the others are those that are found without a filter."""
    with open_database(home) as database, database.transaction():
        for number in range(150):
            write.store(database, observed(f"The session token expired again, case {number}", number), SHOP)
        lone = observed("Money is kept as integers", 200, type="decision", branch="side")
        write.store(database, lone, BOAT)
    engine = filled(engine_for(home))
    query = "rounding errors with currency"
    every = engine.nearest(query, Filter(), [], 41)
    assert max(every, key=lambda key: every[key]) == 151 * 4
    rest = {key: value for key, value in every.items() if key != 151 * 4}
    for fields in ({"roots": ("/r/shop",)}, {"types": ("discovery", "change")}, {"until": lone.created_at_epoch},
                   {"types": ("discovery",), "kinds": (OBSERVATION,), "since": 1},
                   {"types": ("discovery",), "concepts": ("gotcha",), "either": True}):
        with open_database(home) as database:
            where = _filter(database, SearchRequest(query=query, **fields), Question())
        assert engine.nearest(query, where, [], 40) == pytest.approx(rest), fields


def test_what_is_forgotten_leaves_chroma_and_what_comes_in_enters(home: str, engine_for: Make) -> None:
    """Within seconds, without being told."""
    fill(home)
    engine = filled(engine_for(home))
    with open_database(home) as database:
        forget.forget(database, [(OBSERVATION, 1)])
    until(lambda: engine.count == len(WORK) - 1)
    assert 1 not in ids(asked(home, engine, "users get signed out", mode="semantic"))
    record = observed("People lose their login", 60)
    store(home, record)
    until(lambda: engine.count == len(WORK))
    assert ids(asked(home, engine, "users get signed out"))[0] == len(WORK) + 1


def test_no_text_of_a_memory_lies_in_chromas_files(home: str, engine_for: Make) -> None:
    """Only vectors and what filters need, so forgetting has nothing to wipe there; a record's kind is the control."""
    fill(home)
    engine = filled(engine_for(home))
    engine.close()
    found = b"".join(path.read_bytes() for path in Path(home, "chroma", "index").rglob("*") if path.is_file())
    assert b"observation" in found
    assert b"penny" not in found and b"Nightly" not in found


def test_index_is_owned_by_one(home: str, engine_for: Make) -> None:
    """The second helper is refused, and serves once the first is gone; a lock that nobody holds is no lock."""
    fill(home)
    Path(home, "chroma", "index").mkdir(parents=True)
    Path(home, "chroma", "index", "lock").write_text("stale")
    first = filled(engine_for(home))
    second = engine_for(home)
    second._wanted = True
    second.start()
    until(lambda: second.state == "failed")
    assert "another process" in second.reason
    answer = asked(home, second, "login", limit=3)
    assert (answer.used, answer.degraded) == ("keyword", True) and ids(answer)[0] == 1
    first.close()
    until(lambda: second.state == "ready")
    assert ids(asked(home, second, "users get signed out"))[0] == 1


@pytest.mark.parametrize("fault", ["healthy", "stopped", "killed"])
def test_answer_comes_within_half_a_second(home: str, engine_for: Make, fault: str) -> None:
    """Whatever the helper is doing, and with all that the words find."""
    fill(home)
    engine = filled(engine_for(home))
    pid = engine.status()["pid"]
    words = ids(asked(home, None, "login database test"))
    if fault != "healthy":
        os.kill(pid, signal.SIGSTOP if fault == "stopped" else signal.SIGKILL)
    for fields in ({}, {"types": ("discovery",)}, {"roots": ("/r/shop",)}):
        began = time.monotonic()
        answer = asked(home, engine, "login database test", **fields)
        assert time.monotonic() - began < 0.5
        assert set(words) <= set(ids(answer)) and answer.degraded == (fault != "healthy")


def test_change_of_the_model_fills_the_index_anew(home: str, engine_for: Make, tmp_path: Path) -> None:
    """The old collection goes; the name of the model stands in the new one's."""
    fill(home)
    first = filled(engine_for(home))
    found = first._places
    first.close()
    model = tmp_path / "model"
    model.mkdir()
    # A field that ONNX does not know, appended: the same model under another size (protobuf skips unknown fields).
    (model / "model.onnx").write_bytes(Path(found.model).read_bytes() + b"\xfa\x7f\x01x")
    (model / "tokenizer.json").write_bytes(Path(found.tokenizer).read_bytes())
    second = filled(engine_for(home, chroma_model=str(model)))
    assert second._places.model_name != found.model_name
    assert second.count == len(WORK) and ids(asked(home, second, "users get signed out"))[0] == 1


def test_two_projects_of_one_name_stay_apart(home: str, engine_for: Make) -> None:
    """By their roots, as everywhere."""
    for root in ("/a/app", "/b/app"):
        owner = Session(session_id=root, project=Project(root=root, name="app"))
        store(home, observed(f"Login fails in {root}", 1), owner)
    engine = filled(engine_for(home))
    assert ids(asked(home, engine, "users get signed out", roots=("/b/app",), mode="semantic")) == [2]
