"""What is asked, in one form for every caller: command line, HTTP, hooks."""

from __future__ import annotations

from memlite.errors import UsageError
from memlite.model import KINDS, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

RELEVANCE, DATE_DESC, DATE_ASC = "relevance", "date_desc", "date_asc"
ORDERS = (RELEVANCE, DATE_DESC, DATE_ASC)
MODES = ("auto", "keyword", "semantic")
INDEX, FULL = "index", "full"
FORMATS = (INDEX, FULL)
MAX_LIMIT = 100
MAX_DEPTH = 100
MAX_QUERY = 10_000  # characters that are looked at; a pasted log is a question too


class SearchRequest(Record):
    """A search. An empty filter admits everything; the values of one filter are alternatives, several filters add up.

    `roots` and `projects` name the same thing by identity and by name. With `either`, `types` and `concepts` are
    alternatives to each other.
    """

    __slots__ = ("query", "kinds", "types", "concepts", "either", "files", "branches", "projects", "roots", "since",
                 "until", "limit", "offset", "order", "format", "mode")
    DEFAULTS: ClassVar[dict[str, Any]] = {
        "kinds": KINDS, "types": (), "concepts": (), "either": False, "files": (), "branches": (), "projects": (),
        "roots": (), "since": None, "until": None, "limit": 10, "offset": 0, "format": INDEX, "mode": "auto"}
    query: str
    kinds: tuple[str, ...]
    types: tuple[str, ...]      # of observations; any string, for imported memories have types of their own
    concepts: tuple[str, ...]
    either: bool
    files: tuple[str, ...]      # parts of paths, any case
    branches: tuple[str, ...]
    projects: tuple[str, ...]   # names, any case, or roots
    roots: tuple[str, ...]      # identities, as `capture.projects` tells them
    since: int | None           # epoch ms, inclusive
    until: int | None           # epoch ms, exclusive
    limit: int
    offset: int
    order: str                  # "" = relevance with a query, newest first without
    format: str
    mode: str

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.query = self.query.strip()[:MAX_QUERY]
        self.order = self.order or (RELEVANCE if self.query else DATE_DESC)
        _check("kind", self.kinds, KINDS)
        _check("order", (self.order,), ORDERS)
        _check("format", (self.format,), FORMATS)
        _check("mode", (self.mode,), MODES)
        if not 1 <= self.limit <= MAX_LIMIT:
            raise UsageError(f"limit must be between 1 and {MAX_LIMIT}, not {self.limit}")
        if not 0 <= self.offset < 1 << 53:
            raise UsageError(f"offset must be a whole number from 0, not {self.offset}")


class TimelineRequest(Record):
    """What happened around a moment: `before` items, the anchor, `after` items, of all kinds in time order.

    The anchor is a record's id or a moment, or the best match of `query`; exactly one of the two is given.
    """

    __slots__ = ("anchor", "query", "kinds", "before", "after", "projects", "roots", "format")
    DEFAULTS: ClassVar[dict[str, Any]] = {"kinds": KINDS, "before": 10, "after": 10, "projects": (), "roots": (),
                                          "format": INDEX}
    anchor: str
    query: str
    kinds: tuple[str, ...]      # among which the query looks for its anchor
    before: int
    after: int
    projects: tuple[str, ...]
    roots: tuple[str, ...]
    format: str

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.anchor, self.query = self.anchor.strip(), self.query.strip()[:MAX_QUERY]
        if not self.anchor and not self.query:
            raise UsageError("Missing required parameter: anchor or query",
                             "an anchor is an id (123, S5, P7) or a moment; a query finds one", "missing_parameter")
        if self.anchor and self.query:
            raise UsageError("anchor and query exclude each other", "give one of the two")
        _check("kind", self.kinds, KINDS)
        _check("format", (self.format,), FORMATS)
        for name, depth in (("depth_before", self.before), ("depth_after", self.after)):
            if not 0 <= depth <= MAX_DEPTH:
                raise UsageError(f"{name} must be between 0 and {MAX_DEPTH}, not {depth}")


def _check(name: str, given: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    for value in given:
        if value not in allowed:
            raise UsageError(f"{value!r} is no {name}", f"one of: {', '.join(allowed)}")
