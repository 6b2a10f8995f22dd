"""senses: what a question is after besides its words."""

from __future__ import annotations

import pytest

from memlite.model import Observation, Prompt, Summary
from memlite.search.senses import Sense, corrects

PLAIN = Observation(title="Prices are integers", project="web shop")


@pytest.mark.parametrize(("question", "record"), [
    ("Why are prices integers?", Observation(title="Prices", narrative="Because floats round.")),
    ("the reason for integers", Summary(completed="Integers, to avoid rounding.")),
    ("what did we decide about prices", Observation(title="Prices", type="decision")),
    ("choices about prices", Observation(title="Prices", type="decision")),
    ("prices of the web shop", PLAIN)])
def test_record_of_the_kind_that_is_asked_for_is_lifted(question: str, record: Observation) -> None:
    """A reason, a decision, a project; the same record is not for a question that asks for neither."""
    assert Sense(question).lift(record) > 1 == Sense("prices integers").lift(record)


@pytest.mark.parametrize("record", [PLAIN, Prompt(text="why"), Summary(), Observation(), Observation(project="")])
def test_other_records_are_not_lifted(record: Observation) -> None:
    """Whatever is asked."""
    assert Sense("why did we choose integers").lift(record) == Sense("").lift(record) == 1


def test_a_record_corrects_when_it_says_so_at_its_beginning() -> None:
    """In title, narrative or closing words; somewhere in a long text it speaks of something else."""
    assert corrects(Observation(title="Slow because of N+1, not the tax service"))
    assert corrects(Observation(title="x", narrative="It turns out that the cache is cold."))
    assert corrects(Summary(completed="Correction: the port is 8123."))
    assert not corrects(Observation(title="x", narrative="word " * 200 + "it turns out that"))
    assert not corrects(PLAIN) and not corrects(Prompt(text="you're right"))
