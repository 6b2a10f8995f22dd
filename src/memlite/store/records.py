"""Rows of the tables ↔ records of the model, both ways."""

from __future__ import annotations

from memlite import jsoncodec
from memlite.errors import StoreDamaged
from memlite.model import KIND_PREFIX, OBSERVATION, PROMPT, RECORDS, SUMMARY, Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from memlite.store.connection import Database, Row

TABLES = {OBSERVATION: "observations", SUMMARY: "summaries", PROMPT: "prompts"}
LISTS = frozenset(("facts", "concepts", "files_read", "files_modified", "files_edited", "uuids"))
# The columns that are the record's own, as opposed to the two that are references.
OWN_COLUMNS = {kind: tuple(name for name in record.FIELDS if name not in ("id", "project", "session_id"))
               for kind, record in RECORDS.items()}
_SELECTED = {kind: ("id", "project", "session_id", *own) for kind, own in OWN_COLUMNS.items()}
_LISTS_OF = {kind: tuple(name for name in own if name in LISTS) for kind, own in OWN_COLUMNS.items()}

_OUTLINE = {OBSERVATION: "type, title", SUMMARY: "'summary', substr(coalesce(nullif(request, ''), completed), 1, 160)",
            PROMPT: "'prompt', substr(text, 1, 160)"}


def select(kind: str) -> str:
    """The SELECT … FROM … that yields whole records of `kind`; the table goes by `m`, ready for a WHERE."""
    own = ", ".join(f"m.{name}" for name in OWN_COLUMNS[kind])
    return (f"SELECT m.id, p.name AS project, s.session_id AS session_id, {own} FROM {TABLES[kind]} m "
            "JOIN projects p ON p.id = m.project JOIN sessions s ON s.id = m.session")


def to_record(kind: str, row: Row) -> Memory:
    """The record that a row of `select(kind)` holds. Raises StoreDamaged when a list in it is no JSON."""
    fields = dict(zip(_SELECTED[kind], row, strict=True))
    for name in _LISTS_OF[kind]:
        fields[name] = _list(kind, fields, name)
    return RECORDS[kind](**fields)


def _list(kind: str, fields: dict[str, Any], name: str) -> Any:
    if fields[name] == "[]":
        return []
    try:
        return jsoncodec.loads(fields[name])
    except (TypeError, ValueError):
        raise StoreDamaged(f"the {name} of record {cite(kind, fields['id'])} can't be read",
                           "run `memlite doctor --fix`") from None


def to_columns(record: Memory) -> dict[str, Any]:
    """The record's own column values, lists as JSON arrays."""
    return {name: jsoncodec.dumps(getattr(record, name)) if name in LISTS else getattr(record, name)
            for name in OWN_COLUMNS[record.KIND]}


def fetch(database: Database, references: Iterable[tuple[str, int]]) -> list[Memory]:
    """The records of the (kind, id) pairs, in their order; unknown ones are left out."""
    wanted = list(references)
    found: dict[tuple[str, int], Memory] = {}
    for kind in RECORDS:
        ids = [ident for k, ident in wanted if k == kind]
        for start in range(0, len(ids), 500):
            part = ids[start:start + 500]
            marks = ",".join("?" * len(part))
            for row in database.rows(f"{select(kind)} WHERE m.id IN ({marks})", part):
                found[kind, row["id"]] = to_record(kind, row)
    return [found[reference] for reference in wanted if reference in found]


def outlines(database: Database, references: list[tuple[str, int]]) -> dict[tuple[str, int],
                                                                                   tuple[list[str], int, str, str]]:
    """What each of the (kind, id) pairs is, without reading it whole: (the transcript rows it was made from, its
    project's row number, its type or kind, the beginning of its headline)."""
    found: dict[tuple[str, int], tuple[list[str], int, str, str]] = {}
    for kind, table in TABLES.items():
        ids = [ident for k, ident in references if k == kind]
        for start in range(0, len(ids), 500):
            part = ids[start:start + 500]
            marks = ",".join("?" * len(part))
            for row in database.rows(f"SELECT id, uuids, project, {_OUTLINE[kind]} FROM {table} WHERE id IN ({marks})",
                                     part):
                found[kind, row[0]] = (jsoncodec.loads(row[1]), row[2], row[3], row[4])
    return found


def every(database: Database, kind: str) -> Iterator[Memory]:
    """All records of `kind` by id, read in portions so that a large store does not fill the memory."""
    last = 0
    while True:
        rows = database.rows(f"{select(kind)} WHERE m.id > ? ORDER BY m.id LIMIT 500", (last,))
        for row in rows:
            yield to_record(kind, row)
        if len(rows) < 500:
            return
        last = rows[-1]["id"]


def counts(database: Database) -> dict[str, int]:
    """How many records of each kind, and how many sessions and projects, the store holds."""
    found = {kind: database.rows(f"SELECT count(*) FROM {table}")[0][0] for kind, table in TABLES.items()}
    for table in ("sessions", "projects"):
        found[table] = database.rows(f"SELECT count(*) FROM {table}")[0][0]
    return found


def cite(kind: str, ident: int) -> str:
    """The id as a person or model cites it: `123`, `S5`, `P7`."""
    return f"{KIND_PREFIX[kind]}{ident}"
