"""model: records are plain, equal by value, and cited by short ids."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite.model import KINDS, OBSERVATION, PROMPT, RECORDS, SUMMARY, Observation, Prompt, Summary, parse_ref


def test_record_holds_what_is_given_and_defaults_else() -> None:
    """Every field by keyword; lists are the record's own."""
    one, two = Observation(title="T", facts=["f"]), Observation()
    assert (one.title, one.facts, one.type, one.id, one.concepts) == ("T", ["f"], "discovery", None, [])
    one.concepts.append("gotcha")
    assert two.concepts == [] and Observation().concepts == []


def test_unknown_field_is_a_type_error() -> None:
    """A misspelt field does not vanish."""
    with pytest.raises(TypeError, match="titel"):
        Observation(titel="T")


def test_records_are_equal_by_value_and_kind() -> None:
    """Equal fields are equal records; another kind never is."""
    assert Prompt(text="a") == Prompt(text="a")
    assert Prompt(text="a") != Prompt(text="b")
    assert Prompt() != Summary()
    with pytest.raises(TypeError):
        hash(Prompt())


def test_every_kind_has_its_record() -> None:
    """The table of records is complete and each class knows its kind."""
    assert tuple(RECORDS) == KINDS
    assert all(kind == RECORDS[kind].KIND for kind in KINDS)
    assert "text='a'" in repr(Prompt(text="a")) and "uuids" not in repr(Prompt(text="a"))


@given(st.integers(min_value=0, max_value=10**18 - 1), st.sampled_from([Observation, Summary, Prompt]))
def test_cited_id_leads_back_to_the_record(ident: int, record: type[Observation]) -> None:
    """ref and parse_ref are inverse, with or without #, in any case."""
    ref = record(id=ident).ref
    for spelling in (ref, f"#{ref}", ref.lower(), f" {ref} "):
        assert parse_ref(spelling) == (record.KIND, ident)


@given(st.text(max_size=8))
def test_any_other_text_is_no_id(text: str) -> None:
    """parse_ref never raises, and believes only ASCII digits."""
    found = parse_ref(text)
    assert found is None or (found[0] in KINDS and text.strip().lstrip("#")[-1] in "0123456789")


@pytest.mark.parametrize("text", ["", "S", "X5", "1.5", "-1", "S-1", "٣", "1" * 19, "5S", "#"])
def test_nearly_an_id_is_none(text: str) -> None:
    """No guess is made."""
    assert parse_ref(text) is None


def test_kinds_are_cited_apart() -> None:
    """The same number names three different records."""
    assert parse_ref("7") == (OBSERVATION, 7)
    assert parse_ref("S7") == (SUMMARY, 7)
    assert parse_ref("P7") == (PROMPT, 7)
