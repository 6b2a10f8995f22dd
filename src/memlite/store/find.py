"""The SELECTs behind a search: filters first, then order, then the page."""

from __future__ import annotations

from memlite.model import KINDS, Record
from memlite.store import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from memlite.store.database import Database


class Found(Record):
    """One matching record, by kind and id, with its score (higher is better; 0 without a query)."""

    __slots__ = ("kind", "id", "score")
    kind: str
    id: int
    score: float


class Filter(Record):
    """Which catalogue rows are admitted. The values of one field are alternatives, several fields add up; None or
    empty admits all, except `projects`, whose empty tuple admits none. With `either`, types and concepts are
    alternatives to each other."""

    __slots__ = ("kinds", "types", "concepts", "either", "files", "branches", "projects", "since", "until")
    DEFAULTS: ClassVar[dict[str, Any]] = {"kinds": (), "types": (), "concepts": (), "either": False, "files": (),
                                          "branches": (), "projects": None, "since": None, "until": None}
    kinds: tuple[str, ...]
    types: tuple[str, ...]
    concepts: tuple[str, ...]
    either: bool
    files: tuple[str, ...]
    branches: tuple[str, ...]
    projects: tuple[int, ...] | None    # row numbers
    since: int | None
    until: int | None

    def sql(self) -> tuple[str, list[Any]]:
        """The condition on the catalogue row `c` and its parameters; "1" when everything is admitted."""
        parts: list[tuple[str, list[Any]]] = []
        if self.kinds:
            parts.append((f"(c.key & 3) IN ({_marks(self.kinds)})", [KINDS.index(kind) for kind in self.kinds]))
        which = []
        if self.types:
            which.append((f"c.type IN ({_marks(self.types)})", list(self.types)))
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
             ascending: bool | None) -> tuple[list[Found], int]:
    """(the first `limit` admitted records that match the FTS5 `expression`, how many match in all).

    By bm25 with column `weights` (https://sqlite.org/fts5.html#the_bm25_function), newer first among equals; or by
    time when `ascending` is True or False.
    """
    condition, values = where.sql()
    # CROSS JOIN keeps SQLite from asking the index once for each record of a project: 7 ms instead of 430 over
    # 10,000 records (https://sqlite.org/optoverview.html#crossjoin).
    join = "" if condition == "1" else "CROSS JOIN catalogue c ON c.key = words.rowid"
    score = f"bm25(words, {', '.join(str(weight) for weight in weights)})"
    order = "score, key DESC"
    if ascending is not None:
        join = "CROSS JOIN catalogue c ON c.key = words.rowid"
        way = "ASC" if ascending else "DESC"
        order = f"moment {way}, key {way}"
    moment = "c.created_at_epoch" if join else "0"
    rows = database.rows(
        f"WITH matches AS MATERIALIZED (SELECT words.rowid AS key, {score} AS score, {moment} AS moment "
        f"FROM words {join} WHERE words MATCH ? AND {condition}) "
        f"SELECT key, score, count(*) OVER () AS total FROM matches ORDER BY {order} LIMIT ?",
        (expression, *values, limit))
    return [_found(row["key"], -row["score"]) for row in rows], rows[0]["total"] if rows else 0


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


__all__ = ["Filter", "Found", "around", "matching", "moment_of", "newest", "project_rows"]
