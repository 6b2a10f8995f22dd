"""Which records fit a question best.

SQLite's bm25 finds the candidates and gives their first score; what it cannot know is then added to the best of
them: the kind of record, where in it the words stand, what its neighbours in the session say, the time the question
speaks of. Every constant was chosen on real sessions and checked on a second, unrelated set.
"""

from __future__ import annotations

from memlite.model import OBSERVATION, PROMPT, SUMMARY
from memlite.search import synonyms
from memlite.search.confidence import confidence
from memlite.search.evidence import SYNONYM, Evidence
from memlite.store import find, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.search.language import Question
    from memlite.store.database import Database
    from memlite.store.find import Filter, Found

# Weights of the index's columns (title, body, facts, files, details) in bm25: what was said outweighs what tools
# printed.
WEIGHTS = (3.0, 2.0, 1.0, 0.5, 0.5)
# A summary and a prompt tell again what an observation tells better.
_KIND = {OBSERVATION: 1.0, SUMMARY: 0.7, PROMPT: 0.7}
_OWN_WORDS = 1.0    # what a record's own words count beside bm25
_NEIGHBOUR = 0.2    # of the best score among the two records before and after in the same session
_NEAR = 2
_IN_WINDOW = 2.0    # times, for what lies in the time the question speaks of
_NEWER = 0.02       # the later of two alike comes first: it may correct the earlier

# bm25 costs 1.3 µs a matching row, a count 25 ns. Rarer words are taken first until this many rows would be scored;
# a word in half of all records tells nothing once a rarer one is there.
_SCORED_ROWS = 6_000
_SYNONYM_ROWS = 3_000
CANDIDATES = 200    # a constant, so that pages fit together
_REFINED = 60


class Ranked:
    """`order`: the best candidates, best first; `total`: all records that match; `confidence`: 0–1, how sure it is
    that the best one is an answer."""

    __slots__ = ("order", "total", "confidence")

    def __init__(self, order: list[Found], total: int, confidence: float) -> None:
        self.order = order
        self.total = total
        self.confidence = confidence


def rank(database: Database, question: Question, where: Filter, most: int) -> Ranked:
    """The records that fit `question` under the filter, at least `most` of them if there are as many."""
    everything = find.size(database, where)
    frequencies = {term: find.frequency(database, term, where, everything) for term in question.terms}
    for whole, within in question.parts.items():
        if not frequencies.get(whole):  # nobody wrote that name: its parts stand for it
            frequencies.update((term, find.frequency(database, term, where, everything)) for term in within)
    rarity = find.rarities(frequencies, everything)
    chosen = _affordable(frequencies, _SCORED_ROWS)
    found, total = find.matching(database, question.expression(chosen), WEIGHTS, where, max(CANDIDATES, most),
                                 newest=_SCORED_ROWS)
    if len(chosen) < len(frequencies):
        total = find.count(database, question.expression(list(frequencies)), where)
    scores = {(row.kind, row.id): row.score for row in found}
    for term in chosen:
        _add_kin(database, question, where, term, rarity[term], scores, everything, _SYNONYM_ROWS // len(chosen))
    if question.window:
        _add_window(database, question.window, where, scores)
    order = sorted((find.Found(kind=kind, id=ident, score=score) for (kind, ident), score in scores.items()),
                   key=lambda row: (-row.score, -row.id, row.kind))
    return _refine(database, rarity, order, max(total, len(order)))


def _affordable(frequencies: dict[str, int], budget: int) -> list[str]:
    """The terms, rarest first, whose rows together stay within `budget`; the rarest that occurs in any case."""
    chosen: list[str] = []
    spent = 0
    for term in sorted((t for t in frequencies if frequencies[t]), key=lambda t: frequencies[t]):
        spent += frequencies[term]
        if chosen and spent > budget:
            break
        chosen.append(term)
    return chosen or list(frequencies)[:1]


def _add_kin(database: Database, question: Question, where: Filter, term: str, worth: float,
             scores: dict[tuple[str, int], float], everything: int, budget: int) -> None:
    """Records with a synonym of `term`, or with parts of it, for half of what the term itself is worth: a rare
    synonym of a common word must not outweigh the word."""
    kin = question.parts.get(term) or synonyms.of(term)
    frequencies = {other: find.frequency(database, other, where, budget + 1) for other in kin
                   if other not in question.terms}
    chosen = [other for other in _affordable(frequencies, budget) if 0 < frequencies[other] <= budget]
    if not chosen:
        return
    rarest = max(find.rarities({other: frequencies[other] for other in chosen}, everything).values())
    others, _ = find.matching(database, question.expression(chosen), WEIGHTS, where, CANDIDATES)
    for row in others:
        key = (row.kind, row.id)
        scores[key] = scores.get(key, 0.0) + SYNONYM * min(1.0, worth / rarest) * row.score


def _add_window(database: Database, window: tuple[int, int], where: Filter,
                scores: dict[tuple[str, int], float]) -> None:
    """What lies in the time the question speaks of is a candidate even without its words, and counts for more."""
    inside = where.between(*window)
    best = max(scores.values(), default=1.0)
    for row in find.newest(database, inside, CANDIDATES, 0, ascending=False)[0]:
        key = (row.kind, row.id)
        scores[key] = _IN_WINDOW * scores[key] if key in scores else 0.3 * best


def _refine(database: Database, rarity: dict[str, float], order: list[Found], total: int) -> Ranked:
    """`order` with its best judged by their own words and their neighbours."""
    top, rest = order[:_REFINED], order[_REFINED:]
    if not top:
        return Ranked([], total, 0.0)
    fetched = {(record.KIND, record.id or 0): record
               for record in records.fetch(database, [(row.kind, row.id) for row in top])}
    evidence = Evidence(rarity)
    oldest_first = sorted(fetched.values(), key=lambda record: record.created_at_epoch)
    age = {(record.KIND, record.id): place / len(oldest_first) for place, record in enumerate(oldest_first)}
    for row in top:
        key = (row.kind, row.id)
        own, line = evidence.weigh(fetched[key])
        row.score = (row.score + _OWN_WORDS * own) * _KIND[row.kind] * (1 + line) * (1 + _NEWER * age[key])
    scores = {(row.kind, row.id): row.score for row in top}
    for row in top:
        session = fetched[row.kind, row.id].session_id
        near = [scores[row.kind, row.id + step] for step in range(-_NEAR, _NEAR + 1)
                if step and (row.kind, row.id + step) in scores
                and fetched[row.kind, row.id + step].session_id == session]
        row.score += _NEIGHBOUR * max(near, default=0.0)
    top.sort(key=lambda row: (-row.score, -row.id, row.kind))
    for row in rest:  # behind the refined ones, whatever their raw score
        row.score = min(row.score, top[-1].score)
    best = fetched[top[0].kind, top[0].id]
    return Ranked([*top, *rest], total, confidence(best, rarity, top[0].score / (1 + _OWN_WORDS)))
