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

MOST = 2_000_000    # bytes of all that is kept
SECONDS = 60.0      # "7d", "yesterday" and "2h ago" go by the clock


class Given:
    """The answers of one worker, by what was asked; the oldest go first."""

    def __init__(self, home: str) -> None:
        self._watch = Watch(home)
        self._lock = threading.Lock()
        self._version: tuple[object, ...] = ()
        self._kept: dict[tuple[object, ...], tuple[float, Reply]] = {}
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
        """The answer to it, unless there is none or it is too old. To be called after `version`."""
        with self._lock:
            at, reply = self._kept.get(asked, (0.0, None))
            return reply if reply is not None and time.monotonic() - at < SECONDS else None

    def keep(self, asked: tuple[object, ...], reply: Reply, version: tuple[object, ...]) -> None:
        """Keep an answer that was read from the store after it was `version`."""
        if not version or not isinstance(reply.body, bytes):
            return
        with self._lock:
            if version == self._version:
                self._drop(asked)
                self._kept[asked] = (time.monotonic(), reply)
                self._size += len(reply.body)
                while self._size > MOST:
                    self._drop(next(iter(self._kept)))

    def close(self) -> None:
        """Let go of the store."""
        with self._lock:
            self._watch.close()
            self._clear()

    def _drop(self, asked: tuple[object, ...]) -> None:
        if asked in self._kept:
            self._size -= len(self._kept.pop(asked)[1].body)

    def _clear(self) -> None:
        self._kept.clear()
        self._size = 0


__all__ = ["Given"]
