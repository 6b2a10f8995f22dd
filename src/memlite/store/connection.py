"""A connection to the store: statements, rows, transactions, and what a SQLite error means.

`_sqlite3` is used directly because the `sqlite3` package imports `datetime` and more (5 ms of a hook's start).
"""

from __future__ import annotations

import _sqlite3 as sqlite

from memlite.errors import StoreBusy, StoreDamaged, StoreUnusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, TypeAlias

    Connection: TypeAlias = Any  # _sqlite3.Connection has no stubs
    Row: TypeAlias = Any


class Database:
    """A connection to the store, usable as a context manager that closes it. Rows answer to names and to positions."""

    def __init__(self, connection: Connection, path: str, writable: bool) -> None:
        self.connection = connection
        self.path = path
        self.writable = writable

    def __enter__(self) -> Database:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; open transactions roll back."""
        self.connection.close()

    def execute(self, sql: str, parameters: Any = ()) -> Any:
        """Run one statement and return its cursor. Raises StoreBusy, StoreDamaged or StoreUnusable."""
        try:
            return self.connection.execute(sql, parameters)
        except sqlite.Error as failure:
            raise explain(failure, self.path) from failure

    def rows(self, sql: str, parameters: Any = ()) -> list[Row]:
        """All rows of a SELECT. Raises as `execute`."""
        try:
            return list(self.connection.execute(sql, parameters))
        except sqlite.Error as failure:
            raise explain(failure, self.path) from failure

    def row(self, sql: str, parameters: Any = ()) -> Row | None:
        """The first row of a SELECT, or None. Raises as `execute`."""
        found = self.rows(sql, parameters)
        return found[0] if found else None

    def transaction(self) -> Transaction:
        """A write transaction as a context manager: committed at its end, rolled back on any error."""
        return Transaction(self)


class Transaction:
    """BEGIN IMMEDIATE … COMMIT: taking the write lock first means no statement inside can meet a busy database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def __enter__(self) -> Database:
        self.database.execute("BEGIN IMMEDIATE")
        return self.database

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is None:
            self.database.execute("COMMIT")
        elif self.database.connection.in_transaction:
            try:
                self.database.connection.execute("ROLLBACK")
            except sqlite.Error:
                pass  # the first error is the one to report


class snapshot:
    """A `with` block in which all statements on `database` see the store as it was at the first of them, whatever
    others write or forget meanwhile. It may stand within another, and does nothing without a database."""

    def __init__(self, database: Database | None) -> None:
        self.connection = None if database is None or database.connection.in_transaction else database.connection
        self.path = "" if database is None else database.path

    def __enter__(self) -> None:
        if self.connection is not None:
            try:
                self.connection.execute("BEGIN")
            except sqlite.Error as failure:
                raise explain(failure, self.path) from failure

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self.connection is not None:
            try:
                self.connection.execute("ROLLBACK")  # there is nothing to commit
            except sqlite.Error:
                pass  # an error of the block itself has ended the transaction


def explain(failure: Exception, path: str) -> StoreUnusable:
    """The error of our own that says what a SQLite error means for the file at `path`, and the way out."""
    text = str(failure)
    code = getattr(failure, "sqlite_errorcode", 0) & 0xFF  # the primary code; Python 3.11 and later tell it
    if code in (5, 6) or "locked" in text:
        return StoreBusy(f"another process is writing to {path}", "try again in a moment")
    if code in (11, 26) or any(sign in text for sign in ("malformed", "not a database", "Could not decode")):
        return StoreDamaged(f"{path} is damaged ({text})",
                            "run `memlite doctor --fix`: it moves the damaged file aside and saves what can be read")
    if code == 13 or "full" in text:
        return StoreUnusable(f"the disk of {path} is full", "free some space; nothing stored so far is lost")
    if code == 8 or "readonly" in text:
        return StoreUnusable(f"{path} can't be written: read-only", "make the file and its folder writable")
    return StoreUnusable(f"{path} can't be used: {text}", "run `memlite doctor`")
