"""Over real sockets: what a web page of another origin, or a name that was made to point here, gets from each route."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from api_table import CASES, COVERED, EVENTS, WRITING, Case
from memlite.serve import access_token
from shop_store import fill
from worker_process import WorkerProcess

FOREIGN = {
    "another site": {"Origin": "https://evil.example"},
    "no origin to speak of": {"Origin": "null"},
    "another port of this machine": {"Origin": "http://localhost:3000"},
    "this machine by its other name": {"Origin": "http://localhost:{port}"},
    "this address by https": {"Origin": "https://127.0.0.1:{port}"},
    "a request from another site": {"Sec-Fetch-Site": "cross-site"},
    "a request from another port": {"Sec-Fetch-Site": "same-site"},
    "a page that was sent here": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
}
OWN = {
    "a program": {},
    "the worker's own page": {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"},
    "an address typed by hand": {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"},
}
WRONG_HOSTS = ("evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}",
               "localhost.evil.example:{port}", "192.168.1.5:{port}", "0.0.0.0:{port}", "")
RIGHT_HOSTS = ("127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}")
# The first good request to each route; those that change something last.
GOOD = {(case.route, case.method): case for case in reversed((*CASES, *WRITING))
        if (case.status < 400 or case.route == "/ws") and case.headers == ()}
READING = [case for key, case in GOOD.items() if key[1] == "GET" or key[0].endswith("/batch")]
CHANGING = [case for key, case in GOOD.items() if case not in READING]


def request(worker: WorkerProcess, case: Case, host: str = "127.0.0.1:{port}", token: str = "", **headers: str
            ) -> tuple[int, dict[str, str], bytes]:
    """(status, headers, body) of `case`, sent on a connection of its own with these headers."""
    port = str(worker.address[1])
    connection = worker.connect()
    connection.putrequest(case.method, case.target, skip_host=True, skip_accept_encoding=True)
    connection.putheader("Host", host.replace("{port}", port))
    for name, value in headers.items():
        connection.putheader(name, value.replace("{port}", port))
    if token:
        connection.putheader("Authorization", f"Bearer {token}")
    if case.body is not None:
        connection.putheader("Content-Type", case.kind)
        connection.putheader("Content-Length", str(len(case.body)))
    connection.endheaders(case.body)
    answer = connection.getresponse()
    stream = answer.status == 200 and (answer.getheader("Content-Type") or "").startswith(EVENTS)
    body = b"" if stream else answer.read()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, body
    connection.close()
    return found


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    """A worker over the small store."""
    home = str(tmp_path_factory.mktemp("foreign") / "home")
    fill(home)
    with WorkerProcess(home) as running:
        running.token = access_token.ensure(home)   # type: ignore[attr-defined]
        yield running


def refused(found: tuple[int, dict[str, str], bytes], status: int, code: str) -> None:
    assert found[0] == status
    assert json.loads(found[2])["code"] == code
    assert not [name for name in found[1] if name.startswith("access-control-")]


def test_every_route_is_here() -> None:
    assert set(GOOD) == COVERED
    assert len(READING) + len(CHANGING) == len(COVERED)


@pytest.mark.parametrize("who", FOREIGN)
def test_a_foreign_page_is_refused_on_every_route_even_with_the_token(worker: WorkerProcess, who: str) -> None:
    for case in (*READING, *CHANGING):
        token = worker.token   # type: ignore[attr-defined]
        refused(request(worker, case, token=token, **FOREIGN[who]), 403, "foreign_origin")


@pytest.mark.parametrize("host", WRONG_HOSTS)
def test_a_name_that_was_made_to_point_here_is_misdirected_on_every_route(worker: WorkerProcess, host: str) -> None:
    for case in (*READING, *CHANGING):
        token = worker.token   # type: ignore[attr-defined]
        refused(request(worker, case, host, token), 421, "wrong_host")


@pytest.mark.parametrize("who", OWN)
def test_who_sits_here_reads_every_route_without_a_cors_header(worker: WorkerProcess, who: str) -> None:
    for case in READING:
        status, headers, _ = request(worker, case, **OWN[who])
        assert status == case.status, case
        assert not [name for name in headers if name.startswith("access-control-")]


@pytest.mark.parametrize("host", RIGHT_HOSTS)
def test_every_loopback_name_with_the_port_reaches_every_route(worker: WorkerProcess, host: str) -> None:
    for case in READING:
        assert request(worker, case, host)[0] == case.status, case


def test_a_browser_that_asks_first_is_not_told_that_it_may(worker: WorkerProcess) -> None:
    for case in (*READING, *CHANGING):
        ask = case._replace(method="OPTIONS", body=None)
        refused(request(worker, ask, Origin="https://evil.example"), 403, "foreign_origin")
        assert request(worker, ask)[0] == 405


def test_what_changes_something_still_works_with_the_token(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    fill(home)
    token = access_token.ensure(home)
    with WorkerProcess(home) as own:
        before = own.get("/api/stats")["database"]
        for case in CHANGING:
            for headers in FOREIGN.values():
                assert request(own, case, token=token, **headers)[0] == 403
            refused(request(own, case), 403, "token_required")
        after = own.get("/api/stats")["database"]
        assert {name: after[name] for name in ("observations", "summaries", "prompts")} == {
            name: before[name] for name in ("observations", "summaries", "prompts")}
        for case in CHANGING:
            assert request(own, case, token=token, **OWN["the worker's own page"])[0] == case.status, case
        assert own.get("/api/stats")["database"]["prompts"] == before["prompts"] - 1


def test_reading_needs_the_token_on_every_route_when_that_is_wished(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    fill(home)
    token = access_token.ensure(home)
    with WorkerProcess(home, MEMLITE_REQUIRE_TOKEN="1") as own:
        for case in READING:
            refused(request(own, case), 403, "token_required")
            assert request(own, case, token=token)[0] == case.status, case


def test_two_hosts_are_no_host(worker: WorkerProcess) -> None:
    """Whoever stands between could take one and the worker the other."""
    port = worker.address[1]
    connection = http.client.HTTPConnection(*worker.address, timeout=10)
    connection.putrequest("GET", "/health", skip_host=True)
    connection.putheader("Host", f"127.0.0.1:{port}")
    connection.putheader("Host", "evil.example")
    connection.endheaders()
    assert connection.getresponse().status == 400
    connection.close()
