"""How the model asks for memories: from the client's own Bash tool, and led there by the skill."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from claude_client import Turn, Workplace, new_session
from fake_anthropic import FakeAnthropic, Reply, call, say

BEFORE = "Replace the ferry schedule's spreadsheet by a table"
QUERY = 'memlite query "quay count"'
FINDING = "survey.sh quay-count is 12"
QUERY_ALLOWED = ("Bash(memlite query:*)",)


@pytest.fixture(scope="module")
def harbour(workplace: Workplace, api: FakeAnthropic) -> Path:
    """A project in which a session has found something."""
    project = workplace.project("harbour")
    api.script(
        BEFORE,
        say("Is it complete?", call("Bash", command="sh survey.sh quay-count is 12")),
        "It is a table now.",
    )
    assert workplace.say(BEFORE, project, session=new_session()).answer == "It is a table now."
    workplace.settle()
    return project


def ask(workplace: Workplace, project: Path, prompt: str, *steps: Reply, allow: tuple[str, ...]) -> Turn:
    """A new session in which the model takes these steps and then says that it has looked."""
    workplace.api.script(prompt, *steps, "I have looked.")
    turn = workplace.say(prompt, project, session=new_session(), allow=allow)
    assert (turn.returncode, turn.answer, turn.stderr) == (0, "I have looked.", "")
    workplace.settle()
    return turn


def test_a_bare_memlite_query_works_in_the_bash_tool(workplace: Workplace, harbour: Path) -> None:
    """The plugin's bin/ is on the tool's PATH, and one rule allows the query, but nothing else."""
    turn = ask(
        workplace,
        harbour,
        "Look it up by yourself",
        say(call("Bash", command=QUERY)),
        say(call("Bash", command="touch not-allowed-by-the-rule")),
        allow=QUERY_ALLOWED,
    )
    found, refused = turn.requests[-1].tool_results
    assert FINDING in found
    assert not (harbour / "not-allowed-by-the-rule").exists(), f"the rule allowed more: {refused}"


def test_looking_up_a_memory_makes_no_memory_of_it(workplace: Workplace, harbour: Path) -> None:
    """The answer of `memlite query` in the transcript is not remembered as new work; what follows it is."""
    turn = ask(
        workplace,
        harbour,
        "Look once",
        say(call("Bash", command=QUERY)),
        say(call("Bash", command="sh survey.sh tide-table")),
        allow=(*QUERY_ALLOWED, "Bash(sh survey.sh:*)"),
    )
    assert FINDING in turn.requests[-1].tool_results[0]
    stored = workplace.memories(harbour)
    assert "surveyed: tide-table" in json.dumps(stored)
    sessions = {memory["session_id"] for memory in stored if FINDING in json.dumps(memory)}
    prompts = [m["text"] for m in stored if m["kind"] == "prompt" and m["session_id"] in sessions]
    assert prompts == [BEFORE]


def test_the_skill_reaches_the_model_and_its_command_works(workplace: Workplace, harbour: Path) -> None:
    """Calling mem-search puts its text into the conversation; the command it names gives the memory."""
    skill = (workplace.plugin / "skills" / "mem-search" / "SKILL.md").read_text().split("---", 2)[2]
    turn = ask(
        workplace,
        harbour,
        "Use your skill for that",
        say(call("Skill", skill="memlite:mem-search", args="quay count")),
        say(call("Bash", command=QUERY)),
        allow=("Skill", *QUERY_ALLOWED),
    )
    assert "memlite query" in skill
    assert "${" not in skill, "such a command would never be approved without a question"
    longest = max(skill.splitlines(), key=len)
    assert longest not in turn.requests[0].text
    assert longest in turn.requests[1].text
    assert FINDING in turn.requests[-1].tool_results[-1]
