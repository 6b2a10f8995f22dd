"""`memlite serve` from start to end."""

from __future__ import annotations

import os
import signal
import sys

from memlite.errors import WorkerUnavailable
from memlite.serve.app import application
from memlite.serve.calls import Worker
from memlite.serve.server import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NEXT_PORTS = 20


def serve(home: str, host: str, port: int, *, exactly: bool, ready: Callable[[Server], None]) -> None:
    """Serve the store under `home` until SIGTERM or SIGINT. `ready` is called when requests are answered.

    Where `port` is taken the next free one serves, unless it must be `exactly` that. Raises WorkerUnavailable.
    """
    worker = Worker(home)
    server = _listen(worker, host, port, 1 if exactly or not port else _NEXT_PORTS)
    for name in ("SIGTERM", "SIGINT", "SIGBREAK", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, frame: server.stop())
    try:
        ready(server)
        server.run(_parent_watch())
    finally:
        worker.pool.close()


def _listen(worker: Worker, host: str, port: int, tries: int) -> Server:
    app = application(worker)
    failure: OSError | None = None
    for candidate in range(port, min(port + tries, 65536)):
        try:
            return Server(app, host, candidate)
        except OSError as error:
            failure = failure or error
    raise WorkerUnavailable(f"{host}:{port} can't be listened on: {failure and failure.strerror}",
                            "another program has it; choose another with --port or MEMLITE_PORT")


def _parent_watch() -> Callable[[], bool]:
    """A function that says whether the worker should go on.

    The one-file executable runs in a child of its own launcher, which removes the unpacked files at the end. Should
    the launcher be killed, nobody would ever do so and the child would go on unnoticed.
    """
    if not getattr(sys, "frozen", False) or os.name == "nt":
        return lambda: True
    launcher = os.getppid()
    return lambda: os.getppid() == launcher
