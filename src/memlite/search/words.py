"""Plain words → the terms they are searched by.

Terms are joined by OR: asking for all of them at once finds next to nothing (AND of all terms: recall at ten 15.5 %
where OR has 92.3 %, LoCoMo sessions), and bm25 puts the records with the most and rarest words first.
"""

from __future__ import annotations

from memlite.store.find import quoted
from memlite.store.terms import identifier_parts, is_unspaced, pairs, split_scripts, symbol_words, words

# Words of English that say how a question is put, not what it is about.
STOP_WORDS = frozenset(
    "a about after again all also am an and any are as at be because been before being between both but by can could "
    "d did do does doing don down during each few for from further get got had has have having he her here hers him "
    "his how i if in into is it its itself just let ll m me might more most must my no nor not now of off on once only "
    "or other our out over own re s same shall she should so some such t than that the their them then there these "
    "they this those through to too under until up us use ve very was we were what when where which while who whom "
    "whose why will with would you your".split())

MAX_TERMS = 32  # a pasted log has thousands; its first words name it
_LONGEST_NAME = 16  # words of a path or name; what has more is no name
_JOINTS = frozenset("_./\\:-")  # within one word of the query they make a phrase: load_sessions, src/auth.py, foo::bar


def terms(query: str) -> list[str]:
    """The search terms of `query`, lower case, in order and without repetition; one with spaces is a phrase.

    Stop words go, unless nothing else is left. A compound name (identifier, path, snake_case) is one phrase; what it
    is made of stands in `parts`. Unspaced scripts come in pairs.
    """
    found = [term for piece in query.split() for term in _compound(piece)[0]]
    kept = [term for term in dict.fromkeys(found) if term not in STOP_WORDS]
    return (kept or list(dict.fromkeys(found)))[:MAX_TERMS]


def parts(query: str) -> dict[str, list[str]]:
    """For each compound name among the terms of `query`, the terms of its parts."""
    found: dict[str, list[str]] = {}
    for piece in query.split():
        whole, within = _compound(piece)
        if within:
            found[whole[0]] = [term for term in within if term not in STOP_WORDS]
    return found


def _compound(piece: str) -> tuple[list[str], list[str]]:
    """(terms of a piece between spaces, terms of its parts if it is one compound name)."""
    cut = words(piece)
    inner = piece.strip("_./\\:-,;?!()[]{}'\"`")
    symbols = symbol_words(piece)
    if 1 < len(cut) <= _LONGEST_NAME and any(joint in inner for joint in _JOINTS) and not any(map(is_unspaced, piece)):
        return [" ".join(cut).lower(), *symbols], [term for word in cut for term in _terms_of(word)]
    return [*(term for word in cut for term in _terms_of(word)), *symbols], []


def _terms_of(word: str) -> list[str]:
    found = []
    for unspaced, run in split_scripts(word):
        if unspaced:
            found.extend(pairs(run))
            continue
        found.append(run.lower())
        parts = identifier_parts(run)
        if parts:
            found.append(" ".join(parts).lower())
    return found


def phrase(text: str) -> str:
    """`text` as one phrase the way the index holds it: its first words in order, unspaced runs in pairs."""
    return " ".join(part for word in words(text)[:MAX_TERMS] for unspaced, run in split_scripts(word)
                    for part in (pairs(run) if unspaced else [run.lower()]))


def expression(query_terms: list[str]) -> str:
    """The FTS5 expression that matches any of the terms."""
    return " OR ".join(quoted(term) for term in query_terms)


def stem(term: str) -> str:
    """A rough stem for finding `term` in a text to show: the index itself has the exact one."""
    term = term.removesuffix("*")
    for ending in ("ing", "ed", "es", "s", "e"):
        if term.endswith(ending) and len(term) - len(ending) >= 3:
            return term[:-len(ending)]
    return term
