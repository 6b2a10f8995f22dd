"""A memory that a person or a model asks to be kept, in their own words."""

from __future__ import annotations

from memlite import privacy
from memlite.errors import MemliteError, UsageError
from memlite.model import SAVED, Observation, Project, Record, Session
from memlite.privacy.tags import WITHHELD
from memlite.store import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from memlite.store.connection import Database

UNASSIGNED = "unassigned"   # the project of what was saved without one
_TITLE_LIMIT = 100


class Forgotten(MemliteError):
    """The same was forgotten on purpose and stays so."""

    code, http_status = "forgotten", 409


class Saved(Record):
    """What became of it: the record, and whether it was stored before."""

    __slots__ = ("record", "duplicate")
    DEFAULTS: ClassVar[dict[str, Any]] = {"duplicate": False}
    record: Observation
    duplicate: bool


def save(database: Database, text: str, *, now: int, project: Project, title: str = "", type: str = "discovery",
         concepts: tuple[str, ...] = (), files: tuple[str, ...] = ()) -> Saved:
    """Store `text` as an observation of `project`. Without a title its first line is one.

    The same text in the same project is stored once. Raises UsageError for a text without content, Forgotten, and as
    Database.
    """
    if not privacy.clean(text).replace(WITHHELD, "").strip():
        raise UsageError("there is nothing in the text that may be stored",
                         "private parts and secrets are left out")
    heading = title.strip() or _first_line(text)
    record = Observation(type=type, title=heading, narrative=text.strip(), concepts=list(concepts),
                         files_modified=list(files), created_at_epoch=now, origin=SAVED)
    owner = Session(session_id=f"saved:{project.root}", project=project, started_at_epoch=now, ended_at_epoch=now)
    with database.transaction():
        if write.store(database, record, owner):
            return Saved(record=record)
        known = write.known(database, record, owner)
        if known is None:
            raise Forgotten("that was forgotten and is not stored again", "word it differently to keep it after all")
        return Saved(record=known, duplicate=True)


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _TITLE_LIMIT else line[:_TITLE_LIMIT - 1].rstrip() + "…"


def project_called(database: Database, name: str) -> Project:
    """The known project with that name or root; one of that name alone when there is none.

    Raises UsageError when several have the name: their memories are not to be mixed.
    """
    name = privacy.clean(name.encode("utf-8", "replace").decode("utf-8").strip())   # SQLite takes no lone surrogates
    if not name:
        return Project(root=UNASSIGNED, name=UNASSIGNED)
    rows = database.rows("SELECT root, name FROM projects WHERE root = ? OR lower(name) = ? ORDER BY root = ? DESC",
                         (name, name.lower(), name))
    if not rows:
        return Project(root=name, name=name.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or name)
    if rows[0]["root"] != name and len(rows) > 1:
        roots = ", ".join(row["root"] for row in rows[:5])
        raise UsageError(f"several projects are called {name}", f"name one by its root: {roots}", "ambiguous_project")
    return Project(root=rows[0]["root"], name=rows[0]["name"])
