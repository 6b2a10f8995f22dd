"""The index of meanings as the worker has it: started when needed, kept up with the store, given up when it fails.

One thread starts the helper, follows the journal and ends the helper when nobody needs it. Whoever searches only ever
asks a helper that is ready, with a short deadline, and is otherwise told at once why there is no answer.
"""

from __future__ import annotations

import os
import threading
import time

from memlite.chroma import conditions, places, position, sync
from memlite.chroma.helper import Helper, HelperFailed, opening
from memlite.errors import MemliteError, SemanticUnavailable
from memlite.search.semantic import Semantic
from memlite.store import find, index
from memlite.store.database import Database, open_for_reading
from memlite.store.watch import identity
from memlite.wording import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.store.find import Filter

QUERY_SECONDS = 0.25
IDLE_SECONDS = 600.0        # without a query or a change; then the helper ends
_OPEN_SECONDS = 60.0        # the first start of a new chromadb compiles its modules
_LOOK_SECONDS = 1.0         # between two looks into the journal
_SEARCH_SECONDS = 60.0      # between two looks for a Python and a model
_STRIKES = 3                # failures in a row that end a helper
_LONGEST_PAUSE = 60.0
_FROM_FILES = 2000          # records that a filter for files may leave to the vectors

# States, as `status` tells them.
OFF, ABSENT, IDLE, STARTING, READY, FAILED = "off", "absent", "idle", "starting", "ready", "failed"
ENABLE = "`memlite chroma enable` adds what is missing"


class Engine(Semantic):
    """The index of meanings of one data directory, for one worker."""

    def __init__(self, home: str, chosen: dict[str, Any], *, idle_seconds: float = IDLE_SECONDS) -> None:
        """Nothing is looked for yet; `chosen` are the settings."""
        self.home = home
        self.folder = os.path.join(home, places.FOLDER)
        self.days = int(chosen["chroma_days"])
        self.state = ABSENT if chosen["chroma"] else OFF
        self.reason = ""
        self.waiting = 0
        self.count = 0
        self._chosen = chosen
        self._idle_seconds = idle_seconds
        self._places = places.Places()
        self._looked = float("-inf")
        self._helper: Helper | None = None
        self._position = position.Position()
        self._strikes = 0
        self._pause = 1.0
        self._retry_at = 0.0
        self._used = 0.0
        self._wanted = False
        self._closed = False
        self._condition = threading.Condition()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Look for a Python and a model; when they are there, follow the store from now on."""
        if self.state == OFF or self._closed or self._thread is not None:
            return
        if time.monotonic() - self._looked < _SEARCH_SECONDS:
            return
        self._looked = time.monotonic()
        self._places = places.find(self.home, self._chosen)
        self.reason = self._places.missing
        if not self.reason:
            self.state = IDLE
            self._thread = threading.Thread(target=self._run, name="chroma", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End the helper and whatever goes on."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
        self._end_helper()
        if self._thread is not None:
            self._thread.join(0.5)

    # ---- asked by those who search

    def nearest(self, text: str, where: Filter, also: list[int], limit: int) -> dict[int, float]:
        """See Semantic. Takes QUERY_SECONDS at most."""
        began = time.monotonic()
        helper = self._ready()
        must = conditions.conditions(where)
        if must is None:
            return {}
        only: list[str] | None = None
        owner = self._position.owner
        if conditions.names_files(where):
            only = [sync.vector_id(owner, key) for key in self._with_files(where)]
            must = []
        try:
            answer = helper.call("near", max(0.02, QUERY_SECONDS - (time.monotonic() - began)), text=text, most=limit,
                                 where=must, only=only, also=[sync.vector_id(owner, key) for key in also])
            near = {sync.key_of(ident): float(value) for ident, value in answer["near"].items()}
        except (HelperFailed, KeyError, TypeError, ValueError) as failure:
            self._struck(helper, str(failure))
            raise SemanticUnavailable(f"Chroma failed: {failure}") from None
        self._strikes, self._pause = 0, 1.0
        return near

    @property
    def stage(self) -> tuple[object, ...]:
        """What decides, beside the store, what it finds: its state, and how far it has followed which journal into
        which index. It is another one once a record has come in, changed or gone."""
        return self.state, self.waiting, *self._position.as_dict().values()

    def gap(self) -> str:
        """See Semantic."""
        return f"{counted(self.waiting, 'record')} not in the index of meanings yet" if self.waiting else ""

    def status(self) -> dict[str, Any]:
        """What there is, JSON-ready: state (off, absent, idle, starting, ready, failed), reason (of a state that is
        not wanted, else ""), python, model, index (folder or address), records in it, waiting for it, processes, pid
        and rss_bytes of the helper (None without one)."""
        helper = self._helper
        running = helper is not None and not helper.gone
        return {"state": self.state, "reason": self.reason, "python": self._places.python,
                "model": self._places.model, "index": self._chosen["chroma_url"] or self._index_folder(),
                "records": self.count, "waiting": self.waiting, "processes": int(running),
                "pid": helper.pid if helper is not None and running else None,
                "rss_bytes": _rss(helper.pid) if helper is not None and running else None}

    def _ready(self) -> Helper:
        """The helper, when it can answer now. Raises SemanticUnavailable; then it will be there soon if it can."""
        if self.state == OFF:
            raise SemanticUnavailable("search by meaning is switched off", "`memlite chroma enable`", absent=True)
        if self._thread is None:
            self.start()
        if self.state == ABSENT:
            raise SemanticUnavailable(self.reason or "there is no Chroma", ENABLE, absent=True)
        with self._condition:
            self._used = time.monotonic()
            self._wanted = True
            helper = self._helper
            if helper is not None and not helper.gone and self.state == READY:
                return helper
            self._condition.notify_all()
        if self.state == FAILED:
            raise SemanticUnavailable(f"Chroma failed: {self.reason}")
        raise SemanticUnavailable("Chroma is starting")

    def _with_files(self, where: Filter) -> list[int]:
        database = open_for_reading(self.home)
        if database is None:
            return []
        with database:
            found, _ = find.newest(database, where, _FROM_FILES, 0, ascending=False)
        return [index.key(row.kind, row.id) for row in found]

    def _struck(self, helper: Helper, reason: str) -> None:
        """Note a failure; after some in a row the helper is ended and left alone for a while."""
        self._strikes += 1
        if self._strikes < _STRIKES and not helper.gone:
            return
        with self._condition:
            if self._helper is not helper or self.state == FAILED:
                return
            self._fail(reason)
            self._condition.notify_all()
        helper.kill()   # so that whatever else waits for it learns of it

    def _fail(self, reason: str) -> None:
        self.state, self.reason, self._strikes = FAILED, reason, 0
        self._retry_at = time.monotonic() + self._pause
        self._pause = min(_LONGEST_PAUSE, 2 * self._pause)

    # ---- the thread

    def _run(self) -> None:
        database: Database | None = None
        seen: object = None
        while not self._closed:
            try:
                file = identity(self.home)
                if database is None or file != seen:
                    if database is not None:
                        database.close()
                    database, seen = open_for_reading(self.home), file
                if database is not None and self._follow(database):
                    continue
            except HelperFailed as failure:
                if self.state != FAILED and not self._closed:
                    self._fail(str(failure))
            except (MemliteError, OSError) as failure:
                self._fail(getattr(failure, "message", str(failure)))
                if database is not None:
                    database.close()
                database = None
            except (KeyError, TypeError, ValueError) as failure:   # an answer that is none
                self._fail(f"the Chroma helper talks nonsense: {failure!r}")
            if self.state == FAILED:
                self._end_helper()
            with self._condition:
                if not self._closed and not (self._wanted and self.state == IDLE):
                    self._condition.wait(_LOOK_SECONDS)
        if database is not None:
            database.close()
        self._end_helper()

    def _follow(self, database: Database) -> bool:
        """One step of what is to be done. False when that is nothing for now. Raises HelperFailed, OSError."""
        now = time.monotonic()
        helper = self._helper
        if helper is not None and helper.gone and self.state == READY:
            raise HelperFailed("gone", "the Chroma helper has ended")
        if self.state == FAILED:
            if now < self._retry_at:
                return False
            self.state = IDLE
        if helper is None:
            self._position = position.load(self.folder)
            self.waiting = sync.waiting(database, self._position)
            if not self.waiting and not self._wanted:
                return False
            self._open(database)
            return not self._closed
        self.waiting = sync.waiting(database, self._position)
        if self.waiting and sync.step(database, helper, self._position):
            position.save(self.folder, self._position)
            self.waiting = sync.waiting(database, self._position)
            if not self.waiting:
                self.count = int(helper.call("state", _OPEN_SECONDS)["count"])
            self._pause = 1.0
            self._used = max(self._used, now)
            return True
        self._wanted = False
        if now - self._used > self._idle_seconds:
            self._end_helper()
            self.state = IDLE
        return False

    def _open(self, database: Database) -> None:
        """Start a helper and bring index and position together. Raises HelperFailed, OSError."""
        self.state, self.reason = STARTING, ""
        for folder in (self.folder, self._index_folder()):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        self._helper = helper = Helper(self._places.python, self.folder)
        opened = helper.call("open", _OPEN_SECONDS, **opening(self._chosen, self._places, self.folder,
                                                              self._position.owner))
        if not sync.begin(database, self._position, opened["collection"]):
            if opened["count"]:
                opened = helper.call("clear", _OPEN_SECONDS)
                self._position.index = opened["collection"]
            position.save(self.folder, self._position)
        self.count = int(opened["count"])
        self.waiting = sync.waiting(database, self._position)
        self._used = max(self._used, time.monotonic())
        self.state = READY

    def _end_helper(self) -> None:
        helper, self._helper = self._helper, None
        if helper is not None:
            if self.state == FAILED:
                helper.kill()
            else:
                helper.close()

    def _index_folder(self) -> str:
        return os.path.join(self.folder, "index")


def _rss(pid: int) -> int | None:
    """The memory of a process in bytes; None where the system does not say (proc(5), statm)."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
