"""A damaged store: found out, moved aside, and what can still be read saved into a new one.

In this order, so that a process killed in between loses nothing: the damaged files are renamed, which leaves their
bytes as they are; a new store is made; everything readable is copied into it in one transaction together with a mark
that says so. Without the mark the next repair copies again. Positions in transcripts are not taken over: transcripts
are then read anew from their start, and whatever was lost with the damaged pages comes back from them.
"""

from __future__ import annotations

import _sqlite3 as sqlite
import os
import shutil

from memlite import jsoncodec, paths
from memlite.errors import StoreUnusable
from memlite.store import index, records, reindex, schema, write
from memlite.store.database import BUSY_MS, Database, connect, open_database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Row = dict[str, Any]

_ASIDE = f"{paths.DATABASE}.damaged-"
_MARK = "salvaged:"             # in `meta`, followed by the name of a file whose readable rows are all in this store
_HEADER = 100                   # bytes of a SQLite file's header (https://sqlite.org/fileformat.html#the_database_header)
_MAGIC = b"SQLite format 3\x00"
_REPORTED = 5
_OPTIONAL = frozenset(("prompt_number", "started_at_epoch", "ended_at_epoch"))


def problems(home: str) -> list[str]:
    """What SQLite finds wrong with the store's file and its full-text index, in its words; [] when they are sound.

    Reads only. Raises StoreBusy, StoreDamaged or StoreUnusable when the file can't be looked at at all.
    """
    path = os.path.join(home, paths.DATABASE)
    with look_at(path) as database:
        found = [str(row[0]) for row in database.rows(f"PRAGMA integrity_check({_REPORTED})") if row[0] != "ok"]
        if found or not index.is_current(database):
            return found
        return _problems_of_words(database)


def look_at(path: str) -> Database:
    """The database file opened for nothing but reading, without making or migrating anything; on a disk where SQLite
    can make no -shm, as one that nobody writes to. Raises as open_database."""
    for mode in ("ro", "ro&immutable=1"):
        database = Database(connect(path, BUSY_MS, mode), path, writable=False)
        try:
            database.rows("SELECT count(*) FROM sqlite_master")
            return database
        except StoreUnusable:
            database.close()
            if mode != "ro" or os.access(os.path.dirname(path), os.W_OK):
                raise
    raise AssertionError("the last mode returns or raises")


def _problems_of_words(database: Database) -> list[str]:
    """FTS5 is asked to check itself by an INSERT, so the question is put to a copy in memory."""
    copy = sqlite.connect(":memory:", isolation_level=None)
    try:
        database.connection.backup(copy)
        copy.execute("INSERT INTO words(words) VALUES ('integrity-check')")
    except sqlite.Error as failure:
        return [f"full-text index: {failure}"]
    finally:
        copy.close()
    return []


def move_aside(home: str, moment: str) -> str:
    """Rename the store's files so that they keep their bytes and are in nobody's way. Returns the new path.

    `moment` becomes part of the name. Raises StoreUnusable.
    """
    path = os.path.join(home, paths.DATABASE)
    target = os.path.join(home, _ASIDE + moment)
    try:
        while os.path.exists(target):
            target += "+"
        # The log goes first: beside a new database it would be taken for that one's.
        for suffix in ("-wal", "-shm", ""):
            if os.path.exists(path + suffix):
                os.rename(path + suffix, target + suffix)
    except OSError as failure:
        raise StoreUnusable(f"{path} could not be moved aside: {failure.strerror}",
                            "make the data directory writable") from None
    return target


def unsaved(home: str) -> list[str]:
    """The paths of damaged files that were moved aside and whose rows are not in the store yet."""
    names = sorted(name for name in _listed(home) if name.startswith(_ASIDE) and not name.endswith(("-wal", "-shm")))
    if not names or not os.path.exists(os.path.join(home, paths.DATABASE)):
        return [os.path.join(home, name) for name in names]
    with open_database(home) as database:
        saved = {row[0] for row in database.rows("SELECT key FROM meta")}
    return [os.path.join(home, name) for name in names if _MARK + name not in saved]


def aside(home: str) -> list[str]:
    """The names of all damaged files that were moved aside, saved or not."""
    return sorted(name for name in _listed(home) if name.startswith(_ASIDE) and not name.endswith(("-wal", "-shm")))


def copies(home: str) -> list[str]:
    """The names of all older copies of the store, damaged ones and those from before an upgrade: they keep what was
    in it then."""
    return sorted(name for name in _listed(home)
                  if name.startswith(_ASIDE) or name.startswith(f"{paths.DATABASE}.") and name.endswith(".bak"))


def _listed(home: str) -> list[str]:
    try:
        return os.listdir(home)
    except OSError:
        return []


def save(home: str, damaged: str) -> dict[str, int]:
    """Copy what can be read of the file `damaged` into the store under `home`. Returns how many rows of each table.

    Rows keep their ids unless taken. Raises as open_database.
    """
    rows = {table: list(_readable(damaged, table)) for table in
            ("projects", "sessions", *records.TABLES.values(), "tombstones")}
    with open_database(home) as database:
        with database.transaction():
            counts = _Copy(database, rows).run()
            reindex.begin(database)
            database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)",
                             (_MARK + os.path.basename(damaged), jsoncodec.dumps(counts)))
        reindex.finish(database)
    return counts


def _readable(path: str, table: str) -> Iterator[Row]:
    """The rows of a table of a damaged file: from its beginning up to the damage, and from its end back to it."""
    seen: set[Any] = set()
    for source in _openings(path):
        for way in ("ASC", "DESC"):
            for row in _rows(source, table, way):
                key = row.get("id", row.get("fingerprint"))
                if key not in seen:
                    seen.add(key)
                    yield row
        source.close()
        if seen:
            return


def _openings(path: str) -> Iterator[Any]:
    """Connections to the file, each a more desperate one: with its log, without it, with a header from a new file."""
    for mode in ("ro", "ro&immutable=1"):
        yield _lenient(path, mode)
    with open(path, "rb") as file:
        if file.read(len(_MAGIC)) == _MAGIC:
            return
    mended = f"{path}.header"
    try:
        _with_new_header(path, mended)
        yield _lenient(mended, "ro&immutable=1")
    except OSError:
        return
    finally:
        if os.path.exists(mended):
            os.unlink(mended)


def _lenient(path: str, mode: str) -> Any:
    """A connection that reads a file with pages missing too (https://sqlite.org/pragma.html#pragma_writable_schema)."""
    connection = connect(path, BUSY_MS, mode)
    try:
        connection.execute("PRAGMA writable_schema = ON")
    except sqlite.Error:
        pass  # it will read nothing either
    return connection


def _with_new_header(path: str, target: str) -> None:
    """A copy of the file whose header, which was overwritten, is that of an empty store."""
    paths.create_private(target)
    template = sqlite.connect(target, isolation_level=None)
    schema.migrate(template, 0)
    template.close()
    with open(target, "rb") as file:
        header = bytearray(file.read(_HEADER))
    page = int.from_bytes(header[16:18], "big")
    header[28:32] = (os.path.getsize(path) // page).to_bytes(4, "big")
    shutil.copyfile(path, target)
    with open(target, "r+b") as file:
        file.write(header)


def _rows(source: Any, table: str, way: str) -> Iterator[Row]:
    """Rows as dictionaries, up to the first that can't be read; rows whose values make no sense are left out."""
    key = "fingerprint" if table == "tombstones" else "id"
    try:
        for row in source.execute(f"SELECT * FROM {table} ORDER BY {key} {way}"):
            found = {name: row[name] for name in row.keys()}  # noqa: SIM118
            if _sensible(table, found):
                yield found
    except sqlite.Error:
        return


def _sensible(table: str, row: Row) -> bool:
    """Whether the row is one that memlite may have stored: numbers are numbers, lists are lists, text is text, and
    the fingerprint is that of its contents. A row whose end was cut off reads as if it ended in zeros."""
    try:
        for name, value in row.items():
            if name in records.LISTS:
                if not all(isinstance(item, str) for item in jsoncodec.loads(value)):
                    return False
            elif name in ("id", "session", "project", "created_at_epoch"):
                if not isinstance(value, int):
                    return False
            elif isinstance(value, bytes) or (value is None and name not in _OPTIONAL) or "\x00" in str(value):
                return False
        kind = next((kind for kind, its_table in records.TABLES.items() if its_table == table), None)
        uuids = jsoncodec.loads(row["uuids"]) if kind else []
        return not uuids or row["fingerprint"] == write.row_fingerprint(str(kind), uuids[0])
    except (KeyError, TypeError, ValueError):
        return False


class _Copy:
    """Rows of another store on their way into this one, whose ids may be taken already."""

    def __init__(self, database: Database, rows: dict[str, list[Row]]) -> None:
        self.database = database
        self.rows = rows
        self.projects: dict[int, int] = {}
        self.sessions: dict[int, int] = {}

    def run(self) -> dict[str, int]:
        """Copy everything inside the caller's transaction. Returns how many rows of each table were new here."""
        counts = {}
        for row in self.rows["projects"]:
            self.projects[row["id"]] = self._find_or_insert("projects", "root", row)
        for row in self.rows["sessions"]:
            row["project"] = self._project(row["project"])
            self.sessions[row["id"]] = self._find_or_insert("sessions", "session_id", row)
        counts["projects"], counts["sessions"] = len(self.projects), len(self.sessions)
        for table in records.TABLES.values():
            counts[table] = 0
            for row in self.rows[table]:
                row["project"], row["session"] = self._project(row["project"]), self._session(row)
                counts[table] += self._insert(table, row) is not None
        counts["tombstones"] = len(self.rows["tombstones"])
        for row in self.rows["tombstones"]:
            self._insert("tombstones", row)
        return counts

    def _project(self, old: int) -> int:
        """The new number of a project; one whose row was lost is called unknown."""
        if old not in self.projects:
            self.projects[old] = self._find_or_insert("projects", "root", {"root": "", "name": "unknown"})
        return self.projects[old]

    def _session(self, row: Row) -> int:
        old = row["session"]
        if old not in self.sessions:
            lost = {"session_id": f"lost-{old}", "project": row["project"]}
            self.sessions[old] = self._find_or_insert("sessions", "session_id", lost)
        return self.sessions[old]

    def _find_or_insert(self, table: str, identity: str, row: Row) -> int:
        known = self.database.row(f"SELECT id FROM {table} WHERE {identity} = ?", (row[identity],))
        if known is not None:
            return int(known[0])
        return int(self._insert(table, row) or 0)

    def _insert(self, table: str, row: Row) -> int | None:
        """Insert under the row's id, or under a new one if that is taken. None when the same is stored already."""
        columns = {info[1] for info in self.database.rows(f"PRAGMA table_info({table})")}
        given = {name: value for name, value in row.items() if name in columns}
        if "id" in given and self.database.row(f"SELECT 1 FROM {table} WHERE id = ?", (given["id"],)):
            del given["id"]
        cursor = self.database.execute(
            f"INSERT OR IGNORE INTO {table}({', '.join(given)}) VALUES ({', '.join('?' * len(given))})",
            tuple(given.values()))
        return int(cursor.lastrowid) if cursor.rowcount == 1 else None


__all__ = ["aside", "look_at", "move_aside", "problems", "save", "unsaved"]
