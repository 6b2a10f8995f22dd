"""The ten routes of the older service: their parameters and shapes, the same controller."""

from __future__ import annotations

from memlite.model import OBSERVATION, PROMPT, SUMMARY
from memlite.render import older
from memlite.search import parameters
from memlite.search import timeline as timelines
from memlite.search.request import FULL
from memlite.serve.calls import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.search.controller import Answer


def _found(call: Call, limit: int, **fixed: Any) -> Answer:
    return call.search(parameters.search_request(call.parameters, now=call.now, default_limit=limit, **fixed))


def _searched(call: Call, kind: str) -> dict[str, Any]:
    found = _found(call, 20, kinds=(kind,))
    results = older.results(found)
    return {"query": found.request.query, "count": len(results), "format": found.request.format, "results": results}


def observations(call: Call) -> Any:
    """Observations that fit a query."""
    return _searched(call, OBSERVATION)


def sessions(call: Call) -> Any:
    """Session summaries that fit a query."""
    return _searched(call, SUMMARY)


def prompts(call: Call) -> Any:
    """Prompts that fit a query."""
    return _searched(call, PROMPT)


def by_concept(call: Call) -> Any:
    """Observations with a concept."""
    found = _found(call, 10, kinds=(OBSERVATION,))
    results = older.results(found)
    return {"concept": ",".join(call.parameters.listed("concepts")), "count": len(results),
            "format": found.request.format, "results": results}


def by_file(call: Call) -> Any:
    """Observations and session summaries that touched a file."""
    format = "index"
    results: dict[str, list[dict[str, Any]]] = {}
    for kind, name in ((OBSERVATION, "observations"), (SUMMARY, "sessions")):
        found = _found(call, 10, kinds=(kind,))
        results[name], format = older.results(found), found.request.format
    return {"filePath": ",".join(call.parameters.listed("files")), "count": sum(map(len, results.values())),
            "format": format, "results": results}


def by_type(call: Call) -> Any:
    """Observations of a type."""
    found = _found(call, 10, kinds=(OBSERVATION,))
    results = older.results(found)
    return {"type": ",".join(call.parameters.listed("obs_type")), "count": len(results),
            "format": found.request.format, "results": results}


def recent_context(call: Call) -> Any:
    """The newest session summaries."""
    found = _found(call, 3, kinds=(SUMMARY,), query="", order="", format=FULL)
    projects = call.parameters.listed("project")
    return {"project": projects[0] if projects else None, "limit": found.request.limit, "count": len(found.hits),
            "sessions": older.results(found)}


def timeline(call: Call) -> dict[str, Any]:
    """What happened around an anchor, in a list for each kind."""
    request = parameters.timeline_request(call.parameters)
    with call.worker.pool.lend() as database:
        return older.timeline(timelines.timeline(database, request, now=call.now))


def timeline_by_query(call: Call) -> Any:
    """What happened around the best match of a query, in a list for each kind."""
    mode = call.parameters.choice("mode", ("auto", "observations", "sessions"), "auto")
    return {"query": call.parameters.text("query"), "mode": mode, **timeline(call)}


__all__ = ["by_concept", "by_file", "by_type", "observations", "prompts", "recent_context", "sessions",
           "timeline", "timeline_by_query"]
