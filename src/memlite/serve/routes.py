"""The one table of routes: it registers them, and the API's description is made from it."""

from __future__ import annotations

import os

from memlite import clock
from memlite.model import Record
from memlite.render import items, markdown
from memlite.search import controller, parameters
from memlite.serve import lifecycle, replies
from memlite.serve.calls import Call
from memlite.serve.replies import Reply
from memlite.store import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar


class Route(Record):
    """One route. `parameters` are meanings of `search.parameters`; an `old` route passes over what it does not
    know; one that `writes` needs the token."""

    __slots__ = ("method", "path", "aliases", "help", "parameters", "handler", "old", "writes")
    DEFAULTS: ClassVar[dict[str, Any]] = {"method": "GET", "aliases": (), "parameters": (), "old": False,
                                          "writes": False}
    method: str
    path: str
    aliases: tuple[str, ...]
    help: str
    parameters: tuple[str, ...]
    handler: Callable[[Call], Any]
    old: bool
    writes: bool

    def paths(self) -> list[str]:
        """All paths the route answers under, in Bottle's spelling: /api/… under /api/v1/… too."""
        found = [self.path, *self.aliases]
        return found + [path.replace("/api/", "/api/v1/", 1) for path in found if path.startswith("/api/")]


def _shown(call: Call, found: Any, as_json: Callable[[Any], Any], as_markdown: Callable[[Any], str]) -> Any:
    """A result in the form the caller wants."""
    output = call.output
    if output == "json":
        return as_json(found)
    text = as_markdown(found)
    if output == "mcp":
        return [{"type": "text", "text": text}]
    return Reply(text.encode("utf-8", "replace"), replies.MARKDOWN)


def health(call: Call) -> dict[str, Any]:
    """Whether the worker lives, which one it is, and how much is stored."""
    worker = call.worker
    with worker.pool.lend() as database:
        counts = records.counts(database) if database else {}
    told: dict[str, Any] = {
        "status": "ok", "version": worker.version, "commit": worker.commit, "pid": worker.pid,
        "uptime_seconds": (clock.now_ms() - worker.started) / 1000, "rss_bytes": _rss(), "counts": counts}
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


def search(call: Call) -> Any:
    """Memories of all kinds in one ranking."""
    request = parameters.search_request(call.parameters, now=call.now)
    with call.worker.pool.lend() as database:
        answer = controller.search(database, request)
    return _shown(call, answer, items.answer, markdown.answer)


ROUTES: tuple[Route, ...] = (
    Route(path="/health", aliases=("/api/health",), handler=health, old=True,
          help="Whether the worker lives, which one it is, and how much is stored"),
    Route(path="/api/search", handler=search, parameters=parameters.SEARCH,
          help="Observations, session summaries and prompts in one ranking"),
)
