"""Answers given before, to be given again for as long as the store stays as it is: a page that asks every second, or
several sessions that ask the same."""

from __future__ import annotations

import threading
import time

from memlite.errors import MemliteError
from memlite.store.watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.serve.replies import Reply

MOST = 2_000_000    # bytes of all that is kept, with what was asked
_EACH = 500         # bytes for the objects around an answer
SECONDS = 60.0      # "7d", "yesterday" and "2h ago" go by the clock


class Given:
    """The answers of one worker, by what was asked; the oldest go first."""

    def __init__(self, home: str) -> None:
        self._watch = Watch(home)
        self._lock = threading.Lock()
        self._version: tuple[object, ...] = ()
        self._kept: dict[tuple[object, ...], tuple[float, Reply, int]] = {}   # when, what, its bytes; oldest first
        self._size = 0

    def version(self) -> tuple[object, ...]:
        """What the store is now, to be asked for before it is read for an answer; () when that can't be told. All
        that was answered from another one goes."""
        with self._lock:
            try:
                now = self._watch.version()
            except MemliteError:
                now = ()
            if now != self._version:
                self._version = now
                self._clear()
            return now

    def find(self, asked: tuple[object, ...]) -> Reply | None:
        """The answer to it, None when there is none. To be called after `version`."""
        with self._lock:
            self._drop_old()
            return self._kept[asked][1] if asked in self._kept else None

    def keep(self, asked: tuple[object, ...], reply: Reply, version: tuple[object, ...]) -> None:
        """Keep an answer that was read from the store after it was `version`."""
        if not version or not isinstance(reply.body, bytes):
            return
        with self._lock:
            if version == self._version:
                self._drop(asked)
                size = len(reply.body) + len(repr(asked)) + _EACH
                self._kept[asked] = (time.monotonic(), reply, size)
                self._size += size
                self._drop_old()

    def close(self) -> None:
        """Let go of the store."""
        with self._lock:
            self._watch.close()
            self._clear()

    def _drop_old(self) -> None:
        """Drop what is too old, and the oldest of what is too much."""
        for asked, (at, _, _) in list(self._kept.items()):
            if self._size <= MOST and time.monotonic() - at < SECONDS:
                break
            self._drop(asked)

    def _drop(self, asked: tuple[object, ...]) -> None:
        if asked in self._kept:
            self._size -= self._kept.pop(asked)[2]

    def _clear(self) -> None:
        self._kept.clear()
        self._size = 0


__all__ = ["Given"]
