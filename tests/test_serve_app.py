"""The routes at the WSGI level, without sockets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from webtest import TestApp

from memlite.model import SAVED, Observation, Project, Session
from memlite.serve.app import application
from memlite.serve.calls import Worker
from memlite.store import write
from memlite.store.database import open_database

SESSION = Session(session_id="s-1", project=Project(root="/r/shop", name="shop"))


def remember(home: str, *titles: str) -> None:
    with open_database(home) as database, database.transaction():
        for number, title in enumerate(titles):
            record = Observation(title=title, narrative=f"All about {title}", type="bugfix", origin=SAVED,
                                 created_at_epoch=1_780_000_000_000 + number)
            assert write.store(database, record, SESSION)


@pytest.fixture
def app(home: str) -> Iterator[TestApp]:
    worker = Worker(home)
    yield TestApp(application(worker), extra_environ={"HTTP_HOST": "127.0.0.1:37777", "SERVER_PORT": "37777"})
    worker.close()


def test_health_says_which_worker_it_is_and_what_is_stored(app: TestApp, home: str) -> None:
    remember(home, "Lighthouse blinks", "Harbour floods")
    told = app.get("/health").json
    assert told["status"] == "ok"
    assert {"version", "commit", "pid", "uptime_seconds"} <= set(told)
    assert told["counts"]["observation"] == 2
    assert app.get("/api/health").json["counts"] == told["counts"]


def test_without_a_store_answers_are_empty(app: TestApp) -> None:
    assert app.get("/health").json["counts"] == {}
    found = app.get("/api/search?query=lighthouse").json
    assert (found["count"], found["total"], found["results"]) == (0, 0, [])


def test_a_store_that_appears_later_is_found(app: TestApp, home: str) -> None:
    assert app.get("/api/search?query=lighthouse").json["count"] == 0
    remember(home, "Lighthouse blinks")
    assert app.get("/api/search?query=lighthouse").json["count"] == 1


def test_search_finds_and_says_how(app: TestApp, home: str) -> None:
    remember(home, "Lighthouse blinks", "Harbour floods")
    found = app.get("/api/search", {"query": "lighthouse", "limit": "5"}).json
    assert [item["title"] for item in found["results"]] == ["Lighthouse blinks"]
    assert (found["limit"], found["search"]["used"]) == (5, "keyword")
    assert app.get("/api/search", {"q": "lighthouse", "project": "elsewhere"}).json["count"] == 0
    assert app.get("/api/search", {"q": "lighthouse", "project": "shop"}).json["count"] == 1


def test_every_api_route_answers_under_v1_too(app: TestApp, home: str) -> None:
    remember(home, "Lighthouse blinks")
    assert app.get("/api/v1/search?q=lighthouse").json == app.get("/api/search?q=lighthouse").json


def test_markdown_by_parameter_and_by_accept_header(app: TestApp, home: str) -> None:
    remember(home, "Lighthouse blinks")
    by_parameter = app.get("/api/search?q=lighthouse&output=markdown")
    by_header = app.get("/api/search?q=lighthouse", headers={"Accept": "text/markdown"})
    assert by_parameter.content_type == by_header.content_type == "text/markdown"
    assert by_parameter.text == by_header.text
    assert "Lighthouse blinks" in by_parameter.text
    mcp = app.get("/api/search?q=lighthouse&output=mcp").json
    assert mcp == [{"type": "text", "text": by_parameter.text}]


@pytest.mark.parametrize(("path", "status", "code"), [
    ("/api/search?q=x&colour=red", 400, "unknown_parameter"),
    ("/api/search?q=x&limit=0", 400, "invalid_parameter"),
    ("/api/search?" + "q=x&" * 300, 400, "invalid_parameter"),
    ("/nowhere", 404, "no_such_route"),
])
def test_errors_have_one_form(app: TestApp, path: str, status: int, code: str) -> None:
    answer = app.get(path, status=status)
    assert answer.content_type == "application/json"
    assert set(answer.json) == {"error", "code", "hint"}
    assert answer.json["code"] == code


def test_the_unknown_parameter_is_named(app: TestApp) -> None:
    assert "colour" in app.get("/api/search?colour=red", status=400).json["error"]


def test_a_wrong_method_is_told_the_right_one(app: TestApp) -> None:
    answer = app.put_json("/api/search", {}, status=405)
    assert answer.json["code"] == "method_not_allowed"
    assert "GET" in answer.headers["Allow"]


def test_a_damaged_store_is_an_error_with_a_way_out(app: TestApp, home: str) -> None:
    remember(home, "Lighthouse blinks")
    with open(f"{home}/memlite.db", "r+b") as file:
        file.write(b"x" * 100)
    answer = app.get("/api/search?q=lighthouse", status=503)
    assert answer.json["code"] == "store_damaged"
    assert answer.json["hint"]
