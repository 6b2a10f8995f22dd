"""One handler for each event of the client: payload in, the JSON to answer (or None) out."""

from __future__ import annotations

import os
import time

from memlite import briefing, recall, settings
from memlite.capture import ingest, transcript
from memlite.capture.projects import branch_of, project_of
from memlite.clock import now_ms
from memlite.errors import MemliteError
from memlite.hooks import background
from memlite.hooks.log import log
from memlite.model import CAPTURED, Prompt, Session, Summary
from memlite.store import shown, write
from memlite.store.database import Database, open_database, open_for_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Seconds a hook may take for reading a transcript; what is left then goes to a background process. SessionEnd has
# 1.5 s from the client in all, the others far more.
_READING_SECONDS = {"SessionEnd": 0.5}
_READING_SECONDS_DEFAULT = 2.0
_BUSY_MS = {"SessionEnd": 700}
_BUSY_MS_DEFAULT = 3000


def session_start(payload: dict[str, Any], home: str) -> dict[str, Any] | None:
    """Give the new session what the project's memory holds, tell the person in one line, and catch up in the
    background on transcripts that earlier hooks missed."""
    try:
        return _brief(payload, home)
    except MemliteError as failure:  # the log keeps it, but only the person can do something about it
        log(home, "SessionStart", failure)
        return {"systemMessage": f"memlite: memory is off: {failure.message}" + (
            f" ({failure.hint})" if failure.hint else "")}


def _brief(payload: dict[str, Any], home: str) -> dict[str, Any] | None:
    chosen = settings.load(home)
    cwd, path = _text(payload, "cwd"), _text(payload, "transcript_path")
    answer: dict[str, Any] = {}
    with open_database(home, busy_ms=_BUSY_MS_DEFAULT) as database:
        behind = chosen["backfill"] and chosen["capture"] and background.behind(database, path)
        if chosen["inject"]:
            told = briefing.compose(database, project_of(cwd), now=now_ms(), branch=branch_of(cwd),
                                     capturing=chosen["capture"])
            if told.text:
                answer["hookSpecificOutput"] = {"hookEventName": "SessionStart", "additionalContext": told.text}
            answer["systemMessage"] = told.line
            if chosen["recall"]:
                session_id = _text(payload, "session_id")
                with database.transaction():
                    shown.forget_session(database, session_id)  # its context is empty now
                    shown.note(database, session_id, told.given)
    if behind:
        background.start_import(home)
    if chosen["worker"]:
        background.start_worker(home)
    return answer or None


def user_prompt_submit(payload: dict[str, Any], home: str) -> dict[str, Any] | None:
    """Store the prompt at once: the transcript may not exist yet, and a session may end before its first answer.
    Then give the model what clearly fits the prompt, which is mostly nothing."""
    text = transcript.typed_text(_text(payload, "prompt"))
    chosen = settings.load(home)
    if not text:
        return None
    moment = now_ms()
    owner = _session(payload, moment)
    database = (open_database if chosen["capture"] else open_for_reading)(home, busy_ms=_BUSY_MS_DEFAULT)
    if database is None:
        return None
    with database:
        if chosen["capture"]:
            record = Prompt(text=text, prompt_id=_text(payload, "prompt_id"), created_at_epoch=moment, origin=CAPTURED,
                            transcript=owner.transcript, branch=owner.branch)
            with database.transaction():
                write.store(database, record, owner)
        if not chosen["recall"]:
            return None
        found = recall.recall(database, owner.project, text, session_id=owner.session_id,
                              given=shown.given(database, owner.session_id), now=moment)
        if not found:
            return None
        if database.writable:
            with database.transaction():
                shown.note(database, owner.session_id, found)
    context = recall.block(found, now=moment, branch=owner.branch)
    return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": context},
            "systemMessage": recall.line(found)}


def turn_ended(payload: dict[str, Any], home: str) -> None:
    """Stop: read the rest of the transcript, and the subagents' transcripts beside it."""
    _read(payload, home, ingest.TURN_END)


def session_end(payload: dict[str, Any], home: str) -> None:
    """SessionEnd: as Stop, and note that the session is over."""
    turn_ended(payload, home)
    if settings.load(home)["capture"]:
        with open_database(home, busy_ms=_BUSY_MS["SessionEnd"]) as database, database.transaction():
            write.session_ended(database, _text(payload, "session_id"), _text(payload, "reason"), now_ms())


def compaction_begins(payload: dict[str, Any], home: str) -> None:
    """PreCompact: read what is there; the turn goes on. Prints nothing, for that would steer the summary."""
    _read(payload, home, ingest.MIDDLE)


def subagent_stop(payload: dict[str, Any], home: str) -> None:
    """SubagentStop: read the subagent's own transcript. The agent without a type is the compaction's own."""
    path = _text(payload, "agent_transcript_path")
    if not _text(payload, "agent_type") or not path or not settings.load(home)["capture"]:
        return
    with open_database(home, busy_ms=_BUSY_MS_DEFAULT) as database:
        result = ingest.ingest(database, path, ends=ingest.TURN_END, deadline=_deadline("SubagentStop"),
                               last_message=_text(payload, "last_assistant_message"))
    if not result.finished:
        background.start_import(home, path)


def _read(payload: dict[str, Any], home: str, ends: str) -> None:
    if not settings.load(home)["capture"]:
        return
    event = _text(payload, "hook_event_name")
    path = _text(payload, "transcript_path")
    said = _text(payload, "last_assistant_message")
    deadline = _deadline(event)
    with open_database(home, busy_ms=_BUSY_MS.get(event, _BUSY_MS_DEFAULT)) as database:
        try:
            result = ingest.ingest(database, path, ends=ends, last_message=said, deadline=deadline)
        except OSError:
            if said:
                _keep_message(database, payload, said)
            return
        if ends == ingest.TURN_END:
            result.add(_read_subagents(database, payload, path, deadline))
    if not result.finished:
        background.start_import(home, path if ends == ingest.TURN_END else "")


def _read_subagents(database: Database, payload: dict[str, Any], path: str, deadline: float) -> ingest.Result:
    """Read what is new in the transcripts of the session's subagents: their own hooks may have been missed."""
    result = ingest.Result()
    tasks = payload.get("background_tasks")
    working = {task.get("id") for task in tasks if isinstance(task, dict)} if isinstance(tasks, list) else set()
    known = background.sizes(database)
    waiting = {left for left, _ in background.unfinished(database)}
    for agent_path in background.subagent_transcripts(path):
        ends = ingest.MIDDLE if ingest.agent_of(agent_path) in working else ingest.SETTLED
        try:
            if agent_path in waiting or known.get(agent_path) != os.path.getsize(agent_path):
                result.add(ingest.ingest(database, agent_path, ends=ends, deadline=deadline))
        except OSError:
            continue  # gone, or not for us to read
    return result


def _deadline(event: str) -> float:
    """The moment of time.monotonic() after which the hook of that event begins no further slice."""
    return time.monotonic() + _READING_SECONDS.get(event, _READING_SECONDS_DEFAULT)


def _keep_message(database: Database, payload: dict[str, Any], said: str) -> None:
    """The transcript can't be read: what the client handed over is kept instead."""
    moment = now_ms()
    record = Summary(completed=transcript.typed_text(said), created_at_epoch=moment, origin=CAPTURED)
    with database.transaction():
        write.store(database, record, _session(payload, moment))


def _session(payload: dict[str, Any], moment: int) -> Session:
    cwd = _text(payload, "cwd")
    path = _text(payload, "transcript_path")
    return Session(session_id=_text(payload, "session_id") or ingest.session_of(path) or "unknown",
                   project=project_of(cwd), cwd=cwd, branch=branch_of(cwd), started_at_epoch=moment,
                   ended_at_epoch=moment, transcript=path)


def _text(payload: dict[str, Any], name: str) -> str:
    value = payload.get(name)
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()  # SQLite takes no lone surrogates


HANDLERS: dict[str, Callable[[dict[str, Any], str], dict[str, Any] | None]] = {
    "SessionStart": session_start, "UserPromptSubmit": user_prompt_submit, "Stop": turn_ended,
    "SessionEnd": session_end, "PreCompact": compaction_begins, "SubagentStop": subagent_stop}
