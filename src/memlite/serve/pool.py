"""Open connections to the store, lent to one request at a time, the last returned first."""

from __future__ import annotations

import threading

from memlite.errors import StoreBusy
from memlite.store.database import Database, open_database, open_for_reading
from memlite.store.watch import identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

LENT = 8   # at once: more queries than that only take turns on the processor, and each holds up to 2 MB of pages
KEPT = 4   # open while nobody asks; opening one costs 2 ms
WAIT_SECONDS = 15.0


class Pool:
    """Lends connections to the store under `home`. One that failed is not lent again, and when another file takes the
    place of the store (repaired, restored, deleted) the old file's connections go.

    Whoever has a connection must not ask for another before giving it back.
    """

    def __init__(self, home: str, kept: int = KEPT, lent: int = LENT) -> None:
        self.home = home
        self._kept = kept
        self._places = threading.BoundedSemaphore(lent)
        self._idle: list[Database] = []
        self._file: tuple[int, int] | None = None
        self._lock = threading.Lock()
        self._closed = False

    def lend(self, *, create: bool = False) -> Loan:
        """A connection for the length of a `with` block, or None as long as there is no store, unless it is to be
        created. Entering the block raises as open_database."""
        return Loan(self, create)

    def take(self, create: bool) -> Database | None:
        """A connection (or None) that is to be given back. Raises as open_database, and StoreBusy when none is free
        for long."""
        if not self._places.acquire(timeout=WAIT_SECONDS):
            raise StoreBusy("too many requests are waiting for the store", "try again in a moment")
        try:
            return self._opened(create)
        except BaseException:
            self._places.release()
            raise

    def _opened(self, create: bool) -> Database | None:
        file = identity(self.home)
        with self._lock:
            if file != self._file:
                self._drop()
                self._file = file
            if self._idle:
                return self._idle.pop()
        database = open_database(self.home) if create else open_for_reading(self.home)
        if file is None and database is not None:
            with self._lock:
                self._file = identity(self.home)
        return database

    def give(self, database: Database | None, sound: bool) -> None:
        """Take back what was lent; close it when it is not `sound` or there are enough."""
        try:
            if database is None:
                return
            if sound and not database.connection.in_transaction:
                with self._lock:
                    if not self._closed and len(self._idle) < self._kept:
                        self._idle.append(database)
                        return
            database.close()
        finally:
            self._places.release()

    def close(self) -> None:
        """Close all that is not lent, and from now on what comes back."""
        with self._lock:
            self._closed = True
            self._drop()

    def _drop(self) -> None:
        while self._idle:
            self._idle.pop().close()


class Loan:
    """The `with` block of a borrowed connection."""

    def __init__(self, pool: Pool, create: bool) -> None:
        self.pool = pool
        self.create = create
        self.database: Database | None = None

    def __enter__(self) -> Database | None:
        self.database = self.pool.take(self.create)
        return self.database

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.pool.give(self.database, sound=kind is None)
