"""The one write point: nothing is stored but through here.

In this order: private tags, injected blocks and secrets out (before any cut, so that no half secret slips through),
bounds, tombstones, duplicates, insert, index. The caller holds the transaction; a record is committed with
everything that belongs to it or not at all.
"""

from __future__ import annotations

from memlite import privacy
from memlite.model import OBSERVATION, PROMPT, SUMMARY, Memory, Project, Prompt, Session, Summary
from memlite.store import index, records

try:
    from _blake2 import blake2b  # `hashlib` would load OpenSSL
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.store.connection import Database

# The longest text and list a field may hold, in characters and items; what is longer ends in "…".
TEXT_LIMITS = {"title": 200, "subtitle": 400, "narrative": 8_000, "details": 12_000, "text": 20_000,
               "request": 2_000, "investigated": 2_000, "learned": 2_000, "completed": 6_000, "next_steps": 2_000,
               "notes": 2_000, "type": 40, "branch": 200, "agent": 200, "prompt_id": 100, "transcript": 1_000}
LIST_LIMITS = {"facts": (60, 1_000), "concepts": (20, 80), "files_read": (200, 500), "files_modified": (200, 500),
               "files_edited": (200, 500)}
_IDENTIFYING = {OBSERVATION: ("title", "narrative", "details"), SUMMARY: ("request", "completed", "notes"),
                PROMPT: ("text",)}


def fingerprint(*parts: str) -> str:
    """A 32-digit hash that is equal for equal `parts` and tells nothing of them."""
    digest = blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return str(digest.hexdigest())


def clean(record: Memory) -> None:
    """Bring every field of `record` into the form that may be stored: private and secret parts out, within bounds."""
    for name, limit in TEXT_LIMITS.items():
        if hasattr(record, name):
            setattr(record, name, _bounded(privacy.clean(_storable(getattr(record, name))), limit))
    for name, (items, limit) in LIST_LIMITS.items():
        if hasattr(record, name):
            kept = [_bounded(privacy.clean(_storable(item)), limit) for item in getattr(record, name)[:items]]
            setattr(record, name, list(dict.fromkeys(item for item in kept if item)))
    record.uuids = [_bounded(_storable(uuid), 80) for uuid in record.uuids[:500]]


def _storable(text: str) -> str:
    """`text` without what SQLite and terminals trip over: NUL, and surrogates that belong to no pair."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8") if _has_surrogate(text) else text
    return text


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _bounded(text: str, limit: int) -> str:
    text = text.strip()
    return text if len(text) <= limit else text[:limit - 1].rstrip() + "…"


def project(database: Database, found: Project) -> int:
    """The row number of the project with that root, made if new."""
    row = database.row("SELECT id FROM projects WHERE root = ?", (found.root,))
    if row:
        return int(row[0])
    return int(database.execute("INSERT INTO projects(root, name) VALUES (?, ?)",
                                (found.root, found.name)).lastrowid)


def session(database: Database, found: Session) -> tuple[int, int]:
    """The row numbers (session, project) of that session, made if new.

    A session keeps the project it began in. Its start moves back and its end forward as more of it becomes known.
    """
    row = database.row("SELECT id, project, started_at_epoch, ended_at_epoch FROM sessions WHERE session_id = ?",
                       (found.session_id,))
    if row is None:
        owner = project(database, found.project)
        cursor = database.execute(
            "INSERT INTO sessions(session_id, project, cwd, branch, started_at_epoch, ended_at_epoch, transcript) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (found.session_id, owner, privacy.clean(found.cwd), privacy.clean(found.branch), found.started_at_epoch,
             found.ended_at_epoch, found.transcript))
        return int(cursor.lastrowid), owner
    start = min((t for t in (row["started_at_epoch"], found.started_at_epoch) if t is not None), default=None)
    end = max((t for t in (row["ended_at_epoch"], found.ended_at_epoch) if t is not None), default=None)
    if (start, end) != (row["started_at_epoch"], row["ended_at_epoch"]):
        database.execute("UPDATE sessions SET started_at_epoch = ?, ended_at_epoch = ? WHERE id = ?",
                         (start, end, row["id"]))
    return int(row["id"]), int(row["project"])


def store(database: Database, record: Memory, owner: Session) -> int | None:
    """Store one record of any kind and return its id.

    None when nothing was added: the record is empty, known already (a turn's summary and a prompt are then completed
    in place) or was forgotten. `record` is cleaned in place; its id, session and project are set.
    """
    clean(record)
    if not any(getattr(record, name) for name in _IDENTIFYING[record.KIND]):
        return None
    mark = _fingerprint_of(record, owner)
    if database.row("SELECT 1 FROM tombstones WHERE fingerprint = ?", (mark,)):
        return None
    known = _known(database, record, owner, mark)
    if known is not None:
        if record.KIND != OBSERVATION:
            _complete(database, record, owner, known, mark)
        return None
    session_row, project_row = session(database, owner)
    columns: dict[str, Any] = {"session": session_row, "project": project_row, "fingerprint": mark,
                               **records.to_columns(record)}
    marks = ", ".join("?" * len(columns))
    cursor = database.execute(
        f"INSERT INTO {records.TABLES[record.KIND]}({', '.join(columns)}) VALUES ({marks})", tuple(columns.values()))
    record.id = int(cursor.lastrowid)
    record.session_id, record.project = owner.session_id, owner.project.name
    index.add(database, record, project_row, session_row)
    return record.id


def session_ended(database: Database, session_id: str, reason: str, moment: int) -> bool:
    """Note that the session came to its end. False when nothing of it is stored: it then never began either."""
    row = database.row("SELECT id FROM sessions WHERE session_id = ?", (session_id,))
    if row is None:
        return False
    database.execute("INSERT INTO session_ends(session, ended_at_epoch, reason) VALUES (?, ?, ?)",
                     (row[0], moment, _bounded(privacy.clean(_storable(reason)), 80)))
    return True


def known(database: Database, record: Any, owner: Session) -> Any | None:
    """The stored record that `record`, as `store` left it, repeats; None when there is none."""
    ident = _known(database, record, owner, _fingerprint_of(record, owner))
    return records.fetch(database, [(record.KIND, ident)])[0] if ident is not None else None


def _known(database: Database, record: Memory, owner: Session, mark: str) -> int | None:
    """The id under which the same work is stored already."""
    row = database.row(f"SELECT id FROM {records.TABLES[record.KIND]} WHERE fingerprint = ?", (mark,))
    if row is None and isinstance(record, Prompt):
        # A hook stores the prompt before the transcript has a row for it; a queued prompt has a row without uuid.
        row = database.row(
            "SELECT m.id FROM prompts m JOIN sessions s ON s.id = m.session WHERE s.session_id = ? AND m.text = ? "
            "AND (m.prompt_id = ? OR m.prompt_id = '' OR ? = '') AND (m.uuids = '[]' OR ? = 1) ORDER BY m.id LIMIT 1",
            (owner.session_id, record.text, record.prompt_id, record.prompt_id, int(not record.uuids)))
    elif row is None and isinstance(record, Summary) and record.uuids:
        # A hook that found no transcript yet has kept the closing words alone.
        row = database.row(
            "SELECT m.id FROM summaries m JOIN sessions s ON s.id = m.session WHERE s.session_id = ? "
            "AND m.completed = ? AND m.uuids = '[]' ORDER BY m.id LIMIT 1", (owner.session_id, record.completed))
    return int(row[0]) if row else None


def _complete(database: Database, record: Memory, owner: Session, known: int, mark: str) -> None:
    """Let a stored prompt gain its transcript row, or a turn's summary its later words.

    The moment is taken over too: what is stored depends on the transcript alone, not on when a hook read it.
    """
    stored = records.fetch(database, [(record.KIND, known)])[0]
    if not record.uuids or (stored.uuids and isinstance(record, Prompt)):
        return
    if stored.session_id != owner.session_id:  # the same turn, repeated by a session that was forked from this one
        return
    record.created_at_epoch = record.created_at_epoch or stored.created_at_epoch
    kept = {"id", "origin", "project", "session_id"}
    if all(getattr(stored, name) == getattr(record, name) for name in record.FIELDS if name not in kept):
        return
    place = database.rows(f"SELECT project, session FROM {records.TABLES[record.KIND]} WHERE id = ?", (known,))[0]
    index.remove(database, stored)
    record.id, record.origin = known, stored.origin
    columns = {**records.to_columns(record), "fingerprint": mark}
    database.execute(f"UPDATE {records.TABLES[record.KIND]} SET {', '.join(f'{name} = ?' for name in columns)} "
                     "WHERE id = ?", (*columns.values(), known))
    index.add(database, record, place[0], place[1])


def row_fingerprint(kind: str, uuid: str) -> str:
    """The fingerprint of what was made from transcript rows of which `uuid` is the first."""
    return fingerprint(kind, "row", uuid)


def _fingerprint_of(record: Memory, owner: Session) -> str:
    """Work read from a transcript is known by the row it begins with, wherever a resumed or copied session repeats
    that row; anything else by its text within its session."""
    if record.uuids:
        return row_fingerprint(record.KIND, record.uuids[0])
    return fingerprint(record.KIND, "text", owner.session_id, str(record.prompt_number),
                       getattr(record, "prompt_id", ""),
                       *(str(getattr(record, name)) for name in _IDENTIFYING[record.KIND]))
