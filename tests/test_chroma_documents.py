"""documents and conditions: what stands in the index of meanings, and how a filter asks for it."""

from __future__ import annotations

from typing import Any

import pytest

from memlite.chroma import documents
from memlite.chroma.conditions import conditions, names_files
from memlite.model import Observation, Prompt, Summary
from memlite.store.find import Filter

SEEN = Observation(title="Prices accept a comma", subtitle="In two places", narrative="The parser failed.",
                   facts=["4 tests pass"], concepts=["Gotcha"], type="bugfix", branch="Main", created_at_epoch=5)


@pytest.mark.parametrize(("record", "expected"), [
    (SEEN, ["Prices accept a comma\nIn two places", "In two places\nThe parser failed.\n4 tests pass"]),
    (Summary(request="Fix prices", completed="Done", learned="Commas", next_steps="Ship"),
     ["Fix prices", "Done\nCommas\nShip"]),
    (Prompt(text="Fix the prices"), ["Fix the prices"]),
    (Observation(title="", narrative="Only this"), ["Only this"]),
    (Observation(title="", narrative=""), ["(empty)"])])
def test_texts_are_what_a_record_is_called_and_what_it_says(record: Any, expected: list[str]) -> None:
    """Whatever is empty is left out; there is always one."""
    assert documents.texts(record) == expected


def test_texts_are_cut_to_what_the_model_reads() -> None:
    """A long prompt has no title but itself."""
    assert len(documents.texts(Prompt(text="x" * 9000))[0]) == 1500
    title, body = documents.texts(Observation(title="x" * 200, subtitle="y" * 400, narrative="z" * 8000))
    assert (len(title), len(body)) == (400, 1500)


def test_fields_are_what_filters_ask_for() -> None:
    """Branch and concepts in lower case, as the store's own index has them; no text of the record is among them."""
    assert documents.fields(SEEN, 7) == {"kind": "observation", "type": "bugfix", "project": 7, "branch": "main",
                                         "at": 5, "concept:gotcha": True}
    assert documents.fields(Prompt(text="secret plan"), 1) == {"kind": "prompt", "type": "prompt", "project": 1,
                                                               "branch": "", "at": 0}


@pytest.mark.parametrize(("fields", "expected"), [
    ({}, []),
    ({"kinds": ("summary",)}, [{"kind": {"$in": ["summary"]}}]),
    ({"types": ("bugfix",), "projects": (1, 2)}, [{"type": {"$in": ["bugfix"]}}, {"project": {"$in": [1, 2]}}]),
    ({"concepts": ("a",)}, [{"concept:a": True}]),
    ({"concepts": ("a", "b")}, [{"$or": [{"concept:a": True}, {"concept:b": True}]}]),
    ({"types": ("change",), "concepts": ("a",), "either": True},
     [{"$or": [{"type": {"$in": ["change"]}}, {"concept:a": True}]}]),
    ({"concepts": ("a",), "either": True}, [{"concept:a": True}]),
    ({"branches": ("Main",)}, [{"branch": {"$in": ["main"]}}]),
    ({"since": 5, "until": 9}, [{"at": {"$gte": 5}}, {"at": {"$lt": 9}}]),
    ({"projects": ()}, None),
    ({"kinds": ("prompt",), "also": Filter(since=3)}, [{"kind": {"$in": ["prompt"]}}, {"at": {"$gte": 3}}]),
    ({"also": Filter(projects=())}, None)])
def test_filter_in_chromas_words(fields: dict[str, Any], expected: Any) -> None:
    """No list is empty and no $or has one branch: Chroma refuses both."""
    assert conditions(Filter(**fields)) == expected


def test_files_are_noticed_wherever_they_stand() -> None:
    """They are answered by the store."""
    assert names_files(Filter(files=("a",))) and names_files(Filter(also=Filter(files=("a",))))
    assert not names_files(Filter(also=Filter(types=("a",))))
