"""The ready-made searches, and the context of a topic put together from them."""

from __future__ import annotations

from memlite.model import OBSERVATION, Memory, Record
from memlite.search.controller import search
from memlite.search.request import DATE_DESC, SearchRequest, TimelineRequest
from memlite.search.timeline import Timeline, order, timeline
from memlite.store.connection import snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from memlite.store.database import Database

# What each ready-made search is fixed to.
DECISIONS: dict[str, Any] = {"kinds": (OBSERVATION,), "types": ("decision",)}
CHANGES: dict[str, Any] = {"kinds": (OBSERVATION,), "types": ("change",), "concepts": ("change", "what-changed"),
                           "either": True}
HOW_IT_WORKS: dict[str, Any] = {"kinds": (OBSERVATION,), "concepts": ("how-it-works",)}

_PARTS = (("decision", DECISIONS, 7), ("change", CHANGES, 7), ("how_it_works", HOW_IT_WORKS, 3))
_DEPTH = 7


class Context(Record):
    """`items`: one timeline of all kinds, newest first, each once. `newest`: the newest decision, change and
    how-it-works by part name (absent when there is none). `moment`: the newest date among the parts."""

    __slots__ = ("query", "items", "newest", "moment")
    DEFAULTS: ClassVar[dict[str, Any]] = {"items": [], "newest": {}, "moment": None}
    query: str
    items: list[Memory]
    newest: dict[str, Memory]
    moment: int | None


def contextualize(database: Database | None, *, query: str = "", projects: tuple[str, ...] = (),
                  roots: tuple[str, ...] = (), now: int) -> Context:
    """The newest 7 decisions, 7 changes and 3 explanations (that match `query`, if given), and the 7 records before
    and after the newest of them. Raises as Database."""
    with snapshot(database):
        return _answer(database, query, projects, roots, now)


def _answer(database: Database | None, query: str, projects: tuple[str, ...], roots: tuple[str, ...],
            now: int) -> Context:
    found: dict[tuple[str, int | None], Memory] = {}
    newest: dict[str, Memory] = {}
    for name, fixed, most in _PARTS:
        request = SearchRequest(query=query, projects=projects, roots=roots, limit=most, order=DATE_DESC, **fixed)
        hits = [hit.record for hit in search(database, request).hits]
        found.update(((record.KIND, record.id), record) for record in hits)
        if hits:
            newest[name] = hits[0]
    if not found:
        return Context(query=query)
    latest = max(found.values(), key=order)
    window: Timeline = timeline(database, TimelineRequest(anchor=latest.ref, before=_DEPTH, after=_DEPTH,
                                                          projects=projects, roots=roots), now=now)
    found.update(((record.KIND, record.id), record) for record in window.items)
    return Context(query=query, items=sorted(found.values(), key=order, reverse=True), newest=newest,
                   moment=latest.created_at_epoch)
