"""`memlite serve` from start to end."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
import time

from memlite import paths, worker_file
from memlite.errors import WorkerUnavailable
from memlite.processes import Lock
from memlite.serve import access_token, log
from memlite.serve.app import application
from memlite.serve.calls import Worker
from memlite.serve.server import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NEXT_PORTS = 20
ALREADY = "already_running"   # the code of the error for a second worker
_LOCK_SECONDS = 1.5   # somebody else's look at the lock, or a worker on its way out takes less


def serve(home: str, host: str, port: int, *, exactly: bool, require_token: bool = False, idle_minutes: int = 0,
          ready: Callable[[Server], None]) -> None:
    """Serve the store under `home` until SIGTERM or SIGINT, or until nobody has used it for `idle_minutes` (0: never).
    `ready` is called when requests are answered.

    Where `port` is taken the next free one serves, unless it must be `exactly` that. Raises WorkerUnavailable when
    there is no port or another worker serves this data directory already, and HomeUnusable.
    """
    paths.ensure_home(home)
    lock = Lock(os.path.join(home, worker_file.LOCK))
    _alone(home, lock)   # given back by the end of the process, so that whoever waits for it knows that
    access_token.ensure(home)
    worker = Worker(home, host=host, require_token=require_token)
    server = _listen(worker, host, port, 1 if exactly or not port else NEXT_PORTS)
    for name in ("SIGTERM", "SIGINT", "SIGBREAK", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, frame: server.stop())
    worker_file.write(home, {
        "pid": worker.pid, "port": server.port, "wanted_port": port or server.port, "host": host,
        "version": worker.version, "commit": worker.commit, "started_at_epoch": worker.started,
        "nonce": worker.nonce, "token_required": worker.require_token})
    if server.port != (port or server.port):
        log.say(f"port {port} is taken by another program; serving on {server.port}")
    try:
        ready(server)
        worker.semantic.start()
        server.run(_watch(server, idle_minutes))
    finally:
        worker.close()
        worker_file.remove(home, worker.nonce)
    _remove_unpacked()


def _alone(home: str, lock: Lock) -> None:
    """Take the lock of the one worker. Raises WorkerUnavailable naming the other."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while not lock.take():
        if time.monotonic() > deadline:
            told = worker_file.read(home)
            where = f" at {worker_file.base_url(told)} (process {told['pid']})" if told else ""
            raise WorkerUnavailable(f"a worker serves {home} already{where}",
                                    "`memlite stop` ends it, `memlite restart` replaces it", ALREADY)
        time.sleep(0.05)


def _listen(worker: Worker, host: str, port: int, tries: int) -> Server:
    app = application(worker)
    failure: OSError | None = None
    for candidate in range(port, min(port + tries, 65536)):
        try:
            return Server(app, host, candidate, on_stop=worker.stop)
        except OSError as error:
            failure = failure or error
    taken = failure is not None and failure.errno == errno.EADDRINUSE
    raise WorkerUnavailable(f"{host}:{port} can't be listened on: {failure and failure.strerror}",
                            "another program has it; choose another with --port or MEMLITE_PORT" if taken else
                            "--host and --port name an address of this machine, by default 127.0.0.1")


_LAUNCHER = os.getppid() if getattr(sys, "frozen", False) and os.name != "nt" else 0


def _watch(server: Server, idle_minutes: int) -> Callable[[], bool]:
    """A function that says whether the worker should go on: it is in use or was lately, and its launcher lives.

    The one-file executable runs in a child of its own launcher, which removes the unpacked files at the end. Should
    the launcher be killed, nobody would ever do so and the child would go on unnoticed.
    """
    def goes_on() -> bool:
        if _LAUNCHER and os.getppid() != _LAUNCHER:
            log.say("the launcher was killed: ending")
            return False
        if idle_minutes and not server.in_use() and time.monotonic() - server.last_used > idle_minutes * 60:
            log.say(f"not used for {idle_minutes} minutes: ending")
            return False
        return True
    return goes_on


def _remove_unpacked() -> None:
    """Do the killed launcher's last duty."""
    unpacked: Any = getattr(sys, "_MEIPASS", None)
    if _LAUNCHER and os.getppid() != _LAUNCHER and unpacked:
        shutil.rmtree(unpacked, ignore_errors=True)
        os._exit(0)   # nothing can be imported any more
