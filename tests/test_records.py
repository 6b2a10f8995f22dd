"""records: rows of the tables and records of the model say the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memlite.model import OBSERVATION, PROMPT, RECORDS, SUMMARY, Observation, Project, Prompt, Session, Summary
from memlite.store import records, write
from memlite.store.database import Database

OWNER = Session(session_id="s-1", project=Project(root="/nowhere/shop", name="shop"), cwd="/nowhere/shop")


def one_of_each(number: int = 1) -> list[Observation | Summary | Prompt]:
    """An observation, a summary and a prompt with something in every field."""
    common = {"prompt_number": number, "created_at_epoch": 1000 * number, "transcript": "/t.jsonl", "branch": "main"}
    return [
        Observation(type="bugfix", title=f"fix {number}", subtitle="s", narrative="n", facts=["f", "g"],
                    concepts=["gotcha"], files_read=["r.py"], files_modified=["m.py"], details="d", agent="a1",
                    uuids=[f"o-{number}", "x"], **common),
        Summary(request="q", investigated="i", learned="l", completed="c", next_steps="n", notes="o",
                files_read=["r.py"], files_edited=["e.py"], uuids=[f"s-{number}"], **common),
        Prompt(text=f"please {number}", prompt_id="p-1", uuids=[f"p-{number}"], **common)]


def test_what_is_stored_is_what_is_fetched(fresh_db: Database) -> None:
    """Every field of every kind, lists as lists, unknown numbers as None."""
    given = [*one_of_each(), Observation(title="bare", uuids=["bare"])]
    with fresh_db.transaction():
        stored = [(record.KIND, write.store(fresh_db, record, OWNER)) for record in given]
    assert records.fetch(fresh_db, [(kind, ident or 0) for kind, ident in stored]) == given


def test_fetch_keeps_the_order_asked_for_and_leaves_out_the_unknown(fresh_db: Database) -> None:
    """As a ranking wants it; the same one twice comes twice."""
    with fresh_db.transaction():
        for record in one_of_each():
            write.store(fresh_db, record, OWNER)
    wanted = [(PROMPT, 1), (OBSERVATION, 99), (OBSERVATION, 1), (SUMMARY, 1), (PROMPT, 1)]
    assert [(r.KIND, r.id) for r in records.fetch(fresh_db, wanted)] == [(PROMPT, 1), (OBSERVATION, 1), (SUMMARY, 1),
                                                                         (PROMPT, 1)]


def test_every_record_comes_once_in_portions(fresh_db: Database) -> None:
    """More than a portion holds, by id."""
    with fresh_db.transaction():
        for number in range(1, 1003):
            write.store(fresh_db, Prompt(text=f"t {number}", uuids=[f"p-{number}"]), OWNER)
    assert [r.id for r in records.every(fresh_db, PROMPT)] == list(range(1, 1003))
    wanted = [(PROMPT, n) for n in range(1, 1003)]
    assert [r.id for r in records.fetch(fresh_db, wanted)] == list(range(1, 1003))


def test_counts_tell_kinds_sessions_and_projects(fresh_db: Database) -> None:
    """An empty store counts zero of each."""
    assert records.counts(fresh_db) == {"observation": 0, "summary": 0, "prompt": 0, "sessions": 0, "projects": 0}
    with fresh_db.transaction():
        for record in [*one_of_each(), Prompt(text="more", uuids=["more"])]:
            write.store(fresh_db, record, OWNER)
    assert records.counts(fresh_db) == {"observation": 1, "summary": 1, "prompt": 2, "sessions": 1, "projects": 1}


def test_id_is_cited_by_kind() -> None:
    """As the records themselves do."""
    assert [records.cite(kind, 7) for kind in (OBSERVATION, SUMMARY, PROMPT)] == ["7", "S7", "P7"]
    assert all(records.cite(kind, 7) == RECORDS[kind](id=7).ref for kind in RECORDS)


@given(st.lists(st.text(max_size=20), max_size=5), st.text(max_size=30))
def test_columns_lead_back_to_the_record(facts: list[str], title: str) -> None:
    """to_columns and to_record are inverse for any text."""
    record = Observation(title=title, facts=facts, project="shop", session_id="s-1", id=3)
    row = (3, "shop", "s-1", *records.to_columns(record).values())  # in the order of `select`
    assert records.to_record(OBSERVATION, row) == record
