"""episodes: which rows belong to one step of work, and what is known of the turn in progress."""

from __future__ import annotations

from memlite.capture import episodes
from memlite.capture.episodes import Episode, Turn, belongs
from memlite.capture.transcript import PROMPT, Event, Skipped, events_of
from memlite.jsoncodec import dumps, loads
from rows import Script


def events(script: Script) -> list[Event]:
    """All events of a script."""
    return [event for start, line in enumerate(script.lines()) for event in events_of(line, start, Skipped())]


def grouped(script: Script) -> list[list[str]]:
    """The uuids of the rows, episode by episode; prompts and breaks are in none."""
    found: list[Episode] = []
    opened: Episode | None = None
    for event in events(script):
        if opened is not None and not belongs(opened, event):
            opened = None
        if event.kind in (PROMPT, "break"):
            continue
        if opened is None:
            opened = Episode()
            found.append(opened)
        opened.events.append(event)
    return [episode.uuids() for episode in found]


def test_words_and_the_work_they_announce_are_one_episode() -> None:
    """The next words begin another."""
    script = Script()
    script.says("I fix the parser.")
    script.edits("/nowhere/shop/a.py")
    script.runs("pytest", "1 passed")
    script.says("Now the docs.")
    script.edits("/nowhere/shop/README.md")
    assert [len(rows) for rows in grouped(script)] == [5, 3]


def test_looking_around_belongs_to_the_step_it_leads_to() -> None:
    """Up to six rows; a longer text has said something of its own."""
    script = Script()
    script.says("I look at the parser.")
    script.reads("/nowhere/shop/a.py")
    script.says("It is wrong, I fix it.")
    script.edits("/nowhere/shop/a.py")
    assert [len(rows) for rows in grouped(script)] == [6]
    telling = Script()
    telling.says("I look at the parser. " + "It is a long story. " * 20)
    telling.reads("/nowhere/shop/a.py")
    telling.says("It is wrong, I fix it.")
    assert [len(rows) for rows in grouped(telling)] == [3, 1]


def test_prompts_and_breaks_end_an_episode() -> None:
    """Whatever was going on."""
    for end in ("and now?", "<task-notification>x", "/clear", "[Request interrupted by user]"):
        script = Script()
        script.says("I begin.")
        script.prompt(end)
        script.says("I go on.")
        assert [len(rows) for rows in grouped(script)] == [1, 1], end
    script = Script()
    script.says("I begin.")
    script.compacted()
    script.says("I go on.")
    assert [len(rows) for rows in grouped(script)] == [1, 1]


def test_long_work_is_cut_where_no_tool_is_at_work() -> None:
    """A memory that points at a hundred rows points at nothing; results stay with their calls."""
    script = Script()
    script.says("I fix them all.")
    for number in range(40):
        script.edits(f"/nowhere/shop/{number}.py")
    sizes = [len(rows) for rows in grouped(script)]
    assert max(sizes) <= episodes.MAX_ROWS + 2 and sum(sizes) == 81
    parallel = Script()
    for number in range(20):
        parallel.calls_tool("Read", file_path=f"/nowhere/{number}")
    for number in range(20):
        parallel.answers("x", call=number + 1)
    assert [len(rows) for rows in grouped(parallel)] == [40]


def test_call_that_is_never_answered_does_not_swallow_the_session() -> None:
    """Its episode ends all the same."""
    script = Script()
    script.calls_tool("Bash", command="sleep 999")
    script.rows.pop(0)
    script.calls_tool("Bash", command="true")
    for number in range(200):
        script.edits(f"/nowhere/shop/{number}.py")
    assert max(len(rows) for rows in grouped(script)) <= 4 * episodes.MAX_ROWS + 2


def test_another_session_or_agent_is_another_episode() -> None:
    """Though their rows stand in one file."""
    script = Script()
    script.says("I begin.")
    script.rows.append({**script.rows[0], "uuid": "x", "sessionId": "other"})
    script.rows.append({**script.rows[0], "uuid": "y", "isSidechain": True, "agentId": "a1"})
    assert [len(rows) for rows in grouped(script)] == [1, 1, 1]


def test_calls_are_paired_with_their_results_in_the_order_of_the_calls() -> None:
    """However the results come."""
    script = Script()
    script.calls_tool("Read", file_path="a")
    script.calls_tool("Read", file_path="b")
    script.calls_tool("Read", file_path="c")
    script.answers("of b", call=2)
    script.answers("of a", call=1)
    episode = Episode()
    episode.events = events(script)
    assert [(call.input["file_path"], result and result.text) for call, result in episode.calls()] == [
        ("a", "of a"), ("b", "of b"), ("c", None)]
    assert episode.waits()


def test_turn_survives_being_stored() -> None:
    """Its state is JSON, and all of it."""
    turn = Turn()
    script = Script()
    script.prompt("fix it")
    turn.begin(events(script)[0])
    turn.queue("then that")
    turn.note("did it", ["r.py"], ["m.py"])
    again = Turn(loads(dumps(turn.as_state())))
    assert again.as_state() == turn.as_state()
    assert (again.number, again.count, again.prompt, again.said) == (1, 2, "fix it", True)


def test_prompt_taken_up_from_the_queue_has_the_number_it_was_queued_with() -> None:
    """Equal words are taken up in their order; what is new gets the next number."""
    turn, script = Turn(), Script()
    for text in ("a", "a", "b"):
        script.prompt(text)
    asked = events(script)
    assert [turn.queue("a"), turn.queue("a")] == [1, 2]
    numbers = []
    for event in asked:
        turn.begin(event)
        numbers.append(turn.number)
    assert numbers == [1, 2, 3]


def test_moment_never_runs_backwards() -> None:
    """A row without a time has that of the one before it."""
    turn, script = Turn(), Script()
    for text in ("a", "b", "c"):
        script.prompt(text)
    first, second, third = events(script)
    second.time, third.time = 5, None
    assert [turn.moment(e) for e in (first, second, third)] == [first.time] * 3
