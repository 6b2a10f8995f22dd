"""A question in plain words → an FTS5 expression that ranks well.

OR of the words that carry meaning: asking for all of them at once finds next to nothing (AND of all terms: recall at
ten 15.5 % where OR has 92.3 %, LoCoMo sessions), and bm25 puts the records with the most and rarest words first.
"""

from __future__ import annotations

from memlite.store.terms import identifier_parts, pairs, split_scripts, words

# Words of English that say how a question is put, not what it is about.
STOP_WORDS = frozenset(
    ["a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been", "before", "being", "between", "both", "but", "by", "can", "could", "d", "did", "do", "does", "doing", "don", "down", "during", "each", "few", "for", "from", "further", "get", "got", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "itself", "just", "let", "ll", "m", "me", "might", "more", "most", "must", "my", "no", "nor", "not", "now", "of", "off", "on", "once", "only", "or", "other", "our", "out", "over", "own", "re", "s", "same", "shall", "she", "should", "so", "some", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under", "until", "up", "us", "use", "ve", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your"])

MAX_TERMS = 64  # a pasted log has thousands; its first words name it


def terms(query: str) -> list[str]:
    """The search terms of `query`, lower case, in order and without repetition.

    Stop words go, unless nothing else is left; identifiers bring their parts along; unspaced scripts come in pairs.
    """
    found: list[str] = []
    for word in words(query):
        for unspaced, run in split_scripts(word):
            if unspaced:
                found.extend(pairs(run))
                continue
            found.append(run.lower())
            found.extend(part.lower() for part in identifier_parts(run))
    kept = [term for term in found if term not in STOP_WORDS] or found
    return list(dict.fromkeys(kept))[:MAX_TERMS]


def expression(query_terms: list[str]) -> str:
    """The FTS5 expression that matches any of the terms (string syntax: https://sqlite.org/fts5.html#fts5_strings)."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in query_terms)


def stem(term: str) -> str:
    """A rough stem for finding `term` in a text to show: the index itself has the exact one."""
    for ending in ("ing", "ed", "es", "s", "e"):
        if term.endswith(ending) and len(term) - len(ending) >= 3:
            return term[:-len(ending)]
    return term


def matching_line(query_terms: list[str], texts: list[str], limit: int = 160) -> str:
    """The line among `texts` with the most different terms, cut around the first; "" when none has any.

    Earlier texts and lines win ties. At most `limit` characters.
    """
    stems = [stem(term) for term in query_terms]
    best, best_hits = "", 0
    for text in texts:
        for line in text.splitlines():
            lowered = line.lower()
            hits = sum(1 for s in stems if s in lowered)
            if hits > best_hits:
                best, best_hits = line, hits
    return _around(best.strip(), stems, limit) if best else ""


def _around(line: str, stems: list[str], limit: int) -> str:
    if len(line) <= limit:
        return line
    lowered = line.lower()
    first = min((at for at in (lowered.find(s) for s in stems) if at >= 0), default=0)
    start = max(0, min(first - limit // 4, len(line) - limit + 2))
    piece = line[start:start + limit - 2].strip()
    return ("…" if start else "") + piece + ("…" if start + limit - 2 < len(line) else "")
