"""The worker's log: what it has to complain of, in a file that never grows beyond its bound."""

from __future__ import annotations

import io
import os
import sys

from memlite import paths
from memlite.clock import ms_to_iso, now_ms

LIMIT = 512 * 1024   # bytes; as much again lies in the file before it, `….1`


class BoundedLog(io.TextIOBase):
    """A text stream that appends to the file at `path` and starts a new one when it is full, keeping one old."""

    def __init__(self, path: str, limit: int = LIMIT, descriptor: int | None = None) -> None:
        """Open or make the file, private. `descriptor` (2 is standard error) is kept pointing to it. Raises OSError."""
        self.path = path
        self.limit = limit
        self._target = descriptor
        self._open()

    def _open(self) -> None:
        paths.create_private(self.path)
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115
        self._size = os.path.getsize(self.path)
        if self._target is not None:
            os.dup2(self._file.fileno(), self._target)

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, text: str) -> int:
        """Append `text`; never raises, for a full disk must not end the worker."""
        data = text.encode("utf-8", "replace")
        try:
            if self._size and self._size + len(data) > self.limit:
                self._file.close()
                os.replace(self.path, f"{self.path}.1")
                self._open()
            self._file.write(data[:self.limit])
            self._size += len(data)
        except (OSError, ValueError):
            pass
        return len(text)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def say(text: str) -> None:
    """One line with its moment, to standard error, which is the log of a worker in the background."""
    sys.stderr.write(f"{ms_to_iso(now_ms())} {text}\n")


def tail(path: str, lines: int) -> list[str]:
    """The last `lines` lines of the log at `path`, reaching back into the file before it; none when there is none."""
    found: list[str] = []
    for name in (path, f"{path}.1"):
        try:
            with open(name, encoding="utf-8", errors="replace") as file:
                found = file.read().splitlines() + found
        except OSError:
            continue
        if len(found) >= lines:
            break
    return found[-lines:] if lines > 0 else []
