"""A worker of its own for a test, spoken to over real sockets."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit


class WorkerProcess:
    """`memlite serve` in a process of its own, on a free port, as a context manager that ends it."""

    def __init__(self, home: str, *arguments: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memlite", "serve", "--port", "0", *arguments], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env={**os.environ, "MEMLITE_HOME": home, **environment})
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url, self.process.communicate(timeout=10)[1]

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        parts = urlsplit(self.url)
        return parts.hostname or "", parts.port or 0

    def connect(self, timeout: float = 10) -> http.client.HTTPConnection:
        """A connection that is kept alive between requests."""
        return http.client.HTTPConnection(*self.address, timeout=timeout)

    def get(self, path: str) -> Any:
        """The JSON value that GET `path` answers."""
        connection = self.connect()
        connection.request("GET", path)
        value = json.loads(connection.getresponse().read())
        connection.close()
        return value

    def terminate(self) -> int:
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(10)
