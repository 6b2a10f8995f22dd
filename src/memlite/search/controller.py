"""The one search controller: a SearchRequest in, an Answer out, whoever asks."""

from __future__ import annotations

from memlite.clock import now_ms
from memlite.model import KINDS, Memory, Record
from memlite.search import semantic as meaning
from memlite.search.confidence import CONFIDENT
from memlite.search.evidence import Evidence
from memlite.search.language import Question, understand
from memlite.search.ranking import rank
from memlite.search.repetitions import fold
from memlite.search.request import DATE_ASC, RELEVANCE, SearchRequest
from memlite.store import find, index, records, reindex
from memlite.store.connection import snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from memlite.store.database import Database

FILTER, KEYWORD = "filter", meaning.KEYWORD


class Hit(Record):
    """One result: the record, its score (0–1, the best is 1; None without a query), the line of it that matches, and
    how many near-duplicates were put behind it."""

    __slots__ = ("record", "score", "line", "similar")
    DEFAULTS: ClassVar[dict[str, Any]] = {"similar": 0}
    record: Memory
    score: float | None
    line: str
    similar: int


class Answer(Record):
    """What a search found. `total` counts all matches before paging; `used` and `reason` say which way was taken."""

    __slots__ = ("request", "hits", "total", "used", "degraded", "reason", "confidence")
    DEFAULTS: ClassVar[dict[str, Any]] = {"hits": [], "total": 0, "used": FILTER, "degraded": False, "reason": None,
                                          "confidence": None}
    request: SearchRequest
    hits: list[Hit]
    total: int
    used: str
    degraded: bool
    reason: str | None
    confidence: float | None    # 0–1: how sure it is that the best hit is an answer; None without a ranking

    @property
    def confident(self) -> bool:
        """Whether the best hit is a good match, as far as can be told; a list without ranking always is."""
        return self.confidence is None or self.confidence >= CONFIDENT


def search(database: Database | None, request: SearchRequest, *, now: int | None = None,
           semantic: meaning.Semantic | None = None) -> Answer:
    """Answer `request` from the store; an empty answer when there is no store yet. Raises as Database.

    `now` (epoch ms; by default this moment) is what words such as "yesterday" are reckoned from. With `semantic`, an
    index of meanings, a query is answered by that too, unless the request's mode says otherwise.
    """
    now = now_ms() if now is None else now
    question = understand(request.query, now=now) if request.query else Question()
    if database is None:
        return Answer(request=request, used=KEYWORD if question.has_words else FILTER)
    if request.query and not question.has_words and not question.filters:
        return Answer(request=request, used=FILTER, reason="the query has no words")
    with snapshot(database):
        return _answer(database, request, question, now, semantic)


def _answer(database: Database, request: SearchRequest, question: Question, now: int,
            semantic: meaning.Semantic | None) -> Answer:
    used = KEYWORD if question.has_words else FILTER
    where = _filter(database, request, question)
    left = reindex.waiting(database)
    reason = f"the index is being made anew: {left} older records are not in it yet" if left else None
    if not question.has_words:
        found, total = find.newest(database, where, request.limit, request.offset,
                                   ascending=request.order == DATE_ASC)
        hits = [Hit(record=record, score=None, line="") for record in _fetch(database, found)]
        return Answer(request=request, hits=hits, total=total, used=used, reason=reason)
    if request.order != RELEVANCE and request.mode != meaning.SEMANTIC:
        found, total = find.matching_by_time(database, question.expression(question.terms), where, request.limit,
                                             request.offset, ascending=request.order == DATE_ASC)
        evidence = Evidence(dict.fromkeys([*question.terms, *question.required], 1.0))
        hits = [Hit(record=record, score=None, line=evidence.line(record)) for record in _fetch(database, found)]
        return Answer(request=request, hits=hits, total=total, used=used, reason=reason)
    ranked = rank(database, question, where, request.offset + request.limit)
    evidence = Evidence({**ranked.rarity, **dict.fromkeys(question.required, max(ranked.rarity.values(), default=1.0))})
    read = ranked.read
    joined = meaning.join(database, request, question, where, ranked, semantic, now=now)
    ranked, reason = joined.ranked, "; ".join(filter(None, (reason, joined.reason))) or None
    best = max((row.score for row in ranked.order), default=1.0) or 1.0
    order, similar = fold(database, ranked.order) if request.order == RELEVANCE else (
        _by_time(database, ranked.order, ascending=request.order == DATE_ASC), {})
    page = order[request.offset:request.offset + request.limit]
    hits = [Hit(record=record, score=round(row.score / best, 4), line=evidence.line(record),
                similar=similar.get((row.kind, row.id), 0))
            for row, record in zip(page, _fetch(database, page, read), strict=True)]
    return Answer(request=request, hits=hits, total=ranked.total, used=joined.used, degraded=joined.degraded,
                  reason=reason, confidence=round(ranked.confidence, 4))


def _filter(database: Database, request: SearchRequest, question: Question) -> find.Filter:
    """The request's filters and, on top of them, those written into the query."""
    where = _filter_of(database, request)
    if question.filters:
        where.also = _filter_of(database, SearchRequest(**question.filters))
    return where


def _filter_of(database: Database, request: SearchRequest) -> find.Filter:
    return find.Filter(
        kinds=() if set(request.kinds) == set(KINDS) else request.kinds, types=request.types,
        concepts=request.concepts, either=request.either, files=request.files, branches=request.branches,
        projects=find.project_rows(database, request.projects, request.roots), since=request.since,
        until=request.until)


def _fetch(database: Database, rows: list[find.Found], read: dict[tuple[str, int], Any] | None = None) -> list[Any]:
    """The records of `rows`, those `read` already not again."""
    known = dict(read or {})
    missing = records.fetch(database, [(row.kind, row.id) for row in rows if (row.kind, row.id) not in known])
    known.update(((record.KIND, record.id or 0), record) for record in missing)
    return [known[row.kind, row.id] for row in rows]


def _by_time(database: Database, ranked: list[find.Found], *, ascending: bool) -> list[find.Found]:
    made = {(record.KIND, record.id): (record.created_at_epoch, index.key(record.KIND, record.id))
            for record in _fetch(database, ranked)}
    return sorted(ranked, key=lambda row: made[row.kind, row.id], reverse=not ascending)


__all__ = ["FILTER", "KEYWORD", "Answer", "Hit", "search"]
