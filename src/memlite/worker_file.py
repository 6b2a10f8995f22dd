"""What the running worker says of itself in the data directory: which process it is and where it listens."""

from __future__ import annotations

import os

from memlite import build_info, jsoncodec, paths, processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = "worker.json"
LOCK = "worker.lock"   # held as long as the worker lives
LOG = "worker.log"
_NEEDED = {"pid": int, "port": int, "host": str, "version": str, "commit": str, "nonce": str}


def read(home: str) -> dict[str, Any] | None:
    """What the last worker wrote: pid, port, host, version, commit, nonce, started_at_epoch, and the port that was
    wanted. None when there is no such file or it holds something else. Whether that worker still lives it can't say."""
    try:
        with open(os.path.join(home, FILE), encoding="utf-8") as file:
            told = jsoncodec.loads(file.read(10_000))
    except (OSError, ValueError):
        return None
    if not isinstance(told, dict) or any(type(told.get(name)) is not kind for name, kind in _NEEDED.items()):
        return None
    return told


def write(home: str, told: dict[str, Any]) -> None:
    """Put `told` there in one step, readable for the owner alone. Raises OSError."""
    path = os.path.join(home, FILE)
    part = f"{path}.{os.getpid()}"
    paths.create_private(part)
    with open(part, "w", encoding="utf-8") as file:
        file.write(jsoncodec.dumps(told) + "\n")
    os.replace(part, path)


def remove(home: str, nonce: str) -> None:
    """Take the file away if it is that of the worker with this `nonce`."""
    told = read(home)
    if told is not None and told["nonce"] == nonce:
        try:
            os.remove(os.path.join(home, FILE))
        except OSError:
            pass  # a stale file is recognised as such


def start_unless_running(home: str) -> bool:
    """Have a worker started in the background unless one of this version serves `home`; does not wait for it.

    Cheap enough for a hook: one file is read and one lock tried. Returns whether a process was started; raises OSError.
    """
    told = read(home)
    lock = processes.Lock(os.path.join(home, LOCK))
    if lock.take():
        lock.release()
        log = os.path.join(home, LOG)
        paths.create_private(log)
        processes.start_detached(["serve", "--background"], home, errors=log)
        return True
    if told is None or told["version"] == build_info.version():
        return False   # it runs, or is about to
    processes.start_detached(["start"], home)   # which replaces it
    return True


def base_url(told: dict[str, Any]) -> str:
    """The address that the worker with this file is called at from this machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(told["host"], told["host"])
    return f"http://[{host}]:{told['port']}" if ":" in host else f"http://{host}:{told['port']}"
