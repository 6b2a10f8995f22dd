"""The handlers of the unified routes: parse, ask the controller, show."""

from __future__ import annotations

from memlite.render import items, markdown
from memlite.search import contextualize as ready_made
from memlite.search import parameters
from memlite.search import timeline as timelines
from memlite.serve.calls import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def search(call: Call, **fixed: Any) -> Any:
    """Memories of all kinds in one ranking; `fixed` fields of the request are not the caller's to choose."""
    request = parameters.search_request(call.parameters, now=call.now, **fixed)
    return call.shown(call.search(request), items.answer, markdown.answer)


def decisions(call: Call) -> Any:
    """What was decided."""
    return search(call, **ready_made.DECISIONS)


def changes(call: Call) -> Any:
    """What was changed."""
    return search(call, **ready_made.CHANGES)


def how_it_works(call: Call) -> Any:
    """What explains how things work."""
    return search(call, **ready_made.HOW_IT_WORKS)


def timeline(call: Call) -> Any:
    """What happened around a record, a moment, or the best match of a query."""
    request = parameters.timeline_request(call.parameters)
    with call.worker.pool.lend() as database:
        found = timelines.timeline(database, request, now=call.now)
    return call.shown(found, items.timeline, markdown.timeline)


def contextualize(call: Call) -> Any:
    """Where a topic stands."""
    with call.worker.pool.lend() as database:
        found = ready_made.contextualize(database, query=call.parameters.text("query"),
                                         projects=call.parameters.listed("project"), now=call.now)
    return call.shown(found, items.context, markdown.context)
