"""What a hook leaves to a process of its own: reading transcripts that take longer than a hook may."""

from __future__ import annotations

import os
import time

from memlite.capture import transcript
from memlite.capture.ingest import QUIET_SECONDS
from memlite.hooks.log import log
from memlite.store import reindex
from memlite.store.transcripts import sizes, unfinished

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.store.database import Database


def subagent_transcripts(path: str) -> list[str]:
    """The transcripts of the subagents of the session whose transcript is at `path`, by name."""
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names
            if name.endswith(".jsonl") and not transcript.is_own_compaction(name)]


def behind(database: Database, path: str) -> bool:
    """Whether work waits: records that are not in the index yet, or transcripts to be read, because nothing was
    backfilled yet, one beside `path` has grown unseen, or a session whose end was left open has been quiet since."""
    if database.row("SELECT 1 FROM meta WHERE key = 'backfilled'") is None or reindex.waiting(database):
        return True
    known = sizes(database)
    folder = os.path.dirname(path)
    try:
        names = os.listdir(folder) if folder else []
    except OSError:
        names = []
    beside = (os.path.join(folder, name) for name in names if name.endswith(".jsonl"))
    if any(other != path and known.get(other) != _status(other)[0] for other in beside):
        return True
    for other, read_at in unfinished(database):
        quiet_at = _status(other)[1] + QUIET_SECONDS
        if other != path and read_at < quiet_at * 1000 and QUIET_SECONDS < quiet_at < time.time():
            return True
    return False


def _status(path: str) -> tuple[int | None, float]:
    """(size, moment of the last change in seconds) of a file; (None, 0) when it is gone."""
    try:
        status = os.stat(path)
    except OSError:
        return None, 0.0
    return status.st_size, status.st_mtime


def start_import(home: str, path: str = "") -> None:
    """Start `memlite import transcripts --background` detached: in a session of its own, all streams closed, so that
    the client neither waits for it nor takes it down. A second one ends at once, by the importer's own lock.

    `path` is a transcript that ends with a turn; others may be in the middle of one.
    """
    from memlite import processes

    processes.start_detached(["import", "transcripts", "--background", *([path] if path else [])], home)


def start_worker(home: str) -> None:
    """Have the worker started, unless it runs; nobody waits for it, and a session does well without."""
    from memlite import worker_file

    try:
        worker_file.start_unless_running(home)
    except OSError as failure:
        log(home, "SessionStart", failure)


__all__ = ["behind", "sizes", "start_import", "start_worker", "subagent_transcripts", "unfinished"]
