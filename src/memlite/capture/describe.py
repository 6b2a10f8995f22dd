"""An episode → an observation, by rules and without a model. Deterministic: same rows, same observation."""

from __future__ import annotations

from memlite import jsoncodec, privacy
from memlite.capture import commands, titles
from memlite.capture.transcript import RESULT
from memlite.model import Observation, Summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.capture.episodes import Episode, Turn
    from memlite.capture.transcript import Event

_READING = frozenset(("Read", "NotebookRead"))
_EDITING = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit", "Update"))
_SEARCHING = frozenset(("Grep", "Glob", "LS", "WebSearch", "WebFetch", "ToolSearch"))

# How much of the evidence is kept to be searched, in characters.
_INPUT_KEPT, _OUTPUT_KEPT, _DETAILS_KEPT = 2_000, 1_000, 12_000

_TELLING_LENGTH = 32  # "I have full context now" tells nobody what to expect: the deed is added

_FIX_WORDS = ("fix", "bug", "broken", "regression", "wrong", "crash", "fails", "failing", "error", "hotfix")
_REFACTOR_WORDS = ("refactor", "rename", "extract", "simplif", "clean up", "cleanup", "move ", "dedup", "restructure",
                   "split ", "inline ")
_FEATURE_WORDS = ("implement", "add ", "adds ", "added ", "create", "introduc", "support", "new ", "feat", "build ")
_DECISION_WORDS = ("decided", "decision", "we'll go with", "i'll go with", "let's go with", "going with", "chose ",
                   "we agreed", "approach:", "rather than", "instead of")
_COMMIT_TYPES = {"fix": "bugfix", "bugfix": "bugfix", "hotfix": "bugfix", "feat": "feature", "feature": "feature",
                 "refactor": "refactor", "perf": "refactor", "docs": "change", "chore": "change", "test": "change",
                 "tests": "change", "style": "change", "ci": "change", "build": "change", "revert": "change"}
_CONCEPT_MARKS = (
    ("problem-solution", ("fixed", "the fix", "root cause", "solved", "resolved", "the problem", "the issue")),
    ("gotcha", ("doesn't support", "does not support", "doesn't work", "careful", "turns out", "gotcha", "unexpected",
                "caveat", "silently", "surprising", "watch out", "pitfall")),
    ("why-it-exists", ("because", "so that", "the reason", "in order to", "that's why")),
    ("how-it-works", ("works by", "how it works", "flow:", "the way it works", "under the hood", "is called when",
                      "is responsible for", "is stored in", "here's how", "mechanism")),
    ("trade-off", ("trade-off", "tradeoff", "downside", "pros and cons", "at the cost of", "instead of", "rather than")),
    ("pattern", ("pattern", "convention", "consistent with", "same approach", "idiom")),
)


class _Findings:
    """What the tool calls of an episode amount to."""

    __slots__ = ("facts", "read", "modified", "created", "details", "commit", "decision", "tests", "failure", "ran")

    def __init__(self) -> None:
        self.facts: list[str] = []
        self.read: list[str] = []
        self.modified: list[str] = []
        self.created = False
        self.details: list[str] = []
        self.commit = ""            # its subject
        self.decision = ""          # what the person chose
        self.tests: list[str] = []  # outcomes in order
        self.failure = ""           # the error the last failing command left
        self.ran: list[str] = []    # what commands were for, in words


def observe(episode: Episode) -> Observation | None:
    """The observation an episode is worth, without its session's fields; None for idle steps.

    An episode is idle when it changed nothing, found nothing and said no more than what it was about to look at.
    """
    found = _findings(episode)
    text = episode.text()
    if not (found.modified or found.commit or found.decision or found.tests or found.failure or found.ran) and (
            len(text) < 40 or (episode.only_looks() and titles.as_deed(text)[1])):
        return None
    kind = _type(found, text)
    first = episode.first
    return Observation(
        type=kind, title=_title(found, text), subtitle=_subtitle(found), narrative=text, facts=found.facts,
        concepts=_concepts(kind, found, text), files_read=_relative(found.read, first.cwd),
        files_modified=_relative(found.modified, first.cwd), details=_kept(found.details), branch=first.branch,
        agent=first.agent, uuids=episode.uuids())


def summarize(turn: Turn) -> Summary | None:
    """The summary that closes a turn, without its session's fields; None when nothing was said or done in it."""
    if not turn.said:
        return None
    done = "" if turn.closing else "; ".join(turn.titles[-6:])
    return Summary(
        request=turn.prompt, completed=turn.closing or done, investigated=", ".join(turn.files_read[:12]),
        learned="\n".join(turn.titles[-12:]), next_steps=_next_steps(turn.closing), files_read=turn.files_read,
        files_edited=turn.files_edited, prompt_number=turn.number or None,
        branch=turn.branch,
        uuids=[uuid for uuid in (turn.prompt_uuid, turn.closing_uuid) if uuid])


def _findings(episode: Episode) -> _Findings:
    found = _Findings()
    for call, result in episode.calls():
        handler = _HANDLERS.get(call.tool, _other_tool)
        handler(found, call, result)
    called = {call.tool_id for call, _ in episode.calls()}
    for event in episode.events:  # a result whose call stands in an earlier episode
        if event.kind == RESULT and event.failed and event.tool_id not in called:
            found.failure = _failure_of(event.text)
    return found


def _bash(found: _Findings, call: Event, result: Event | None) -> None:
    command, output = _argument(call, "command"), result.text if result else ""
    if commands.recalls(command):
        return
    purpose = commands.purpose(command)
    output = output.replace("\\n", "\n") if "\n" not in output else output
    failed = bool(result and result.failed)
    code = commands.exit_code(output) if failed else None
    shown = titles.shorten(" ".join(command.partition("<<")[0].split()), 200)
    outcome = ("failed" if code is None else f"exit {code}") if failed else "ok" if result else "no result"
    if purpose == commands.COMMIT and not failed:
        subject, sha = commands.commit_subject(command, output)
        if subject:
            found.commit = subject
            found.facts.append(f"committed {sha}: {subject}" if sha else f"committed: {subject}")
    elif purpose == commands.TEST:
        verdict = commands.test_outcome(output) or ("failed" if failed else "")
        if verdict:
            found.tests.append(verdict)
            outcome = verdict
    if purpose != commands.LOOK:
        found.ran.append(_argument(call, "description") or shown)
    refused = failed and output.startswith("The user doesn't want to proceed")
    if refused:
        outcome = "refused by the person"
    errors = commands.error_lines(output) if not refused and (failed or commands.went_wrong(outcome)) else []
    found.failure = errors[0] if errors else (outcome if failed else "")
    found.facts.append(f"ran `{shown}`: {outcome}")
    found.facts.extend(errors)
    found.details.append(_bounded(command, _INPUT_KEPT))
    found.details.append(_bounded(output, _OUTPUT_KEPT))


def _edit(found: _Findings, call: Event, result: Event | None) -> None:
    path = _argument(call, "file_path") or _argument(call, "notebook_path")
    if result and result.failed:
        found.facts.append(f"edit of {path} refused: {titles.shorten(result.text, 200)}")
        return
    found.modified.append(path)
    if call.tool == "Write":
        found.created = found.created or bool(result and result.text.startswith("File created"))
        found.details.append(_bounded(_argument(call, "content"), _INPUT_KEPT))
    edits = call.input.get("edits") if call.tool == "MultiEdit" else [call.input]
    for edit in edits if isinstance(edits, list) else []:
        if isinstance(edit, dict):
            for name in ("old_string", "new_string", "new_source"):
                value = edit.get(name)
                if isinstance(value, str):
                    found.details.append(_bounded(value, _INPUT_KEPT // 2))


def _read(found: _Findings, call: Event, result: Event | None) -> None:
    path = _argument(call, "file_path") or _argument(call, "notebook_path")
    if result and result.failed:
        found.facts.append(f"{path} could not be read: {titles.shorten(_failure_of(result.text), 200)}")
        return
    found.read.append(path)
    if result:
        found.details.append(_bounded(result.text, _OUTPUT_KEPT))


def _search(found: _Findings, call: Event, result: Event | None) -> None:
    sought = next((_argument(call, name) for name in ("pattern", "query", "url", "path") if _argument(call, name)), "")
    found.details.append(sought)
    if result:
        found.details.append(_bounded(result.text, _OUTPUT_KEPT))


def _question(found: _Findings, call: Event, result: Event | None) -> None:
    """AskUserQuestion: the result holds what the person decided."""
    answers = result.outcome.get("answers") if result and result.outcome else None
    if isinstance(answers, dict) and answers:
        for question, answer in answers.items():
            found.facts.append(f"asked: {question} → {answer}")
        question, answer = next(iter(answers.items()))
        found.decision = f"{str(question).rstrip('?')}: {answer}"
    elif result and not result.failed and result.text:
        found.decision = titles.shorten(result.text, 160)
        found.facts.append(titles.shorten(result.text, 900))
    found.details.append(_bounded(jsoncodec.dumps(call.input), _INPUT_KEPT))


def _plan(found: _Findings, call: Event, result: Event | None) -> None:
    """ExitPlanMode: an approved plan is a decision of the person; so is a refusal, with its reason."""
    plan = _argument(call, "plan")
    heading = next(iter(titles.sentences(plan)), "") or "plan"
    heading = heading.removeprefix("Plan: ").removeprefix("Plan - ")
    if result and result.failed:
        _, _, reason = result.text.partition("the user said:")
        found.decision = f"Plan rejected: {heading}"
        if reason.strip():
            found.facts.append(f"the person said: {titles.shorten(reason, 600)}")
    elif result:
        found.decision = f"Plan approved: {heading}"
    found.details.append(_bounded(plan, 3 * _INPUT_KEPT))


def _agent(found: _Findings, call: Event, result: Event | None) -> None:
    """A subagent: its task and the report it came back with."""
    task = _argument(call, "description") or titles.shorten(_argument(call, "prompt"))
    found.ran.append(f"subagent: {task}")
    found.facts.append(f"subagent {_argument(call, 'subagent_type')}: {task}".replace("  ", " "))
    found.details.append(_bounded(_argument(call, "prompt"), _INPUT_KEPT))
    if result:
        found.details.append(_bounded(_report(result), 3 * _INPUT_KEPT))


def _report(result: Event) -> str:
    """A subagent's own words: the text that the model gets frames them with rules for it and with usage figures."""
    content = result.outcome.get("content") if result.outcome else None
    blocks = [block.get("text") for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    said = "\n".join(text for text in blocks if isinstance(text, str))
    return privacy.clean(said) or result.text  # before any cut, so that no half secret slips through


def _other_tool(found: _Findings, call: Event, result: Event | None) -> None:
    if call.tool.startswith("mcp__"):
        found.ran.append(call.tool.replace("mcp__", "").replace("__", " "))
    found.details.append(_bounded(jsoncodec.dumps(call.input), _INPUT_KEPT // 2))
    if result:
        found.details.append(_bounded(result.text, _OUTPUT_KEPT))
        if result.failed:
            found.failure = _failure_of(result.text)


def _aside(found: _Findings, call: Event, result: Event | None) -> None:
    """Bookkeeping of the client's own: leaves no trace."""


_HANDLERS = {"Bash": _bash, "AskUserQuestion": _question, "ExitPlanMode": _plan, "Agent": _agent, "Task": _agent,
             **dict.fromkeys(_EDITING, _edit), **dict.fromkeys(_READING, _read), **dict.fromkeys(_SEARCHING, _search),
             **dict.fromkeys(("TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "EnterPlanMode",
                              "BashOutput", "KillShell", "Skill"), _aside)}


def _title(found: _Findings, text: str) -> str:
    if found.commit:
        return titles.shorten(found.commit)
    if found.decision:
        return titles.shorten(titles.capitalized(found.decision))
    said = titles.best_sentence(text)
    if not said:
        said = _deed(found)
    elif len(said) < _TELLING_LENGTH and (deed := _deed(found)) and deed.lower() not in said.lower():
        said = f"{said} — {deed}"
    ending = _ending(found)
    if ending and ending.lower() not in said.lower():
        room = titles.TITLE_LIMIT - len(ending) - 3
        return f"{titles.shorten(said, max(40, room))} — {ending}"
    return said


def _deed(found: _Findings) -> str:
    """A title for an episode without words."""
    if found.modified:
        names = list(dict.fromkeys(_basename(path) for path in found.modified))
        verb = "Create" if found.created and len(names) == 1 else "Edit"
        return f"{verb} {', '.join(names[:3])}" + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    if found.ran:
        return titles.shorten(titles.capitalized(found.ran[0]))
    if found.failure:
        return titles.shorten(found.failure)
    names = list(dict.fromkeys(_basename(path) for path in found.read))
    return f"Read {', '.join(names[:3])}" if names else ""


def _ending(found: _Findings) -> str:
    """How it ended, when that is worth a place in the title: tests before and after, or the error that stayed."""
    if found.tests:
        before, after = found.tests[0], found.tests[-1]
        if len(found.tests) > 1 and commands.went_wrong(before) != commands.went_wrong(after):
            return f"{titles.shorten(before, 40)}, then {titles.shorten(after, 40)}"
        return titles.shorten(after, 60)
    return titles.shorten(found.failure, 70) if found.failure else ""


def _subtitle(found: _Findings) -> str:
    parts = []
    if found.modified:
        names = list(dict.fromkeys(_basename(path) for path in found.modified))
        parts.append("edited " + ", ".join(names[:4]) + (f" +{len(names) - 4}" if len(names) > 4 else ""))
    if found.ran:
        parts.append(titles.shorten(found.ran[-1], 80))
    if found.failure:
        parts.append(titles.shorten(found.failure, 120))
    return "; ".join(parts)


def _type(found: _Findings, text: str) -> str:
    if found.decision:
        return "decision"
    if found.commit:
        label = found.commit.partition(":")[0].partition("(")[0].strip().lower()
        if label in _COMMIT_TYPES:
            return _COMMIT_TYPES[label]
    said = f"{found.commit}\n{text}".lower()
    if found.modified or found.commit:
        opening = said[:400]
        if any(word in opening for word in _FIX_WORDS):
            return "bugfix"
        if any(word in opening for word in _REFACTOR_WORDS):
            return "refactor"
        if found.created or any(word in opening for word in _FEATURE_WORDS):
            return "feature"
        return "change"
    if any(word in said for word in _DECISION_WORDS[:7]):
        return "decision"
    return "discovery"


def _concepts(kind: str, found: _Findings, text: str) -> list[str]:
    lowered = text.lower()
    concepts = [name for name, marks in _CONCEPT_MARKS if any(mark in lowered for mark in marks)]
    if found.modified or found.commit:
        concepts.append("what-changed")
    if len(found.tests) > 1 and commands.went_wrong(found.tests[0]) and not commands.went_wrong(found.tests[-1]):
        concepts.append("problem-solution")
    if kind == "discovery" and len(text) > 600 and "how-it-works" not in concepts:
        concepts.append("how-it-works")
    return list(dict.fromkeys(concepts))


def _next_steps(closing: str) -> str:
    """What stands under a heading such as "Next steps" or "Remaining" in the closing words."""
    lines = closing.splitlines()
    for at, line in enumerate(lines):
        heading = titles.plain(line).lower().rstrip(":")
        if heading.startswith(("next step", "remaining", "what's left", "still to do", "todo", "follow-up", "left to do")):
            under = [titles.plain(item) for item in lines[at + 1:at + 12]]
            kept: list[str] = []
            for item, raw in zip(under, lines[at + 1:at + 12], strict=True):
                if raw.lstrip().startswith("#") or (not raw.strip() and kept):
                    break
                if item:
                    kept.append(item)
            _, colon, inline = titles.plain(line).partition(": ")
            return "\n".join(kept) or (inline if colon else "")
    return ""


def _failure_of(text: str) -> str:
    if text.startswith("The user doesn't want to proceed"):
        return "refused by the person"
    text = text.replace("<tool_use_error>", "").replace("</tool_use_error>", "")
    text = text.replace("\\n", "\n")  # some hooks answer with escaped line feeds
    errors = commands.error_lines(text, 1)
    return errors[0] if errors else titles.shorten(text, 200)


def _argument(call: Event, name: str) -> str:
    value = call.input.get(name)
    return value if isinstance(value, str) else ""


def _bounded(text: str, limit: int) -> str:
    """The beginning and the end of `text`: commands announce themselves first and fail last."""
    text = text.strip()
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]}\n…\n{text[-(limit - head):]}"


def _kept(parts: list[str]) -> str:
    return _bounded("\n".join(part for part in parts if part), _DETAILS_KEPT)


def _basename(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path


def _relative(paths: list[str], cwd: str) -> list[str]:
    """`paths` without repetition, those below `cwd` relative to it: shorter to read and equal across worktrees."""
    base = cwd.rstrip("/\\")
    kept = []
    for path in paths:
        if base and path.startswith(base) and path[len(base):len(base) + 1] in ("/", "\\"):
            path = path[len(base) + 1:]
        if path:
            kept.append(path.replace("\\", "/"))
    return list(dict.fromkeys(kept))
