"""What the store holds, for looking through it; and whether the worker is well."""

from __future__ import annotations

import os

from memlite import briefing, clock, paths
from memlite.errors import MemliteError, UsageError
from memlite.model import OBSERVATION, PROMPT, SUMMARY
from memlite.render import items
from memlite.search import controller, parameters
from memlite.serve import lifecycle, replies
from memlite.serve.calls import Call
from memlite.serve.replies import Reply
from memlite.store import overview, records
from memlite.store.save import project_called

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def health(call: Call) -> dict[str, Any]:
    """Whether the worker lives, which one it is, and how much is stored. A store it can't read does not make it ill:
    `store` then holds the error's code."""
    worker = call.worker
    counts: dict[str, int] = {}
    store = "ok"
    try:
        with worker.pool.lend() as database:
            counts = records.counts(database) if database else {}
    except MemliteError as failure:
        store = failure.code
    told: dict[str, Any] = {
        "status": "ok", "store": store, "version": worker.version, "commit": worker.commit, "pid": worker.pid,
        "uptime_seconds": (clock.now_ms() - worker.started) / 1000, "rss_bytes": _rss(), "counts": counts,
        "chroma": worker.semantic.status()}
    challenge = dict(call.pairs).get("challenge")
    if challenge:
        told["proof"] = lifecycle.proof(worker.nonce, challenge)
    return told


def _rss() -> int | None:
    """The memory this process has resident, in bytes; None where the system does not say (proc(5), statm)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def _page(call: Call, kind: str) -> dict[str, Any]:
    request = parameters.search_request(call.parameters, now=call.now, kinds=(kind,), order="")
    with call.worker.pool.lend() as database:
        found = controller.search(database, request)
    show = items.full if request.format == "full" else items.brief
    return {"items": [show(hit.record) for hit in found.hits],
            "hasMore": request.offset + len(found.hits) < found.total, "total": found.total,
            "offset": request.offset, "limit": request.limit}


def observations(call: Call) -> dict[str, Any]:
    """Observations, newest first."""
    return _page(call, OBSERVATION)


def summaries(call: Call) -> dict[str, Any]:
    """Session summaries, newest first."""
    return _page(call, SUMMARY)


def prompts(call: Call) -> dict[str, Any]:
    """Prompts, newest first."""
    return _page(call, PROMPT)


def projects(call: Call) -> dict[str, Any]:
    """The projects that have memories, the one used last first."""
    with call.worker.pool.lend() as database:
        found = overview.projects(database) if database else []
    return {"projects": list(dict.fromkeys(project["name"] for project in found)), "details": found}


def stats(call: Call) -> dict[str, Any]:
    """How much is stored, and what the worker takes for it."""
    worker = call.worker
    path = os.path.join(worker.home, paths.DATABASE)
    with worker.pool.lend() as database:
        counted = overview.counted(database) if database else {}
        size = os.path.getsize(path) if database else 0
    return {"worker": {"version": worker.version, "commit": worker.commit, "pid": worker.pid,
                       "uptime_seconds": (clock.now_ms() - worker.started) / 1000, "rss_bytes": _rss()},
            "database": {"path": path, "bytes": size, **counted}}


def inject(call: Call) -> Reply:
    """The text a new session of a project is given."""
    names = call.parameters.listed("project")
    if len(names) > 1:
        raise UsageError("only one project's memory goes into a session", "give one project")
    with call.worker.pool.lend() as database:
        text = ""
        if database is not None:
            text = briefing.compose(database, project_called(database, names[0]), now=call.now, branch="").text
    return Reply(text.encode("utf-8", "replace"), replies.TEXT)
