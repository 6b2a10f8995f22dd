"""The tool calls of an episode → what they amount to: facts, files, evidence, and how it ended."""

from __future__ import annotations

from memlite import jsoncodec
from memlite.capture import commands, titles
from memlite.capture.transcript import RESULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.capture.episodes import Episode
    from memlite.capture.transcript import Event

_READING = frozenset(("Read", "NotebookRead"))
_EDITING = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit", "Update"))
_SEARCHING = frozenset(("Grep", "Glob", "LS", "WebSearch", "WebFetch", "ToolSearch"))

# The arguments of a foreign tool that say what it was called about.
_NAMING = ("title", "name", "query", "subject", "url", "path", "id")

_CANCELLED = "Sibling tool call errored"  # one of several calls at once failed before this one ran
_PLANS = "/.claude/plans/"                # the client's own drafts: the approved plan itself is what counts

# How much of the evidence is kept to be searched, in characters.
_INPUT_KEPT, _OUTPUT_KEPT, _DETAILS_KEPT = 2_000, 1_000, 12_000


class Findings:
    """What the tool calls of an episode amount to."""

    __slots__ = ("facts", "read", "edits", "details", "commit", "message", "decision", "tests", "failure", "culprit",
                 "ran")

    def __init__(self) -> None:
        self.facts: list[str] = []
        self.read: list[str] = []
        self.edits: list[tuple[str, str, str]] = []  # path, old text, new text; old is "" when all of it was written
        self.details: list[str] = []
        self.commit = ""            # its subject
        self.message = ""           # what it says below the subject
        self.decision = ""          # what the person chose
        self.tests: list[str] = []  # outcomes in order
        self.failure = ""           # the error the last command left, "" when it succeeded
        self.culprit = ""           # what that command was for
        self.ran: list[str] = []    # what commands were for, in words

    @property
    def modified(self) -> list[str]:
        """The paths of the files that were edited, without repetition."""
        return list(dict.fromkeys(path for path, _, _ in self.edits))

    def worked(self) -> bool:
        """Whether anything was done beyond looking."""
        return bool(self.edits or self.commit or self.decision or self.tests or self.failure or self.ran)

    def evidence(self) -> str:
        """What was typed and printed, bounded, to be searched."""
        return _bounded("\n".join(part for part in self.details if part), _DETAILS_KEPT)


def gather(episode: Episode) -> Findings:
    """What the calls of the episode and their results amount to."""
    found = Findings()
    for call, result in episode.calls():
        handler = _HANDLERS.get(call.tool, _other_tool)
        handler(found, call, result)
    called = {call.tool_id for call, _ in episode.calls()}
    for event in episode.events:  # a result whose call stands in an earlier episode
        if event.kind == RESULT and event.failed and event.tool_id not in called:
            found.failure = _failure_of(event.text)
    return found


def _bash(found: Findings, call: Event, result: Event | None) -> None:
    command, output = _argument(call, "command"), result.text if result else ""
    if commands.recalls(command) or (result and _CANCELLED in result.text[:200]):
        return
    purpose = commands.purpose(command)
    output = output.replace("\\n", "\n") if "\n" not in output else output
    failed = bool(result and result.failed)
    code = commands.exit_code(output) if failed else None
    shown = titles.shorten(commands.shown(command), 200)
    outcome = ("failed" if code is None else f"exit {code}") if failed else "ok" if result else "no result"
    if purpose == commands.COMMIT and not failed:
        subject, sha = commands.commit_subject(command, output)
        if subject:
            found.commit, found.message = subject, commands.commit_body(command, subject)
            found.facts.append(f"committed {sha}: {subject}" if sha else f"committed: {subject}")
    elif purpose == commands.TEST:
        verdict = commands.test_outcome(output) or ("failed" if failed else "")
        if verdict:
            found.tests.append(verdict)
            outcome = verdict
    what = _argument(call, "description") or f"Run `{commands.gist(command)}`"
    if purpose != commands.LOOK:
        found.ran.append(what)
    refused = failed and output.startswith("The user doesn't want to proceed")
    if refused:
        outcome = "refused by the person"
    errors = commands.error_lines(output) if not refused and (failed or commands.went_wrong(outcome)) else []
    found.failure = errors[0] if errors else (outcome if failed else "")
    found.culprit = what if found.failure else ""
    found.facts.append(f"ran `{shown}`: {outcome}")
    found.facts.extend(errors)
    found.details.append(_bounded(command, _INPUT_KEPT))
    found.details.append(_bounded(output, _OUTPUT_KEPT))


def _edit(found: Findings, call: Event, result: Event | None) -> None:
    path = _argument(call, "file_path") or _argument(call, "notebook_path")
    if result and result.failed:
        found.facts.append(f"edit of {path} refused: {titles.shorten(result.text, 200)}")
        return
    if _PLANS in path.replace("\\", "/"):
        found.details.append(_bounded(_argument(call, "content") or _argument(call, "new_string"), _INPUT_KEPT))
        return
    if call.tool == "Write":
        content = _argument(call, "content")
        found.edits.append((path, "", content))
        found.details.append(_bounded(content, _INPUT_KEPT))
        return
    several = call.input.get("edits")
    for edit in several if isinstance(several, list) else [call.input]:
        if isinstance(edit, dict):
            old, new = (edit.get(name) for name in ("old_string", "new_string"))
            new = new if isinstance(new, str) else edit.get("new_source")
            pieces = [piece if isinstance(piece, str) else "" for piece in (old, new)]
            found.edits.append((path, pieces[0] or " ", pieces[1]))
            found.details.extend(_bounded(piece, _INPUT_KEPT // 2) for piece in pieces)


def _read(found: Findings, call: Event, result: Event | None) -> None:
    path = _argument(call, "file_path") or _argument(call, "notebook_path")
    if result and result.failed:
        found.facts.append(f"{path} could not be read: {titles.shorten(_failure_of(result.text), 200)}")
        return
    found.read.append(path)
    if result:
        found.details.append(_bounded(result.text, _OUTPUT_KEPT))


def _search(found: Findings, call: Event, result: Event | None) -> None:
    sought = next((_argument(call, name) for name in ("pattern", "query", "url", "path") if _argument(call, name)), "")
    found.details.append(sought)
    if result:
        found.details.append(_bounded(result.text, _OUTPUT_KEPT))


def _question(found: Findings, call: Event, result: Event | None) -> None:
    """AskUserQuestion: the result holds what the person decided."""
    answers = result.outcome.get("answers") if result else None
    if isinstance(answers, dict) and answers:
        for question, answer in answers.items():
            found.facts.append(f"asked: {question} → {answer}")
        question, answer = next(iter(answers.items()))
        found.decision = f"{str(question).rstrip('?')}: {answer}"
    elif result and not result.failed and result.text:
        found.decision = titles.shorten(result.text, 160)
        found.facts.append(titles.shorten(result.text, 900))
    found.details.append(_bounded(jsoncodec.dumps(call.input), _INPUT_KEPT))


def _plan(found: Findings, call: Event, result: Event | None) -> None:
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


def _agent(found: Findings, call: Event, result: Event | None) -> None:
    """A subagent: its task and the report it came back with."""
    task = _argument(call, "description") or titles.shorten(_argument(call, "prompt"))
    found.ran.append(f"subagent: {task}")
    found.facts.append(f"subagent {_argument(call, 'subagent_type')}: {task}".replace("  ", " "))
    found.details.append(_bounded(_argument(call, "prompt"), _INPUT_KEPT))
    if result:
        found.details.append(_bounded(_report(result), 3 * _INPUT_KEPT))


def _report(result: Event) -> str:
    """A subagent's own words: the text that the model gets frames them with rules for it and with usage figures."""
    content = result.outcome.get("content")
    blocks = [block.get("text") for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return "\n".join(text for text in blocks if isinstance(text, str)) or result.text


def _other_tool(found: Findings, call: Event, result: Event | None) -> None:
    if call.tool.startswith("mcp__"):
        server, _, tool = call.tool.removeprefix("mcp__").partition("__")
        about = next((value for name in _NAMING if (value := _argument(call, name))), "")
        found.ran.append(f"{server}: {tool.replace('_', ' ')}" + (f" “{titles.shorten(about, 80)}”" if about else ""))
    found.details.append(_bounded(jsoncodec.dumps(call.input), _INPUT_KEPT // 2))
    if result:
        found.details.append(_bounded(result.text, _OUTPUT_KEPT))
        if result.failed:
            found.failure = f"{call.tool}: {_failure_of(result.text)}"


def _aside(found: Findings, call: Event, result: Event | None) -> None:
    """Bookkeeping of the client's own: leaves no trace."""


_HANDLERS = {"Bash": _bash, "AskUserQuestion": _question, "ExitPlanMode": _plan, "Agent": _agent, "Task": _agent,
             **dict.fromkeys(_EDITING, _edit), **dict.fromkeys(_READING, _read), **dict.fromkeys(_SEARCHING, _search),
             **dict.fromkeys(("TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "EnterPlanMode",
                              "BashOutput", "KillShell", "Skill"), _aside)}


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


