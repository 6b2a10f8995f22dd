"""The SELECTs behind a search: filters first, then order, then the page."""

from __future__ import annotations

from memlite.model import KINDS, Record
from memlite.store import index, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from memlite.store.connection import Database

COUNTED = 2_000     # occurrences of a word that are counted one by one
_TABLES = tuple(records.TABLES.values())


class Found(Record):
    """One matching record, by kind and id, with its score (higher is better; 0 without a query)."""

    __slots__ = ("kind", "id", "score")
    kind: str
    id: int
    score: float

    def __init__(self, kind: str, id: int, score: float) -> None:
        self.kind, self.id, self.score = kind, id, score  # a search makes hundreds


class Filter(Record):
    """Which catalogue rows are admitted. The values of one field are alternatives, several fields add up; None or
    empty admits all, except `projects`, whose empty tuple admits none. With `either`, types and concepts are
    alternatives to each other."""

    __slots__ = ("kinds", "types", "concepts", "either", "files", "branches", "projects", "since", "until", "also")
    DEFAULTS: ClassVar[dict[str, Any]] = {"kinds": (), "types": (), "concepts": (), "either": False, "files": (),
                                          "branches": (), "projects": None, "since": None, "until": None,
                                          "also": None}
    kinds: tuple[str, ...]
    types: tuple[str, ...]
    concepts: tuple[str, ...]
    either: bool
    files: tuple[str, ...]
    branches: tuple[str, ...]
    projects: tuple[int, ...] | None    # row numbers
    since: int | None
    until: int | None
    also: Filter | None                 # a second filter that must admit the row too

    def between(self, since: int, until: int) -> Filter:
        """This filter, further narrowed to a stretch of time."""
        fields = self.as_dict()
        fields["since"] = since if self.since is None else max(since, self.since)
        fields["until"] = until if self.until is None else min(until, self.until)
        return Filter(**fields)

    def sql(self) -> tuple[str, list[Any]]:
        """The condition on the catalogue row `c` and its parameters; "1" when everything is admitted."""
        parts: list[tuple[str, list[Any]]] = []
        if self.kinds:
            parts.append((f"(c.key & 3) IN ({_marks(self.kinds)})", [KINDS.index(kind) for kind in self.kinds]))
        which = []
        if self.types:
            which.append((f"lower(c.type) IN ({_marks(self.types)})", [kind.lower() for kind in self.types]))
        if self.concepts:
            which.append(_facet(index.CONCEPT, self.concepts))
        if self.either and len(which) == 2:
            which = [(f"({which[0][0]} OR {which[1][0]})", [*which[0][1], *which[1][1]])]
        parts += which
        if self.files:
            alternatives = " OR ".join(["instr(value, ?)"] * len(self.files))
            parts.append((f"c.key IN (SELECT key FROM facets WHERE name = '{index.FILE}' AND ({alternatives}))",
                          [path.lower() for path in self.files]))
        if self.branches:
            parts.append(_facet(index.BRANCH, tuple(branch.lower() for branch in self.branches)))
        if self.projects is not None:
            parts.append((f"c.project IN ({_marks(self.projects)})", list(self.projects)))
        if self.also is not None:
            parts.append(self.also.sql())
        if self.since is not None:
            parts.append(("c.created_at_epoch >= ?", [self.since]))
        if self.until is not None:
            parts.append(("c.created_at_epoch < ?", [self.until]))
        return " AND ".join(part for part, _ in parts) or "1", [value for _, given in parts for value in given]


def _facet(name: str, values: tuple[str, ...]) -> tuple[str, list[Any]]:
    return (f"c.key IN (SELECT key FROM facets WHERE name = '{name}' AND value IN ({_marks(values)}))", list(values))


def _marks(values: tuple[Any, ...]) -> str:
    return ",".join("?" * len(values))


def project_rows(database: Database, names: tuple[str, ...], roots: tuple[str, ...]) -> tuple[int, ...] | None:
    """The row numbers of the projects with one of these names (any case) or roots; None when neither is given."""
    if not names and not roots:
        return None
    rows = database.rows(
        f"SELECT id FROM projects WHERE lower(name) IN ({_marks(names)}) OR root IN ({_marks((*names, *roots))})",
        (*(name.lower() for name in names), *names, *roots))
    return tuple(row[0] for row in rows)


def newest(database: Database, where: Filter, limit: int, offset: int, *, ascending: bool) -> tuple[list[Found], int]:
    """(one page of the admitted records by time, how many there are in all)."""
    condition, values = where.sql()
    way = "ASC" if ascending else "DESC"
    rows = database.rows(f"SELECT c.key FROM catalogue c WHERE {condition} "
                         f"ORDER BY c.created_at_epoch {way}, c.key {way} LIMIT ? OFFSET ?", (*values, limit, offset))
    total = database.rows(f"SELECT count(*) FROM catalogue c WHERE {condition}", values)[0][0]
    return [_found(row[0], 0.0) for row in rows], total


def matching(database: Database, expression: str, weights: tuple[float, ...], where: Filter, limit: int, *,
             newest: int | None = None) -> tuple[list[Found], int]:
    """(the `limit` admitted records that match the FTS5 `expression` best, how many match).

    By bm25 with column `weights` (https://sqlite.org/fts5.html#the_bm25_function), newer first among equals. With
    `newest`, only about that many of the newest are scored; the count is then of these.
    """
    scoped, join, condition, values = _narrowed(expression, where)
    score = f"bm25(words, 0, {', '.join(str(weight) for weight in weights)})"
    first = 0
    if newest is not None:
        row = database.row(f"SELECT words.rowid FROM words {join} WHERE words MATCH ? AND {condition} "
                           "ORDER BY words.rowid DESC LIMIT 1 OFFSET ?", (scoped, *values, newest))
        first = row[0] if row else 0
    rows = database.rows(
        f"WITH matches AS MATERIALIZED (SELECT words.rowid AS key, {score} AS score "
        f"FROM words {join} WHERE words MATCH ? AND words.rowid >= ? AND {condition}) "
        "SELECT key, score, count(*) OVER () AS total FROM matches ORDER BY score, key DESC LIMIT ?",
        (scoped, first, *values, limit))
    return [_found(row["key"], -row["score"]) for row in rows], rows[0]["total"] if rows else 0


def matching_by_time(database: Database, expression: str, where: Filter, limit: int, offset: int, *,
                     ascending: bool) -> tuple[list[Found], int]:
    """(one page of the admitted records that match the FTS5 `expression`, by time; how many match in all)."""
    scoped, _, condition, values = _narrowed(expression, where)
    way = "ASC" if ascending else "DESC"
    rows = database.rows(
        f"SELECT c.key, count(*) OVER () AS total FROM words {_JOIN} WHERE words MATCH ? AND {condition} "
        f"ORDER BY c.created_at_epoch {way}, c.key {way} LIMIT ? OFFSET ?",
        (scoped, *values, limit, offset))
    total = rows[0]["total"] if rows else count(database, expression, where)
    return [_found(row["key"], 0.0) for row in rows], total


def count(database: Database, expression: str, where: Filter) -> int:
    """How many admitted records match the FTS5 `expression`."""
    scoped, join, condition, values = _narrowed(expression, where)
    return int(database.rows(f"SELECT count(*) FROM words {join} WHERE words MATCH ? AND {condition}",
                             (scoped, *values))[0][0])


def admitted(database: Database, keys: list[int], where: Filter) -> dict[int, int]:
    """{key: session's row number} of those of the index `keys` that are there and admitted."""
    condition, values = where.sql()
    found: dict[int, int] = {}
    for start in range(0, len(keys), 400):
        part = keys[start:start + 400]
        found.update((row[0], row[1]) for row in database.rows(
            f"SELECT c.key, c.session FROM catalogue c WHERE c.key IN ({_marks(tuple(part))}) AND {condition}",
            (*part, *values)))
    return found


def with_words(database: Database, keys: list[int], expression: str) -> list[int]:
    """Those of the index `keys` whose record matches the FTS5 `expression`, in their order."""
    found = {row[0] for start in range(0, len(keys), 400) for row in database.rows(
        f"SELECT rowid FROM words WHERE words MATCH ? AND rowid IN ({_marks(tuple(keys[start:start + 400]))})",
        (expression, *keys[start:start + 400]))}
    return [key for key in keys if key in found]


def frequency(database: Database, term: str, where: Filter) -> int:
    """In how many records of the filter's projects `term` occurs: counted up to COUNTED, beyond it estimated from how
    far back that many reach. (In a large store a common word costs milliseconds to count, and rarity is a logarithm.)
    """
    count, oldest, first, last = database.rows(
        "SELECT count(*), min(rowid), (SELECT min(key) FROM catalogue), (SELECT max(key) FROM catalogue) "
        "FROM (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?)",
        (_in_projects(quoted(term), where), COUNTED))[0]
    return int(count if count < COUNTED else count * (last - first + 1) // (last - oldest + 1))


def size(database: Database, where: Filter) -> int:
    """How many records the filter's projects have; of all projects together, how many there ever were."""
    if where.projects is None:
        return int(database.rows("SELECT coalesce(sum(seq), 0) FROM sqlite_sequence "
                                 f"WHERE name IN ({_marks(_TABLES)})", _TABLES)[0][0])
    condition, values = Filter(projects=where.projects).sql()
    return int(database.rows(f"SELECT count(*) FROM catalogue c WHERE {condition}", values)[0][0])


def rarities(frequencies: dict[str, int], everything: int) -> dict[str, float]:
    """What each term tells, from in how many of `everything` records it occurs: the idf of bm25."""
    from math import log

    return {term: log(1 + (everything - min(n, everything) + 0.5) / (n + 0.5)) for term, n in frequencies.items()}


def quoted(term: str) -> str:
    """`term` as an FTS5 string (https://sqlite.org/fts5.html#fts5_strings); one that ends in `*` matches every word
    that begins so."""
    prefix = term.endswith("*")
    return '"' + term.removesuffix("*").replace('"', '""') + '"' + (" *" if prefix else "")


# CROSS JOIN keeps SQLite from asking the index once for each record of a project: 7 ms instead of 430 over 10,000
# records (https://sqlite.org/optoverview.html#crossjoin).
_JOIN = "CROSS JOIN catalogue c ON c.key = words.rowid"


def _narrowed(expression: str, where: Filter) -> tuple[str, str, str, list[Any]]:
    """(expression, join, condition, parameters): the projects of a filter are asked of the full-text index itself,
    which then never scores another project's rows, and a kind is told by the key alone."""
    expression = _in_projects(expression, where)
    fields = where.as_dict()
    if where.projects:
        fields["projects"] = None
    condition, values = Filter(**fields).sql()
    if where.kinds and Filter(kinds=where.kinds).sql()[0] == condition:
        return expression, "", condition.replace("c.key", "words.rowid"), values
    return expression, "" if condition == "1" else _JOIN, condition, values


def _in_projects(expression: str, where: Filter) -> str:
    if not where.projects:
        return expression
    return f"scope : ({' OR '.join(quoted(index.scope(project)) for project in where.projects)}) AND ({expression})"


def moment_of(database: Database, kind: str, ident: int) -> int | None:
    """When the record was made, in epoch ms; None when there is no such record."""
    row = database.row("SELECT created_at_epoch FROM catalogue WHERE key = ?", (index.key(kind, ident),))
    return int(row[0]) if row else None


def around(database: Database, moment: int, anchor: int, where: Filter, before: int, after: int) -> list[Found]:
    """The records next to a point in the total order (time, key), earliest first: `before` admitted ones that precede
    it and `after` that follow it, without the one whose key is `anchor`."""
    condition, values = where.sql()
    earlier = database.rows(
        f"SELECT c.key FROM catalogue c WHERE (c.created_at_epoch, c.key) < (?, ?) AND {condition} "
        "ORDER BY c.created_at_epoch DESC, c.key DESC LIMIT ?", (moment, anchor, *values, before))
    later = database.rows(
        f"SELECT c.key FROM catalogue c WHERE (c.created_at_epoch, c.key) > (?, ?) AND {condition} "
        "ORDER BY c.created_at_epoch, c.key LIMIT ?", (moment, anchor, *values, after))
    return [_found(row[0], 0.0) for row in [*reversed(earlier), *later]]


def _found(key: int, score: float) -> Found:
    kind, ident = index.reference(key)
    return Found(kind=kind, id=ident, score=score)


__all__ = ["Filter", "Found", "admitted", "around", "count", "frequency", "matching", "matching_by_time", "moment_of",
           "newest", "project_rows", "quoted", "rarities", "size", "with_words"]
