"""Which records come into question: those with its words, with synonyms of them, or of the time it speaks of.

SQLite's bm25 gives them a first score. What it costs is bounded, so that a word that stands in half of a large store
is no slower than a rare one; the count of all matches is exact, and the less likely ones follow on later pages.
"""

from __future__ import annotations

from memlite.search import synonyms
from memlite.search.evidence import SYNONYM
from memlite.store import find, index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.search.language import Question
    from memlite.store.database import Database
    from memlite.store.find import Filter, Found

# Weights of the index's columns (title, body, facts, files, details) in bm25: what was said outweighs what tools
# printed.
WEIGHTS = (3.0, 2.0, 1.0, 0.5, 0.5)
CANDIDATES = 100    # a constant, so that pages fit together
# bm25 costs 1.3 µs a matching row, a count 25 ns. Rarer words are taken first until this many rows would be scored;
# a word in half of all records tells nothing once a rarer one is there.
_LEADING = 12       # terms of a pasted page that are looked for: the rarest
_SCORED_ROWS = 3_000
_SYNONYM_ROWS = 1_500
_ENOUGH = 1_000     # records with the very words; a synonym then only lifts these
_WINDOW_ONLY = 0.3  # of the best score, for what lies in the time the question speaks of without its words
_DAYS = 3 * 86_400_000  # a time no longer than that is meant exactly

Reference = tuple[str, int]


class Candidates:
    """The records that answer a question under a filter: the likeliest with a first score (`scores`, by kind and id),
    how many there are in all (`total`), which lie in the time it speaks of (`within`) and whether it names the days
    (`exact`), and what each of the question's terms is worth (`rarity`; of a long question the `leading` ones find)."""

    def __init__(self, database: Database, question: Question, where: Filter) -> None:
        self.database, self.question, self.where = database, question, where
        everything = find.size(database, where)
        frequencies = {term: find.frequency(database, term, where) for term in question.terms}
        for whole, within in question.parts.items():
            if not frequencies.get(whole):  # nobody wrote that name: its parts stand for it
                frequencies.update((term, find.frequency(database, term, where)) for term in within)
        self.rarity = find.rarities(frequencies, everything)
        leading = sorted(frequencies, key=lambda term: (not frequencies[term], frequencies[term]))[:_LEADING]
        self.leading = {term: self.rarity[term] for term in leading}
        self._every = question.expression(list(frequencies))
        self._chosen = _affordable({term: frequencies[term] for term in leading}, _SCORED_ROWS)
        # When even the rarest word is common, only its newest records are scored.
        self._newest = _SCORED_ROWS if sum(frequencies[term] for term in self._chosen) > _SCORED_ROWS else None
        self._inside = where.between(*question.window) if question.window else None
        self.exact = bool(question.window and question.window[1] - question.window[0] <= _DAYS)
        self.total = find.count(database, self._every, where)
        self.scores = {_reference(row): row.score for row in self._matching(CANDIDATES)}
        own = set(self.scores)
        sought = dict.fromkeys([*self._chosen, *(term for term in leading if not frequencies[term])])
        for term in sought:
            self._add_kin(term, everything, _SYNONYM_ROWS // len(sought))
        alone = self._without_words(own)
        self.within: set[Reference] = set() if self._inside is None else self._add_window(self._inside)
        self.total += len(alone - self.within)

    def rest(self, listed: set[Reference], most: int) -> list[Found]:
        """The less likely ones, without those `listed` already, at least until there are `most` with them."""
        rows = self._matching(most)
        if self._newest is not None or len(self._chosen) < len(self.rarity):
            rows += find.matching_by_time(self.database, self._every, self.where, most, 0, ascending=False)[0]
        if self._inside is not None and self._open:
            rows += find.newest(self.database, self._inside, most, 0, ascending=False)[0]
        found: list[Found] = []
        for row in rows:
            if _reference(row) not in listed:
                listed.add(_reference(row))
                found.append(row)
        return found

    def _matching(self, limit: int) -> list[Found]:
        return find.matching(self.database, self.question.expression(self._chosen), WEIGHTS, self.where, limit,
                             newest=self._newest)[0]

    def _add_kin(self, term: str, everything: int, budget: int) -> None:
        """Records with a synonym of `term`, or with parts of it, for half of what the term itself is worth: a rare
        synonym of a common word must not outweigh the word."""
        frequencies = {other: find.frequency(self.database, other, self.where)
                       for other in self.question.parts.get(term) or synonyms.of(term)
                       if other not in self.question.terms}
        chosen = [other for other in _affordable(frequencies, budget) if 0 < frequencies[other] <= budget]
        if not chosen:
            return
        rarest = max(find.rarities({other: frequencies[other] for other in chosen}, everything).values())
        worth = SYNONYM * min(1.0, self.rarity[term] / rarest)
        for row in find.matching(self.database, self.question.expression(chosen), WEIGHTS, self.where, CANDIDATES)[0]:
            self.scores[_reference(row)] = self.scores.get(_reference(row), 0.0) + worth * row.score

    def _without_words(self, own: set[Reference]) -> set[Reference]:
        """The candidates that only have synonyms; where there are enough others they are none."""
        alone = set(self.scores) - own
        if self.total > _ENOUGH:
            for reference in alone:
                del self.scores[reference]
            return set()
        if alone and self.total > len(own):
            alone -= set(map(_reference, find.matching_by_time(self.database, self._every, self.where, _ENOUGH, 0,
                                                               ascending=False)[0]))
        return alone

    @property
    def _open(self) -> bool:
        """Whether a record without any of the question's words may answer it."""
        return not self.question.required and not self.question.excluded

    def _add_window(self, inside: Filter) -> set[Reference]:
        """What lies in the time the question speaks of is a candidate even without its words. Returns which of the
        candidates lie there."""
        keys = {index.key(*reference): reference for reference in self.scores}
        within = {keys[key] for key in find.admitted(self.database, list(keys), inside)}
        if self._open:
            newest, total = find.newest(self.database, inside, CANDIDATES, 0, ascending=False)
            best = max(self.scores.values(), default=1.0)
            for row in newest:
                self.scores.setdefault(_reference(row), best if self.exact else _WINDOW_ONLY * best)
            self.total += total - find.count(self.database, self._every, inside)
            within.update(map(_reference, newest))
        return within


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


def _reference(row: Found) -> Reference:
    return row.kind, row.id
