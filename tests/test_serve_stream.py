"""Live views over real sockets: server-sent events and WebSocket."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    CloseConnection,
    Message,
    Ping,
    Pong,
    RejectConnection,
    RejectData,
    Request,
    TextMessage,
)

from memlite.paths import ensure_home
from memlite.serve import stream
from memlite.serve.app import application
from memlite.serve.calls import Worker
from memlite.serve.server import Server
from memlite.store import write
from memlite.store.database import open_database
from shop_store import BOAT, fill, observed, store


class Running:
    """A worker on a thread of this process."""

    def __init__(self, home: str) -> None:
        ensure_home(home)
        self.worker = Worker(home)
        self.server = Server(application(self.worker), "127.0.0.1", 0, on_stop=self.worker.stop)
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()

    def stop(self) -> None:
        self.server.stop()
        self.thread.join(10)
        self.worker.close()


@pytest.fixture
def running(home: str) -> Iterator[Running]:
    running = Running(home)
    yield running
    running.stop()
    assert not running.thread.is_alive()


class Listener:
    """A client of /stream."""

    def __init__(self, server: Server, path: str = "/stream", **headers: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        self.connection.request("GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()})
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.read()
        assert self.answer.headers["Content-Type"] == "text/event-stream"
        self.last_id = self._block()["id"]

    def _block(self) -> dict[str, str]:
        fields: dict[str, str] = {}
        while line := self.answer.readline().decode().rstrip("\n"):
            name, _, value = line.partition(": ")
            fields[name] = value
        return fields

    def event(self) -> tuple[str, Any]:
        """The next event: its name and data."""
        while True:
            fields = self._block()
            if "event" in fields:
                self.last_id = fields["id"]
                return fields["event"], json.loads(fields["data"])

    def close(self) -> None:
        self.answer.close()
        self.connection.close()


def test_what_another_process_stores_comes_as_an_event(running: Running, home: str) -> None:
    listener = Listener(running.server)
    store(home, observed("Lighthouse blinks", 1))
    assert listener.event()[0] == "session_start"
    name, data = listener.event()
    assert (name, data["title"], data["id"], data["project"]) == ("observation", "Lighthouse blinks", "1", "shop")
    with open_database(home) as database, database.transaction():
        write.session_ended(database, "s-shop", "logout", 5)
    name, data = listener.event()
    assert (name, data["session_id"], data["reason"]) == ("session_end", "s-shop", "logout")
    listener.close()


def test_what_was_there_before_is_not_told(running: Running, home: str) -> None:
    fill(home)
    listener = Listener(running.server)
    store(home, observed("The new one", 99))
    assert listener.event()[1]["title"] == "The new one"
    listener.close()


def test_a_listener_that_comes_back_misses_nothing_even_after_a_restart(running: Running, home: str) -> None:
    listener = Listener(running.server)
    store(home, observed("First", 1))
    listener.event()
    assert listener.event()[1]["title"] == "First"
    listener.close()
    store(home, observed("While away", 2))
    again = Listener(running.server, Last_Event_ID=listener.last_id)
    assert again.event()[1]["title"] == "While away"
    again.close()
    other = Running(home)
    try:
        after_restart = Listener(other.server, Last_Event_ID=listener.last_id)
        assert after_restart.event()[1]["title"] == "While away"
        after_restart.close()
    finally:
        other.stop()


def test_an_id_that_is_none_counts_as_no_id(running: Running, home: str) -> None:
    fill(home)
    for nonsense in ("x", "1-2-3", "-" * 200):
        listener = Listener(running.server, Last_Event_ID=nonsense)
        assert listener.last_id == "5-2-2-2-0"
        listener.close()


def test_a_project_can_be_chosen(running: Running, home: str) -> None:
    fill(home)
    boat, every = Listener(running.server, "/stream?project=boat"), Listener(running.server)
    store(home, observed("In the shop", 99))
    store(home, observed("On the boat", 100), BOAT)
    assert every.event()[1]["title"] == "In the shop"
    assert every.event()[1]["title"] == "On the boat"
    assert boat.event()[1]["title"] == "On the boat"
    boat.close()
    every.close()


def test_many_at_once_arrive_all_and_in_order(running: Running, home: str) -> None:
    listeners = [Listener(running.server) for _ in range(5)]
    with open_database(home) as database, database.transaction():
        from shop_store import SHOP

        for number in range(1000):
            assert write.store(database, observed(f"Number {number}", number), SHOP)
    for listener in listeners:
        titles = [data["title"] for name, data in (listener.event() for _ in range(1001)) if name == "observation"]
        assert titles == [f"Number {number}" for number in range(1000)]
        listener.close()


def test_a_silent_stream_beats(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "BEAT_SECONDS", 0.1)
    listener = Listener(running.server)
    assert listener.answer.readline() == b":\n"
    listener.close()


def test_stopping_ends_the_streams(running: Running, home: str) -> None:
    fill(home)
    listener = Listener(running.server)
    assert running.server.in_use()
    running.server.stop()
    assert listener.answer.read() == b""
    listener.close()


def test_listeners_that_left_are_noticed_and_nobody_watches_for_nobody(
        running: Running, home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "BEAT_SECONDS", 0.05)
    feed = running.worker.feed
    listener = Listener(running.server)
    assert (feed.listeners, feed._watcher is not None) == (1, True)
    listener.close()
    deadline = time.monotonic() + 10
    while (feed.listeners or feed._watcher is not None) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (feed.listeners, feed._watcher) == (0, None)
    again = Listener(running.server)
    store(home, observed("Still told", 1))
    assert [again.event()[0], again.event()[0]] == ["session_start", "observation"]
    again.close()


def test_there_is_room_for_so_many_listeners(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MOST_LISTENERS", 2)
    listeners = [Listener(running.server) for _ in range(2)]
    connection = http.client.HTTPConnection("127.0.0.1", running.server.port, timeout=10)
    connection.request("GET", "/stream")
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["code"]) == (503, "too_many_listeners")
    connection.close()
    for listener in listeners:
        listener.close()


def test_a_store_that_is_replaced_is_followed(running: Running, home: str) -> None:
    import os

    store(home, observed("In the old file", 1))
    listener = Listener(running.server)
    for name in os.listdir(home):
        if name.startswith("memlite.db"):
            os.rename(f"{home}/{name}", f"{home}/old-{name}")
    store(home, observed("In the new file", 2))
    store(home, observed("In the new file too", 3))
    told = [listener.event()[1].get("title")]
    while told[-1] != "In the new file too":   # the other has a number that may have been told already
        told.append(listener.event()[1].get("title"))
    assert "In the old file" not in told
    listener.close()


# ---- WebSocket

class Talk:
    """A client of /ws."""

    def __init__(self, server: Server, path: str = "/ws", **headers: str) -> None:
        self.client = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        self.protocol = WSConnection(ConnectionType.CLIENT)
        extra = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
        self.send(Request(host=f"127.0.0.1:{server.port}", target=path, extra_headers=extra))
        self.waiting: list[Any] = []
        self.opening = self.next()

    def send(self, event: Any) -> None:
        self.client.sendall(self.protocol.send(event))

    def next(self) -> Any:
        """The next event of the protocol; None at the end."""
        while not self.waiting:
            data = self.client.recv(65536)
            if not data:
                return None
            self.protocol.receive_data(data)
            self.waiting = list(self.protocol.events())
        return self.waiting.pop(0)

    def say(self, value: Any) -> None:
        self.send(TextMessage(data=value if isinstance(value, str) else json.dumps(value)))

    def hear(self) -> Any:
        """The next message, as JSON."""
        text = ""
        while True:
            event = self.next()
            if isinstance(event, Ping):
                self.send(event.response())
            if isinstance(event, Message):
                text += event.data
                if event.message_finished:
                    return json.loads(text)
            elif event is None or isinstance(event, CloseConnection):
                return event

    def close(self) -> None:
        self.client.close()


def test_events_come_over_a_websocket_too(running: Running, home: str) -> None:
    talk = Talk(running.server)
    assert isinstance(talk.opening, AcceptConnection)
    store(home, observed("Lighthouse blinks", 1))
    assert talk.hear()["event"] == "session_start"
    told = talk.hear()
    assert (told["event"], told["id"], told["data"]["title"]) == ("observation", "1-0-0-1-0", "Lighthouse blinks")
    talk.close()


def test_a_search_stays_alive(running: Running, home: str) -> None:
    fill(home)
    talk = Talk(running.server)
    talk.say({"query": "comma", "limit": 5, "obs_type": "bugfix"})
    first = talk.hear()
    assert first["event"] == "results"
    assert [item["title"] for item in first["data"]["results"]] == ["Comma in prices accepted"]
    store(home, observed("Nothing of the kind", 98, type="bugfix"))
    assert talk.hear()["data"]["title"] == "Nothing of the kind"
    store(home, observed("Another comma", 99, type="bugfix"))
    told = {message["event"]: message["data"] for message in (talk.hear(), talk.hear())}   # in either order
    assert told["observation"]["title"] == "Another comma"
    assert told["results"]["total"] == 2
    talk.say({"query": None})
    talk.say({"query": "boat"})
    assert talk.hear()["data"]["query"] == "boat"
    talk.close()


def test_after_the_search_has_ended_only_events_come(running: Running, home: str) -> None:
    fill(home)
    talk = Talk(running.server)
    talk.say({"query": "comma"})
    assert talk.hear()["event"] == "results"
    talk.say({"query": None})
    talk.say("{")   # its answer shows that what was said before has been heard
    assert talk.hear()["event"] == "error"
    store(home, observed("Another comma", 98))
    store(home, observed("Yet another comma", 99))
    assert [talk.hear()["event"] for _ in range(2)] == ["observation", "observation"]
    talk.close()


@pytest.mark.parametrize("message", ["{", "[]", "3", '{"limit": 3}', '{"query": "x", "colour": "red"}',
                                     '{"query": "x", "limit": 1000}', '{"query": {}}',
                                     '{"query": ["a"], "since": "x"}'])
def test_nonsense_is_answered_and_the_talk_goes_on(running: Running, message: str) -> None:
    talk = Talk(running.server)
    talk.say(message)
    told = talk.hear()
    assert told["event"] == "error"
    assert set(told["data"]) == {"error", "code", "hint"}
    talk.say({"query": "x"})
    assert talk.hear()["event"] == "results"
    talk.close()


def test_a_message_beyond_the_limit_ends_the_talk(running: Running) -> None:
    talk = Talk(running.server)
    talk.say({"query": "x" * 70_000})
    closed = talk.hear()
    assert (type(closed), closed.code) == (CloseConnection, 1009)
    talk.close()


def test_bytes_that_are_no_websocket_end_the_talk_and_nothing_else(running: Running, home: str) -> None:
    talk = Talk(running.server)
    talk.client.sendall(b"\xff" * 100)
    closed = talk.hear()
    assert (type(closed), closed.code) == (CloseConnection, 1002)
    talk.close()
    other = Talk(running.server)
    other.say({"query": "x"})
    assert other.hear()["event"] == "results"
    other.close()


def test_pings_are_answered_and_a_polite_end_too(running: Running) -> None:
    talk = Talk(running.server)
    talk.send(Ping(payload=b"there?"))
    answer = talk.next()
    assert (type(answer), answer.payload) == (Pong, b"there?")
    talk.send(CloseConnection(code=1000))
    assert isinstance(talk.next(), CloseConnection)
    assert talk.client.recv(1) == b""
    talk.close()


def test_stopping_says_goodbye(running: Running) -> None:
    talk = Talk(running.server)
    running.server.stop()
    closed = talk.hear()
    assert (type(closed), closed.code) == (CloseConnection, 1001)
    talk.close()


def test_a_foreign_page_gets_no_websocket(running: Running) -> None:
    for origin in ("http://evil.example", "http://localhost:3000", "null"):
        talk = Talk(running.server, Origin=origin)
        assert isinstance(talk.opening, (RejectConnection, RejectData))
        assert talk.opening.status_code == 403
        talk.close()
    own = Talk(running.server, Origin=f"http://127.0.0.1:{running.server.port}")
    assert isinstance(own.opening, AcceptConnection)
    own.close()


def test_without_an_upgrade_the_route_says_so(running: Running) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", running.server.port, timeout=10)
    for headers, status in (({}, 426), ({"Upgrade": "h2c"}, 426), ({"Upgrade": "websocket"}, 400)):
        connection.request("GET", "/ws", headers=headers)
        answer = connection.getresponse()
        assert (answer.status, set(json.loads(answer.read()))) == (status, {"error", "code", "hint"})
        connection.close()
    connection.close()


def test_conversations_that_ended_leave_no_thread(running: Running) -> None:
    earlier = set(threading.enumerate())

    def writers() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread not in earlier and "_write" in thread.name]

    talks = [Talk(running.server) for _ in range(5)]
    deadline = time.monotonic() + 20
    while len(writers()) < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    begun = len(writers())
    for talk in talks:
        talk.close()
    while (writers() or running.worker.feed.listeners) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert (begun, writers(), running.worker.feed.listeners) == (5, [], 0)
