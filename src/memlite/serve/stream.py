"""GET /stream: what comes into the store, as server-sent events (https://html.spec.whatwg.org/#server-sent-events).

An event's id is a position in the store, so a client that comes back with Last-Event-ID misses nothing, not even
across a restart of the worker.
"""

from __future__ import annotations

from memlite import jsoncodec
from memlite.clock import ms_to_iso
from memlite.errors import MemliteError
from memlite.render import items
from memlite.serve import log
from memlite.serve.calls import Call
from memlite.serve.replies import Reply
from memlite.store import changes, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memlite.serve.feed import Feed
    from memlite.store.changes import Change, Position

EVENT_STREAM = "text/event-stream"
MOST_LISTENERS = 100
BEAT_SECONDS = 15.0   # how often a silent stream shows that it lives; and notices that its client does not


class TooMany(MemliteError):
    """There is no place for another listener."""

    code, http_status = "too_many_listeners", 503


def stream(call: Call) -> Reply:
    """Prompts, observations, summaries, and starts and ends of sessions, as they come in."""
    feed = call.worker.feed
    at = start_position(call, feed)
    return Reply(_events(feed, at, call.parameters.listed("project"), BEAT_SECONDS), EVENT_STREAM)


def start_position(call: Call, feed: Feed) -> Position:
    """Where a listener begins: after what it has seen by its Last-Event-ID, else with what comes from now on.

    Raises TooMany, and as Database.
    """
    if feed.listeners >= MOST_LISTENERS:
        raise TooMany("too many are listening already", f"at most {MOST_LISTENERS}")
    return changes.read(call.environ.get("HTTP_LAST_EVENT_ID", "")) or feed.position()


def _events(feed: Feed, at: Position, projects: tuple[str, ...], beat: float) -> Iterator[bytes]:
    with feed:
        yield f"retry: 2000\nid: {changes.written(at)}\n\n".encode()
        while not feed.closed:
            version = feed.version
            try:
                found, at = feed.after(at)
                shown = wanted(feed, found, projects)
            except MemliteError as failure:
                log.say(f"/stream: {failure.message}")
                return   # the client comes back and is told in an answer of its own
            if shown:
                yield "".join(map(_event, shown)).encode("utf-8", "replace")
            if not found and not feed.wait(version, beat):
                yield b":\n\n"


def wanted(feed: Feed, found: list[Change], projects: tuple[str, ...]) -> list[Change]:
    """Those of the changes that belong to one of the projects, by name or root; all of them when none is named."""
    if not projects or not found:
        return found
    with feed.pool.lend() as database:
        rows = find.project_rows(database, projects, ()) if database is not None else None
    return [change for change in found if change.project in (rows or ())]


def _event(change: Change) -> str:
    return (f"event: {change.source}\nid: {changes.written(change.position)}\n"
            f"data: {jsoncodec.dumps(told(change))}\n\n")


def told(change: Change) -> dict[str, Any]:
    """What an event says: a memory in brief, or which session began or ended when and where."""
    if isinstance(change.value, dict):
        return {**change.value, "created_at": ms_to_iso(change.moment), "created_at_epoch": change.moment}
    return items.brief(change.value)
