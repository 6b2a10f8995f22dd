"""One watcher of the store for all listeners: it notices that something came in, they read what it was.

Hooks write to the file from processes of their own, so it has to be asked; while nobody listens nobody asks. Each
listener keeps its own position, so a slow one holds up nobody and loses nothing.
"""

from __future__ import annotations

import threading

from memlite.errors import MemliteError
from memlite.serve import log
from memlite.store import changes
from memlite.store.watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.serve.pool import Pool
    from memlite.store.changes import Change, Position

STEP_SECONDS = 0.25
PAGE = 200   # changes of each kind that are read at once
_NOWHERE: Position = (0,) * len(changes.SOURCES)


class Feed:
    """Tells listeners when to look, and reads what is new once for all that stand at the same position."""

    def __init__(self, pool: Pool, step: float = STEP_SECONDS) -> None:
        self.version = 0        # grows when something may have come in
        self.closed = False
        self.listeners = 0
        self.pool = pool
        self._step = step
        self._condition = threading.Condition()
        self._watcher: threading.Thread | None = None
        self._pages: dict[Position, tuple[list[Change], Position]] = {}
        self._pages_version = -1
        self._reading = threading.Lock()

    def __enter__(self) -> Feed:
        """Begin to listen."""
        with self._condition:
            self.listeners += 1
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, daemon=True)
                self._watcher.start()
        return self

    def __exit__(self, *failure: object) -> None:
        """Listen no longer."""
        with self._condition:
            self.listeners -= 1
            self._condition.notify_all()

    def nudge(self) -> None:
        """Let all who wait look whether they are still wanted."""
        with self._condition:
            self.version += 1
            self._condition.notify_all()

    def close(self) -> None:
        """Send everybody home."""
        with self._condition:
            self.closed = True
            self._condition.notify_all()

    def wait(self, seen: int, seconds: float) -> bool:
        """Wait until the version is another than `seen` or the feed is closed, at most so long. Whether it is so."""
        with self._condition:
            return self._condition.wait_for(lambda: self.closed or self.version != seen, seconds)

    def position(self) -> Position:
        """Where the store stands now. Raises as Database."""
        with self.pool.lend() as database:
            return changes.position(database) if database is not None else _NOWHERE

    def after(self, at: Position) -> tuple[list[Change], Position]:
        """(what came in after `at`, or the first of it; the position after that). Raises as Database."""
        with self._reading:   # fifty listeners at one position wait for one to read
            if self._pages_version != self.version:
                self._pages, self._pages_version = {}, self.version
            page = self._pages.get(at)
            if page is None:
                with self.pool.lend() as database:
                    page = changes.since(database, at, PAGE) if database is not None else ([], _NOWHERE)
                if len(self._pages) < 50:
                    self._pages[at] = page
            return page

    def _watch(self) -> None:
        """Look whether somebody has written, as long as somebody listens."""
        watch = Watch(self.pool.home)
        seen: tuple[object, ...] = ()
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self.closed, self._step)
                if self.closed or not self.listeners:
                    self._watcher = None
                    break
            try:
                now = watch.version()
            except MemliteError as failure:
                log.say(f"the store can't be watched: {failure.message}")
                now = ()
            if now != seen:
                seen = now
                with self._condition:
                    self.version += 1
                    self._condition.notify_all()
        watch.close()
