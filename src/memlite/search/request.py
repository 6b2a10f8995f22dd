"""What is asked, in one form for every caller: command line, HTTP, hooks."""

from __future__ import annotations

from memlite.errors import UsageError
from memlite.model import KINDS, TYPES, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

RELEVANCE, DATE_DESC, DATE_ASC = "relevance", "date_desc", "date_asc"
ORDERS = (RELEVANCE, DATE_DESC, DATE_ASC)
MODES = ("auto", "keyword", "semantic")
FORMATS = ("index", "full")
MAX_LIMIT = 100
MAX_QUERY = 10_000  # characters that are looked at; a pasted log is a question too


class SearchRequest(Record):
    """A search. Empty filters admit everything; `roots` and `projects` name the same thing by identity and by name."""

    __slots__ = ("query", "kinds", "types", "projects", "roots", "since", "until", "limit", "offset", "order",
                 "format", "mode")
    DEFAULTS: ClassVar[dict[str, Any]] = {"kinds": KINDS, "types": (), "projects": (), "roots": (), "since": None,
                                          "until": None, "limit": 10, "offset": 0, "order": "", "format": "index",
                                          "mode": "auto"}
    query: str
    kinds: tuple[str, ...]
    types: tuple[str, ...]
    projects: tuple[str, ...]   # names, any case
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
        self._check("kind", self.kinds, KINDS)
        self._check("order", (self.order,), ORDERS)
        self._check("format", (self.format,), FORMATS)
        self._check("mode", (self.mode,), MODES)
        if not 1 <= self.limit <= MAX_LIMIT:
            raise UsageError(f"limit must be between 1 and {MAX_LIMIT}, not {self.limit}")
        if self.offset < 0:
            raise UsageError(f"offset must not be negative, but is {self.offset}")

    @staticmethod
    def _check(name: str, given: tuple[str, ...], allowed: tuple[str, ...]) -> None:
        for value in given:
            if value not in allowed:
                raise UsageError(f"{value!r} is no {name}", f"one of: {', '.join(allowed)}")


__all__ = ["DATE_ASC", "DATE_DESC", "FORMATS", "MAX_LIMIT", "MODES", "ORDERS", "RELEVANCE", "TYPES", "SearchRequest"]
