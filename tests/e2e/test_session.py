"""A working session of the real client is captured, and found again by the binary."""

from __future__ import annotations

import json
import stat
from collections import Counter
from typing import Any

import pytest
from claude_client import Turn, Workplace, doubled, new_session
from fake_anthropic import FakeAnthropic, call, say

ASKED = "Write a parser for the tram timetable of the kiosk"
DELEGATED = "Have somebody else count the tram depots"
ASKED_LATER = "Why did the sheet of platform 9 fail"
SUMMARY = "<analysis>zebra</analysis><summary>Zebra crossings were compacted here.</summary>"


class Session:
    """The one session that all tests of this module look at."""

    def __init__(self, workplace: Workplace, api: FakeAnthropic) -> None:
        self.workplace = workplace
        self.id = new_session()
        self.project = workplace.project("kiosk")
        self.file = self.project / "timetable.py"
        self.summary_before, api.summary = api.summary, SUMMARY
        self._write_scripts(api)
        self.turns: list[Turn] = [
            workplace.say(ASKED, self.project, session=self.id),
            *(
                workplace.say(prompt, self.project, resume=self.id)
                for prompt in (DELEGATED, "/compact", ASKED_LATER)
            ),
        ]
        api.summary = self.summary_before
        workplace.settle()

    def _write_scripts(self, api: FakeAnthropic) -> None:
        api.script(
            ASKED,
            say("I'll see what is here first.", call("Bash", command="sh survey.sh siding-inventory")),
            say("Now the parser.", call("Write", file_path=str(self.file), content="GAP = 1\n")),
            say(call("Read", file_path=str(self.file))),
            say(
                "The columns are two apart.",
                call("Edit", file_path=str(self.file), old_string="GAP = 1", new_string="GAP = 2"),
            ),
            say(
                "Does it read last week's sheet?",
                call("Bash", command="echo 'ValueError: platform 9 has no departures' >&2; exit 3"),
            ),
            "The timetable parser is written; the sheet of platform 9 still fails.",
        )
        errand = {"subagent_type": "general-purpose", "run_in_background": False}
        api.script(
            DELEGATED,
            say(call("Agent", description="count depots", prompt="COUNT-DEPOTS in the yard", **errand)),
            "There are four depots.",
        )
        api.script(
            "COUNT-DEPOTS",
            say("Reading the roster.", call("Bash", command="sh survey.sh depot-roster")),
            "I counted four depots.",
        )
        api.script(ASKED_LATER, "It is empty: nothing leaves from platform 9.")

    def search(self, *arguments: str) -> list[dict[str, Any]]:
        """Full results of a query in the session's project."""
        return self.workplace.search(*arguments, project=self.project)

    def rows(self) -> dict[str, dict[str, Any]]:
        """uuid → row of the session's transcripts, as the client wrote them."""
        rows: dict[str, dict[str, Any]] = {}
        for path in self.workplace.transcripts(self.id):
            for line in path.read_text().splitlines():
                row = json.loads(line)
                if "uuid" in row:
                    rows[row["uuid"]] = {**row, "in": str(path)}
        return rows

    def everything(self) -> list[dict[str, Any]]:
        """Every memory of the project, whatever its words."""
        return self.workplace.memories(self.project)


@pytest.fixture(scope="module")
def session(workplace: Workplace, api: FakeAnthropic) -> Session:
    """The session, once its prompts have all been answered."""
    return Session(workplace, api)


def words(result: dict[str, Any]) -> str:
    """All the text of a result."""
    return json.dumps(result, ensure_ascii=False)


def test_the_client_answers_as_scripted(session: Session) -> None:
    """Every prompt ended well, so what follows is about a session without accidents."""
    assert [(turn.returncode, turn.answer) for turn in session.turns] == [
        (0, "The timetable parser is written; the sheet of platform 9 still fails."),
        (0, "There are four depots."),
        (0, ""),
        (0, "It is empty: nothing leaves from platform 9."),
    ]
    assert session.file.read_text() == "GAP = 2\n"
    assert "platform 9 has no departures" in session.turns[0].requests[-1].tool_results[-1]
    assert "Zebra crossings" in session.turns[3].requests[0].text


def test_every_hook_succeeds_and_says_json_or_nothing(session: Session) -> None:
    """The client saw exit 0, empty stderr and valid JSON from each hook it waited for."""
    hooks = [hook for turn in session.turns for hook in turn.hooks]
    assert {"SessionStart", "UserPromptSubmit", "Stop", "SubagentStop"} <= {hook.event for hook in hooks}
    for hook in hooks:
        assert (hook.exit_code, hook.outcome, hook.stderr) == (0, "success", ""), hook
        assert hook.stdout == "" or isinstance(json.loads(hook.stdout), dict), hook
    assert [turn.stderr for turn in session.turns] == [""] * 4


def test_session_start_tells_the_person_one_short_line(session: Session) -> None:
    """The systemMessage that a person sees is one line, in at least one of the starts."""
    starts = [hook for turn in session.turns for hook in turn.hooks if hook.event == "SessionStart"]
    lines = [json.loads(hook.stdout).get("systemMessage", "") for hook in starts if hook.stdout]
    assert any(lines)
    assert all("\n" not in line and len(line) <= 100 for line in lines), lines


def test_pre_compact_adds_nothing_to_the_order_for_the_summary(session: Session) -> None:
    """What PreCompact prints would become instructions to the summariser, so it prints nothing."""
    assert "PreCompact" in session.turns[2].stdout, "the hook did run"
    assert "PreCompact" not in session.turns[2].requests[-1].text
    assert "Additional Instructions:\n" not in session.turns[2].requests[-1].text


def test_the_prompts_are_stored_once_each_in_order(session: Session) -> None:
    """What the person typed is kept word for word; the slash command is not a prompt."""
    prompts = [memory for memory in session.everything() if memory["kind"] == "prompt"]
    prompts.sort(key=lambda prompt: prompt["prompt_number"])
    assert [prompt["text"] for prompt in prompts] == [ASKED, DELEGATED, ASKED_LATER]
    assert {prompt["session_id"] for prompt in prompts} == {session.id}


def test_the_prompt_is_found_by_its_words(session: Session) -> None:
    """A query with some words of the prompt gives the prompt."""
    found = session.search("tram timetable kiosk")
    assert ASKED in [result.get("text") for result in found if result["kind"] == "prompt"]


def test_the_written_file_is_found_by_its_name(session: Session) -> None:
    """An observation names the file among those it modified."""
    found = session.search("timetable.py")
    modified = {name for result in found for name in result.get("files_modified", [])}
    assert any(name.endswith("timetable.py") for name in modified), found


@pytest.mark.parametrize(
    ("query", "evidence"),
    [
        ("siding inventory", "sh survey.sh siding-inventory"),
        ("platform 9 has no departures", "ValueError: platform 9 has no departures"),
        ("depot roster", "surveyed: depot-roster"),
    ],
    ids=["command", "error", "subagent"],
)
def test_the_work_is_found_by_its_words(session: Session, query: str, evidence: str) -> None:
    """The command, the error text and the subagent's command are each in an observation."""
    found = [result for result in session.search(query) if result["kind"] == "observation"]
    assert any(evidence in words(result) for result in found), found


def test_every_memory_points_at_rows_that_exist(session: Session) -> None:
    """Each memory names its transcript, and uuids of rows that the client wrote into that file."""
    rows = session.rows()
    memories = session.everything()
    assert memories
    for memory in memories:
        assert memory["uuids"], memory
        assert {rows[uuid]["in"] for uuid in memory["uuids"]} == {memory["transcript"]}, memory


def test_the_error_points_at_the_row_that_holds_it(session: Session) -> None:
    """Following the provenance of the failed command leads to its output in the transcript."""
    needle = "ValueError: platform 9 has no departures"
    [output] = [uuid for uuid, row in session.rows().items() if needle in str(row.get("toolUseResult"))]
    found = [result for result in session.search(needle) if needle in words(result)]
    assert any(output in result["uuids"] for result in found if result["kind"] == "observation")


def test_nothing_is_stored_twice(session: Session) -> None:
    """Four hooks read the same growing transcript, and a resumed one: no row is in two memories of a kind."""
    memories = session.everything()
    ids = Counter((memory["kind"], memory["id"]) for memory in memories)
    assert max(ids.values()) == 1
    assert doubled(memories) == set()


def test_compaction_leaves_no_memory(session: Session) -> None:
    """Neither the slash command nor the client's own summary is remembered; the words around them are."""
    stored = " ".join(words(memory) for memory in session.everything())
    for noise in ("/compact", "command-name", "local-command", "Zebra", "being continued from a previous"):
        assert noise not in stored
        assert noise in " ".join(words(row) for row in session.rows().values()), "the transcript has it"
    assert "siding-inventory" in stored


def test_a_subagents_report_is_kept_without_the_clients_frame(session: Session) -> None:
    """What the subagent said is remembered; the client's notes to the model around it are not."""
    stored = " ".join(words(memory) for memory in session.everything())
    given = session.turns[1].requests[-1].text
    for frame in ("subagent_tokens", "SendMessage with to"):
        assert frame in given
        assert frame not in stored
    assert "I counted four depots." in given
    assert "I counted four depots." in stored


def test_the_data_is_for_its_owner_only(session: Session) -> None:
    """The data directory has mode 0700, what is in it 0600, and nothing was written beside it."""
    data = session.workplace.data
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    files = [path for path in data.rglob("*") if path.is_file()]
    assert (data / "memlite.db") in files
    assert {oct(stat.S_IMODE(path.stat().st_mode)) for path in files} == {"0o600"}
    assert [path.name for path in session.workplace.home.iterdir()] == [".memlite"]


def test_no_process_outlives_the_session(session: Session) -> None:
    """The hooks' helpers have ended by themselves."""
    assert session.workplace.processes() == []
