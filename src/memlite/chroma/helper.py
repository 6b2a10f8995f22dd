"""The helper process: started, spoken to, ended.

JSON lines on its standard input and output; each request has an id and a deadline, an answer that comes too late is
thrown away. What the process does stands in `helper.pytxt`, which its own Python runs.
"""

from __future__ import annotations

import os
import pkgutil
import queue
import subprocess
import threading

from memlite import jsoncodec, paths
from memlite.chroma import documents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.chroma.places import Places

# Read when the worker starts: its executable may be replaced while it runs.
_SCRIPT = pkgutil.get_data("memlite.chroma", "helper.pytxt") or b""
_END_SECONDS = 1.0


class HelperFailed(Exception):
    """The helper said no, did not answer in time, or is gone. `code` says which."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Slot:
    """Where an answer is waited for."""

    __slots__ = ("arrived", "answer")

    def __init__(self) -> None:
        self.arrived = threading.Event()
        self.answer: dict[str, Any] | None = None


class Helper:
    """One helper process. Calls may come from many threads at once."""

    def __init__(self, python: str, folder: str) -> None:
        """Start it with the Python at `python`; its script and log go to `folder`, which exists. Raises OSError."""
        script = os.path.join(folder, "helper.py")
        paths.create_private(script)
        with open(script, "wb") as file:
            file.write(_SCRIPT)
        log = os.path.join(folder, "helper.log")
        paths.create_private(log)
        with open(log, "wb") as complaints:
            self.process = subprocess.Popen(
                [python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, cwd=folder,
                env=environment(folder), start_new_session=os.name != "nt",
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0))
        self.gone = False
        self._number = 0
        self._waiting: dict[int, _Slot] = {}
        self._lock = threading.Lock()
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=self._write, daemon=True).start()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def call(self, op: str, seconds: float, **fields: Any) -> dict[str, Any]:
        """What the helper answers to `op` within that time. Raises HelperFailed."""
        slot = _Slot()
        with self._lock:
            if self.gone:
                raise HelperFailed("gone", "the Chroma helper has ended")
            self._number += 1
            number = self._number
            self._waiting[number] = slot
        self._lines.put(jsoncodec.dumps({"id": number, "op": op, **fields}).encode("utf-8", "replace") + b"\n")
        slot.arrived.wait(seconds)
        with self._lock:
            self._waiting.pop(number, None)
        answer = slot.answer
        if answer is None:
            if self.gone:
                raise HelperFailed("gone", "the Chroma helper has ended")
            raise HelperFailed("timeout", f"Chroma did not answer within {seconds * 1000:.0f} ms")
        if "error" in answer:
            raise HelperFailed(str(answer.get("code", "failed")), str(answer["error"]))
        return answer

    def close(self) -> None:
        """End the process; by force when it does not go by itself."""
        self._lines.put(None)
        try:
            self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._end()

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.wait()
        self._end()

    def _write(self) -> None:
        """Hand over what is to be said: a helper that hangs must not hold up whoever asks it."""
        pipe = self.process.stdin
        assert pipe is not None
        try:
            while (line := self._lines.get()) is not None:
                pipe.write(line)
                pipe.flush()
        except (OSError, ValueError):
            pass  # it is gone, which the reader notices
        finally:
            try:
                pipe.close()
            except OSError:
                pass  # with words for it still unsaid

    def _read(self) -> None:
        pipe = self.process.stdout
        assert pipe is not None
        with pipe:
            for line in pipe:
                try:
                    answer = jsoncodec.loads(line.decode("utf-8", "replace"))
                    slot = self._waiting.get(answer["id"])
                except (ValueError, KeyError, TypeError):
                    continue  # not ours
                if slot is not None:
                    slot.answer = answer
                    slot.arrived.set()
        self._end()
        self._lines.put(None)
        self.process.wait()   # so that no zombie stays

    def _end(self) -> None:
        with self._lock:
            self.gone = True
            waiting, self._waiting = self._waiting, {}
        for slot in waiting.values():
            slot.arrived.set()


def opening(chosen: dict[str, Any], found: Places, folder: str, owner: str) -> dict[str, Any]:
    """What a helper has to be told first."""
    told: dict[str, Any] = {"path": os.path.join(folder, "index"), "model": found.model, "tokenizer": found.tokenizer,
                            "owner": owner, "collection": f"memlite.{found.model_name}.{documents.FORM}"}
    for name in ("url", "token", "tenant", "database"):
        told[name] = chosen[f"chroma_{name}"]
    return told


def environment(folder: str) -> dict[str, str]:
    """This process's environment as another Python needs it: without what the executable's launcher has put there,
    and with the caches of onnxruntime inside `folder`."""
    given = {name: value for name, value in os.environ.items()
             if not name.startswith(("_PYI_", "PYINSTALLER_")) and name not in ("PYTHONHOME", "PYTHONPATH")}
    before = given.pop("LD_LIBRARY_PATH_ORIG", None)
    if before is not None:
        given["LD_LIBRARY_PATH"] = before
    elif "_PYI_APPLICATION_HOME_DIR" in os.environ:
        given.pop("LD_LIBRARY_PATH", None)
    given.update(ANONYMIZED_TELEMETRY="False", TOKENIZERS_PARALLELISM="false", PYTHONUTF8="1",
                 PYTHONDONTWRITEBYTECODE="1", MALLOC_ARENA_MAX="2", XDG_CACHE_HOME=os.path.join(folder, "cache"))
    return given
