"""Reading a session transcript: JSON lines that only grow → the few kinds of events that matter.

The format is the client's own and undocumented; every rule here was read off real files. A row of an unknown type
is skipped and counted, never an error. Text leaves this module clean of private parts and secrets, because what is
cut out of it later (a title, an error line) no longer shows what it stood between.
"""

from __future__ import annotations

import os

from memlite import jsoncodec, privacy
from memlite.clock import iso_to_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

PROMPT, QUEUED, TEXT, TOOL, RESULT = "prompt", "queued", "text", "tool", "result"
# The client stepped in (a compaction, a notification, an interruption): what was said before it was said to an end.
BREAK = "break"

# No text of a row is looked at beyond this many characters: a hook has seconds, an image has megabytes.
TEXT_LIMIT = 100_000
# A line longer than this is skipped unread; the longest seen in real files is 2.1 MB.
LINE_LIMIT = 16 * 1024 * 1024

# What the client puts into a user row that no person typed.
_MACHINE_PROMPTS = ("<task-notification", "<local-command-", "<system-reminder", "<bash-stdout", "<bash-stderr",
                    "[Request interrupted by user", "Caveat: The messages below were generated", "{\"task_id\"")
_KNOWN_ASIDE = frozenset((
    "progress", "attachment", "queue-operation", "last-prompt", "mode", "file-history-snapshot", "system", "summary",
    "permission-mode", "custom-title", "ai-title", "agent-name", "agent-color", "pr-link", "tag", "tools-used",
    "atis-latch", "cost-state", "api-request", "api-request-blob"))


# A question's answers, a subagent's words.
_TOLD_BY_OUTCOMES = ("answers", "content")


class Event:
    """One thing that happened, with the row it stands in."""

    __slots__ = ("kind", "uuid", "time", "start", "session_id", "cwd", "branch", "agent", "prompt_id", "text", "tool",
                 "tool_id", "input", "failed", "outcome")
    kind: str
    uuid: str
    time: int | None        # epoch ms of the row
    start: int              # byte offset of the row
    session_id: str
    cwd: str
    branch: str
    agent: str              # the subagent whose row it is, else ""
    prompt_id: str
    text: str               # what was said, or what the tool answered
    tool: str               # TOOL: its name
    tool_id: str            # TOOL and RESULT: which call
    input: dict[str, Any]   # TOOL: its arguments
    failed: bool            # RESULT: the tool reported an error
    outcome: dict[str, Any] # RESULT: what the client's structured result tells beyond the text

    def __init__(self, kind: str, row: dict[str, Any], start: int) -> None:
        self.kind = kind
        self.start = start
        self.uuid = _string(row.get("uuid"))
        self.time = iso_to_ms(_string(row.get("timestamp")))
        self.session_id = _string(row.get("sessionId"))
        self.cwd = _string(row.get("cwd"))
        self.branch = _string(row.get("gitBranch"))
        self.agent = (_string(row.get("agentId")) or "sidechain") if row.get("isSidechain") is True else ""
        self.prompt_id = _string(row.get("promptId"))
        self.text = self.tool = self.tool_id = ""
        self.input = {}
        self.failed = False
        self.outcome = {}


class Skipped:
    """What a reading passed over, by reason: counts of rows."""

    __slots__ = ("not_json", "too_long", "unknown_type", "torn")

    def __init__(self) -> None:
        self.not_json = self.too_long = self.unknown_type = self.torn = 0

    def add(self, other: Skipped) -> None:
        """Add the counts of `other` to these."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def as_dict(self) -> dict[str, int]:
        """The counts by reason."""
        return {name: getattr(self, name) for name in self.__slots__}


def read_lines(file: BinaryIO, offset: int, skipped: Skipped) -> Iterator[tuple[int, int, bytes]]:
    """(start, end, line) of each complete line of `file` from byte `offset` on.

    A last line without its line feed counts when it is whole JSON; else it is being written right now: it is counted
    as torn and left for the next reading.
    """
    file.seek(offset)
    start = offset
    while True:
        line = file.readline(LINE_LIMIT)
        if not line:
            return
        end = start + len(line)
        if not line.endswith(b"\n"):
            last = line
            while line and not line.endswith(b"\n"):  # over the limit, or torn
                line = file.readline(LINE_LIMIT)
                end += len(line)
            if not line and end - start <= LINE_LIMIT and _is_whole(last):
                yield start, end, last
                return
            if not line:
                skipped.torn += 1
                return
            skipped.too_long += 1
        else:
            yield start, end, line
        start = end


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(jsoncodec.loads(line.decode("utf-8", "replace")), dict)
    except ValueError:
        return False


def events_of(line: bytes, start: int, skipped: Skipped) -> list[Event]:
    """The events in one line of a transcript; [] for rows that hold nothing to remember."""
    if not line.strip():
        return []
    try:
        row = jsoncodec.loads(line.decode("utf-8", "replace"))
    except ValueError:
        skipped.not_json += 1
        return []
    if not isinstance(row, dict):
        skipped.unknown_type += 1
        return []
    kind = row.get("type")
    if kind == "user":
        return _user_events(row, start)
    if kind == "assistant":
        return _assistant_events(row, start)
    if kind == "queue-operation":
        return _queued_events(row, start)
    if kind not in _KNOWN_ASIDE:
        skipped.unknown_type += 1
    return []


def _user_events(row: dict[str, Any], start: int) -> list[Event]:
    content = _content(row)
    if row.get("isCompactSummary") is True:
        return [Event(BREAK, row, start)]
    if isinstance(content, list) and any(_block_type(b) == "tool_result" for b in content):
        return [_result(row, start, block) for block in content if _block_type(block) == "tool_result"]
    said = _joined_text(content)
    if row.get("isMeta") is True or row.get("isVisibleInTranscriptOnly") is True:
        return [Event(BREAK, row, start)] if said.startswith("Stop hook feedback") else []
    text = typed_text(said)
    return [_spoken(PROMPT, row, start, text) if text else Event(BREAK, row, start)]


def typed_text(text: str) -> str:
    """What a person typed in a user row or hook: "" for machine-made text, `/name arguments` for a slash command."""
    text = text.strip()
    if text.startswith(("<command-name>", "<command-message>")):
        name, arguments = _between(text, "command-name"), _between(text, "command-args")
        return f"{name} {arguments}".strip() if arguments else ""
    if text.startswith(_MACHINE_PROMPTS):
        return ""
    # A bare slash command steers the client and says nothing of the work.
    if text.startswith("/") and " " not in text and "\n" not in text and text.count("/") == 1:
        return ""
    return _clean(text)


def _clean(text: str, name: str = "") -> str:
    """The beginning of `text`, clean; `name` is the argument it was given for, if any.

    The cut never leaves half a word, which may be half a secret.
    """
    if len(text) > TEXT_LIMIT:
        end = TEXT_LIMIT
        while end and (text[end - 1].isalnum() or text[end - 1] in "_-+/=.~"):
            end -= 1
        text = text[:end].rstrip()
    return privacy.clean_named(name, text)


def _between(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


def _assistant_events(row: dict[str, Any], start: int) -> list[Event]:
    if row.get("isApiErrorMessage") is True:
        return []
    content = _content(row)
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    events = []
    for block in content:
        kind = _block_type(block)
        if kind == "text" and _string(block.get("text")).strip():
            events.append(_spoken(TEXT, row, start, _clean(block["text"].strip())))
        elif kind == "tool_use":
            event = Event(TOOL, row, start)
            event.tool = _string(block.get("name"))
            event.tool_id = _string(block.get("id"))
            given = block.get("input")
            event.input = _clean_value(given, -1) if isinstance(given, dict) else {}
            events.append(event)
    return events


def _queued_events(row: dict[str, Any], start: int) -> list[Event]:
    text = _string(row.get("content"))
    if row.get("operation") != "enqueue" or not (text := typed_text(text)):
        return []
    return [_spoken(QUEUED, row, start, text)]


def _result(row: dict[str, Any], start: int, block: dict[str, Any]) -> Event:
    event = Event(RESULT, row, start)
    event.tool_id = _string(block.get("tool_use_id"))
    event.failed = block.get("is_error") is True
    event.text = _clean(_joined_text(block.get("content")))
    outcome = row.get("toolUseResult")
    if isinstance(outcome, dict):  # most of it repeats the text
        event.outcome = {name: _clean_value(outcome[name]) for name in _TOLD_BY_OUTCOMES
                         if isinstance(outcome.get(name), (dict, list))}
    return event


def _spoken(kind: str, row: dict[str, Any], start: int, text: str) -> Event:
    event = Event(kind, row, start)
    event.text = text
    return event


def _clean_value(value: Any, depth: int = 0, name: str = "") -> Any:
    """A tool argument with every text in it cleaned and bounded; what is nested deeper than six levels is dropped."""
    if isinstance(value, str):
        return _clean(value, name)
    if depth > 6:
        return None
    if isinstance(value, list):
        return [_clean_value(item, depth + 1, name) for item in value[:200]]
    if isinstance(value, dict):
        return {str(k): _clean_value(v, depth + 1, str(k)) for k, v in value.items()}
    return value


def _content(row: dict[str, Any]) -> Any:
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, (str, list)) else ""


def _joined_text(content: Any) -> str:
    """The text blocks of a message content, which is a string or a list of blocks; images and the like are left out."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(_string(block.get("text")) for block in content if _block_type(block) == "text")


def _block_type(block: Any) -> str:
    return _string(block.get("type")) if isinstance(block, dict) else ""


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def is_own_compaction(path: str) -> bool:
    """Whether `path` is the transcript of the agent that writes a compaction summary: it repeats the session."""
    return os.path.basename(path).startswith("agent-acompact")
