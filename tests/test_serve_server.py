"""The HTTP server by itself, over real sockets, with a small application behind it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from memlite.serve.request_head import HEADER_COUNT, HEADERS_LIMIT, URL_LIMIT
from memlite.serve.server import Server

FINISH = threading.Event


def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
    """Echoes what it was asked; /body reads, /stream streams, /fault fails, /wait waits for a word of the test."""
    path = environ["PATH_INFO"]
    if path == "/fault":
        raise RuntimeError("on purpose")
    if path == "/refuse":
        start("413 Content Too Large", [("Content-Type", "text/plain")])
        return [b"no"]
    if path == "/stream":
        start("200 OK", [("Content-Type", "text/plain")])
        return iter([b"one ", b"two ", b"three"])
    if path == "/wait":
        environ["wsgi.input"].connection.server.test_words.get("go").wait(5)
    body = environ["wsgi.input"].read() if path == "/body" else b""
    told = {key: value for key, value in environ.items() if isinstance(value, str)}
    start("200 OK", [("Content-Type", "application/json")])
    return [json.dumps({**told, "body": body.decode()}).encode()]


Start = Callable[..., Server]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts servers on free ports; all are stopped at the end."""
    running: list[tuple[Server, threading.Thread]] = []

    def begin(**options: Any) -> Server:
        server = Server(application, "127.0.0.1", 0, **options)
        server.test_words = {"go": threading.Event()}  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.run)
        thread.start()
        running.append((server, thread))
        return server

    yield begin
    for server, thread in running:
        server.test_words["go"].set()  # type: ignore[attr-defined]
        server.stop()
        thread.join(10)
        assert not thread.is_alive()


def connect(server: Server) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)


def ask(connection: http.client.HTTPConnection, path: str, method: str = "GET", **how: Any) -> tuple[int, bytes]:
    connection.request(method, path, **how)
    answer = connection.getresponse()
    return answer.status, answer.read()


def raw(server: Server, data: bytes) -> bytes:
    """Everything the server sends in answer to `data` until it closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall(data)
        received = b""
        while part := client.recv(65536):
            received += part
        return received


def test_a_connection_is_kept_alive(start: Start) -> None:
    connection = connect(start())
    assert ask(connection, "/a")[0] == 200
    first = connection.sock
    assert ask(connection, "/b")[0] == 200
    assert connection.sock is first
    connection.close()


def test_http_1_0_and_connection_close_end_the_connection(start: Start) -> None:
    server = start()
    assert b"Connection: close" in raw(server, b"GET / HTTP/1.0\r\n\r\n")
    assert b"Connection: close" in raw(server, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")


def test_path_query_and_headers_arrive(start: Start) -> None:
    connection = connect(start())
    told = json.loads(ask(connection, "/caf%C3%A9?q=1%202", headers={"X-Thing": "a"})[1])
    assert told["PATH_INFO"].encode("latin-1").decode() == "/café"
    assert (told["QUERY_STRING"], told["HTTP_X_THING"], told["REMOTE_ADDR"]) == ("q=1%202", "a", "127.0.0.1")
    connection.close()


def test_a_header_with_an_underscore_can_not_pose_as_another(start: Start) -> None:
    server = start()
    told = json.loads(raw(server, b"GET / HTTP/1.0\r\nX_Thing: forged\r\nX-Other: real\r\n\r\n").split(b"\r\n\r\n")[1])
    assert "HTTP_X_THING" not in told
    assert told["HTTP_X_OTHER"] == "real"


def test_a_body_is_read_to_its_length_and_not_beyond(start: Start) -> None:
    answer = raw(start(), b"POST /body HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"
                          b"GET /next HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert b'"body": "hello"' in answer
    assert b'"PATH_INFO": "/next"' in answer


def test_a_client_that_waits_for_a_word_gets_it_before_its_body_is_read(start: Start) -> None:
    server = start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall(b"POST /body HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n")
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"hi")
        received = b""
        while part := client.recv(65536):
            received += part
    assert b'"body": "hi"' in received


def test_a_refused_body_is_not_read_and_the_answer_arrives(start: Start) -> None:
    head = b"POST /refuse HTTP/1.1\r\nContent-Length: 300000\r\n\r\n"
    answer = raw(start(), head + b"x" * 300_000)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert answer.endswith(b"no")
    assert b"Connection: close" in answer


def test_a_stream_arrives_whole_and_ends_with_its_connection(start: Start) -> None:
    answer = raw(start(), b"GET /stream HTTP/1.1\r\n\r\n")
    assert answer.endswith(b"\r\n\r\none two three")
    assert b"Content-Length" not in answer


def test_head_has_no_body(start: Start) -> None:
    answer = raw(start(), b"HEAD /a HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert b"Content-Length: " in answer
    assert answer.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(("request_bytes", "status"), [
    (b"nonsense\r\n\r\n", 400),
    (b"GET / HTTP/3.0\r\n\r\n", 400),
    (b"GET http://elsewhere/ HTTP/1.1\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nContent-Length: 1_0\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
    (b"GET /" + b"a" * URL_LIMIT + b" HTTP/1.1\r\n\r\n", 414),
    (b"G" * (URL_LIMIT + 10), 414),
    (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * (HEADER_COUNT + 1) + b"\r\n", 431),
    (b"GET / HTTP/1.1\r\nA: " + b"a" * HEADERS_LIMIT + b"\r\n\r\n", 431),
], ids=lambda value: repr(value[:30]) if isinstance(value, bytes) else str(value))
def test_what_is_no_proper_request_is_refused_in_json(start: Start, request_bytes: bytes, status: int) -> None:
    head, _, body = raw(start(), request_bytes).partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert set(json.loads(body)) == {"error", "code", "hint"}


def test_a_long_url_and_many_headers_within_bounds_are_served(start: Start) -> None:
    connection = connect(start())
    headers = {f"X-{number}": "b" for number in range(HEADER_COUNT - 10)}
    assert ask(connection, "/" + "a" * (URL_LIMIT - 100), headers=headers)[0] == 200
    connection.close()


def test_a_fault_of_the_application_is_a_500_and_the_next_request_is_served(
        start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    server = start()
    connection = connect(server)
    status, body = ask(connection, "/fault")
    assert (status, set(json.loads(body))) == (500, {"error", "code", "hint"})
    assert ask(connection, "/a")[0] == 200
    connection.close()
    assert "on purpose" in capsys.readouterr().err


def test_a_client_that_sends_a_byte_at_a_time_is_cut_off_and_stalls_nobody(start: Start) -> None:
    server = start(head_seconds=0.5)
    slow = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(20)]
    begun = time.monotonic()
    ended = False
    while not ended and time.monotonic() < begun + 8:
        for client in slow[:3]:
            try:
                client.sendall(b"G")
            except OSError:
                ended = True
        connection = connect(server)
        assert ask(connection, "/a")[0] == 200
        connection.close()
        time.sleep(0.05)
    assert ended
    for client in slow:
        client.close()


def test_the_connection_that_was_silent_longest_makes_room_for_a_new_one(start: Start) -> None:
    server = start(connections=3)
    silent = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(3)]
    time.sleep(0.2)   # all three are accepted, in this order
    connection = connect(server)
    assert ask(connection, "/a")[0] == 200
    assert silent[0].recv(1) == b""
    silent[2].sendall(b"GET /c HTTP/1.0\r\n\r\n")
    assert silent[2].recv(8) == b"HTTP/1.1"
    connection.close()
    for client in silent:
        client.close()


def test_stopping_closes_silent_connections_and_lets_an_answer_under_way_arrive(start: Start) -> None:
    server = start()
    silent = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    busy = connect(server)
    busy.request("GET", "/wait")
    time.sleep(0.2)
    server.stop()
    assert silent.recv(1) == b""
    server.test_words["go"].set()  # type: ignore[attr-defined]
    answer = busy.getresponse()
    assert answer.status == 200
    assert json.loads(answer.read())["PATH_INFO"] == "/wait"
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port), timeout=1)
    silent.close()
    busy.close()


def test_being_asked_for_health_is_no_use(start: Start) -> None:
    server = start()
    before = server.last_used
    connection = connect(server)
    time.sleep(0.01)
    ask(connection, "/health")
    assert server.last_used == before
    ask(connection, "/api/search")
    assert server.last_used > before
    connection.close()


def test_two_servers_can_not_have_one_port(start: Start) -> None:
    server = start()
    with pytest.raises(OSError):
        Server(application, "127.0.0.1", server.port)
