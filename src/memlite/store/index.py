"""The search index: derived from the records, maintained with them, disposable.

Three tables. `catalogue` has one narrow row for each memory of any kind, for filters, order and timelines; its key is
4 × id + the kind's number, so that ids of different kinds never collide. `facets` has the values that
a list field can be filtered by. `words` is a contentless FTS5 table under
the same key: it stores only the inverted index of derived text (see `terms`), not the text again, and a row leaves
it by being told the same words once more (https://sqlite.org/fts5.html#the_delete_command).
"""

from __future__ import annotations

from memlite.model import KINDS, OBSERVATION, SUMMARY, Memory
from memlite.store.terms import index_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.store.connection import Database

# Raise it whenever `document`, `terms` or these tables change: an older index is then made anew (see `reindex`).
VERSION = "3"

COLUMNS = ("title", "body", "facts", "files", "details")
CONCEPT, FILE, BRANCH = "concept", "file", "branch"
DROP = ("DROP TABLE IF EXISTS catalogue", "DROP TABLE IF EXISTS facets", "DROP TABLE IF EXISTS words")
CREATE = (
    """CREATE TABLE catalogue (
    key     INTEGER PRIMARY KEY,            -- 4 * id + 0 observation, 1 summary, 2 prompt
    project INTEGER NOT NULL,
    session INTEGER NOT NULL,
    type    TEXT NOT NULL,                  -- of an observation; else the kind
    created_at_epoch INTEGER NOT NULL
)""",
    "CREATE INDEX catalogue_time ON catalogue(created_at_epoch, key)",
    "CREATE INDEX catalogue_project ON catalogue(project, created_at_epoch, key)",
    """CREATE TABLE facets (
    name  TEXT NOT NULL,                    -- concept, file or branch
    value TEXT NOT NULL,                    -- in lower case
    key   INTEGER NOT NULL,
    PRIMARY KEY (name, value, key)
) WITHOUT ROWID""",
    f"CREATE VIRTUAL TABLE words USING fts5(scope, {', '.join(COLUMNS)}, content='', "
    "tokenize='porter unicode61 remove_diacritics 2')",
)


def key(kind: str, ident: int) -> int:
    """The index key of a record."""
    return 4 * ident + KINDS.index(kind)


def reference(index_key: int) -> tuple[str, int]:
    """The (kind, id) behind an index key."""
    return KINDS[index_key & 3], index_key >> 2


def scope(project: int) -> str:
    """The word that stands in the index's first column, `scope`, for the project with that row number."""
    return f"p{project}"


def document(record: Any) -> tuple[str, ...]:
    """The text of `record` under each of COLUMNS, as the index sees it."""
    if record.KIND == OBSERVATION:
        title, body = f"{record.title}\n{record.subtitle}", record.narrative
        facts, details = "\n".join(record.facts), record.details
        files = "\n".join([*record.files_modified, *record.files_read])
    elif record.KIND == SUMMARY:
        title, details = record.request, ""
        body = "\n".join((record.completed, record.learned, record.investigated))
        facts = "\n".join((record.next_steps, record.notes))
        files = "\n".join([*record.files_edited, *record.files_read])
    else:
        title, body, facts, files, details = record.text, "", "", "", ""
    return tuple(index_text(text) for text in (title, body, facts, files, details))


def facets(record: Any) -> set[tuple[str, str]]:
    """The (name, value) pairs `record` can be filtered by."""
    files = [path for name in ("files_read", "files_modified", "files_edited") for path in getattr(record, name, [])]
    pairs = [(CONCEPT, concept) for concept in getattr(record, "concepts", [])]
    pairs += [(FILE, path) for path in files] + [(BRANCH, record.branch)]
    return {(name, value.lower()) for name, value in pairs if value}


def add(database: Database, record: Memory, project: int, session: int) -> None:
    """Enter a stored record; the caller holds the transaction that stores it."""
    entry = key(record.KIND, record.id or 0)
    kind_or_type = getattr(record, "type", record.KIND)
    database.execute("INSERT INTO catalogue VALUES (?, ?, ?, ?, ?)",
                     (entry, project, session, kind_or_type, record.created_at_epoch))
    for name, value in sorted(facets(record)):
        database.execute("INSERT INTO facets VALUES (?, ?, ?)", (name, value, entry))
    database.execute(f"INSERT INTO words(rowid, scope, {', '.join(COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?, ?)",
                     (entry, scope(project), *document(record)))


def remove(database: Database, record: Memory) -> None:
    """Take out a record as it is stored now; the caller then changes or deletes it in the same transaction."""
    entry = key(record.KIND, record.id or 0)
    row = database.row("SELECT project FROM catalogue WHERE key = ?", (entry,))
    if row is None:
        return
    database.execute("DELETE FROM catalogue WHERE key = ?", (entry,))
    for name, value in facets(record):
        database.execute("DELETE FROM facets WHERE name = ? AND value = ? AND key = ?", (name, value, entry))
    database.execute(
        f"INSERT INTO words(words, rowid, scope, {', '.join(COLUMNS)}) VALUES ('delete', ?, ?, ?, ?, ?, ?, ?)",
        (entry, scope(row[0]), *document(record)))


def is_current(database: Database) -> bool:
    """Whether the file holds an index made by this version."""
    return _version(database) == VERSION


def is_newer(database: Database) -> bool:
    """Whether the file holds an index made by a later version, which this one must leave alone: two versions at work
    at once, as after an update, would otherwise keep wiping each other's."""
    found = _version(database)
    return found.isdigit() and int(found) > int(VERSION)


def _version(database: Database) -> str:
    try:
        row = database.row("SELECT value FROM meta WHERE key = 'index'")
    except Exception as failure:
        if "no such table" in str(failure.__cause__):
            return ""
        raise
    return str(row[0]) if row is not None else ""


def check(database: Database) -> None:
    """Let SQLite verify the file and the full-text index. Raises StoreDamaged naming what is wrong."""
    from memlite.errors import StoreDamaged

    for row in database.rows("PRAGMA integrity_check"):
        if row[0] != "ok":
            raise StoreDamaged(f"{database.path}: {row[0]}", "run `memlite doctor --fix`")
    database.execute("INSERT INTO words(words) VALUES ('integrity-check')")


__all__ = ["BRANCH", "COLUMNS", "CONCEPT", "CREATE", "DROP", "FILE", "VERSION", "add", "check", "document", "facets",
           "is_current", "is_newer", "key", "reference", "remove", "scope"]
