"""The model answers from memory the way the skill says: titles, what was around one, the whole record, the answer.

Each step takes its id from what the step before printed, as a model does.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from claude_client import Turn, Workplace, new_session
from fake_anthropic import FakeAnthropic, Reply, Request, call, say

WORK = "Find out how many quays the harbour has and write it down"
OTHER = "Look after the lighthouse"
QUESTION = "How many quays were counted last time?"
RULES = ("Skill", "Bash(memlite query:*)", "Bash(memlite timeline:*)", "Bash(memlite show:*)")


@pytest.fixture(scope="module")
def harbour(workplace: Workplace, api: FakeAnthropic) -> Path:
    """A project in which one session has counted the quays and another has seen to the lighthouse."""
    project = workplace.project("harbour")
    api.script(WORK,
               say("I count the quays from the pier.", call("Bash", command="sh survey.sh quay-count is 12")),
               say("I write the count into the harbour's list.",
                   call("Write", file_path=str(project / "quays.txt"), content="twelve quays\n")),
               "The harbour has 12 quays; quays.txt says so now.")
    api.script(OTHER,
               say("I look whether the lamp burns.", call("Bash", command="sh survey.sh lamp burns steadily")),
               "The lamp burns.")
    for prompt in (WORK, OTHER):
        assert workplace.say(prompt, project, session=new_session()).returncode == 0
        workplace.settle()
    return project


def last_answer(request: Request) -> str:
    """What the last tool call printed."""
    return request.tool_results[-1]


def id_beside(words: str, printed: str) -> str:
    """The id that begins the line with `words`, or a plain observation's where several have them."""
    lines = [line for line in printed.splitlines() if words in line]
    assert lines, f"no line with {words!r} in:\n{printed}"
    found = [match[1] for line in lines if (match := re.match(r"[→\-\s]*#?([SP]?\d+)\b", line))]
    assert found, lines
    return min(found, key=lambda ident: ident[0] in "SP")


def ask(workplace: Workplace, project: Path, *steps: object, allow: tuple[str, ...]) -> Turn:
    """A new session whose model takes these steps after the question."""
    workplace.api.script(QUESTION, *steps)   # type: ignore[arg-type]
    turn = workplace.say(QUESTION, project, session=new_session(), allow=allow)
    assert (turn.returncode, turn.stderr) == (0, "")
    workplace.settle()
    return turn


def nothing_came_back(workplace: Workplace, project: Path) -> None:
    """What was looked up stays the memory of the session that did the work; of the asking there is the prompt."""
    stored = workplace.memories(project)
    prompts = {memory["session_id"]: memory["text"] for memory in stored if memory["kind"] == "prompt"}
    assert set(prompts.values()) == {WORK, OTHER, QUESTION}
    assert {prompts[memory["session_id"]] for memory in stored
            if memory["kind"] == "observation" and "quay-count is 12" in str(memory)} == {WORK}


def answer_from(record: str) -> str:
    """What the model says: the number it reads in the record, and where it has it from."""
    number = re.search(r"quay-count is (\d+)", record)
    ident = re.match(r"\s*(\d+) ", record)
    assert number is not None and ident is not None, record
    return f"{number[1]} quays, says #{ident[1]}."


def test_from_titles_to_what_was_around_to_the_whole_record(workplace: Workplace, harbour: Path) -> None:
    """Skill, query, timeline, show: three commands of the skill, each allowed by its own rule, and no other."""
    skill = (workplace.plugin / "skills" / "mem-search" / "SKILL.md").read_text()

    def titles(request: Request) -> Reply:
        assert "# Search the memory of earlier sessions" in request.text
        return say(call("Bash", command='memlite query "quay count"'))

    def around(request: Request) -> Reply:
        return say(call("Bash", command=f"memlite timeline {id_beside('quay-count', last_answer(request))}"))

    def whole(request: Request) -> Reply:
        assert "lamp burns" in last_answer(request), "the other session is not in the timeline"
        return say(call("Bash", command=f"memlite show {id_beside('quay-count', last_answer(request))}"))

    turn = ask(workplace, harbour, say(call("Skill", skill="memlite:mem-search", args="quay count")), titles, around,
               whole, lambda request: answer_from(last_answer(request)), allow=RULES)
    assert re.fullmatch(r"12 quays, says #\d+\.", turn.answer)
    commands = [block["input"]["command"] for message in turn.requests[-1].messages if message["role"] == "assistant"
                for block in message["content"] if block.get("name") == "Bash"]
    assert [command.split()[1] for command in commands] == ["query", "timeline", "show"]
    for command in commands:
        assert "\n" + " ".join(command.split()[:2]) + " " in skill
    nothing_came_back(workplace, harbour)


def test_the_same_over_http_with_curl(workplace: Workplace, harbour: Path) -> None:
    """`memlite url` starts the worker and says where it is; the skill's three calls do the rest."""
    def address(request: Request) -> str:
        return next(text.strip() for text in request.tool_results if text.startswith("http://127.0.0.1:"))

    def titles(request: Request) -> Reply:
        return say(call("Bash", command=f"curl -s -G {address(request)}/api/search -d output=markdown "
                                        '--data-urlencode "query=quay count"'))

    def around(request: Request) -> Reply:
        ident = id_beside("quay-count", last_answer(request))
        return say(call("Bash", command=f'curl -s "{address(request)}/api/timeline?anchor={ident}&output=markdown"'))

    def whole(request: Request) -> Reply:
        assert "lamp burns" in last_answer(request)
        ident = id_beside("quay-count", last_answer(request))
        return say(call("Bash", command=f'curl -s "{address(request)}/api/observation/{ident}?output=markdown"'))

    try:
        turn = ask(workplace, harbour, say(call("Bash", command="memlite url")), titles, around, whole,
                   lambda request: answer_from(last_answer(request)), allow=("Bash",))
        assert re.fullmatch(r"12 quays, says #\d+\.", turn.answer)
        nothing_came_back(workplace, harbour)
    finally:
        assert workplace.memlite("stop", project=harbour).returncode == 0
