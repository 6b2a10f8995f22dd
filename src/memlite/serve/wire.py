"""One exchange on the wire: the body of a request as it comes in, the answer as it goes out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from memlite.serve.request_head import keeps_alive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.serve.server import Connection


class Body:
    """A request's body as WSGI's input stream: never more than its stated length, all of it within bounds of time."""

    def __init__(self, connection: Connection, length: int, expected: bool) -> None:
        self.connection = connection
        self.left = length
        self.expected = expected   # the client waits for a word before it sends the body
        self.deadline = 0.0

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, all that is left when negative; fewer when the client stops. Raises OSError."""
        size = self.left if size < 0 else min(size, self.left)
        if not size:
            return b""
        if not self.deadline:
            self.deadline = time.monotonic() + self.connection.server.head_seconds
            if self.expected:
                self.connection.transmit(b"HTTP/1.1 100 Continue\r\n\r\n")
        data = self.connection.data
        while len(data) < size and self.connection.receive(self.deadline):
            pass
        part = bytes(data[:size])
        del data[:size]
        self.left -= len(part)
        return part

    def readline(self, size: int = -1) -> bytes:
        """Not offered: bodies are JSON."""
        raise NotImplementedError

    readlines = __iter__ = readline


class Answer:
    """What goes back for one request."""

    def __init__(self, connection: Connection, environ: dict[str, Any], body: Body | None) -> None:
        self.connection = connection
        self.body = body
        self.bodiless = environ["REQUEST_METHOD"] == "HEAD"
        self.alone = not (environ.get("SERVER_PROTOCOL") and keeps_alive(environ))   # the last on its connection
        self.status = ""
        self.headers: list[tuple[str, str]] = []
        self.begun = False
        self.goes_on = False

    def start(self, status: str, headers: list[tuple[str, str]], failure: Any = None) -> Callable[[bytes], None]:
        """WSGI's start_response."""
        if failure is not None and self.begun:
            raise failure[1].with_traceback(failure[2])
        self.status, self.headers = status, headers
        return self.connection.transmit

    def send(self, parts: Iterable[bytes]) -> None:
        """Send status, headers and `parts`. Raises OSError."""
        try:
            if isinstance(parts, (list, tuple)):
                body = b"".join(parts)
                self._begin(len(body), b"" if self.bodiless else body)
                return
            iterator = iter(parts)
            first = b"" if self.bodiless else next(iterator, b"")
            self._begin(None, first)
            if not self.bodiless:
                for part in iterator:
                    if part:
                        self.connection.transmit(part)
        finally:
            close = getattr(parts, "close", None)
            if close is not None:
                close()

    def _begin(self, length: int | None, body: bytes) -> None:
        names = {name.lower() for name, _ in self.headers}
        lines = [f"HTTP/1.1 {self.status}", f"Date: {_http_date()}"]
        if "content-length" not in names:
            without = self.status[:1] == "1" or self.status[:3] in ("204", "304")
            if length is not None and not without:
                lines.append(f"Content-Length: {length}")
            elif not without:
                self.alone = True   # its end is the connection's
        unread = self.body is not None and self.body.left > 0
        self.alone = self.alone or unread or self.connection.server.stopping
        lines += [f"{name}: {value}" for name, value in self.headers]
        lines += ["Connection: close" if self.alone else "Connection: keep-alive", "", ""]
        self.begun, self.goes_on = True, not self.alone
        self.connection.transmit("\r\n".join(lines).encode("latin-1") + body)


_date = (0, "")


def _http_date() -> str:
    """This second as HTTP writes it (RFC 9110, 5.6.7), made once a second."""
    global _date
    now = int(time.time())
    if _date[0] != now:
        t = time.gmtime(now)
        day = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[t.tm_wday]
        month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[t.tm_mon - 1]
        _date = (now, f"{day}, {t.tm_mday:02d} {month} {t.tm_year} {t.tm_hour:02d}:{t.tm_min:02d}:{t.tm_sec:02d} GMT")
    return _date[1]
