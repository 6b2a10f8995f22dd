"""The tables, and the numbered steps that lead an older file to them.

`PRAGMA user_version` holds the number of the last step taken. A step is never edited once released; a change is
a new step. The index tables are not part of the steps: they are derived and rebuilt (see `index`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.store.connection import Connection

_PROVENANCE = """
    session       INTEGER NOT NULL REFERENCES sessions(id),
    project       INTEGER NOT NULL REFERENCES projects(id),
    prompt_number INTEGER,
    created_at_epoch INTEGER NOT NULL,      -- milliseconds, UTC
    origin        TEXT NOT NULL,            -- captured, imported or saved
    transcript    TEXT NOT NULL DEFAULT '', -- where it was read from
    uuids         TEXT NOT NULL DEFAULT '[]',-- the rows of that transcript, JSON array
    branch        TEXT NOT NULL DEFAULT '',
    fingerprint   TEXT NOT NULL UNIQUE      -- same work, same fingerprint: stored once
"""

_STEP_1 = (
    """CREATE TABLE projects (
    id   INTEGER PRIMARY KEY,
    root TEXT NOT NULL UNIQUE,              -- the repository's common folder: the identity
    name TEXT NOT NULL
)""",
    """CREATE TABLE sessions (
    id         INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,        -- the client's id
    project    INTEGER NOT NULL REFERENCES projects(id),
    cwd        TEXT NOT NULL DEFAULT '',
    branch     TEXT NOT NULL DEFAULT '',
    started_at_epoch INTEGER,
    ended_at_epoch   INTEGER,
    transcript TEXT NOT NULL DEFAULT ''
)""",
    f"""CREATE TABLE prompts (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    text      TEXT NOT NULL,
    prompt_id TEXT NOT NULL DEFAULT '',     -- the client's id for it, known to hook and transcript alike
{_PROVENANCE})""",
    "CREATE INDEX prompts_session ON prompts(session, prompt_number)",
    f"""CREATE TABLE observations (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    type      TEXT NOT NULL,
    title     TEXT NOT NULL,
    subtitle  TEXT NOT NULL DEFAULT '',
    narrative TEXT NOT NULL DEFAULT '',
    facts     TEXT NOT NULL DEFAULT '[]',
    concepts  TEXT NOT NULL DEFAULT '[]',
    files_read     TEXT NOT NULL DEFAULT '[]',
    files_modified TEXT NOT NULL DEFAULT '[]',
    details   TEXT NOT NULL DEFAULT '',
    agent     TEXT NOT NULL DEFAULT '',     -- the subagent that did it
{_PROVENANCE})""",
    "CREATE INDEX observations_session ON observations(session, prompt_number)",
    f"""CREATE TABLE summaries (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    request    TEXT NOT NULL DEFAULT '',
    investigated TEXT NOT NULL DEFAULT '',
    learned    TEXT NOT NULL DEFAULT '',
    completed  TEXT NOT NULL DEFAULT '',
    next_steps TEXT NOT NULL DEFAULT '',
    notes      TEXT NOT NULL DEFAULT '',
    files_read   TEXT NOT NULL DEFAULT '[]',
    files_edited TEXT NOT NULL DEFAULT '[]',
{_PROVENANCE})""",
    "CREATE INDEX summaries_session ON summaries(session, prompt_number)",
    # A session's end is a moment of its own: `sessions.ended_at_epoch` only says how far it is known.
    """CREATE TABLE session_ends (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions(id),
    ended_at_epoch INTEGER NOT NULL,
    reason  TEXT NOT NULL DEFAULT ''        -- the client's word for it: clear, logout, prompt_input_exit, other
)""",
    """CREATE TABLE transcripts (
    path    TEXT PRIMARY KEY,
    head    TEXT NOT NULL,                  -- fingerprint of the first bytes: another file under the same name
    offset  INTEGER NOT NULL,               -- all rows before it are stored
    size    INTEGER NOT NULL,               -- of the file when it was last read
    state   TEXT NOT NULL DEFAULT '{}',     -- what the reader must remember at that offset, JSON
    read_at_epoch INTEGER NOT NULL
) WITHOUT ROWID""",
    """CREATE TABLE tombstones (
    fingerprint TEXT PRIMARY KEY,           -- of a forgotten record: the hash, never the text
    forgotten_at_epoch INTEGER NOT NULL
) WITHOUT ROWID""",
    """CREATE TABLE shown (
    session_id TEXT NOT NULL,               -- the client's id
    kind TEXT NOT NULL,
    id   INTEGER NOT NULL,                  -- of a record this session was given unasked
    PRIMARY KEY (session_id, kind, id)
) WITHOUT ROWID""",
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
)

# A row for each record that was ever stored, renumbered whenever the record changes or goes: what keeps an index of its
# own up to date reads on from the last number it has seen (see `journal`). Triggers, so that no writer can forget it.
_STEP_2 = (
    "CREATE TABLE journal (seq INTEGER PRIMARY KEY AUTOINCREMENT, key INTEGER NOT NULL UNIQUE)",
    "INSERT INTO journal(key) SELECT 4 * id AS key FROM observations UNION SELECT 4 * id + 1 FROM summaries "
    "UNION SELECT 4 * id + 2 FROM prompts ORDER BY key",
    *(f"CREATE TRIGGER {table}_{event.lower()} AFTER {event} ON {table} BEGIN "
      f"DELETE FROM journal WHERE key = 4 * {row}.id + {number}; "
      f"INSERT INTO journal(key) VALUES (4 * {row}.id + {number}); END"
      for number, table in enumerate(("observations", "summaries", "prompts"))
      for event, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD"))),
    "INSERT INTO meta VALUES ('journal', lower(hex(randomblob(8))))",   # tells this file's numbers from another's
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_STEP_1, _STEP_2)
VERSION = len(MIGRATIONS)


def migrate(connection: Connection, found: int) -> None:
    """Take the steps after number `found`; the caller holds the write transaction, so it is all or nothing."""
    for number, step in enumerate(MIGRATIONS[found:], start=found + 1):
        for statement in step:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")
