"""The one search controller: a SearchRequest in, an Answer out, whoever asks."""

from __future__ import annotations

from memlite.model import KINDS, OBSERVATION, Memory, Record
from memlite.search import words
from memlite.search.request import DATE_ASC, RELEVANCE, SearchRequest
from memlite.store import find, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from memlite.store.database import Database

FILTER, KEYWORD = "filter", "keyword"

# Weights of the index's columns (title, body, facts, files, details) in bm25. Measured on real sessions: what was
# said outweighs what tools printed.
WEIGHTS = (4.0, 3.0, 1.0, 1.0, 0.5)


class Hit(Record):
    """One result: the record, its score (0–1, the best is 1; None without a query) and the line of it that matches."""

    __slots__ = ("record", "score", "line")
    record: Memory
    score: float | None
    line: str


class Answer(Record):
    """What a search found. `total` counts all matches before paging; `used` and `reason` say which way was taken."""

    __slots__ = ("request", "hits", "total", "used", "degraded", "reason")
    DEFAULTS: ClassVar[dict[str, Any]] = {"hits": [], "total": 0, "used": FILTER, "degraded": False, "reason": None}
    request: SearchRequest
    hits: list[Hit]
    total: int
    used: str
    degraded: bool
    reason: str | None


def search(database: Database | None, request: SearchRequest) -> Answer:
    """Answer `request` from the store; an empty answer when there is no store yet. Raises as Database."""
    query_terms = words.terms(request.query) if request.query else []
    used = KEYWORD if query_terms else FILTER
    if database is None:
        return Answer(request=request, used=used)
    where = find.Filter(
        kinds=None if set(request.kinds) == set(KINDS) else request.kinds, types=request.types,
        projects=find.project_rows(database, request.projects, request.roots), since=request.since,
        until=request.until)
    if not query_terms:
        if request.query:  # punctuation only: nothing to look for
            return Answer(request=request, used=used, reason="the query has no words")
        rows, total = find.newest(database, where, request.limit, request.offset,
                                  ascending=request.order == DATE_ASC)
        hits = [Hit(record=record, score=None, line="") for record in _fetch(database, rows)]
        return Answer(request=request, hits=hits, total=total, used=used)
    order = None if request.order == RELEVANCE else request.order == DATE_ASC
    rows, total = find.matching(database, words.expression(query_terms), WEIGHTS, where,
                                2 * (request.limit + request.offset) + 10, ascending=order)
    scores = {(row.kind, row.id): row.score for row in rows}
    best = max(scores.values(), default=1.0) or 1.0
    distinct = _distinct(_fetch(database, rows))[request.offset:request.offset + request.limit]
    hits = [Hit(record=record, score=round(scores[record.KIND, record.id] / best, 4),
                line=words.matching_line(query_terms, _texts(record))) for record in distinct]
    return Answer(request=request, hits=hits, total=total, used=used)


def _fetch(database: Database, rows: list[find.Found]) -> list[Any]:
    return records.fetch(database, [(row.kind, row.id) for row in rows])


def _distinct(ranked: list[Any]) -> list[Any]:
    """`ranked` without records whose transcript rows were all shown by a better one: a turn's prompt, its closing
    observation and its summary tell the same thing."""
    shown: set[str] = set()
    kept = []
    for record in ranked:
        rows = set(record.uuids)
        if rows and rows <= shown:
            continue
        shown |= rows
        kept.append(record)
    return kept


def _texts(record: Any) -> list[str]:
    """What of a record may stand under its title as the line that matches."""
    if record.KIND == OBSERVATION:
        return [record.narrative, *record.facts, record.subtitle, record.details,
                "\n".join([*record.files_modified, *record.files_read])]
    document = [getattr(record, name) for name in ("completed", "learned", "next_steps", "notes", "text", "request")
                if hasattr(record, name)]
    return [text for text in document if text]


__all__ = ["FILTER", "KEYWORD", "WEIGHTS", "Answer", "Hit", "search"]
