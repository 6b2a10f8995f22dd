"""Records and answers in the shapes that scripts written for the older service expect (its release 5.4).

Ids are numbers there, each kind in a list of its own. A full item carries all that is known besides.
"""

from __future__ import annotations

from memlite.model import KINDS, OBSERVATION, PROMPT, SUMMARY
from memlite.render import items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.search.controller import Answer
    from memlite.search.timeline import Timeline

_LISTS = {OBSERVATION: "observations", SUMMARY: "sessions", PROMPT: "prompts"}
_BRIEF = {OBSERVATION: ("type", "title", "subtitle"), SUMMARY: ("request", "completed"),
          PROMPT: ("prompt_number", "prompt_text")}


def item(record: Any, *, full: bool, score: float | None = None) -> dict[str, Any]:
    """One record: in brief what its kind has of id, type, title, …, created_at_epoch, project and score."""
    every = {**items.full(record), "id": record.id, "score": score}
    if record.KIND == PROMPT:
        every["prompt_text"] = every.pop("text")
    if full:
        return every
    return {"id": record.id, **{name: every[name] for name in _BRIEF[record.KIND]},
            "created_at_epoch": record.created_at_epoch, "project": record.project, "score": score}


def results(found: Answer) -> list[dict[str, Any]]:
    """The results of a search."""
    full = found.request.format == "full"
    return [item(hit.record, full=full, score=hit.score) for hit in found.hits]


def grouped(records: list[Any], kinds: tuple[str, ...] = KINDS) -> dict[str, list[dict[str, Any]]]:
    """Full items of these kinds, by kind, in their order."""
    return {_LISTS[kind]: [item(record, full=True) for record in records if kind == record.KIND] for kind in kinds}


def timeline(found: Timeline) -> dict[str, Any]:
    """A timeline around an anchor, or around the best match of a query."""
    request = found.request
    depths = {"depth_before": request.before, "depth_after": request.after}
    if request.query:
        told: dict[str, Any] = {"query": request.query, "match": None, **depths}
        if found.match is None:
            return {**told, "message": "nothing matches the query", "timeline": grouped([])}
        told["match"] = {"kind": found.match.KIND, **item(found.match, full=False)}
        return {**told, "timeline": grouped(found.items)}
    anchor: int | str = int(request.anchor) if request.anchor.isdecimal() else request.anchor
    return {"anchor": anchor, **depths, "project": request.projects[0] if request.projects else None,
            "timeline": grouped(found.items)}


__all__ = ["grouped", "item", "results", "timeline"]
