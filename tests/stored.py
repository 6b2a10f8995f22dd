"""What a store holds, in a form that can be compared, and whether it is sound."""

from __future__ import annotations

from typing import Any

from memlite.store import index
from memlite.store.database import Database

# Every column that is the same however often and in whatever portions a transcript was read. Row numbers depend on
# the order in which sessions were read, `read_at_epoch` and `size` on the moment.
_COMPARED = {
    "projects": "root, name",
    "sessions": "session_id, cwd, branch, started_at_epoch, ended_at_epoch, transcript",
    "prompts": "s.session_id, p.root, m.text, m.prompt_id",
    "observations": "s.session_id, p.root, m.type, m.title, m.subtitle, m.narrative, m.facts, m.concepts, "
                    "m.files_read, m.files_modified, m.details, m.agent",
    "summaries": "s.session_id, p.root, m.request, m.investigated, m.learned, m.completed, m.next_steps, m.notes, "
                 "m.files_read, m.files_edited",
}
_PROVENANCE = ("m.prompt_number, m.created_at_epoch, m.origin, m.transcript, m.uuids, m.branch, m.fingerprint")


def contents(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """All that is stored, by table, sorted: two stores hold the same memories when these are equal."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for table, columns in _COMPARED.items():
        if table in ("projects", "sessions"):
            sql = f"SELECT {columns} FROM {table}"
        else:
            sql = (f"SELECT {columns}, {_PROVENANCE} FROM {table} m JOIN sessions s ON s.id = m.session "
                   "JOIN projects p ON p.id = m.project")
        found[table] = sorted((tuple(row) for row in database.rows(sql)), key=repr)
    found["catalogue"] = sorted(tuple(row) for row in database.rows(
        "SELECT c.key & 3, p.root, s.session_id, c.type, c.created_at_epoch FROM catalogue c "
        "JOIN projects p ON p.id = c.project JOIN sessions s ON s.id = c.session"))
    return found


def sound(database: Database) -> bool:
    """Whether the file and both indexes are what they should be."""
    index.check(database)
    stored = sum(len(database.rows(f"SELECT id FROM {table}")) for table in ("prompts", "observations", "summaries"))
    return bool(database.rows("SELECT count(*) FROM catalogue")[0][0] == stored)
