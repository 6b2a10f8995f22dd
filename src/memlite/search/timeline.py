"""What happened around a record, a moment, or the best match of a query."""

from __future__ import annotations

from memlite.errors import NotFound, UsageError
from memlite.model import Memory, Record, parse_ref
from memlite.search import dates
from memlite.search.controller import search
from memlite.search.request import SearchRequest, TimelineRequest
from memlite.store import find, index, records
from memlite.store.connection import snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from memlite.store.database import Database


class Timeline(Record):
    """A stretch of time: `items` of all kinds, earliest first, the anchor among them when it is a record.

    `moment` is the anchor's time; `match` is the record a query found, None for a query without a match.
    """

    __slots__ = ("request", "items", "anchor", "moment", "match")
    DEFAULTS: ClassVar[dict[str, Any]] = {"items": [], "anchor": None, "moment": None, "match": None}
    request: TimelineRequest
    items: list[Memory]
    anchor: Memory | None
    moment: int | None
    match: Memory | None


def timeline(database: Database | None, request: TimelineRequest, *, now: int) -> Timeline:
    """Answer `request`. Raises NotFound for an id that is not there, UsageError for an anchor that is neither id nor
    moment, and as Database."""
    with snapshot(database):
        return _answer(database, request, now)


def _answer(database: Database | None, request: TimelineRequest, now: int) -> Timeline:
    reference = parse_ref(request.anchor) if request.anchor else None
    if reference is not None and reference[1] >= 100_000_000_000 and request.anchor.isdigit():
        reference = None  # no id has twelve digits; a moment in milliseconds has thirteen
    match: Memory | None = None
    moment: int | None
    if request.query:
        found = search(database, SearchRequest(query=request.query, kinds=request.kinds, projects=request.projects,
                                               roots=request.roots, limit=1))
        if not found.hits:
            return Timeline(request=request)
        match = found.hits[0].record
        reference = (match.KIND, match.id or 0)
    if reference is None:
        try:
            moment = dates.moment(request.anchor, now=now)
        except UsageError:
            raise UsageError(f"Invalid timestamp: {request.anchor}",
                             "an anchor is an id (123, S5, P7), ISO 8601 or epoch ms") from None
        key = -1
    else:
        moment = find.moment_of(database, *reference) if database is not None else None
        if moment is None:
            raise NotFound(f"{reference[0].capitalize()} #{records.cite(*reference)} not found",
                           "`memlite query` and /api/search give ids")
        key = index.key(*reference)
    if database is None:
        return Timeline(request=request, moment=moment)
    where = find.Filter(projects=find.project_rows(database, request.projects, request.roots))
    window = find.around(database, moment, key, where, request.before, request.after)
    places = [(item.kind, item.id) for item in window]
    if reference is not None:
        places.append(reference)
    items = sorted(records.fetch(database, places), key=order)
    anchor = next((item for item in items if (item.KIND, item.id) == reference), None)
    return Timeline(request=request, items=items, anchor=anchor, moment=moment, match=match)


def order(record: Memory) -> tuple[int, int]:
    """The place of a record in the one total order of all memories: by time, then by index key."""
    return record.created_at_epoch, index.key(record.KIND, record.id or 0)
