"""describe: an episode becomes an observation by rules alone: type, title, facts, files, concepts."""

from __future__ import annotations

from typing import Any

import pytest

from memlite.capture.describe import observe, summarize
from memlite.capture.episodes import Episode, Turn
from memlite.capture.transcript import Skipped, events_of
from memlite.model import Observation
from rows import Script


def observed(script: Script) -> Observation | None:
    """The observation of all rows as one episode."""
    episode = Episode()
    episode.events = [event for line in script.lines() for event in events_of(line, 0, Skipped())]
    return observe(episode)


def seen(script: Script) -> Observation:
    """The observation, which there is."""
    found = observed(script)
    assert found is not None
    return found


def edit(said: str, path: str = "/nowhere/shop/a.py", old: str = "a = 1", new: str = "a = 2") -> Script:
    """An episode that says something and edits a file."""
    script = Script()
    if said:
        script.says(said)
    script.edits(path, old, new)
    return script


@pytest.mark.parametrize(("script", "kind"), [
    (edit("Fix the parser of prices."), "bugfix"), (edit("The issue is that `parse` never sees the comma."), "bugfix"),
    (edit("The parser crashes on a comma, replacing it first."), "bugfix"),
    (edit("Add a currency to the cart."), "feature"),
    (edit("Rename `parse` to `parse_price` in all callers."), "refactor"),
    (edit("Update the prefix of the fixture names."), "change"),
    (edit("Add tests for the parser.", "/nowhere/shop/tests/test_a.py"), "change"),
    (edit("Add the limits.", "/nowhere/shop/README.md"), "change"), (edit("", old="a = 1", new="a = 2"), "change"),
    (edit("", old="a = 1", new="a = 1\ndef total(): ..."), "feature")])
def test_type_of_an_edit_is_told_by_the_titles_verb_then_by_the_words(script: Script, kind: str) -> None:
    """Whole words: a prefix is no fix. Tests and prose are no feature."""
    assert seen(script).type == kind


@pytest.mark.parametrize(("subject", "kind"), [
    ("fix: parse a comma", "bugfix"), ("feat(cart): currency", "feature"), ("refactor!: split", "refactor"),
    ("docs: limits", "change"), ("Fix the comma", "bugfix"), ("Add currency", "feature"),
    ("Merge origin/main into fix-comma", "change"), ("Comma in prices is wrong", "bugfix"), ("Prices", "change")])
def test_type_of_a_commit_is_that_of_its_subject(subject: str, kind: str) -> None:
    """By its label, its verb or its words; the subject is the title."""
    script = Script()
    script.says("I commit this now, since the tests that were failing pass.")
    script.runs(f"git commit -m '{subject}'", f"[main 1a2b3c4] {subject}")
    found = seen(script)
    assert (found.title, found.type) == (subject, kind)
    assert found.facts[0] == f"committed 1a2b3c4: {subject}"


def test_narrative_of_a_commit_holds_its_message() -> None:
    """What was said comes first; the message says why."""
    script = Script()
    script.says("Commit it.")
    script.runs("git commit -m 'fix: comma\n\nPrices from Germany have one.'", "[main 1a2b3c4] fix: comma")
    assert seen(script).narrative == "Commit it.\n\nPrices from Germany have one."


@pytest.mark.parametrize(("said", "kind"), [
    ("Added a currency to the cart and documented it in the README file.", "feature"),
    ("I've fixed the parser; prices with a comma are understood now.", "bugfix"),
    ("Prices are parsed by `parse`, which is called for each row of the import.", "discovery"),
    ("We have two ways. We'll go with the second one because it needs no lock.", "decision")])
def test_words_without_work_report_decide_or_discover(said: str, kind: str) -> None:
    """A closing report is of the kind of what it reports."""
    script = Script()
    script.says(said)
    assert seen(script).type == kind


def test_answer_to_a_question_is_a_decision() -> None:
    """With question and answer in title and facts."""
    script = Script()
    script.calls_tool("AskUserQuestion", questions=[{"question": "Which database?"}])
    script.answers("answered", outcome={"answers": {"Which database?": "SQLite", "Why?": "one file"}})
    found = seen(script)
    assert (found.type, found.title) == ("decision", "Which database: SQLite")
    assert found.facts == ["asked: Which database? → SQLite", "asked: Why? → one file"]


@pytest.mark.parametrize(("answer", "failed", "title", "facts"), [
    ("User has approved your plan", False, "Plan approved: Parse prices with a comma", []),
    ("The user doesn't want to proceed. To tell you how, the user said:\nuse Decimal", True,
     "Plan rejected: Parse prices with a comma", ["the person said: use Decimal"])])
def test_plan_is_a_decision_either_way(answer: str, failed: bool, title: str, facts: list[str]) -> None:
    """A refusal with its reason."""
    script = Script()
    script.calls_tool("ExitPlanMode", plan="# Plan: Parse prices with a comma\n\n1. …")
    script.answers(answer, failed=failed)
    found = seen(script)
    assert (found.type, found.title, found.facts) == ("decision", title, facts)


def test_tests_before_and_after_are_in_the_title() -> None:
    """When they turned; else the last outcome."""
    before = Script()
    before.says("Replace the comma before parsing the text.")
    before.runs("pytest -q", "Exit code 1\nE   ValueError: 1,5\n1 failed, 3 passed", failed=True)
    before.edits("/nowhere/shop/a.py")
    before.runs("pytest -q", "4 passed in 0.2s")
    found = seen(before)
    assert found.title == "Replace the comma before parsing the text — 1 failed, 3 passed, then 4 passed"
    assert "problem-solution" in found.concepts
    assert found.facts == ["ran `pytest -q`: 1 failed, 3 passed", "E   ValueError: 1,5", "1 failed, 3 passed",
                           "ran `pytest -q`: 4 passed"]


def test_error_that_stayed_is_in_the_title() -> None:
    """With what failed, if nothing else was said; a later success takes it away."""
    script = Script()
    script.runs("make docs", "Exit code 2\nmake: *** No rule to make target 'docs'.  Stop.\nerror: no docs",
                failed=True)
    found = seen(script)
    assert found.title == "Run `make docs` — error: no docs"
    assert found.facts == ["ran `make docs`: exit 2", "error: no docs"]
    script.runs("make all", "fine")
    assert seen(script).title == "Run `make docs`"


def test_refusal_of_the_person_is_told_as_such() -> None:
    """Not as an error of the command."""
    script = Script()
    script.says("Let me remove the branch.")
    script.runs("git branch -D x", "The user doesn't want to proceed with this tool use.", failed=True)
    found = seen(script)
    assert found.title == "Remove the branch — Run `git branch -D x` — refused by the person"
    assert found.facts == ["ran `git branch -D x`: refused by the person"]


def test_files_are_told_relative_to_the_folder_and_once() -> None:
    """Equal across worktrees; what lies elsewhere keeps its whole path."""
    script = Script()
    script.reads("/nowhere/shop/a.py")
    script.reads("/nowhere/shop/a.py")
    script.reads("/etc/hosts")
    script.reads("/nowhere/shopping/b.py")
    script.edits("/nowhere/shop/src/a.py")
    script.edits("/nowhere/shop/src/a.py")
    found = seen(script)
    assert found.files_read == ["a.py", "/etc/hosts", "/nowhere/shopping/b.py"]
    assert found.files_modified == ["src/a.py"]


@pytest.mark.parametrize("make", [
    lambda s: (s.says("Let me look at the parser."), s.reads("/nowhere/shop/a.py")),
    lambda s: (s.says("I have the full picture now, let me go on with it."), s.reads("/nowhere/shop/a.py")),
    lambda s: s.runs("git status", "clean"), lambda s: s.says("Done."),
    lambda s: (s.calls_tool("TodoWrite", todos=[]), s.answers("ok")), lambda s: s.runs("memlite query comma", "#1 …"),
    lambda s: (s.calls_tool("Write", file_path="/home/u/.claude/plans/p.md", content="# Plan"),
               s.answers("File created"))])
def test_idle_steps_leave_no_memory(make: Any) -> None:
    """Looking, planning, bookkeeping and small talk; the same step with a result does."""
    script = Script()
    make(script)
    assert observed(script) is None
    script.edits("/nowhere/shop/a.py")
    assert observed(script) is not None


def test_cancelled_call_is_not_told() -> None:
    """One of several calls at once failed before it ran."""
    script = Script()
    script.runs("make a", "Exit code 2\nerror: a", failed=True)
    script.runs("make b", "<tool_use_error>Sibling tool call errored</tool_use_error>", failed=True)
    assert seen(script).facts == ["ran `make a`: exit 2", "error: a"]


def test_subagent_and_foreign_tools_are_told_by_their_task() -> None:
    """With the report to be searched."""
    script = Script()
    script.calls_tool("Agent", description="find the docs", prompt="where?", subagent_type="Explore")
    script.answers("framed", outcome={"content": [{"type": "text", "text": "They are in doc/."}]})
    found = seen(script)
    assert (found.title, found.facts) == ("Subagent: find the docs", ["subagent Explore: find the docs"])
    assert "They are in doc/." in found.details and "framed" not in found.details
    script = Script()
    script.calls_tool("mcp__linear__create_issue", title="Comma in prices", body="…")
    script.answers("created")
    assert seen(script).title == "Linear: create issue “Comma in prices”"


def test_evidence_is_bounded_and_keeps_both_ends() -> None:
    """Commands announce themselves first and fail last."""
    script = Script()
    script.runs("make", "BEGIN " + "x" * 50_000 + " END")
    details = seen(script).details
    assert len(details) < 12_100 and "BEGIN" in details and details.endswith("END")


def test_same_episode_gives_the_same_observation() -> None:
    """No clock, no chance."""
    script = edit("Add a currency because prices differ; careful, rounding doesn't work with floats.")
    assert seen(script) == seen(script)
    assert seen(script).concepts == ["gotcha", "why-it-exists", "what-changed"]


def test_summary_tells_request_outcome_and_next_steps() -> None:
    """From the prompt, the closing words, and the list under a heading in them."""
    turn = Turn({"number": 2, "prompt": "fix it", "prompt_uuid": "p", "closing_uuid": "c", "said": True,
                 "branch": "main",
                 "closing": "Fixed.\n\n## Next steps\n- tell them\n- **release**\n\n## More\nno", "titles": ["a", "b"],
                 "files_read": ["r.py"], "files_edited": ["e.py"]})
    found = summarize(turn)
    assert found is not None
    assert (found.request, found.next_steps, found.learned) == ("fix it", "tell them\nrelease", "a\nb")
    assert (found.uuids, found.files_edited, found.prompt_number) == (["p", "c"], ["e.py"], 2)
    turn.closing = ""
    assert (summarize(turn) or found).completed == "a; b"
    turn.said = False
    assert summarize(turn) is None
