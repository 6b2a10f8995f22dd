"""Events → turns and episodes.

A turn runs from one prompt to the next and can last hours, so the unit of memory is the episode: a stretch of the
assistant's text and the tool calls it announces. What is grouped depends on the rows alone, never on when a hook
happened to read them; only one episode is open at a time, so there is always one place to read on from.
"""

from __future__ import annotations

from memlite import privacy
from memlite.capture.transcript import BREAK, PROMPT, QUEUED, RESULT, TEXT, TOOL, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# An episode of more rows than this is cut where no tool is at work: a memory that points at a hundred rows
# points at nothing. Measured on real sessions: 8, 12 and 16 find equally well, 12 reads best.
MAX_ROWS = 12
_MAX_WAITING_ROWS = 48  # calls at once, each in a row of its own; beyond that one of them was never answered
# Looking around is part of the step it leads to, up to this many rows.
MAX_LOOKING_ROWS = 6
_LOOKING = frozenset(("Read", "Grep", "Glob", "LS", "NotebookRead", "TodoWrite", "ToolSearch", "WebSearch", "WebFetch",
                      "EnterPlanMode", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"))
_ANNOUNCEMENT = 200  # longer text says something of its own

_KEPT_TEXT = 2_000   # of the prompt and the closing words, for the turn's summary
_KEPT_ITEMS = 40


class Episode:
    """A stretch of work: its events in file order."""

    __slots__ = ("events",)

    def __init__(self) -> None:
        self.events: list[Event] = []

    @property
    def first(self) -> Event:
        return self.events[0]

    def uuids(self) -> list[str]:
        """The transcript rows it was made from, without repetition."""
        return list(dict.fromkeys(event.uuid for event in self.events if event.uuid))

    def text(self) -> str:
        """What the assistant said in it."""
        return "\n\n".join(event.text for event in self.events if event.kind == TEXT)

    def calls(self) -> list[tuple[Event, Event | None]]:
        """Each tool call with its result (None if there is none), in the order of the calls."""
        results = {event.tool_id: event for event in self.events if event.kind == RESULT}
        return [(event, results.get(event.tool_id)) for event in self.events if event.kind == TOOL]

    def waits(self) -> bool:
        """Whether a tool call of it has no result yet."""
        return any(result is None for _, result in self.calls())

    def only_looks(self) -> bool:
        """Whether it only reads and searches, and says no more than that it is about to."""
        tools = [event.tool for event in self.events if event.kind == TOOL]
        return all(tool in _LOOKING for tool in tools) and len(self.text()) < _ANNOUNCEMENT and bool(tools)


class Turn:
    """What is known of the turn in progress; lives in the store between two readings, as JSON."""

    __slots__ = ("number", "count", "prompt", "prompt_uuid", "closing", "closing_uuid", "titles", "files_read",
                 "files_edited",
                 "queued", "time", "said", "cwd", "branch")

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        known = state or {}
        self.number: int = known.get("number", 0)           # of the prompt being worked on
        self.count: int = known.get("count", 0)             # prompts so far, queued ones included
        self.prompt: str = known.get("prompt", "")
        self.prompt_uuid: str = known.get("prompt_uuid", "")
        self.closing: str = known.get("closing", "")
        self.closing_uuid: str = known.get("closing_uuid", "")
        self.titles: list[str] = known.get("titles", [])
        self.files_read: list[str] = known.get("files_read", [])
        self.files_edited: list[str] = known.get("files_edited", [])
        self.queued: list[list[Any]] = known.get("queued", [])  # [text, number] of prompts not yet taken up
        self.time: int = known.get("time", 0)               # the latest moment: later rows never count as earlier
        self.said: bool = known.get("said", False)          # whether anything happened since the last summary
        self.cwd: str = known.get("cwd", "")
        self.branch: str = known.get("branch", "")

    def as_state(self) -> dict[str, Any]:
        """The turn as JSON-ready values."""
        return {name: getattr(self, name) for name in self.__slots__}

    def moment(self, event: Event) -> int:
        """The event's time, never before that of an earlier row (clocks in real files run backwards)."""
        if event.cwd not in ("", self.cwd):
            self.cwd = privacy.clean(event.cwd)
        if event.branch not in ("", self.branch):
            self.branch = privacy.clean(event.branch)
        if event.time is not None and event.time > self.time:
            self.time = event.time
        return self.time

    def begin(self, event: Event) -> None:
        """A prompt opens the next turn."""
        self.number = self._number_of(event.text)
        self.prompt, self.prompt_uuid = event.text[:_KEPT_TEXT], event.uuid
        self.closing = self.closing_uuid = ""
        self.titles, self.files_read, self.files_edited, self.said = [], [], [], False

    def queue(self, text: str) -> int:
        """A prompt typed while the assistant works waits for its turn. Returns its number."""
        self.count += 1
        self.queued = [*self.queued[-9:], [text, self.count]]
        return self.count

    def _number_of(self, text: str) -> int:
        """A prompt counts once, though it may be seen twice: when it is queued and when it is taken up."""
        for waiting in self.queued:
            if waiting[0] == text:
                self.queued = [other for other in self.queued if other is not waiting]
                return int(waiting[1])
        self.count += 1
        return self.count

    def note(self, title: str, read: list[str], edited: list[str]) -> None:
        """Remember what an episode did, for the summary."""
        self.said = True
        if title:
            self.titles = [*self.titles, title[:160]][-_KEPT_ITEMS:]
        self.files_read = list(dict.fromkeys([*self.files_read, *read]))[-_KEPT_ITEMS:]
        self.files_edited = list(dict.fromkeys([*self.files_edited, *edited]))[-_KEPT_ITEMS:]

    def close_with(self, episode: Episode) -> None:
        """The last thing the assistant said so far may be its closing words."""
        for event in reversed(episode.events):
            if event.kind == TEXT:
                self.closing, self.closing_uuid = event.text[:3 * _KEPT_TEXT], event.uuid
                self.said = True
                return


def belongs(episode: Episode, event: Event) -> bool:
    """Whether `event` continues the open `episode`, or begins another."""
    first = episode.first
    if (event.session_id, event.agent) != (first.session_id, first.agent):
        return False
    if event.kind in (PROMPT, BREAK):
        return False
    if event.kind in (RESULT, QUEUED):
        return True
    rows = len(episode.uuids())
    if event.kind == TOOL:
        waits = rows < _MAX_WAITING_ROWS and episode.waits()
        return rows < MAX_ROWS or waits or event.uuid == episode.events[-1].uuid
    has_worked = any(e.kind != TEXT for e in episode.events)
    return not has_worked or (rows < MAX_LOOKING_ROWS and episode.only_looks())
