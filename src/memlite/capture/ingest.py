"""A transcript's new rows → stored memories. Live capture and backfill are this same code.

Work goes in slices: read without a lock, then store the slice and the new offset in one transaction. A process
killed at any instant has stored whole slices only, and the next one reads on from there.
"""

from __future__ import annotations

import os
import time

from memlite import privacy
from memlite.capture import describe, transcript
from memlite.capture.episodes import Episode, Turn, belongs
from memlite.capture.projects import project_of
from memlite.capture.transcript import BREAK, PROMPT, QUEUED, Event, Skipped
from memlite.model import CAPTURED, Memory, Project, Prompt, Session
from memlite.store import transcripts, write
from memlite.store.transcripts import Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from memlite.store.database import Database

# Whether the end of the rows is the end of a turn: yes; no; unless a tool call still waits for its result; only when
# nothing has been written for so long that the session must be over.
TURN_END, MIDDLE, SETTLED, QUIET = "turn-end", "middle", "settled", "quiet"
QUIET_SECONDS = 600

SLICE_BYTES = 1024 * 1024
_HEAD_BYTES = 1024


class Result:
    """What one reading of a transcript did: records stored by kind, rows skipped, and whether it reached the end."""

    __slots__ = ("observations", "summaries", "prompts", "idle", "skipped", "bytes", "finished")

    def __init__(self) -> None:
        self.observations = self.summaries = self.prompts = self.idle = self.bytes = 0
        self.skipped = Skipped()
        self.finished = True

    def add(self, other: Result) -> None:
        """Add the counts of `other` to these."""
        for name in ("observations", "summaries", "prompts", "idle", "bytes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.skipped.add(other.skipped)
        self.finished = self.finished and other.finished

    def count(self, record: Memory) -> None:
        """Count a stored record under its kind."""
        name = {"observation": "observations", "summary": "summaries", "prompt": "prompts"}[record.KIND]
        setattr(self, name, getattr(self, name) + 1)


class _Slice:
    """Reads rows from a position on and collects what they are worth, up to a point that may be committed."""

    def __init__(self, path: str, start: Position, project: Callable[[str], Project]) -> None:
        self.path = path
        self.agent = agent_of(path)
        self.project = project
        self.records: list[tuple[Memory, Session]] = []
        self.skipped = Skipped()
        self.idle = 0
        self.turns: dict[str, Turn] = {name: Turn(state) for name, state in start.state.items()}
        self.open: Episode | None = None
        self.held: list[tuple[Event, int]] = []  # prompts queued before any row told the session's folder
        self.offset = start.offset          # all before it is in `records` or worth nothing
        self.state = start.state            # of the turns at `offset`
        self.end = start.offset             # of the last complete row seen

    def read(self, file: BinaryIO, budget: int) -> bool:
        """Read on until `budget` bytes lie before the committable offset, or to the file's end. True at its end."""
        begin = self.offset
        for start, end, line in transcript.read_lines(file, self.offset, self.skipped):
            for event in transcript.events_of(line, start, self.skipped):
                self._take(event, start)
            self.end = end
            if self.open is None and not self.held:
                self._checkpoint(end)
            if self.offset - begin >= budget:
                return False
        return True

    def close(self) -> None:
        """What is open is complete: the turn has ended here."""
        self._finish()
        self._release("")
        for session_id, turn in self.turns.items():
            self._end_turn(session_id, turn)
        self._checkpoint(self.end)

    def said_last(self) -> str:
        """The assistant's last words so far."""
        text = self.open.text().rpartition("\n\n")[2] if self.open is not None else ""
        return text or next((turn.closing.rpartition("\n\n")[2] for turn in reversed(self.turns.values())), "")

    def _take(self, event: Event, start: int) -> None:
        event.agent = event.agent or self.agent
        event.session_id = event.session_id or session_of(self.path)
        if self.open is not None and not belongs(self.open, event):
            self._finish()
            self._checkpoint(start)
        turn = self.turns.setdefault(event.session_id, Turn())
        if event.kind != QUEUED:
            self._release(event.cwd)
        if event.kind == PROMPT and not event.agent:
            self._end_turn(event.session_id, turn)
            turn.begin(event)
            self._store_prompt(event, turn, turn.number)
        elif event.kind == QUEUED:
            number = turn.queue(event.text)
            if event.cwd or turn.cwd:
                self._store_prompt(event, turn, number)
            else:
                self.held.append((event, number))
        elif event.kind not in (PROMPT, BREAK):  # a subagent's prompt is the model's own words
            if self.open is None:
                self.open = Episode()
            self.open.events.append(event)

    def _release(self, cwd: str) -> None:
        held, self.held = self.held, []
        for event, number in held:
            event.cwd = cwd
            self._store_prompt(event, self.turns[event.session_id], number)

    def _checkpoint(self, offset: int) -> None:
        self.offset = offset
        self.state = {name: turn.as_state() for name, turn in self.turns.items()}

    def _finish(self) -> None:
        """The open episode is complete."""
        episode, self.open = self.open, None
        if episode is None:
            return
        first = episode.first
        turn = self.turns[first.session_id]
        moment = turn.moment(first)
        for event in episode.events:
            turn.moment(event)
        if not first.agent:
            turn.close_with(episode)
        observation = describe.observe(episode)
        if observation is None:
            self.idle += 1
            return
        turn.note(observation.title, observation.files_read, observation.files_modified)
        observation.prompt_number = turn.number or None
        self._add(observation, first.session_id, first.cwd or turn.cwd, first.branch, moment)

    def _end_turn(self, session_id: str, turn: Turn) -> None:
        summary = None if self.agent else describe.summarize(turn)
        if summary is not None:
            self._add(summary, session_id, turn.cwd, turn.branch, turn.time)
            turn.said = False

    def _store_prompt(self, event: Event, turn: Turn, number: int) -> None:
        record = Prompt(text=event.text, prompt_id=event.prompt_id, branch=event.branch,
                        prompt_number=number, uuids=[event.uuid] if event.uuid else [])
        self._add(record, event.session_id, event.cwd or turn.cwd, event.branch, turn.moment(event))

    def _add(self, record: Memory, session_id: str, cwd: str, branch: str, moment: int) -> None:
        record.created_at_epoch, record.origin, record.transcript = moment, CAPTURED, self.path
        self.records.append((record, Session(
            session_id=session_id, project=self.project(cwd), cwd=cwd, branch=branch, started_at_epoch=moment or None,
            ended_at_epoch=moment or None, transcript=main_transcript(self.path))))


def ingest(database: Database, path: str, *, ends: str = SETTLED, last_message: str | None = None,
           deadline: float | None = None, progress: Callable[[int], None] | None = None) -> Result:
    """Store what the transcript at `path` holds beyond its stored position.

    `ends` says whether the rows' end is the end of a turn: TURN_END, MIDDLE, SETTLED or QUIET. `last_message` is what
    the client says the assistant said last: when the file does not hold it yet, the rest is left for the next reading.
    `deadline` is a moment of time.monotonic() after which no further slice is begun (`finished` is then False).
    `progress` is called with the bytes each slice took. Raises OSError when the file can't be read, and as Database.
    """
    result = Result()
    if transcript.is_own_compaction(path):
        return result
    known_projects: dict[str, Project] = {}

    def project(folder: str) -> Project:
        if folder not in known_projects:
            known_projects[folder] = project_of(folder)
        return known_projects[folder]

    _must_be_a_file(path)
    with open(path, "rb") as file:
        while True:
            stored = transcripts.position(database, path)
            start = stored if _same_file(file, stored) else Position()
            size = os.fstat(file.fileno()).st_size
            part = _Slice(path, start, project)
            at_end = part.read(file, SLICE_BYTES)
            if at_end and _complete(part, ends, last_message, path):
                part.close()
            after = Position(part.offset, size, _head(file, part.offset), part.state)
            moved = (after.offset, after.size, after.head) != (stored.offset, stored.size, stored.head)
            if part.records or moved or after.offset < size:  # of what is left, the moment it was looked at counts
                with database.transaction():
                    if not transcripts.advance(database, path, stored, after):
                        continue  # another process took these rows first: read on from where it stopped
                    for record, owner in part.records:
                        if write.store(database, record, owner) is not None:
                            result.count(record)
            result.idle += part.idle
            result.bytes += part.offset - start.offset
            if progress:
                progress(part.offset - start.offset)
            if at_end:
                result.skipped.add(part.skipped)
                return result
            part.skipped.torn = 0
            result.skipped.add(part.skipped)
            if deadline is not None and time.monotonic() >= deadline:
                result.finished = False
                return result


def _must_be_a_file(path: str) -> None:
    """Raise OSError for a pipe or a device, whose reading never ends."""
    if not os.path.isfile(path) and os.path.exists(path):
        raise OSError(0, "not a regular file", path)


def _complete(part: _Slice, ends: str, last_message: str | None, path: str) -> bool:
    """Whether what is open at the end of the rows is complete."""
    if ends == TURN_END and not part.skipped.torn:
        expected = privacy.clean(last_message or "").strip().rpartition("\n\n")[2]
        return not expected or part.said_last()[:200] == expected[:200]
    if ends in (SETTLED, QUIET) and time.time() - os.stat(path).st_mtime > QUIET_SECONDS:
        return True
    return ends == SETTLED and not part.skipped.torn and not (part.open is not None and part.open.waits())


def _same_file(file: BinaryIO, stored: Position) -> bool:
    """Whether the file still begins as it did and is no shorter: not replaced, not truncated."""
    length, _, mark = stored.head.partition(":")
    if not mark:
        return True
    size = os.fstat(file.fileno()).st_size
    return size >= stored.offset and _head(file, int(length)) == stored.head


def _head(file: BinaryIO, offset: int) -> str:
    file.seek(0)
    data = file.read(min(offset, _HEAD_BYTES))
    return f"{len(data)}:{write.fingerprint(data.decode('latin-1'))}"


def agent_of(path: str) -> str:
    """The subagent a transcript belongs to; "" for a session's own."""
    folder, name = os.path.split(path)
    return name.removesuffix(".jsonl").removeprefix("agent-") if os.path.basename(folder) == "subagents" else ""


def main_transcript(path: str) -> str:
    """The transcript of the session that `path` belongs to: itself, or that of the subagent's session."""
    return f"{os.path.dirname(os.path.dirname(path))}.jsonl" if agent_of(path) else path


def session_of(path: str) -> str:
    """The session id a transcript is named after: that of the session for a subagent's file."""
    return os.path.basename(main_transcript(path)).removesuffix(".jsonl")
