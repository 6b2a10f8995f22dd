"""Which records fit a question best.

The candidates have a first score by bm25. What SQLite cannot know is then added to the best of them: the kind of
record, where in it the words stand, what its neighbours in the session say. Every constant was chosen on real
sessions and checked on a second, unrelated set.
"""

from __future__ import annotations

from memlite.model import OBSERVATION, PROMPT, SUMMARY
from memlite.search.candidates import Candidates
from memlite.search.confidence import confidence
from memlite.search.evidence import Evidence
from memlite.search.senses import Sense, corrects
from memlite.store import find, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.search.language import Question
    from memlite.store.database import Database
    from memlite.store.find import Filter, Found

# A summary and a prompt tell again what an observation tells better.
_KIND = {OBSERVATION: 1.0, SUMMARY: 0.7, PROMPT: 0.7}
_OWN_WORDS = 1.0    # what a record's own words count beside bm25
_NEIGHBOUR = 0.2    # of the best score among the two records before and after in the same session
_NEAR = 2
_NEWER = 0.02       # the later of two alike comes first
_NEARLY = 0.65      # of a score: so near that a correction comes before what it corrects
_IN_WINDOW = 4.0    # times, for what lies in the time the question speaks of
_REFINED = 50


class Ranked:
    """`order`: the best candidates, best first; `total`: all records that match; `confidence`: 0–1, how sure it is
    that the best one is an answer; `rarity`: what each leading term of the question is worth; `read`: by kind and id,
    the records that had to be read to tell."""

    __slots__ = ("order", "total", "confidence", "rarity", "read")

    def __init__(self, order: list[Found], total: int, confidence: float, rarity: dict[str, float] | None = None,
                 read: dict[tuple[str, int], Any] | None = None) -> None:
        self.order = order
        self.total = total
        self.confidence = confidence
        self.rarity = rarity or {}
        self.read = read or {}


def rank(database: Database, question: Question, where: Filter, most: int) -> Ranked:
    """The records that fit `question` under the filter, at least `most` of them if there are as many."""
    candidates = Candidates(database, question, where)
    order = [find.Found(kind=kind, id=ident, score=score) for (kind, ident), score in candidates.scores.items()]
    order.sort(key=lambda row: (-row.score, -row.id, row.kind))
    read: dict[tuple[str, int], Any] = {}
    sure = 0.0
    if order:
        read = {(record.KIND, record.id or 0): record
                for record in records.fetch(database, [(row.kind, row.id) for row in order[:_REFINED]])}
        sure = _refine(question, candidates, order, read)
    if len(order) < min(most, candidates.total):
        order += candidates.rest(set(candidates.scores), most)
    for row, better in zip(order[1:], order, strict=False):  # the less likely come last, whatever bm25 gave them
        row.score = min(row.score, better.score)
    return Ranked(order, candidates.total, sure, candidates.leading, read)


def _refine(question: Question, candidates: Candidates, order: list[Found],
            fetched: dict[tuple[str, int], Any]) -> float:
    """Judge the best of `order` by their own words, as `fetched`, and by their neighbours, and put them in order.
    Returns how sure it is that the first of them is an answer."""
    top = order[:_REFINED]
    evidence, sense = Evidence(candidates.leading), Sense(question.text)
    oldest_first = sorted(fetched.values(), key=lambda record: record.created_at_epoch)
    age = {(record.KIND, record.id): place / len(oldest_first) for place, record in enumerate(oldest_first)}
    lines: dict[tuple[str, int], float] = {}
    for row in top:
        key = (row.kind, row.id)
        own, lines[key] = evidence.weigh(fetched[key])
        row.score = ((row.score + _OWN_WORDS * own) * _KIND[row.kind] * (1 + lines[key]) * (1 + _NEWER * age[key])
                     * sense.lift(fetched[key]))
    _in_time_first(top, candidates)
    scores = {(row.kind, row.id): row.score for row in top}
    for row in top:
        session = fetched[row.kind, row.id].session_id
        near = [scores[row.kind, row.id + step] for step in range(-_NEAR, _NEAR + 1)
                if step and (row.kind, row.id + step) in scores
                and fetched[row.kind, row.id + step].session_id == session]
        row.score += _NEIGHBOUR * max(near, default=0.0)
    top.sort(key=lambda row: (-row.score, -row.id, row.kind))
    _corrections_first(top, fetched, lines)
    order[:_REFINED] = top
    best = fetched[top[0].kind, top[0].id]
    return confidence(best, candidates.rarity, top[0].score / (1 + _OWN_WORDS))


def _in_time_first(top: list[Found], candidates: Candidates) -> None:
    """Lift what lies in the time the question speaks of: above all else where it names the days."""
    others = [row.score for row in top if (row.kind, row.id) not in candidates.within]
    for row in top:
        if (row.kind, row.id) in candidates.within:
            row.score = row.score + max(others, default=0.0) if candidates.exact else _IN_WINDOW * row.score


def _corrections_first(top: list[Found], fetched: dict[tuple[str, int], Any],
                       lines: dict[tuple[str, int], float]) -> None:
    """Put a record that says things are otherwise than thought before the earlier ones of its project that it may be
    speaking of: those that answer the question no better."""
    for place in range(1, len(top)):
        row = top[place]
        record = fetched[row.kind, row.id]
        if not corrects(record):
            continue
        to = place
        while to and _may_be_corrected(fetched[top[to - 1].kind, top[to - 1].id], record) and (
                lines[row.kind, row.id] >= lines[top[to - 1].kind, top[to - 1].id]
                and row.score >= _NEARLY * top[to - 1].score):
            to -= 1
        if to < place:
            row.score = top[to].score
            top.insert(to, top.pop(place))


def _may_be_corrected(earlier: Any, later: Any) -> bool:
    return bool(earlier.project == later.project and earlier.created_at_epoch < later.created_at_epoch)
