"""What can be said about the search by meaning, with or without a worker."""

from __future__ import annotations

import os

from memlite import settings
from memlite.chroma import places, position, sync
from memlite.chroma.engine import ABSENT, ENABLE, FAILED, IDLE, OFF, READY, STARTING
from memlite.store.database import open_for_reading
from memlite.wording import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WORDS = {READY: "ready", IDLE: "at rest, started when needed", STARTING: "starting", FAILED: "failed",
          ABSENT: "not here", OFF: "switched off"}


def of(home: str, worker: dict[str, Any] | None, *, count: bool = True) -> dict[str, Any]:
    """The status of the search by meaning, as in `Engine.status`: the running `worker`'s word (its /health) if there is
    one; else, with `count`, the store is opened to see what waits. Raises UsageError for settings that are none."""
    told = None if worker is None else worker.get("chroma")
    return told if isinstance(told, dict) else at_rest(home, settings.load(home), count=count)


def at_rest(home: str, chosen: dict[str, Any], *, count: bool = True) -> dict[str, Any]:
    """What `Engine.status` would say where no worker runs: what is installed, and how far the index has come."""
    found = places.find(home, chosen)
    folder = os.path.join(home, places.FOLDER)
    told: dict[str, Any] = {
        "state": IDLE, "reason": found.missing, "python": found.python, "model": found.model,
        "index": chosen["chroma_url"] or os.path.join(folder, "index"), "records": 0, "waiting": 0, "processes": 0,
        "pid": None, "rss_bytes": None}
    if not chosen["chroma"]:
        return {**told, "state": OFF}
    if found.missing:
        return {**told, "state": ABSENT}
    database = open_for_reading(home) if count else None
    if database is not None:
        with database:
            told["waiting"] = sync.waiting(database, position.load(folder))
    return told


def line(told: dict[str, Any]) -> str:
    """A status in one line."""
    said = str(_WORDS.get(told["state"], told["state"]))
    if told["state"] == OFF:
        return f"{said}; `memlite chroma enable` switches it on"
    if told["state"] == ABSENT:
        return f"{said}: {told['reason']}; {ENABLE}"
    if told["reason"]:
        said += f": {told['reason']}"
    if told["records"]:
        said += f", {counted(told['records'], 'record')}"
    if told["waiting"]:
        said += f", {told['waiting']} more to be taken in"
    if told["processes"]:
        said += f", process {told['pid']}"
    if told["rss_bytes"]:
        said += f", {told['rss_bytes'] / 1e6:.0f} MB"
    return said
