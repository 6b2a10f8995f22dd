"""Opening the one database file, safely and quickly.

Durability: WAL with synchronous=NORMAL. A committed write survives the death of the process at any instant; after
a power cut the last transactions may be missing, the file stays sound (https://sqlite.org/pragma.html#pragma_synchronous).
"""

from __future__ import annotations

import _sqlite3 as sqlite
import os
from time import sleep

from memlite import paths
from memlite.clock import now_ms
from memlite.errors import HomeUnusable, StoreBusy, StoreNewer, StoreUnusable
from memlite.store import index, reindex, schema
from memlite.store.connection import Database, explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.store.connection import Connection

__all__ = ["BUSY_MS", "Database", "backup", "connect", "copy_in_memory", "explain", "open_database", "open_for_reading"]

BUSY_MS = 5000  # how long a writer waits for another: longer than any transaction of ours


def open_database(home: str, *, busy_ms: int = BUSY_MS) -> Database:
    """Open the store under `home` for reading and writing, creating or migrating it as needed.

    Raises HomeUnusable, StoreBusy, StoreDamaged, StoreNewer or StoreUnusable.
    """
    paths.ensure_home(home)
    path = os.path.join(home, paths.DATABASE)
    try:
        paths.create_private(path)  # SQLite gives -wal and -shm the mode of the database file
    except OSError as failure:
        raise HomeUnusable(f"{path} can't be written: {failure.strerror}",
                           "free some space or make the data directory writable") from None
    database = Database(connect(path, busy_ms, "rwc"), path, writable=True)
    try:
        _prepare(database, busy_ms)
    except BaseException:
        database.close()
        raise
    return database


def open_for_reading(home: str, *, busy_ms: int = BUSY_MS) -> Database | None:
    """Open the store under `home` for searching only; None when there is none yet. Raises as `open_database`.

    A file on a read-only disk is opened as immutable when SQLite can't make its -shm there. An index that is being
    made anew is brought on by a portion, so that it gets done even where no hook ever starts the background process.
    """
    path = os.path.join(home, paths.DATABASE)
    try:
        if os.stat(path).st_size == 0:
            return None
        paths.refuse_foreign(home)
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise paths.unreadable(home, failure) from None
    if os.access(path, os.W_OK) and os.access(home, os.W_OK):
        writable = open_database(home, busy_ms=busy_ms)
        if reindex.waiting(writable):
            with writable.transaction():
                reindex.advance(writable)
        return writable
    for mode in ("ro", "ro&immutable=1"):
        database = Database(connect(path, busy_ms, mode), path, writable=False)
        try:
            _check_version(database)
            if not index.is_current(database):
                raise StoreUnusable(f"the index of {path} was made by another memlite and can't be made anew there",
                                    "make the file and its folder writable")
            return database
        except StoreUnusable:
            database.close()
            if mode != "ro":
                raise
    return None


def connect(path: str, busy_ms: int, mode: str) -> Connection:
    """A bare connection to the file; `mode` is ro, rw, rwc or ro&immutable=1 (https://sqlite.org/uri.html). Raises
    as `open_database`."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    if os.name == "nt":
        quoted = "/" + quoted.replace("\\", "/")
    try:
        connection = sqlite.connect(f"file:{quoted}?mode={mode}", timeout=busy_ms / 1000, isolation_level=None,
                                    uri=True, check_same_thread=False)
    except sqlite.Error as failure:
        raise explain(failure, path) from failure
    connection.row_factory = sqlite.Row
    return connection


def _check_version(database: Database) -> int:
    version = int((database.row("PRAGMA user_version") or [0])[0])
    if version > schema.VERSION:
        raise StoreNewer(f"{database.path} was written by a newer memlite (schema {version}, this one knows "
                         f"{schema.VERSION})", "update the memlite plugin; nothing was changed")
    return version


def _prepare(database: Database, busy_ms: int) -> None:
    """Bring the file to today's schema and index; an up-to-date file costs three PRAGMAs and one read."""
    version = _check_version(database)
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("PRAGMA secure_delete = ON")  # forgotten text must leave the file's bytes (measured: 3 copies)
    if version == schema.VERSION and index.is_current(database):
        return
    if index.is_newer(database):
        raise StoreNewer(f"{database.path} is in use by a newer memlite", "start the session anew: it then uses the "
                         "updated plugin, which reads from the transcript what this one leaves")
    if _log_mode(database, busy_ms) != "wal":
        raise StoreUnusable(f"{database.path}: this disk can't hold a write-ahead log",
                            "set MEMLITE_HOME to a folder on a local disk")
    if 0 < version < schema.VERSION:
        backup(database, f"{database.path}.schema{version}-{now_ms()}.bak")
    with database.transaction():
        version = _check_version(database)  # another process may have been first
        try:
            schema.migrate(database.connection, version)
        except sqlite.Error as failure:
            raise explain(failure, database.path) from failure
        if not index.is_current(database):
            reindex.begin(database)
            reindex.advance(database)  # a small store is done with this; the rest of a large one is the importer's


def _log_mode(database: Database, busy_ms: int) -> str:
    """The journal mode, which is `wal` unless the disk can't hold one. For this one statement SQLite does not wait
    itself when another process is making the same change."""
    deadline = now_ms() + busy_ms
    while True:
        try:
            return str((database.row("PRAGMA journal_mode = WAL") or [""])[0])
        except StoreBusy:
            if now_ms() > deadline:
                raise
            sleep(0.01)


def backup(database: Database, target: str) -> None:
    """Write a consistent copy of the store to the new file `target` (SQLite's online backup, fit under write load).

    Raises StoreUnusable.
    """
    try:
        paths.create_private(target)
        copy = sqlite.connect(target, isolation_level=None)
        try:
            database.connection.backup(copy)
        finally:
            copy.close()
    except (OSError, sqlite.Error) as failure:
        raise StoreUnusable(f"no backup could be written to {target}: {failure}", "free some space") from None


def copy_in_memory(home: str) -> Database:
    """A writable copy of the store under `home` that lives in memory and is gone when closed; empty when there is
    no store. Raises as `open_database`."""
    copy = Database(sqlite.connect(":memory:", isolation_level=None), ":memory:", writable=True)
    copy.connection.row_factory = sqlite.Row
    stored = open_for_reading(home)
    if stored is not None:
        with stored:
            stored.connection.backup(copy.connection)
    with copy.transaction():
        schema.migrate(copy.connection, _check_version(copy))
        if not index.is_current(copy):
            reindex.begin(copy)
    reindex.finish(copy)
    return copy
