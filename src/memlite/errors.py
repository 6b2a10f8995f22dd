"""What can go wrong, as one tree.

    MemliteError            code, exit_code, http_status, hint
    ├── UsageError          the caller asked for something that has no meaning          exit 2, HTTP 400
    ├── NotFound            no such record                                              exit 1, HTTP 404
    ├── HomeUnusable        the data directory can't be made, read or trusted           exit 3, HTTP 503
    ├── StoreUnusable       the database can't be opened, read or written               exit 3, HTTP 503
    │   ├── StoreBusy       another process held the write lock for too long            exit 3, HTTP 503
    │   ├── StoreDamaged    the file is not a sound SQLite database                     exit 3, HTTP 503
    │   └── StoreNewer      the file was written by a newer memlite                     exit 3, HTTP 503
    ├── WorkerUnavailable   the local worker can't be started or reached                exit 4, HTTP 503
    └── SemanticUnavailable the index of meanings can't answer now                      exit 4, HTTP 503

`cli` renders an error for the shell and `serve` for HTTP; nobody else does.
"""

from __future__ import annotations

__all__ = ["MemliteError", "UsageError", "NotFound", "HomeUnusable", "StoreUnusable", "StoreBusy", "StoreDamaged",
           "StoreNewer", "WorkerUnavailable", "SemanticUnavailable"]


class MemliteError(Exception):
    """Base of all errors memlite raises on purpose: a message that names the cause and a hint at the way out."""

    code = "error"
    exit_code = 1
    http_status = 500

    def __init__(self, message: str, hint: str = "", code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code:
            self.code = code


class UsageError(MemliteError):
    code, exit_code, http_status = "invalid_parameter", 2, 400


class NotFound(MemliteError):
    code, exit_code, http_status = "not_found", 1, 404


class HomeUnusable(MemliteError):
    code, exit_code, http_status = "home_unusable", 3, 503


class StoreUnusable(MemliteError):
    code, exit_code, http_status = "store_unusable", 3, 503


class StoreBusy(StoreUnusable):
    code = "store_busy"


class StoreDamaged(StoreUnusable):
    code = "store_damaged"


class StoreNewer(StoreUnusable):
    code = "store_newer"


class WorkerUnavailable(MemliteError):
    code, exit_code, http_status = "worker_unavailable", 4, 503


class SemanticUnavailable(MemliteError):
    """`absent`: there never was one, so that nobody misses it."""

    code, exit_code, http_status = "semantic_unavailable", 4, 503

    def __init__(self, message: str, hint: str = "", *, absent: bool = False) -> None:
        super().__init__(message, hint)
        self.absent = absent
