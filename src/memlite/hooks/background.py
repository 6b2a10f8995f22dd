"""What a hook leaves to a process of its own: reading transcripts that take longer than a hook may."""

from __future__ import annotations

import os
import sys
import time

from memlite.capture import transcript
from memlite.capture.ingest import QUIET_SECONDS
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


def command() -> list[str]:
    """The command line that runs this same memlite."""
    return [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "memlite"]


def start_import(home: str, path: str = "") -> None:
    """Start `memlite import transcripts --background` detached: in a session of its own, all streams closed, so that
    the client neither waits for it nor takes it down. A second one ends at once, by the importer's own lock.

    `path` is a transcript that ends with a turn; others may be in the middle of one.
    """
    environment = dict(os.environ)
    environment["MEMLITE_HOME"] = home
    environment["PYINSTALLER_RESET_ENVIRONMENT"] = "1"  # else the child runs in this process's unpacked folder
    arguments = [*command(), "import", "transcripts", "--background", *([path] if path else [])]
    if hasattr(os, "posix_spawn"):
        null = os.open(os.devnull, os.O_RDWR)
        actions = [(os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)]
        options = {"setsid": True} if sys.platform.startswith("linux") else {"setpgroup": 0}
        os.posix_spawn(arguments[0], arguments, environment, file_actions=actions, **options)
        os.close(null)
        return
    import subprocess  # Windows: too slow to import where the call above exists

    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    subprocess.Popen(arguments, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL, creationflags=flags, close_fds=True)


__all__ = ["behind", "command", "sizes", "start_import", "subagent_transcripts", "unfinished"]
