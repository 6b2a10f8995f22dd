"""transcript: JSON lines that only grow become events; what is not understood is counted and passed over."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite.capture import transcript
from memlite.capture.transcript import BREAK, PROMPT, QUEUED, RESULT, TEXT, TOOL, Event, Skipped, events_of, read_lines
from rows import Script, shop_session


def lines(data: bytes, offset: int = 0) -> tuple[list[tuple[int, int, bytes]], dict[str, int]]:
    """The complete lines of `data`, and what was skipped."""
    skipped = Skipped()
    return list(read_lines(io.BytesIO(data), offset, skipped)), skipped.as_dict()


def events(row: Any) -> list[Event]:
    """The events of one row, which may be given as bytes."""
    return events_of(row if isinstance(row, bytes) else json.dumps(row).encode(), 0, Skipped())


def user(content: Any, **more: Any) -> dict[str, Any]:
    """A user row."""
    return {"type": "user", "uuid": "u", "message": {"role": "user", "content": content}, **more}


def test_lines_are_told_with_their_place() -> None:
    """Start and end are byte offsets, also after non-ASCII text."""
    data = "ä\nbc\n".encode()
    assert lines(data)[0] == [(0, 3, "ä\n".encode()), (3, 6, b"bc\n")]
    assert lines(data, 3)[0] == [(3, 6, b"bc\n")]


def test_last_line_without_line_feed_counts_when_it_is_whole() -> None:
    """Else it is being written right now: torn, left for the next reading."""
    assert lines(b'{"a": 1}\n{"b": 2}') == ([(0, 9, b'{"a": 1}\n'), (9, 17, b'{"b": 2}')], Skipped().as_dict())
    found, skipped = lines(b'{"a": 1}\n{"b": ')
    assert ([end for _, end, _ in found], skipped["torn"]) == ([9], 1)
    assert lines(b"")[0] == []


def test_line_that_is_too_long_is_skipped_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows it is read."""
    monkeypatch.setattr(transcript, "LINE_LIMIT", 10)
    found, skipped = lines(b"x" * 35 + b"\n{}\n" + b"y" * 12)
    assert [line for _, _, line in found] == [b"{}\n"]
    assert (skipped["too_long"], skipped["torn"]) == (1, 1)


@given(st.lists(st.binary(max_size=30), max_size=12), st.integers(0, 400))
def test_any_bytes_are_read_without_an_error(garbage: list[bytes], cut: int) -> None:
    """Between, before and after real rows, and torn anywhere: real rows before the tear are all found."""
    script = shop_session()
    real = script.lines()
    data = b"".join(piece for pair in zip(real, [*garbage, *[b""] * len(real)], strict=False)
                    for piece in (pair[1].replace(b"\n", b" ") + b"\n" if pair[1] else b"", pair[0]))
    whole = data[:max(0, len(data) - cut)]
    skipped = Skipped()
    uuids = [event.uuid for start, _, line in read_lines(io.BytesIO(whole), 0, skipped)
             for event in events_of(line, start, skipped)]
    expected = [event.uuid for line in real for event in events(line) if data.find(line) + len(line) <= len(whole)]
    assert uuids[:len(expected)] == expected
    assert len(uuids) <= len(expected) + 2  # a last line may be whole without its line feed


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                        st.sampled_from(["type", "message", "content", "role", "uuid", "text", "id", "name", "input",
                                         "tool_use_id", "isMeta", "toolUseResult", "timestamp", "operation"]),
                        inner, max_size=5), max_leaves=25),
       st.sampled_from(["user", "assistant", "queue-operation", "system", None]))
def test_rows_of_any_shape_are_no_error(value: Any, kind: str | None) -> None:
    """The format is undocumented: a field may hold anything."""
    row = {**value, "type": kind} if isinstance(value, dict) else value
    for event in events(row):
        assert event.kind in (PROMPT, QUEUED, TEXT, TOOL, RESULT, BREAK)


def test_what_is_no_json_and_what_is_unknown_is_counted() -> None:
    """By reason; known rows that hold nothing to remember and empty lines are not."""
    skipped = Skipped()
    for line in (b"{", b"no", b"\xff\xfe", b"[1]", b'"text"', b'{"type": "novelty"}', b"{}", b'{"type": "progress"}',
                 b"\n"):
        assert events_of(line, 0, skipped) == []
    assert skipped.as_dict() == {"not_json": 3, "too_long": 0, "unknown_type": 4, "torn": 0}
    skipped.add(skipped)
    assert skipped.not_json == 6


def test_row_knows_whose_and_when_it_is() -> None:
    """Uuid, moment, session, folder, branch, subagent and prompt id."""
    script = Script(agent="a1")
    script.prompt("go", prompt_id="p-1")
    event = events(script.lines()[0])[0]
    assert (event.kind, event.uuid, event.time, event.session_id) == (PROMPT, "r-0001", 1779998400000, script.session)
    assert (event.cwd, event.branch, event.agent, event.prompt_id) == ("/nowhere/shop", "main", "a1", "p-1")


def test_assistant_row_becomes_its_blocks() -> None:
    """Text and tool calls in their order; thinking, images and empty text are left out."""
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": " I look. "},
               {"type": "text", "text": " "},
               {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls", "timeout": 3}}]
    said, called = events({"type": "assistant", "message": {"content": content}})
    assert (said.kind, said.text) == (TEXT, "I look.")
    assert (called.kind, called.tool, called.tool_id, called.input) == (TOOL, "Bash", "t1",
                                                                        {"command": "ls", "timeout": 3})
    assert events({"type": "assistant", "isApiErrorMessage": True, "message": {"content": content}}) == []
    assert events({"type": "assistant", "message": {"content": "plain"}})[0].text == "plain"


def test_tool_result_is_one_event_a_block() -> None:
    """Text of either form, images left out, failure and structured outcome kept."""
    blocks = [{"type": "tool_result", "tool_use_id": "t1", "content": "plain", "is_error": True},
              {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "a"}, {"type": "image"},
                                                                       {"type": "text", "text": "b"}]}]
    one, two = events(user(blocks, toolUseResult={"answers": {"q": "a"}}))
    assert (one.tool_id, one.text, one.failed, one.outcome) == ("t1", "plain", True, {"answers": {"q": "a"}})
    assert (two.tool_id, two.text, two.failed) == ("t2", "a\nb", False)
    assert events(user(blocks[:1], toolUseResult="Error: x"))[0].outcome == {}
    told = events(user(blocks[:1],
                       toolUseResult={"content": "of a file", "stdout": "x", "answers": {"q": "<private>hush"}}))
    assert told[0].outcome == {"answers": {"q": "[private]"}}


@pytest.mark.parametrize(("typed", "kept"), [
    ("fix the prices", "fix the prices"), ("  spaced \n", "spaced"), ("", ""), ("/clear", ""),
    ("/tmp/x is gone", "/tmp/x is gone"),
    ("/review 167", "/review 167"), ("/a/b", "/a/b"), ("<task-notification>\n<task-id>1", ""),
    ("<local-command-stdout>Bye!</local-command-stdout>", ""), ("[Request interrupted by user for tool use]", ""),
    ("<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>167</command-args>",
     "/review 167"),
    ("<command-message>x</command-message>\n<command-name>/exit</command-name>", ""),
    ("before <system-reminder>never mind</system-reminder> after", "before after"),
    ("<private>hush</private>", "[private]")])
def test_what_a_person_typed_is_told_from_what_the_client_wrote(typed: str, kept: str) -> None:
    """Hook and transcript share this rule."""
    assert transcript.typed_text(typed) == kept
    assert [event.kind for event in events(user(typed))] == [PROMPT if kept else BREAK]


def test_image_and_text_of_a_prompt_are_its_text() -> None:
    """A prompt of images alone is not stored, but begins something new."""
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    assert events(user([image, {"type": "text", "text": "what is this?"}]))[0].text == "what is this?"
    assert [event.kind for event in events(user([image]))] == [BREAK]


def test_rows_of_the_client_are_not_prompts() -> None:
    """Meta rows leave no trace; a compaction and a stop hook's feedback end what was going on."""
    assert events(user("Caveat: …", isMeta=True)) == []
    assert events(user("shown only", isVisibleInTranscriptOnly=True)) == []
    assert [e.kind for e in events(user("Stop hook feedback:\n- not yet", isMeta=True))] == [BREAK]
    assert [e.kind for e in events(user("This session is being continued", isCompactSummary=True))] == [BREAK]


def test_queued_prompt_is_known_from_its_queue_row() -> None:
    """Only the row that enqueues it; machine-made text is not queued by a person."""
    row = {"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": "and the tests"}
    assert [(e.kind, e.text) for e in events(row)] == [(QUEUED, "and the tests")]
    assert events({**row, "operation": "dequeue"}) == []
    assert events({**row, "content": "<task-notification>x"}) == []
    assert events({**row, "content": None}) == []


def test_texts_are_cleaned_and_bounded_before_anything_is_cut_from_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prompts, words, arguments however deep, and answers."""
    secret = "<private>hush</private>"
    call = {"type": "tool_use", "id": "t", "name": "X", "input": {"a": secret, "b": [{"c": secret}], "n": 1}}
    said = events({"type": "assistant", "message": {"content": [{"type": "text", "text": secret}, call]}})
    result = events(user([{"type": "tool_result", "tool_use_id": "t", "content": secret}]))
    prompt = events(user(f"see {secret}"))
    seen = [said[0].text, json.dumps(said[1].input), result[0].text, prompt[0].text]
    assert all("hush" not in text and "[private]" in text for text in seen)
    monkeypatch.setattr(transcript, "TEXT_LIMIT", 50)
    assert events(user("word " * 9 + "half-of-a-token"))[0].text == ("word " * 9).strip()
    assert events(user("word " * 10))[0].text == ("word " * 10).strip()


def test_arguments_nested_without_end_are_dropped() -> None:
    """Six levels are kept, the rest is nothing."""
    deep: Any = "bottom"
    for _ in range(40):
        deep = [deep]
    event = events({"type": "assistant", "message": {"content": [
        {"type": "tool_use", "id": "t", "name": "X", "input": {"near": [["kept"]], "far": deep}}]}})[0]
    assert event.input["near"] == [["kept"]] and "bottom" not in json.dumps(event.input)


def test_compaction_agents_transcript_is_known_by_its_name() -> None:
    """It repeats the session."""
    assert transcript.is_own_compaction("/x/subagents/agent-acompact-1.jsonl")
    assert not transcript.is_own_compaction("/x/subagents/agent-a1.jsonl")
