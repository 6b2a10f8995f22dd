"""What a later session is told about the earlier one."""

from __future__ import annotations

import json

import pytest
from claude_client import Workplace, new_session
from fake_anthropic import FakeAnthropic, Request, call, say

FENCE = "<memlite-memory"
BEFORE = "Replace the ferry schedule's spreadsheet by a table"
NEXT = "What shall we do about the harbour today"
ELSEWHERE = "What shall we do about the bakery today"
AGAIN = "And what about tomorrow"


class Days:
    """A session, the next one in the same project (resumed once), and one in another project."""

    def __init__(self, workplace: Workplace, api: FakeAnthropic) -> None:
        self.workplace = workplace
        self.harbour, self.bakery = workplace.project("harbour"), workplace.project("bakery")
        table = self.harbour / "ferries.csv"
        api.script(
            BEFORE,
            say("I'll write the table.", call("Write", file_path=str(table), content="08:15,Lighthouse\n")),
            say("Is it complete?", call("Bash", command="sh survey.sh quay-count is 12")),
            "The ferry schedule is a table now.",
        )
        for prompt in (NEXT, ELSEWHERE, AGAIN):
            api.script(prompt, "Let us see.")
        self.first_session = new_session()
        self.first = workplace.say(BEFORE, self.harbour, session=self.first_session)
        workplace.settle()
        second = new_session()
        self.second = workplace.say(NEXT, self.harbour, session=second)
        self.elsewhere = workplace.say(ELSEWHERE, self.bakery, session=new_session())
        self.resumed = workplace.say(AGAIN, self.harbour, resume=second)
        workplace.settle()


@pytest.fixture(scope="module")
def days(workplace: Workplace, api: FakeAnthropic) -> Days:
    """The sessions, all ended well."""
    days = Days(workplace, api)
    turns = (days.first, days.second, days.elsewhere, days.resumed)
    assert [(turn.returncode, turn.answer) for turn in turns] == [
        (0, "The ferry schedule is a table now."),
        *[(0, "Let us see.")] * 3,
    ]
    return days


def fenced(request: Request) -> str:
    """The text between the fence's start and its end."""
    return request.text.partition(FENCE)[2].partition("</memlite-memory>")[0]


def test_the_next_session_starts_with_the_earlier_work(days: Days) -> None:
    """The first request of the second session holds one fenced block, and the work is inside it."""
    request = days.second.requests[0]
    assert (request.text.count(FENCE), request.text.count("</memlite-memory>")) == (1, 1)
    assert "ferr" in fenced(request).lower()
    assert request.text.count("ferry schedule") == fenced(request).count("ferry schedule")


def test_the_block_keeps_within_the_clients_limit(days: Days) -> None:
    """Less than 10,000 UTF-16 units (else it would be cut to a preview), about 2,000 tokens at most."""
    [context] = [
        json.loads(hook.stdout)["hookSpecificOutput"]["additionalContext"]
        for hook in days.second.hooks
        if hook.event == "SessionStart"
    ]
    assert len(context.encode("utf-16-le")) // 2 < 10_000
    assert len(context) <= 8_000
    assert context in days.second.requests[0].text


def test_another_project_is_told_nothing_of_it(days: Days) -> None:
    """A session in another folder gets none of the words; the one beside it did."""
    assert "erry schedule" in days.second.requests[0].text
    for request in days.elsewhere.requests:
        assert "erry schedule" not in request.text
        assert "ferries.csv" not in request.text
        assert "quay-count" not in request.text


def test_a_resumed_session_is_not_told_twice(days: Days) -> None:
    """The resumed conversation still holds the one block it began with."""
    request = days.resumed.requests[0]
    assert AGAIN in request.text
    assert request.text.count(FENCE) == 1


def test_each_turn_has_one_summary(days: Days) -> None:
    """Short turns too, where the Stop hook may come before the client has written the transcript."""
    summaries = [memory for memory in days.workplace.memories(days.harbour) if memory["kind"] == "summary"]
    assert [memory["request"] for memory in reversed(summaries)] == [BEFORE, NEXT, AGAIN]


def test_what_was_injected_is_not_remembered_again(days: Days) -> None:
    """The second session's memories don't quote the block; the first session's are there once."""
    memories = days.workplace.memories(days.harbour)
    assert NEXT in [memory.get("text") for memory in memories]
    assert "memlite-memory" not in json.dumps(memories)
    about = {memory["session_id"] for memory in memories if "quay-count" in json.dumps(memory)}
    assert about == {days.first_session}
