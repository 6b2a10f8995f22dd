"""ingest: a transcript's new rows become memories, the same ones in whatever portions they are read."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memlite.capture import ingest as room
from memlite.capture.ingest import MIDDLE, QUIET, SETTLED, TURN_END, ingest
from memlite.model import OBSERVATION, PROMPT, SUMMARY
from memlite.store import records, transcripts
from memlite.store.database import Database, open_database
from rows import Script, shop_session
from stored import contents, sound


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where the session's transcript will be."""
    return str(tmp_path / "projects" / "-nowhere-shop" / f"{shop_session().session}.jsonl")


def every(database: Database, kind: str) -> list[Any]:
    """All records of a kind."""
    return list(records.every(database, kind))


def titles(database: Database) -> list[str]:
    """The observations' titles in order of storing."""
    return [record.title for record in every(database, OBSERVATION)]


def counted(result: room.Result) -> tuple[int, int, int]:
    """(observations, summaries, prompts) stored."""
    return result.observations, result.summaries, result.prompts


def append(path: str, data: bytes) -> None:
    """The client writes on."""
    with open(path, "ab") as file:
        file.write(data)


def test_session_becomes_prompts_observations_and_summaries(fresh_db: Database, path: str) -> None:
    """Each with its number, moment, project, branch and the rows it came from."""
    result = ingest(fresh_db, shop_session().write(path))
    assert counted(result) == (5, 3, 3) and result.finished
    assert [(p.text, p.prompt_number, p.uuids) for p in every(fresh_db, PROMPT)] == [
        ("Prices with a comma crash the shop, please fix it", 1, ["r-0001"]), ("commit it", 2, ["r-0016"]),
        ("which file was it?", 3, ["r-0023"])]
    first = every(fresh_db, OBSERVATION)[0]
    assert (first.project, first.branch, first.prompt_number, first.transcript) == ("shop", "main", 1, path)
    assert (first.created_at_epoch, first.uuids[0], first.uuids[-1]) == (1779998401000, "r-0002", "r-0009")
    assert first.files_read == first.files_modified == ["shop/prices.py"]
    last = every(fresh_db, SUMMARY)[0]
    assert (last.request, last.next_steps) == ("Prices with a comma crash the shop, please fix it",
                                               "tell the importers")
    assert last.uuids == ["r-0001", "r-0015"]
    assert sound(fresh_db)


def test_second_reading_changes_nothing(fresh_db: Database, path: str) -> None:
    """Not even when the stored position is lost."""
    ingest(fresh_db, shop_session().write(path))
    before = contents(fresh_db)
    assert counted(ingest(fresh_db, path)) == (0, 0, 0)
    fresh_db.execute("DELETE FROM transcripts")
    result = ingest(fresh_db, path)
    assert counted(result) == (0, 0, 0) and result.bytes == os.path.getsize(path)
    assert contents(fresh_db) == before


def test_growing_file_gets_only_its_tail(fresh_db: Database, path: str) -> None:
    """The bytes taken are those that were added."""
    script = shop_session()
    ingest(fresh_db, script.write(path), ends=TURN_END)
    script.prompt("one more thing")
    script.says("That thing is done and tested, all of it.")
    append(path, b"".join(script.lines()[-2:]))
    result = ingest(fresh_db, path, ends=TURN_END)
    assert result.bytes == sum(map(len, script.lines()[-2:]))
    assert counted(result) == (1, 1, 1)


@pytest.fixture(scope="module")
def workplace() -> Iterator[str]:
    """A folder for the many stores of the property tests."""
    with tempfile.TemporaryDirectory() as folder:
        yield folder


def read_in_portions(folder: str, data: bytes, portions: list[tuple[int, str]]) -> dict[str, Any]:
    """What is stored when the file grows to each byte offset in turn and a hook of that kind reads it then."""
    with tempfile.TemporaryDirectory(dir=folder) as home, open_database(home) as database:
        path = os.path.join(folder, "session.jsonl")
        at = 0
        for offset, ends in portions:
            with open(path, "ab" if at else "wb") as file:
                file.write(data[at:offset])
            at = offset
            ingest(database, path, ends=ends)
        assert sound(database)
        return contents(database)


def long_session() -> tuple[bytes, list[int]]:
    """A session of eight turns, and the offsets at which a turn ends: there the client calls its Stop hook."""
    script = shop_session()
    script.queued("also look at the currency")
    script.reads("/nowhere/shop/currency.py")
    script.prompt("also look at the currency", prompt_id="p-4")
    script.says("The currency is fine.")
    script.prompt("<task-notification>\n<task-id>b1</task-id>")
    script.says("The background task has ended well, nothing to do.")
    script.prompt("/compact")
    script.compacted()
    script.prompt("now the docs")
    script.runs("make docs", "Exit code 2\nmake: *** No rule to make target 'docs'.  Stop.", failed=True)
    script.calls_tool("Agent", description="find the docs", prompt="where are they?", subagent_type="Explore")
    script.answers("They are in doc/.")
    script.says("The docs are in doc/, there is no make target for them.")
    script.prompt("[Request interrupted by user]")
    script.prompt("go on then")
    script.calls_tool("Write", file_path="/nowhere/shop/Makefile", content="docs:\n\tsphinx-build")
    script.answers("File created successfully")
    script.says("Added a make target.")
    offsets, at = [], 0
    for row, line in zip(script.rows, script.lines(), strict=True):
        if row["type"] == "user" and isinstance(row["message"]["content"], str) and not row.get("isCompactSummary"):
            offsets.append(at)
        at += len(line)
    return b"".join(script.lines()), [*offsets[1:], at]


LONG, TURN_ENDS = long_session()


@given(st.lists(st.integers(0, len(LONG)), max_size=8), st.sets(st.sampled_from(TURN_ENDS[:-1]), max_size=6))
@settings(max_examples=60, deadline=None)
def test_what_is_stored_does_not_depend_on_when_it_was_read(workplace: str, cuts: list[int], stops: set[int]) -> None:
    """Hooks that fire at any byte in the middle, and at the end of some turns: the same rows as one reading."""
    portions = sorted([(cut, MIDDLE) for cut in cuts] + [(stop, TURN_END) for stop in stops]) + [(len(LONG), TURN_END)]
    assert read_in_portions(workplace, LONG, portions) == read_in_portions(workplace, LONG, [(len(LONG), SETTLED)])


@given(st.integers(0, len(LONG) - 1))
@settings(max_examples=40, deadline=None)
def test_tear_at_any_byte_loses_nothing(workplace: str, cut: int) -> None:
    """A file torn anywhere and written on gives what the whole file gives."""
    for ends in (MIDDLE, QUIET):
        got = read_in_portions(workplace, LONG, [(cut, ends), (len(LONG), TURN_END)])
        assert got == read_in_portions(workplace, LONG, [(len(LONG), TURN_END)])


def test_slices_give_what_one_reading_gives(fresh_db: Database, path: str, home: str, tmp_path: Path,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """However small they are."""
    shop_session().write(path)
    ingest(fresh_db, path)
    monkeypatch.setattr(room, "SLICE_BYTES", 1)
    with open_database(str(tmp_path / "other")) as other:
        ingest(other, path)
        assert contents(other) == contents(fresh_db)


def test_deadline_leaves_the_rest_to_the_next_reading(fresh_db: Database, path: str,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    """At least one slice is taken; what was taken is stored; the result says that more is there."""
    monkeypatch.setattr(room, "SLICE_BYTES", 1)
    shop_session().write(path)
    result = ingest(fresh_db, path, deadline=time.monotonic() - 1)
    assert not result.finished and 0 < result.bytes < os.path.getsize(path)
    readings = 1
    while not ingest(fresh_db, path, deadline=time.monotonic() - 1).finished:
        readings += 1
    assert 1 < readings < 30 and len(titles(fresh_db)) == 5


def test_reader_that_comes_too_late_stores_nothing_twice(fresh_db: Database, path: str, home: str) -> None:
    """Another process takes the rows between this one's reading and its transaction."""
    shop_session().write(path)
    whole = transcripts.advance

    def late(*arguments: Any) -> bool:
        transcripts.advance = whole  # type: ignore[assignment]
        fresh_db.connection.execute("ROLLBACK")
        with open_database(home) as other:
            assert counted(ingest(other, path)) == (5, 3, 3)
        fresh_db.connection.execute("BEGIN IMMEDIATE")
        return whole(*arguments)

    transcripts.advance = late  # type: ignore[assignment]
    try:
        assert counted(ingest(fresh_db, path)) == (0, 0, 0)
    finally:
        transcripts.advance = whole  # type: ignore[assignment]
    assert len(titles(fresh_db)) == 5 and sound(fresh_db)


def test_middle_leaves_the_episode_at_the_end_open(fresh_db: Database, path: str) -> None:
    """Its rows are read again when it is complete, as one observation."""
    script = Script()
    script.prompt("fix it")
    script.says("I replace the parser now.")
    script.edits("/nowhere/shop/a.py")
    ingest(fresh_db, script.write(path), ends=MIDDLE)
    assert titles(fresh_db) == [] and len(every(fresh_db, PROMPT)) == 1
    script.edits("/nowhere/shop/b.py")
    script.says("Replaced.")
    ingest(fresh_db, script.write(path), ends=TURN_END)
    assert every(fresh_db, OBSERVATION)[0].files_modified == ["a.py", "b.py"]


def test_turn_ends_only_when_the_last_words_are_in_the_file(fresh_db: Database, path: str) -> None:
    """The client's file may lag behind its hook: then the rest is left for the next one."""
    script = Script()
    script.prompt("fix it")
    script.edits("/nowhere/shop/a.py")
    ingest(fresh_db, script.write(path), ends=TURN_END, last_message="Fixed:\n\nthe parser was wrong.")
    assert (titles(fresh_db), every(fresh_db, SUMMARY)) == ([], [])
    script.says("Fixed:\n\nthe parser was wrong.")
    ingest(fresh_db, script.write(path), ends=TURN_END, last_message="Fixed:\n\nthe parser was wrong.")
    assert every(fresh_db, SUMMARY)[0].completed == "Fixed:\n\nthe parser was wrong."


def test_settled_waits_for_a_tool_at_work_unless_the_file_is_old(fresh_db: Database, path: str) -> None:
    """A session that was broken off has been quiet for ten minutes."""
    script = Script()
    script.prompt("run it")
    script.says("I run the long benchmark, it takes a while.")
    script.calls_tool("Bash", command="make benchmark")
    script.write(path)
    for ends in (SETTLED, QUIET):
        ingest(fresh_db, path, ends=ends)
        assert titles(fresh_db) == []
    os.utime(path, (time.time() - 700, time.time() - 700))
    ingest(fresh_db, path, ends=QUIET)
    assert titles(fresh_db) != []


def test_quiet_does_not_cut_a_session_at_work(fresh_db: Database, path: str) -> None:
    """SETTLED would; that is for files nobody writes to."""
    script = Script()
    script.prompt("fix it")
    script.says("I replace the parser now, which takes three steps.")
    script.edits("/nowhere/shop/a.py")
    script.write(path)
    ingest(fresh_db, path, ends=QUIET)
    assert titles(fresh_db) == []
    ingest(fresh_db, path, ends=SETTLED)
    assert len(titles(fresh_db)) == 1


def test_torn_tail_of_a_dead_session_does_not_hold_back_its_end(fresh_db: Database, path: str) -> None:
    """What is whole is stored once the file has been quiet; the torn row is counted."""
    shop_session().write(path)
    append(path, b'{"type": "user", "message": {"role": "user", "cont')
    assert ingest(fresh_db, path).skipped.torn == 1
    assert len(every(fresh_db, SUMMARY)) == 2
    os.utime(path, (time.time() - 700, time.time() - 700))
    assert ingest(fresh_db, path).skipped.torn == 1
    assert [s.completed for s in every(fresh_db, SUMMARY)][2:] == ["It was `shop/prices.py`, the function `parse`."]


def test_replaced_file_is_read_from_its_start(fresh_db: Database, path: str) -> None:
    """Another session under the same name, longer or shorter; what was stored stays."""
    shop_session().write(path)
    ingest(fresh_db, path)
    other = shop_session(name="other", session="other-session")
    other.prompt("and now something else entirely")
    other.says("Something else it is, and it is entirely done.")
    other.write(path)
    assert counted(ingest(fresh_db, path)) == (6, 4, 4)
    short = Script(name="short", session="short-session")
    short.prompt("only this")
    short.write(path)
    assert counted(ingest(fresh_db, path)) == (0, 0, 1)
    assert len(titles(fresh_db)) == 11


def test_truncated_file_is_read_again_and_nothing_is_stored_twice(fresh_db: Database, path: str) -> None:
    """As when a session was rewound by hand and written on differently."""
    script = shop_session()
    script.write(path)
    ingest(fresh_db, path)
    Path(path).write_bytes(b"".join(script.lines()[:15]))
    assert counted(ingest(fresh_db, path)) == (0, 0, 0)
    fork = Script(name="fork")
    fork.rows = script.rows[:15]
    fork.prompt("do not commit, explain")
    fork.says("The parser did not know the decimal comma.")
    fork.write(path)
    assert counted(ingest(fresh_db, path)) == (1, 1, 1)
    assert sound(fresh_db)


def test_forked_session_adds_only_what_it_did_itself(fresh_db: Database, path: str, tmp_path: Path) -> None:
    """Its file repeats the rows of the first under a new session id: same uuids, same memories."""
    script = shop_session()
    ingest(fresh_db, script.write(path))
    before = contents(fresh_db)
    fork = Script(session="fork", name="f")
    fork.rows = [{**row, "sessionId": "fork"} for row in script.rows]
    ingest(fresh_db, fork.write(tmp_path / "fork.jsonl"))
    assert contents(fresh_db) == before
    fork.prompt("now in English")
    fork.says("Prices with a decimal comma are parsed since 1a2b3c4.")
    assert counted(ingest(fresh_db, fork.write(tmp_path / "fork.jsonl"))) == (1, 1, 1)
    assert every(fresh_db, OBSERVATION)[-1].session_id == "fork"
    assert every(fresh_db, PROMPT)[-1].prompt_number == 4


def test_two_sessions_in_one_file_are_kept_apart(fresh_db: Database, path: str) -> None:
    """Each row belongs to the session it names; turns are numbered in each."""
    one, two = Script(session="one", name="a"), Script(session="two", name="b")
    for script in (one, two):
        script.prompt("fix it")
        script.edits("/nowhere/shop/a.py")
        script.says(f"Fixed in session {script.session}, and nothing else.")
        script.prompt("thanks")
    Path(path).parent.mkdir(parents=True)
    Path(path).write_bytes(b"".join(one.lines() + two.lines()))
    ingest(fresh_db, path)
    assert [(s.session_id, s.completed[:20]) for s in every(fresh_db, SUMMARY)] == [("one", "Fixed in session one"),
                                                                                   ("two", "Fixed in session two")]
    assert [(p.session_id, p.prompt_number) for p in every(fresh_db, PROMPT)] == [("one", 1), ("one", 2), ("two", 1),
                                                                                  ("two", 2)]


def test_subagents_file_belongs_to_its_session(fresh_db: Database, path: str) -> None:
    """Its observations name the agent; its prompt is the model's own and there is no summary of it."""
    agent = Script(agent="a7", name="agent")
    agent.prompt("find the docs")
    agent.says("I search for the documentation of the shop.")
    agent.runs("make -C doc", "built")
    agent.says("The docs are in doc/ and build with make.")
    agent_path = os.path.join(path.removesuffix(".jsonl"), "subagents", "agent-a7.jsonl")
    assert counted(ingest(fresh_db, agent.write(agent_path), ends=TURN_END)) == (2, 0, 0)
    assert {(o.agent, o.session_id, o.transcript) for o in every(fresh_db, OBSERVATION)} == {
        ("a7", agent.session, agent_path)}
    assert fresh_db.rows("SELECT session_id, transcript FROM sessions")[0]["transcript"] == path
    assert (room.agent_of(agent_path), room.agent_of(path)) == ("a7", "")
    assert (room.session_of(agent_path), room.session_of(path)) == (agent.session, agent.session)


def test_compaction_agents_file_is_passed_over(fresh_db: Database, tmp_path: Path) -> None:
    """It repeats the session; an ordinary agent's file is read."""
    for name, stored in (("agent-acompact-1", 0), ("agent-a1", 5)):
        script = shop_session(agent="x", name=name)
        result = ingest(fresh_db, script.write(tmp_path / "s" / "subagents" / f"{name}.jsonl"))
        assert result.observations == stored, name


def test_prompts_known_only_from_the_queue_are_stored_once(fresh_db: Database, path: str) -> None:
    """Typed while the assistant works; numbered when typed, and the turn that takes one up has its number."""
    script = Script()
    script.prompt("first")
    script.says("I begin with the first thing, the parser.")
    script.queued("second")
    script.queued("never taken up")
    script.edits("/nowhere/shop/a.py")
    script.prompt("second")
    script.says("The second thing is done as well, all of it.")
    ingest(fresh_db, script.write(path))
    assert [(p.text, p.prompt_number, p.uuids) for p in every(fresh_db, PROMPT)] == [
        ("first", 1, ["r-0001"]), ("second", 2, ["r-0007"]), ("never taken up", 3, [])]
    assert [o.prompt_number for o in every(fresh_db, OBSERVATION)] == [1, 2]


def test_prompt_queued_before_the_first_row_knows_its_project(fresh_db: Database, path: str) -> None:
    """Scripted sessions begin so; the queue's row has no folder, the next one does."""
    script = Script()
    script.queued("go")
    script.prompt("go")
    script.says("Went and came back with what was asked for.")
    ingest(fresh_db, script.write(path), ends=MIDDLE)
    assert [(p.project, p.prompt_number, p.uuids) for p in every(fresh_db, PROMPT)] == [("shop", 1, ["r-0002"])]
    assert [row[0] for row in fresh_db.rows("SELECT name FROM projects")] == ["shop"]


def test_queued_prompt_alone_waits_for_its_folder_and_is_not_lost(fresh_db: Database, path: str) -> None:
    """In the middle it is left for the next reading; at the end it is stored without a project."""
    script = Script()
    script.queued("go")
    ingest(fresh_db, script.write(path), ends=MIDDLE)
    assert every(fresh_db, PROMPT) == []
    ingest(fresh_db, path, ends=TURN_END)
    assert [(p.text, p.project) for p in every(fresh_db, PROMPT)] == [("go", "unknown")]


def test_clock_that_runs_backwards_does_not_disturb_the_order(fresh_db: Database, path: str) -> None:
    """File order is the order; no memory is older than the one before it."""
    script = shop_session()
    for number, row in enumerate(script.rows):
        if number % 3 == 1 and "timestamp" in row:
            row["timestamp"] = "2026-05-28T19:00:00.000Z"
    ingest(fresh_db, script.write(path))
    for kind in (OBSERVATION, PROMPT, SUMMARY):
        moments = [record.created_at_epoch for record in every(fresh_db, kind)]
        assert moments == sorted(moments) and moments[0] >= 1779998400000


def test_rows_without_uuid_or_time_are_stored_once(fresh_db: Database, path: str) -> None:
    """By their text within the session."""
    script = shop_session()
    for row in script.rows:
        row.pop("uuid", None)
        row.pop("timestamp", None)
    ingest(fresh_db, script.write(path))
    before = contents(fresh_db)
    assert len(before["observations"]) == 5
    fresh_db.execute("DELETE FROM transcripts")
    ingest(fresh_db, path)
    assert contents(fresh_db) == before


def test_missing_file_is_an_os_error(fresh_db: Database, path: str) -> None:
    """The caller knows what to do about it."""
    with pytest.raises(FileNotFoundError):
        ingest(fresh_db, path)


def test_progress_adds_up_to_the_file(fresh_db: Database, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slice by slice."""
    monkeypatch.setattr(room, "SLICE_BYTES", 500)
    seen: list[int] = []
    ingest(fresh_db, shop_session().write(path), progress=seen.append)
    assert len(seen) > 3 and sum(seen) == os.path.getsize(path)


def test_branch_with_a_secret_is_not_kept_between_readings(fresh_db: Database, path: str) -> None:
    """The state of a turn in progress is stored too."""
    secret = "ghp_" + "a1B2" * 9
    session = Script()
    session.prompt("count the gulls", gitBranch=f"fix/{secret}")
    session.says("Counting.", gitBranch=f"fix/{secret}")
    session.prompt("and the terns", gitBranch=f"fix/{secret}")
    session.write(path)
    ingest(fresh_db, path, ends=MIDDLE)
    [state] = [row[0] for row in fresh_db.rows("SELECT state FROM transcripts")]
    assert "and the terns" in state and "fix/[redacted:github-token]" in state and secret not in state
