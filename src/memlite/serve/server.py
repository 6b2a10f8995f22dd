"""A small threaded HTTP/1.1 server for one WSGI application.

A thread for each connection, kept alive between requests. waitress and cheroot time out once as many event streams
are open as they have threads, wsgiref on the first; here an idle or slow client holds nothing but its own thread, and
when there are too many the one that has been silent longest goes.
"""

from __future__ import annotations

import select
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable

from memlite.errors import MemliteError
from memlite.serve import replies
from memlite.serve.request_head import BadRequest, parse_head, too_large
from memlite.serve.wire import Answer, Body

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

CONNECTIONS = 256      # at once; each costs a thread
HEAD_SECONDS = 10.0    # for a whole request head, and for a whole body: a byte a second is cut off
IDLE_SECONDS = 60.0    # between two requests on one connection
WRITE_SECONDS = 20.0   # for one answer, or one event of a stream, to be taken
DRAIN_SECONDS = 0.7    # for answers under way when the server stops
QUIET = ("/health", "/api/health")   # being asked whether it lives is no use of the worker
_STACK = 512 * 1024    # bytes of address space for a thread; the deepest request needs a tenth
_WATCH_SECONDS = 0.5


class Server:
    """Listens from its making; `run` serves until `stop`."""

    def __init__(self, application: Application, host: str, port: int, *,
                 connections: int = CONNECTIONS, head_seconds: float = HEAD_SECONDS,
                 idle_seconds: float = IDLE_SECONDS, on_stop: Callable[[], None] = lambda: None) -> None:
        """Bind `host` and `port` (0: any free one). `on_stop` is called when the server begins to stop, to end what
        would not end by itself. Raises OSError."""
        self.application = application
        self.connections = connections
        self.head_seconds = head_seconds
        self.idle_seconds = idle_seconds
        self.on_stop = on_stop
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            # Elsewhere the option lets a restart pass over lingering connections; on Windows it would let two
            # programs listen on one port.
            option = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
            self.listener.setsockopt(socket.SOL_SOCKET, option, 1)
            self.listener.bind((host, port))
            self.listener.listen(128)
        except OSError:
            self.listener.close()
            raise
        self.listener.setblocking(False)
        self.host = host
        self.port = int(self.listener.getsockname()[1])
        self.last_used = time.monotonic()
        self.stopping = False
        self._open: dict[Connection, float | None] = {}    # → since when it waits for a request; None while in one
        self._changed = threading.Condition()
        self._bell, self._rung = socket.socketpair()
        self._bell.setblocking(False)

    @property
    def url(self) -> str:
        """Where it is to be found, as `http://127.0.0.1:37777`."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def stop(self) -> None:
        """Make `run` return soon. May be called from any thread and from a signal handler, any number of times."""
        self.stopping = True
        try:
            self._bell.send(b"!")
        except OSError:
            pass  # rung already

    def in_use(self) -> bool:
        """Whether a request is being answered right now; an open event stream is one."""
        with self._changed:
            return any(since is None for since in self._open.values())

    def run(self, watch: Callable[[], bool] = lambda: True) -> None:
        """Serve until `stop`, or until `watch`, asked about twice a second, says False; then let what is under way
        finish, within a second."""
        threading.stack_size(_STACK)
        next_watch = 0.0
        while not self.stopping:
            ready, _, _ = select.select([self.listener, self._rung], [], [], _WATCH_SECONDS)
            if self.listener in ready:
                self._accept()
            if time.monotonic() >= next_watch:
                next_watch = time.monotonic() + _WATCH_SECONDS
                if not watch():
                    break
        self.stopping = True
        self.listener.close()
        self.on_stop()
        self._drain()
        self._bell.close()
        self._rung.close()

    def _accept(self) -> None:
        try:
            client, address = self.listener.accept()
        except OSError:
            return  # gone again, or no descriptor left; then the silent ones will free some
        connection = Connection(self, client, str(address[0]))
        with self._changed:
            silent = None
            if len(self._open) >= self.connections:
                silent = min((item for item in self._open.items() if item[1] is not None),
                             key=lambda item: item[1] or 0.0, default=None)
                if silent is None:  # all are busy: the newcomer has to try again
                    client.close()
                    return
            self._open[connection] = time.monotonic()
        if silent is not None:
            silent[0].hang_up()
        try:
            threading.Thread(target=connection.serve, daemon=True).start()
        except RuntimeError:  # no more threads to be had
            self.closed(connection)

    def waits(self, connection: Connection, waiting: bool) -> None:
        """Note that `connection` waits for a request to come, or is answering one."""
        with self._changed:
            if connection in self._open:
                self._open[connection] = time.monotonic() if waiting else None

    def closed(self, connection: Connection) -> None:
        """Forget `connection` and close its socket."""
        with self._changed:
            self._open.pop(connection, None)
            self._changed.notify_all()
        connection.client.close()

    def _drain(self) -> None:
        deadline = time.monotonic() + DRAIN_SECONDS
        with self._changed:
            for connection, since in self._open.items():
                if since is not None:
                    connection.hang_up()
            while self._open and self._changed.wait(max(0.0, deadline - time.monotonic())):
                pass
            for connection in self._open:
                connection.hang_up()


class Connection:
    """One client's connection: requests in, answers out, one after another."""

    def __init__(self, server: Server, client: socket.socket, address: str) -> None:
        self.server = server
        self.client = client
        self.address = address
        self.data = bytearray()    # received and not yet used

    def serve(self) -> None:
        """Answer requests until one of the two sides has enough."""
        try:
            self.client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while self._exchange() and not self.server.stopping:
                self.server.waits(self, True)
        except OSError:
            pass  # the client left, or was too slow
        finally:
            self.server.closed(self)

    def hang_up(self) -> None:
        """End the connection from another thread: a pending read or write fails at once."""
        try:
            self.client.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _exchange(self) -> bool:
        """Read one request and answer it. Returns whether the connection goes on. Raises OSError."""
        try:
            head = self._read_head()
            if head is None:
                return False
            self.server.waits(self, False)
            environ = parse_head(head)
            if environ["PATH_INFO"] not in QUIET:
                self.server.last_used = time.monotonic()
        except BadRequest as failure:
            self.refuse(failure)
            return False
        body = Body(self, int(environ.get("CONTENT_LENGTH") or 0),
                    environ.get("HTTP_EXPECT", "").lower() == "100-continue")
        environ.update({
            "SERVER_NAME": self.server.host, "SERVER_PORT": str(self.server.port), "REMOTE_ADDR": self.address,
            "wsgi.version": (1, 0), "wsgi.url_scheme": "http", "wsgi.input": body, "wsgi.errors": sys.stderr,
            "wsgi.multithread": True, "wsgi.multiprocess": False, "wsgi.run_once": False,
            "memlite.connection": self})
        answer = Answer(self, environ, body)
        try:
            parts = self.server.application(environ, answer.start)
            takeover = environ.get("memlite.takeover")
            if takeover is not None:   # a WebSocket: from here on it is no HTTP
                answer.begun = True
                takeover()
                return False
            answer.send(parts)
        except OSError:
            raise
        except Exception:  # a fault in the application itself, which answers its own errors
            traceback.print_exc()
            if answer.begun:
                return False
            answer.alone = True
            answer.send(replies.start_error(MemliteError("the worker failed", "see worker.log"), answer.start))
        if body.left:
            self._linger()
        return answer.goes_on and not body.left

    def _read_head(self) -> bytes | None:
        """The next request's head; None when the client closed instead. Raises OSError, BadRequest."""
        deadline = time.monotonic() + (self.server.idle_seconds if not self.data else self.server.head_seconds)
        while True:
            while self.data.startswith(b"\r\n"):  # RFC 9112, 2.2
                del self.data[:2]
            end = self.data.find(b"\r\n\r\n")
            failure = too_large(self.data[:end] if end >= 0 else self.data)
            if failure is not None:
                raise failure
            if end >= 0:
                head = bytes(self.data[:end])
                del self.data[:end + 4]
                return head
            fresh = not self.data
            if not self.receive(deadline):
                return None
            if fresh:
                deadline = time.monotonic() + self.server.head_seconds

    def receive(self, deadline: float) -> bool:
        """Take in what the client sends next. False when it sends no more. Raises OSError, TimeoutError."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.client.settimeout(left)
        data = self.client.recv(65536)
        self.data += data
        return bool(data)

    def transmit(self, data: bytes) -> None:
        """Send all of `data`. Raises OSError, TimeoutError when the client does not take it in time."""
        self.client.settimeout(WRITE_SECONDS)
        self.client.sendall(data)

    def refuse(self, failure: MemliteError) -> None:
        """Answer with `failure`, as the last thing on this connection. Raises OSError."""
        answer = Answer(self, {"REQUEST_METHOD": "GET"}, None)
        answer.send(replies.start_error(failure, answer.start))
        self._linger()

    def _linger(self) -> None:
        """Let the client read its answer: what it still sends, unread, would make the system cut the connection."""
        self.client.shutdown(socket.SHUT_WR)
        deadline = time.monotonic() + 1.0
        while self.receive(deadline):
            self.data.clear()
