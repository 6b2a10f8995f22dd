"""The guard at the WSGI level: what passes and, beside it, what does not."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from webtest import TestApp

from memlite.errors import HomeUnusable
from memlite.paths import ensure_home
from memlite.serve import access_token
from memlite.serve.guard import BODY_LIMIT, BURST, RATE, Guard, Rates, Refused, check_json, check_size, is_loopback
from memlite.serve.replies import start_error

PORT = "37777"
HERE = {"HTTP_HOST": f"127.0.0.1:{PORT}", "SERVER_PORT": PORT, "REMOTE_ADDR": "127.0.0.1"}


def inner(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
    """The application behind: whoever reaches it gets 200, with JSON where a route would want it."""
    try:
        check_json(environ)
    except Refused as failure:
        return start_error(failure, start)
    start("200 OK", [("Content-Type", "text/plain")])
    return [b"reached"]


Make = Callable[..., TestApp]


@pytest.fixture
def guarded(home: str) -> Iterator[Make]:
    """Makes an application behind a guard."""
    ensure_home(home)
    access_token.ensure(home)

    def make(**options: Any) -> TestApp:
        return TestApp(Guard(inner, home, **options), extra_environ=HERE)

    yield make


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT"])
@pytest.mark.parametrize("host", [
    "evil.example", f"evil.example:{PORT}", "127.0.0.1", "localhost", "127.0.0.1:80", f"127.0.0.1:{PORT}0",
    f"127.0.0.1.evil.example:{PORT}", f"localhost.evil.example:{PORT}", f"evil@localhost:{PORT}", f"[::2]:{PORT}",
    f"localhost.:{PORT}", f"192.168.1.5:{PORT}", "", ":", f":{PORT}", f"[::1:{PORT}", f"127.0.0.1:{PORT}:{PORT}"])
def test_another_host_is_misdirected_whatever_the_method_and_path(guarded: Make, host: str, method: str) -> None:
    for path in ("/", "/health", "/api/search?q=x", "/nowhere"):
        answer = guarded().request(path, method=method, environ={**HERE, "HTTP_HOST": host}, status=421)
        assert method == "HEAD" or set(answer.json) == {"error", "code", "hint"}


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
def test_a_loopback_name_with_the_port_passes(guarded: Make, host: str) -> None:
    assert guarded().get("/", extra_environ={"HTTP_HOST": host}).text == "reached"


def test_the_port_may_be_left_out_only_where_it_is_80(guarded: Make) -> None:
    guarded().get("/", extra_environ={"HTTP_HOST": "localhost", "SERVER_PORT": "80"}, status=200)
    guarded().get("/", extra_environ={"HTTP_HOST": "localhost"}, status=421)


@pytest.mark.parametrize("headers", [
    {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": ""}, {"Origin": "http://localhost:3000"},
    {"Origin": f"http://localhost:{PORT}"},    # the same machine by another name is another origin
    {"Origin": f"https://127.0.0.1:{PORT}"}, {"Origin": f"http://127.0.0.1:{PORT}.evil.example"},
    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "anything"},
    {"Origin": f"http://127.0.0.1:{PORT}", "Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}], ids=str)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_what_a_foreign_page_caused_is_refused(guarded: Make, headers: dict[str, str], method: str) -> None:
    answer = guarded().request("/api/search", method=method, headers=headers, status=403,
                               content_type="application/json")
    assert answer.json["code"] == "foreign_origin"
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


@pytest.mark.parametrize("headers", [
    {}, {"Origin": f"http://127.0.0.1:{PORT}"}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"},
    {"Origin": f"http://127.0.0.1:{PORT}", "Sec-Fetch-Site": "same-origin"}], ids=str)
def test_the_own_page_and_programs_pass(guarded: Make, headers: dict[str, str]) -> None:
    answer = guarded().get("/", headers=headers)
    assert answer.text == "reached"
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "",
                                  "application/jsonp", "text/json"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_unsafe_methods_need_json(guarded: Make, method: str, kind: str) -> None:
    environ = {**HERE, "CONTENT_TYPE": kind, "CONTENT_LENGTH": "2"}
    guarded().request("/", method=method, body=b"{}", environ=environ, status=415)
    for right in ("application/json", "application/json; charset=utf-8", "Application/JSON"):
        guarded().request("/", method=method, body=b"{}", environ={**environ, "CONTENT_TYPE": right}, status=200)


def test_a_delete_without_body_needs_no_type(guarded: Make) -> None:
    guarded().delete("/", status=200)
    guarded().post("/", status=415)


def test_a_body_beyond_the_limit_is_refused_by_its_length(guarded: Make) -> None:
    environ = {**HERE, "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(BODY_LIMIT + 1)}
    assert guarded().request("/", method="POST", environ=environ, status=413).json["code"] == "body_too_large"
    environ["CONTENT_LENGTH"] = str(BODY_LIMIT)
    guarded().request("/", method="POST", environ=environ, status=200)
    with pytest.raises(Refused) as refused:
        check_size({**environ, "REQUEST_METHOD": "POST", "CONTENT_LENGTH": "nonsense"})
    assert refused.value.http_status == 400


def test_reading_needs_the_token_when_that_is_wished(guarded: Make, home: str) -> None:
    app = guarded(require_token=True)
    token = access_token.read(home)
    assert token is not None
    assert app.get("/", status=403).json["code"] == "token_required"
    assert app.get("/", headers={"X-Memlite-Token": token[:-1] + "x"}, status=403).json["code"] == "token_wrong"
    assert app.get("/", headers={"Authorization": f"Basic {token}"}, status=403).json["code"] == "token_required"
    app.get("/", headers={"Authorization": f"Bearer {token}"}, status=200)
    app.get("/", headers={"X-Memlite-Token": token}, status=200)
    guarded().get("/", status=200)


def test_a_token_of_odd_characters_is_wrong_not_a_fault(guarded: Make) -> None:
    guarded(require_token=True).get("/", headers={"X-Memlite-Token": "\xe9\xff"}, status=403)


def test_a_replaced_token_counts_at_once(guarded: Make, home: str) -> None:
    app = guarded(require_token=True)
    old = access_token.read(home)
    os.remove(access_token.path_of(home))
    new = access_token.ensure(home)
    assert new != old
    app.get("/", headers={"X-Memlite-Token": str(old)}, status=403)
    app.get("/", headers={"X-Memlite-Token": new}, status=200)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5"])
def test_beyond_loopback_everything_needs_the_token(guarded: Make, home: str, host: str) -> None:
    app = guarded(host=host)
    token = str(access_token.read(home))
    for name in (f"192.168.1.5:{PORT}", f"127.0.0.1:{PORT}", f"{socket.gethostname()}:{PORT}", f"[fe80::1]:{PORT}"):
        app.get("/", extra_environ={"HTTP_HOST": name}, status=403)
        app.get("/", extra_environ={"HTTP_HOST": name}, headers={"X-Memlite-Token": token}, status=200)
    app.get("/", extra_environ={"HTTP_HOST": f"evil.example:{PORT}"}, headers={"X-Memlite-Token": token}, status=421)


def test_beyond_loopback_an_address_has_so_many_requests_a_second(guarded: Make, home: str) -> None:
    now = [100.0]
    app = guarded(host="0.0.0.0", clock=lambda: now[0])
    headers = {"X-Memlite-Token": str(access_token.read(home))}
    far = {"REMOTE_ADDR": "192.168.1.9"}
    for _ in range(int(BURST)):
        app.get("/", headers=headers, extra_environ=far, status=200)
    answer = app.get("/", headers=headers, extra_environ=far, status=429)
    assert answer.headers["Retry-After"] == "1"
    assert answer.json["code"] == "too_many_requests"
    app.get("/", headers=headers, extra_environ={"REMOTE_ADDR": "192.168.1.10"}, status=200)
    app.get("/", headers=headers, extra_environ={"REMOTE_ADDR": "127.0.0.1"}, status=200)
    now[0] += 1.0
    for _ in range(int(RATE)):
        app.get("/", headers=headers, extra_environ=far, status=200)
    app.get("/", headers=headers, extra_environ=far, status=429)


def test_on_loopback_nobody_counts(guarded: Make) -> None:
    app = guarded(clock=lambda: 100.0)
    for _ in range(int(BURST) * 2):
        app.get("/", status=200)


def test_the_counts_of_many_addresses_are_bounded() -> None:
    now = [0.0]
    rates = Rates(lambda: now[0])
    for number in range(5000):
        now[0] += 0.01
        rates.count(f"10.0.{number // 256}.{number % 256}")
    assert len(rates._buckets) <= 1001
    for _ in range(int(BURST) - 1):
        rates.count("10.0.19.135")
    with pytest.raises(Refused):
        rates.count("10.0.19.135")


@pytest.mark.parametrize(("address", "loopback"), [
    ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("::ffff:127.0.0.1", True),
    ("0.0.0.0", False), ("::", False), ("192.168.1.5", False), ("127.0.0.1.evil.example", False), ("", False)])
def test_which_addresses_stay_on_this_machine(address: str, loopback: bool) -> None:
    assert is_loopback(address) is loopback


def test_every_answer_keeps_memories_out_of_caches_and_frames(guarded: Make) -> None:
    for answer in (guarded().get("/"), guarded().get("/", extra_environ={"HTTP_HOST": "evil.example"}, status=421)):
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


def test_the_token_is_64_digits_in_a_private_file_and_stays(home: str) -> None:
    ensure_home(home)
    os.umask(previous := os.umask(0))
    try:
        os.umask(0)
        token = access_token.ensure(home)
    finally:
        os.umask(previous)
    assert len(bytes.fromhex(token)) == 32
    assert stat.S_IMODE(os.stat(access_token.path_of(home)).st_mode) == 0o600
    assert access_token.ensure(home) == token
    assert os.listdir(home) == ["token"]


def test_a_token_that_others_could_read_is_replaced(home: str) -> None:
    ensure_home(home)
    known = access_token.ensure(home)
    os.chmod(access_token.path_of(home), 0o644)
    assert access_token.read(home) is None
    assert access_token.ensure(home) != known
    assert stat.S_IMODE(os.stat(access_token.path_of(home)).st_mode) == 0o600


def test_a_linked_token_is_not_followed(home: str, tmp_path: Any) -> None:
    ensure_home(home)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("a" * 64)
    elsewhere.chmod(0o600)
    os.symlink(elsewhere, access_token.path_of(home))
    for use in (access_token.read, access_token.ensure):
        with pytest.raises(HomeUnusable, match="symbolic link"):
            use(home)
    app = TestApp(Guard(inner, home, require_token=True), extra_environ=HERE)
    app.get("/", headers={"X-Memlite-Token": "a" * 64}, status=503)
    os.remove(access_token.path_of(home))
    os.replace(elsewhere, access_token.path_of(home))
    app.get("/", headers={"X-Memlite-Token": "a" * 64}, status=200)


@pytest.mark.parametrize("content", ["", "short", "g" * 64, "A" * 64, "a" * 63, "a" * 65])
def test_a_token_of_another_shape_is_replaced(home: str, content: str) -> None:
    ensure_home(home)
    path = access_token.path_of(home)
    with open(path, "w", encoding="ascii", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)
    assert access_token.read(home) is None
    assert len(access_token.ensure(home)) == 64
