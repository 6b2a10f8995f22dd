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
# How many of the best are looked at again after bm25; a constant, so that pages fit together.
_RERANKED = 200
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
        kinds=() if set(request.kinds) == set(KINDS) else request.kinds, types=request.types,
        concepts=request.concepts, either=request.either, files=request.files, branches=request.branches,
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
                                max(_RERANKED, request.offset + request.limit), ascending=order)
    best = max((row.score for row in rows), default=1.0) or 1.0
    if order is None:
        rows = _repetitions_last(database, rows)
    rows = rows[request.offset:request.offset + request.limit]
    scores = {(row.kind, row.id): row.score for row in rows}
    hits = [Hit(record=record, score=round(scores[record.KIND, record.id] / best, 4),
                line=words.matching_line(query_terms, _texts(record))) for record in _fetch(database, rows)]
    return Answer(request=request, hits=hits, total=total, used=used)


def _fetch(database: Database, rows: list[find.Found]) -> list[Any]:
    return records.fetch(database, [(row.kind, row.id) for row in rows])


def _repetitions_last(database: Database, ranked: list[find.Found]) -> list[find.Found]:
    """`ranked` with the records among its first _RERANKED whose transcript rows a better one has shown already moved
    behind the others: a turn's prompt, its closing observation and its summary tell the same thing."""
    top, rest = ranked[:_RERANKED], ranked[_RERANKED:]
    made_from = records.transcript_rows(database, [(row.kind, row.id) for row in top])
    shown: set[str] = set()
    first: list[find.Found] = []
    repeated: list[find.Found] = []
    for row in top:
        uuids = set(made_from.get((row.kind, row.id), ()))
        (repeated if uuids and uuids <= shown else first).append(row)
        shown |= uuids
    return [*first, *repeated, *rest]


def _texts(record: Any) -> list[str]:
    """What of a record may stand under its title as the line that matches."""
    if record.KIND == OBSERVATION:
        return [record.narrative, *record.facts, record.subtitle, record.details,
                "\n".join([*record.files_modified, *record.files_read])]
    document = [getattr(record, name) for name in ("completed", "learned", "next_steps", "notes", "text", "request")
                if hasattr(record, name)]
    return [text for text in document if text]


__all__ = ["FILTER", "KEYWORD", "WEIGHTS", "Answer", "Hit", "search"]
