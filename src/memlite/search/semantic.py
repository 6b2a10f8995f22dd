"""The semantic leg of a search: what an index of meanings says, joined with what the words say.

The two are joined by score. Joining by rank (reciprocal rank fusion) was measured to be worse than the words alone.
What the words found counts as much as they are sure of it, so that meaning leads where the question's words stand
nowhere, and only sets the order right where they do. Constants as measured on coding sessions and on LoCoMo's turns
(`tests/bench/bench_semantic.py`).
"""

from __future__ import annotations

from memlite.errors import SemanticUnavailable
from memlite.model import Record
from memlite.search.confidence import CONFIDENT
from memlite.search.ranking import Ranked
from memlite.store import find, index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from memlite.search.language import Question
    from memlite.search.request import SearchRequest
    from memlite.store.database import Database
    from memlite.store.find import Filter, Found

KEYWORD, SEMANTIC, HYBRID = "keyword", "semantic", "hybrid"
NEAREST = 100       # records that are asked for
JUDGED = 60         # of the words' best, whose meaning is asked for too
_WEIGHT = 0.6       # of a similarity, against 1 for what the words found best when they are sure
_LEAST = 0.06       # what that counts when they are not sure at all
_DOUBT = 1.5        # the power at which it falls with their confidence
_NEIGHBOUR = 0.1    # of the best similarity among the two records before and after in the same session
_NEAR = 2
_FLOOR = 0.25       # less like the question than that is no candidate by its meaning alone: random letters reach it
_SURE = 0.5         # at this similarity a record is a good match by its meaning alone
_DAY_MS = 86_400_000


class Semantic:
    """An index of meanings. `days` is how far back it looks unless the caller names dates; 0: all the way."""

    days = 90

    def nearest(self, text: str, where: Filter, also: list[int], limit: int) -> dict[int, float]:
        """{index key: similarity} of the up to `limit` records under the filter that are nearest to `text`, and of
        those of `also` that it knows. A similarity is the cosine of two vectors: 0 means nothing in common, 1 the
        same. Raises SemanticUnavailable, and soon."""
        raise NotImplementedError

    def gap(self) -> str:
        """What the index lacks, in words for the answer's `reason`; "" when it holds every record."""
        return ""


class Joined(Record):
    """`ranked` with its meaning in it, and which way was taken, as in an Answer."""

    __slots__ = ("ranked", "used", "degraded", "reason")
    DEFAULTS: ClassVar[dict[str, Any]] = {"used": KEYWORD, "degraded": False}
    ranked: Ranked
    used: str
    degraded: bool
    reason: str


def join(database: Database, request: SearchRequest, question: Question, where: Filter, ranked: Ranked,
         semantic: Semantic | None, *, now: int) -> Joined:
    """Join `ranked`, what the words found, with what `semantic` finds, as far as the request wants it.

    When there is no answer from `semantic` the words' stands, and says why unless nobody could expect another.
    """
    if request.mode == KEYWORD:
        return Joined(ranked=ranked)
    if semantic is None:
        return _without(ranked, request, "there is no index of meanings here (`memlite chroma status`)", absent=True)
    recent = where
    if semantic.days and not _dated(where) and not question.window:
        recent = where.between(now - semantic.days * _DAY_MS, 1 << 62)
    words = {index.key(row.kind, row.id): row for row in ranked.order}
    pure = request.mode == SEMANTIC
    try:
        near = semantic.nearest(" ".join([question.text, *question.required]), recent,
                                [] if pure else list(words)[:JUDGED], NEAREST)
    except SemanticUnavailable as failure:
        return _without(ranked, request, failure.message, absent=failure.absent)
    sessions = find.admitted(database, list(near), where)
    likeness = _with_neighbours({key: near[key] for key in near if key in sessions}, sessions)
    new = [key for key in sessions if near[key] >= _FLOOR and (pure or key not in words)]
    new = _as_worded(database, question, new)
    if pure:
        order = _sorted({key: near[key] for key in new})
        return Joined(ranked=Ranked(order, len(order), _certainty(order, near)), used=SEMANTIC, reason=semantic.gap())
    best = max((row.score for row in ranked.order), default=0.0) or 1.0
    trust = _LEAST + (1 - _LEAST) * ranked.confidence ** _DOUBT
    scores = {key: row.score / best * trust for key, row in words.items()}
    for key in {*words, *new}:
        scores[key] = max(0.0, scores.get(key, 0.0) + _WEIGHT * likeness.get(key, 0.0))
    order = _sorted(scores)
    sure = max(ranked.confidence, _certainty(order, near))
    return Joined(ranked=Ranked(order, ranked.total + len(new), sure), used=HYBRID, reason=semantic.gap())


def _without(ranked: Ranked, request: SearchRequest, reason: str, *, absent: bool) -> Joined:
    """The words' answer alone. Where there never was an index of meanings that is the normal way, unless the caller
    insists on meaning."""
    if absent and request.mode != SEMANTIC:
        return Joined(ranked=ranked)
    return Joined(ranked=ranked, degraded=True, reason=reason)


def _dated(where: Filter) -> bool:
    return (where.since is not None or where.until is not None) or (where.also is not None and _dated(where.also))


def _with_neighbours(near: dict[int, float], sessions: dict[int, int]) -> dict[int, float]:
    """The similarities, each with a share of the best around it: an answer often stands beside what it is about."""
    step = index.key("observation", 1)   # from one id to the next of the same kind
    spread = {}
    for key, value in near.items():
        around = [near[other] for other in range(key - _NEAR * step, key + _NEAR * step + 1, step)
                  if other != key and other in near and sessions[other] == sessions[key]]
        spread[key] = value + _NEIGHBOUR * max(0.0, *around, 0.0)
    return spread


def _as_worded(database: Database, question: Question, keys: list[int]) -> list[int]:
    """Those of `keys` that hold the question's "exact phrases" and none of its -words."""
    if question.required and keys:
        keys = find.with_words(database, keys, question.expression([]))
    elif question.excluded and keys:
        without = set(find.with_words(database, keys, " OR ".join(map(find.quoted, question.excluded))))
        keys = [key for key in keys if key not in without]
    return keys


def _sorted(scores: dict[int, float]) -> list[Found]:
    rows = []
    for key, score in scores.items():
        kind, ident = index.reference(key)
        rows.append(find.Found(kind=kind, id=ident, score=score))
    return sorted(rows, key=lambda row: (-row.score, -row.id, row.kind))


def _certainty(order: list[Found], near: dict[int, float]) -> float:
    """How sure it is, by its meaning alone, that the first record is an answer: 0–1."""
    if not order:
        return 0.0
    return min(1.0, CONFIDENT * max(0.0, near.get(index.key(order[0].kind, order[0].id), 0.0)) / _SURE)
