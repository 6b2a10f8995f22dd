"""GET /ws: the events of /stream over a WebSocket, and searches that stay alive.

The client sends `{"query": …}` with any other parameter of /api/search and gets the ranked results, then again
whenever something that came in changes them; `{"query": null}` ends that. wsproto speaks the protocol (RFC 6455): it
does no input or output of its own, so the connection stays with the server's one thread for it. A second thread sends
events while the first waits for the client.
"""

from __future__ import annotations

import threading

from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Event, Message, Ping, Request, TextMessage
from wsproto.utilities import ProtocolError

from memlite import clock, jsoncodec
from memlite.errors import MemliteError, UsageError
from memlite.render import items
from memlite.search import controller
from memlite.search.parameters import SEARCH, Parameters, search_request
from memlite.serve import log
from memlite.serve.calls import Call
from memlite.serve.replies import Reply
from memlite.serve.stream import start_position, told, wanted
from memlite.store import changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.search.request import SearchRequest
    from memlite.serve.server import Connection
    from memlite.store.changes import Position

MESSAGE_LIMIT = 64 * 1024   # bytes of one message from the client
BEAT_SECONDS = 20.0         # between pings; a client that answers none of two has gone
_TOO_BIG, _GOING_AWAY, _PROTOCOL = 1009, 1001, 1002


class NoUpgrade(MemliteError):
    """The route was called by something that does not speak WebSocket."""

    code, http_status = "upgrade_required", 426


def websocket(call: Call) -> Reply:
    """The events of /stream over a WebSocket, and live searches."""
    connection = call.environ.get("memlite.connection")
    if call.environ.get("HTTP_UPGRADE", "").lower() != "websocket" or connection is None:
        raise NoUpgrade("this route speaks WebSocket only", "connect to it as ws://…/ws, or use /stream")
    conversation = Conversation(call, connection, start_position(call, call.worker.feed))
    call.environ["memlite.takeover"] = conversation.run
    return Reply(b"")


class Conversation:
    """One client's WebSocket."""

    def __init__(self, call: Call, connection: Connection, at: Position) -> None:
        self.worker = call.worker
        self.feed = call.worker.feed
        self.connection = connection
        self.at = at
        self.projects = call.parameters.listed("project")
        self.search: SearchRequest | None = None
        self.shown: list[Any] = []    # what the client knows of the search's results
        self.over = threading.Event()
        self._protocol = WSConnection(ConnectionType.SERVER)
        self._headers = [(name[5:].replace("_", "-").encode("latin-1"), value.encode("latin-1"))
                         for name, value in call.environ.items() if name.startswith("HTTP_")]
        self._sending = threading.Lock()
        self._message = ""

    def run(self) -> None:
        """Shake hands, then talk until one of the two has enough. Raises OSError."""
        try:
            self._protocol.initiate_upgrade_connection(self._headers, "/ws")
        except Exception as failure:   # h11 and wsproto have errors of their own for each kind of nonsense
            self.connection.refuse(UsageError(f"not a WebSocket handshake: {failure}"))
            return
        if not any(isinstance(event, Request) for event in self._protocol.events()):
            self.connection.refuse(UsageError("not a WebSocket handshake"))
            return
        self._send(AcceptConnection())
        self.connection.client.settimeout(2 * BEAT_SECONDS)
        with self.feed:
            writer = threading.Thread(target=self._write, daemon=True)
            writer.start()
            try:
                self._read()
            finally:
                self.over.set()
                self.feed.nudge()
                writer.join(2 * BEAT_SECONDS)

    def _send(self, event: Event) -> None:
        with self._sending:
            data = self._protocol.send(event)
            self.connection.client.sendall(data)

    def _tell(self, kind: str, data: Any, **more: Any) -> None:
        text = jsoncodec.dumps({"event": kind, **more, "data": data})
        self._send(TextMessage(data=text.encode("utf-8", "replace").decode("utf-8")))

    # ---- what comes from the client, on the connection's own thread

    def _read(self) -> None:
        data = bytes(self.connection.data)   # it may have spoken at once
        self.connection.data.clear()
        while not self.over.is_set():
            try:
                if data:
                    with self._sending:
                        self._protocol.receive_data(data)
                        events = list(self._protocol.events())
                    for event in events:
                        if not self._heard(event):
                            return
                data = self.connection.client.recv(65536)
            except ProtocolError:
                self._close(_PROTOCOL)
                return
            if not data:
                return

    def _heard(self, event: Event) -> bool:
        """Act on one event. Returns whether the conversation goes on."""
        if isinstance(event, CloseConnection):
            self._send(event.response())
            return False
        if isinstance(event, Ping):
            self._send(event.response())
        if isinstance(event, Message):
            if not isinstance(event, TextMessage) or len(self._message) + len(event.data) > MESSAGE_LIMIT:
                self._close(_TOO_BIG)
                return False
            self._message += event.data
            if event.message_finished:
                text, self._message = self._message, ""
                try:
                    self._ask(text)
                except MemliteError as failure:
                    self._tell("error", items.error(failure))
        return True

    def _ask(self, text: str) -> None:
        """Begin, change or end the live search. Raises UsageError."""
        try:
            asked = jsoncodec.loads(text)
        except ValueError as failure:
            raise UsageError(f"the message is not JSON: {failure}", "", "invalid_json") from None
        if not isinstance(asked, dict) or "query" not in asked:
            raise UsageError("the message must be an object with a query", '{"query": "login timeout", "limit": 5}')
        if asked["query"] is None:
            self.search = None
            return
        given = Parameters(asked.items(), tuple(name for name in SEARCH if name != "output"), strict=True)
        self.search, self.shown = search_request(given, now=clock.now_ms()), []
        self._answer(self.search, always=True)

    def _answer(self, request: SearchRequest, *, always: bool) -> None:
        """Send the results of the live search, if they are others than the client knows. Raises as Database."""
        with self.worker.pool.lend() as database:
            found = controller.search(database, request, semantic=self.worker.semantic)
        shown = [found.total, *(hit.record.ref for hit in found.hits)]   # scores move a little as time passes
        if always or shown != self.shown:
            self.shown = shown
            self._tell("results", items.answer(found))

    # ---- what goes to the client as things come in, on a thread beside it

    def _write(self) -> None:
        try:
            while not (self.feed.closed or self.over.is_set()):
                version = self.feed.version
                found, self.at = self.feed.after(self.at)
                for change in wanted(self.feed, found, self.projects):
                    self._tell(change.source, told(change), id=changes.written(change.position))
                if found and self.search is not None:
                    self._answer(self.search, always=False)
                if not found and not self.feed.wait(version, BEAT_SECONDS):
                    self._send(Ping())
            if self.feed.closed:
                self._close(_GOING_AWAY)
        except MemliteError as failure:
            log.say(f"/ws: {failure.message}")
        except (OSError, ProtocolError):
            pass  # the client has gone
        finally:
            self.over.set()
            self.connection.hang_up()

    def _close(self, code: int) -> None:
        try:
            self._send(CloseConnection(code=code))
        except (OSError, ProtocolError):
            pass  # it is closing already
