"""write: the one way into the store. Private out, bounded, known or forgotten things refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite.model import OBSERVATION, PROMPT, SUMMARY, Observation, Project, Prompt, Session, Summary
from memlite.store import records, write
from memlite.store.database import Database
from stored import sound

SHOP = Project(root="/nowhere/shop", name="shop")


def owner(session: str = "s-1", **fields: Any) -> Session:
    """A session of the project shop."""
    return Session(session_id=session, project=SHOP, cwd="/nowhere/shop", **fields)


def store(database: Database, record: Any, session: Session | None = None) -> int | None:
    """Store in a transaction of its own."""
    with database.transaction():
        return write.store(database, record, session or owner())


def only(database: Database, kind: str) -> Any:
    """The one record of that kind."""
    found = list(records.every(database, kind))
    assert len(found) == 1
    return found[0]


def test_private_text_and_secrets_are_out_before_anything_is_stored(fresh_db: Database) -> None:
    """In every text and list field, of every kind; what stands around them is kept."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    dirty = f"before <private>hush</private> {token} after"
    for record in (Observation(title=dirty, narrative=dirty, facts=[dirty], files_read=[dirty], details=dirty,
                               agent=dirty,
                               branch=dirty, uuids=["o"]),
                   Summary(request=dirty, completed=dirty, next_steps=dirty, uuids=["s"]),
                   Prompt(text=dirty, uuids=["p"])):
        store(fresh_db, record)
    kept = repr([list(records.every(fresh_db, kind)) for kind in (OBSERVATION, SUMMARY, PROMPT)])
    assert "hush" not in kept and token not in kept
    assert kept.count("before") == kept.count("after") == 11


def test_secret_at_a_bound_is_redacted_before_it_is_cut(fresh_db: Database) -> None:
    """No half of a token slips through because its other half was cut off."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    store(fresh_db, Observation(title="x" * 180 + " " + token, uuids=["o"]))
    title = only(fresh_db, OBSERVATION).title
    assert "ghp_" not in title and title.startswith("x" * 180)


def test_fields_and_lists_are_bounded(fresh_db: Database) -> None:
    """What is longer ends in an ellipsis; repeated and empty items go."""
    store(fresh_db, Observation(title="t" * 999, narrative="n" * 99_999, facts=["f", "", "f", *map(str, range(999))],
                                files_read=["r" * 999], uuids=[str(n) for n in range(999)]))
    kept = only(fresh_db, OBSERVATION)
    assert (len(kept.title), kept.title[-1]) == (write.TEXT_LIMITS["title"], "…")
    assert len(kept.narrative) == write.TEXT_LIMITS["narrative"]
    assert kept.facts[:3] == ["f", "0", "1"] and len(kept.facts) <= write.LIST_LIMITS["facts"][0]
    assert len(kept.files_read[0]) == write.LIST_LIMITS["files_read"][1]
    assert len(kept.uuids) == 500


@given(st.text(st.characters(), min_size=1, max_size=200), st.lists(st.text(st.characters(), max_size=20), max_size=3))
def test_any_text_can_be_stored_and_taken_out_again(text: str, facts: list[str]) -> None:
    """NUL, lone surrogates, right-to-left, emoji: what is cleaned once stays as it is, and encodes as UTF-8."""
    record = Observation(title=text, narrative=text, facts=facts)
    write.clean(record)
    again = Observation(**record.as_dict())
    write.clean(again)
    assert again == record
    "".join([record.title, record.narrative, *record.facts]).encode("utf-8")


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "مرحبا \u202e", "👩‍👩‍👧 🏳️‍🌈", "語" * 50, "e\u0301"])
def test_odd_text_is_stored_and_the_index_is_sound(fresh_db: Database, text: str) -> None:
    """With a real file and a real index."""
    assert store(fresh_db, Prompt(text=f"odd {text}", uuids=["p"])) == 1
    assert sound(fresh_db)


def test_empty_record_is_not_stored(fresh_db: Database) -> None:
    """Nor one that is empty once what is private is out."""
    for record in (Observation(uuids=["o"]), Summary(uuids=["s"]), Prompt(text=" \n", uuids=["p"])):
        assert store(fresh_db, record) is None
    assert records.counts(fresh_db)["sessions"] == 0
    assert store(fresh_db, Prompt(text="something", uuids=["q"])) == 1


def test_same_row_is_stored_once_whatever_session_repeats_it(fresh_db: Database) -> None:
    """A resumed or forked session copies rows with their uuids; the first one keeps the memory."""
    assert store(fresh_db, Observation(title="found it", uuids=["o-1", "o-2"]))
    assert store(fresh_db, Observation(title="found it", uuids=["o-1", "o-2"]), owner("s-2")) is None
    assert only(fresh_db, OBSERVATION).session_id == "s-1"


def test_without_rows_equal_text_is_the_same_within_a_session_only(fresh_db: Database) -> None:
    """Who says the same in another session says it anew."""
    assert store(fresh_db, Prompt(text="go on"))
    assert store(fresh_db, Prompt(text="go on")) is None
    assert store(fresh_db, Prompt(text="go on"), owner("s-2"))
    assert store(fresh_db, Prompt(text="go further"))


def test_forgotten_work_does_not_come_back(fresh_db: Database) -> None:
    """A tombstone keeps it out; its sibling is let in."""
    record = Observation(title="to be forgotten", uuids=["o-1"])
    mark = write.fingerprint(OBSERVATION, "row", "o-1")
    fresh_db.execute("INSERT INTO tombstones VALUES (?, 0)", (mark,))
    assert store(fresh_db, record) is None
    assert store(fresh_db, Observation(title="a sibling", uuids=["o-2"]))
    assert only(fresh_db, OBSERVATION).title == "a sibling"


def test_prompt_of_a_hook_gains_its_transcript_row(fresh_db: Database) -> None:
    """Known by its id and text; moment, number and row come from the transcript; the index follows."""
    assert store(fresh_db, Prompt(text="fix the prices", prompt_id="p-1", created_at_epoch=2000)) == 1
    assert store(fresh_db, Prompt(text="fix the prices", prompt_id="p-1", created_at_epoch=1990, prompt_number=3,
                                  uuids=["u-1"])) is None
    kept = only(fresh_db, PROMPT)
    assert (kept.uuids, kept.created_at_epoch, kept.prompt_number) == (["u-1"], 1990, 3)
    assert sound(fresh_db)
    assert fresh_db.rows("SELECT created_at_epoch FROM catalogue")[0][0] == 1990


def test_same_words_asked_twice_are_two_prompts(fresh_db: Database) -> None:
    """Each with its own id, or its own row."""
    for number in (1, 2):
        assert store(fresh_db, Prompt(text="continue", prompt_id=f"p-{number}"))
    for number in (1, 2):
        assert store(fresh_db, Prompt(text="continue", prompt_id=f"p-{number}", uuids=[f"u-{number}"])) is None
    assert [r.uuids for r in records.every(fresh_db, PROMPT)] == [["u-1"], ["u-2"]]
    assert store(fresh_db, Prompt(text="continue", uuids=["u-3"])) == 3


def test_summary_of_a_turn_that_goes_on_is_completed_in_place(fresh_db: Database) -> None:
    """Its id stays, its words and moment are the latest, and it is found by them."""
    assert store(fresh_db, Summary(request="fix it", completed="half", uuids=["u-1"], created_at_epoch=10)) == 1
    assert store(fresh_db, Summary(request="fix it", completed="entirely", uuids=["u-1", "u-9"],
                                   created_at_epoch=20)) is None
    kept = only(fresh_db, SUMMARY)
    assert (kept.id, kept.completed, kept.uuids, kept.created_at_epoch) == (1, "entirely", ["u-1", "u-9"], 20)
    matches = {word: len(fresh_db.rows("SELECT rowid FROM words WHERE words MATCH ?", (word,)))
               for word in ("half", "entirely")}
    assert matches == {"half": 0, "entirely": 1}
    assert sound(fresh_db)


def test_forked_session_does_not_rewrite_the_summary_it_copied(fresh_db: Database) -> None:
    """The turn belongs to the session it happened in."""
    store(fresh_db, Summary(request="fix it", completed="done", uuids=["u-1"], transcript="/one.jsonl"))
    store(fresh_db, Summary(request="fix it", completed="cut", uuids=["u-1"], transcript="/two.jsonl"), owner("s-2"))
    kept = only(fresh_db, SUMMARY)
    assert (kept.completed, kept.transcript, kept.session_id) == ("done", "/one.jsonl", "s-1")


def test_session_keeps_its_project_and_learns_its_span(fresh_db: Database) -> None:
    """Changing folder within a session does not move it; begin and end widen."""
    for start, end in ((50, 60), (40, 45), (55, 99), (None, None)):
        with fresh_db.transaction():
            write.session(fresh_db, Session(session_id="s-1", project=SHOP, started_at_epoch=start, ended_at_epoch=end))
    with fresh_db.transaction():
        elsewhere = Session(session_id="s-1", project=Project(root="/else", name="else"), started_at_epoch=70)
        assert write.session(fresh_db, elsewhere) == (1, 1)
    row = fresh_db.rows("SELECT started_at_epoch, ended_at_epoch, project FROM sessions")
    assert [tuple(r) for r in row] == [(40, 99, 1)]


def test_fingerprint_tells_parts_apart() -> None:
    """Where one part ends and the next begins matters; the text is not in it."""
    assert write.fingerprint("ab", "c") != write.fingerprint("a", "bc")
    assert write.fingerprint("a") == write.fingerprint("a")
    assert len(write.fingerprint("secret")) == 32 and "secret" not in write.fingerprint("secret")
    assert write.fingerprint("\ud800") != write.fingerprint("\ud801")
