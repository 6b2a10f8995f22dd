"""Two sessions at the same time in one project."""

from __future__ import annotations

import json
from typing import Any

import pytest
from claude_client import Turn, Workplace, doubled, new_session
from fake_anthropic import FakeAnthropic, call, say

ASKED = {"left": "Paint the left tower", "right": "Paint the right tower"}


@pytest.fixture(scope="module")
def sessions(workplace: Workplace, api: FakeAnthropic) -> dict[str, str]:
    """Side → id of a session; both were at work at the same time and ended well."""
    project = workplace.project("castle")
    for side, prompt in ASKED.items():
        steps = [
            say(f"Coat {n}.", call("Bash", command=f"sh survey.sh {side}-coat-{n}"), delay=0.2)
            for n in range(4)
        ]
        api.script(prompt, *steps, f"The {side} tower is painted.")
    ids = {side: new_session() for side in ASKED}
    running = {side: workplace.start(ASKED[side], project, session=ids[side]) for side in ASKED}
    turns: dict[str, Turn] = {side: client.finish() for side, client in running.items()}
    workplace.settle()
    for side, turn in turns.items():
        assert (turn.returncode, turn.answer, turn.stderr) == (0, f"The {side} tower is painted.", "")
        assert all((hook.exit_code, hook.outcome) == (0, "success") for hook in turn.hooks)
    order = [request.session for request in api.requests if request.session in ids.values()]
    assert order != sorted(order, key=order.index), "they took turns"
    return ids


@pytest.fixture(scope="module")
def memories(workplace: Workplace, sessions: dict[str, str]) -> list[dict[str, Any]]:
    """All that is stored of the project."""
    return workplace.memories(workplace.project("castle"))


@pytest.mark.parametrize("side", ASKED)
def test_each_session_is_stored_whole(
    side: str, sessions: dict[str, str], memories: list[dict[str, Any]]
) -> None:
    """Prompt and all four steps are there, under the session that did them and no other."""
    own = [memory for memory in memories if memory["session_id"] == sessions[side]]
    assert [memory["text"] for memory in own if memory["kind"] == "prompt"] == [ASKED[side]]
    stored = json.dumps([memory for memory in own if memory["kind"] == "observation"])
    other = next(s for s in ASKED if s != side)
    assert [f"{side}-coat-{n}" in stored for n in range(4)] == [True] * 4
    assert f"{other}-coat" not in stored


def test_neither_is_stored_twice(memories: list[dict[str, Any]]) -> None:
    """No row of a transcript is in two observations or two prompts."""
    assert {memory["kind"] for memory in memories} >= {"observation", "prompt"}
    assert doubled(memories) == set()
