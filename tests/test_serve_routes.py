"""Every route: what it answers, and that the API's description says so."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from webtest import TestApp

from json_schema import faults
from memlite.search.parameters import SPELLINGS
from memlite.serve import access_token
from memlite.serve.app import application
from memlite.serve.calls import Worker
from memlite.serve.routes import ROUTES
from memlite.serve.schemas import PARAMETERS, SCHEMAS
from shop_store import BEGIN, fill

HERE = {"HTTP_HOST": "127.0.0.1:37777", "SERVER_PORT": "37777"}


@pytest.fixture
def empty(home: str) -> Iterator[TestApp]:
    """An application over no store."""
    worker = Worker(home)
    yield TestApp(application(worker), extra_environ=HERE)
    worker.close()


@pytest.fixture
def app(empty: TestApp, home: str) -> TestApp:
    """An application over the store of `fill`."""
    fill(home)
    return empty


@pytest.fixture
def token(app: TestApp, home: str) -> dict[str, str]:
    """The header that allows writing."""
    return {"Authorization": f"Bearer {access_token.ensure(home)}"}


def titles(answer: Any) -> list[str]:
    return [item["title"] for item in answer.json["results"]]


# ---- the unified routes

def test_search_ranks_all_kinds_together(app: TestApp) -> None:
    found = app.get("/api/search?query=prices comma").json
    assert {item["kind"] for item in found["results"]} == {"observation", "summary", "prompt"}
    assert found["results"][0]["score"] == 1
    assert {"S1", "P1"} <= {item["id"] for item in found["results"]}


def test_the_ready_made_searches_find_their_own(app: TestApp) -> None:
    assert titles(app.get("/api/decisions")) == ["Keep prices as integers of cents"]
    assert titles(app.get("/api/changes")) == ["Price column renamed"]
    assert titles(app.get("/api/how-it-works")) == ["Prices are parsed with float"]
    assert titles(app.get("/api/decisions?project=boat")) == []
    assert titles(app.get("/api/decisions?query=cents")) == ["Keep prices as integers of cents"]
    assert app.get("/api/decisions?type=bugfix", status=400).json["code"] == "unknown_parameter"


def test_a_timeline_holds_what_was_before_and_after(app: TestApp) -> None:
    found = app.get("/api/timeline?anchor=3&depth_before=1&depth_after=2").json
    assert [item["id"] for item in found["timeline"]] == ["2", "3", "S1", "4"]
    by_query = app.get("/api/timeline?query=cents&depth_before=0&depth_after=0").json
    assert by_query["match"]["id"] == by_query["anchor"] == "3"
    assert app.get("/api/timeline?anchor=99", status=404).json["error"] == "Observation #99 not found"
    app.get("/api/timeline", status=400)
    app.get("/api/timeline?anchor=3&query=x", status=400)


def test_contextualize_puts_together_where_things_stand(app: TestApp) -> None:
    found = app.get("/api/contextualize?project=shop").json
    assert set(found["newest"]) == {"decision", "change", "how_it_works"}
    moments = [item["created_at_epoch"] for item in found["timeline"]]
    assert moments == sorted(moments, reverse=True)
    assert "Newest decision" in app.get("/api/contextualize?output=markdown").text


# ---- single memories

def test_records_by_id_are_whole(app: TestApp) -> None:
    found = app.get("/api/observation/2").json
    assert (found["id"], found["title"], found["facts"]) == ("2", "Comma in prices accepted", ["4 tests pass"])
    assert app.get("/api/session/1").json["request"] == app.get("/api/session/S1").json["request"] \
        == "Prices with a comma crash"
    assert app.get("/api/prompt/P2").json["text"] == "Does the boat float?"
    assert "Comma in prices accepted" in app.get("/api/observation/2?output=markdown").text


@pytest.mark.parametrize(("path", "status"), [
    ("/api/observation/99", 404), ("/api/session/99", 404), ("/api/prompt/P99", 404), ("/api/observation/S1", 400),
    ("/api/session/P1", 400), ("/api/observation/x", 400), ("/api/observation/1e3", 400), ("/api/observation/%00", 400),
    ("/api/observation/-1", 400), ("/api/observation/99999999999999999999999", 400), ("/api/observation/", 404)])
def test_ids_that_are_none_or_not_there(app: TestApp, path: str, status: int) -> None:
    assert set(app.get(path, status=status).json) == {"error", "code", "hint"}


def test_a_batch_keeps_the_order_asked_for_and_leaves_out_the_unknown(app: TestApp) -> None:
    found = app.post_json("/api/observations/batch", {"ids": [3, "S1", 99, "P2", "1", 3]}).json
    assert [item["id"] for item in found] == ["3", "S1", "P2", "1"]


@pytest.mark.parametrize("body", [{}, {"ids": "3"}, {"ids": [True]}, {"ids": [1.5]}, {"ids": [{}]}, {"ids": ["x"]},
                                  {"ids": [1], "more": 1}, {"ids": [1] * 101}, [], 3, None])
def test_a_batch_of_nonsense_is_refused(app: TestApp, body: Any) -> None:
    answer = app.post_json("/api/observations/batch", body, status=400)
    assert set(answer.json) == {"error", "code", "hint"}


def test_a_body_that_is_no_json_is_refused(app: TestApp) -> None:
    for body in (b"", b"{", b"\xff\xfe", b"[" * 5000):
        answer = app.post("/api/observations/batch", body, content_type="application/json", status=400)
        assert answer.json["code"] == "invalid_json"


def test_what_is_saved_is_found_once(app: TestApp, token: dict[str, str]) -> None:
    saved = app.post_json("/api/memory/save", {"text": "We chose the lighthouse protocol.\nIt blinks.",
                                               "project": "shop", "type": "decision", "concepts": ["trade-off"]},
                          headers=token, status=201).json
    assert (saved["success"], saved["title"], saved["project"]) == (True, "We chose the lighthouse protocol.", "shop")
    record = app.get(f"/api/observation/{saved['id']}").json
    assert (record["origin"], record["project"], record["type"]) == ("saved", "shop", "decision")
    assert app.get("/api/search?query=lighthouse").json["total"] == 1
    again = app.post_json("/api/memory/save", {"text": "We chose the lighthouse protocol.\nIt blinks.",
                                               "project": "shop"}, headers=token, status=200).json
    assert (again["id"], again["duplicate"]) == (saved["id"], True)
    assert app.get("/api/search?query=lighthouse").json["total"] == 1


def test_saving_cleans_like_everything_else(app: TestApp, token: dict[str, str]) -> None:
    saved = app.post_json("/api/memory/save", {"text": "Before <private>hidden harbour</private> after."},
                          headers=token, status=201).json
    record = app.get(f"/api/observation/{saved['id']}").json
    assert "harbour" not in json.dumps(record)
    assert "after" in record["narrative"]
    nothing = app.post_json("/api/memory/save", {"text": "<private>hidden</private>"}, headers=token, status=400).json
    assert "may be stored" in nothing["error"]


def test_saving_in_an_empty_home_makes_the_store(empty: TestApp, home: str) -> None:
    import os

    os.makedirs(home)
    header = {"X-Memlite-Token": access_token.ensure(home)}
    empty.post_json("/api/memory/save", {"text": "The first one."}, headers=header, status=201)
    assert empty.get("/api/search?query=first").json["total"] == 1


@pytest.mark.parametrize("body", [{}, {"text": 3}, {"text": "x", "title": []}, {"text": "x", "colour": "red"},
                                  {"text": "x", "concepts": "gotcha"}, {"text": ""}, {"text": "   "}])
def test_saving_nonsense_is_refused(app: TestApp, token: dict[str, str], body: Any) -> None:
    assert set(app.post_json("/api/memory/save", body, headers=token, status=400).json) == {"error", "code", "hint"}


def test_what_is_forgotten_is_gone_from_every_route_and_a_sibling_stays(app: TestApp, token: dict[str, str]) -> None:
    assert app.get("/api/search?query=cents").json["total"] == 1
    gone = app.delete("/api/observation/3", headers=token).json
    assert gone == {"success": True, "forgotten": ["3"], "erased": True}
    app.get("/api/observation/3", status=404)
    app.delete("/api/observation/3", headers=token, status=404)
    assert app.get("/api/search?query=cents").json["total"] == 0
    assert app.get("/api/decisions").json["total"] == 0
    assert "3" not in [item["id"] for item in app.get("/api/timeline?anchor=2").json["timeline"]]
    assert app.get("/api/observation/2").json["title"] == "Comma in prices accepted"
    app.delete("/api/session/S1", headers=token)
    app.delete("/api/prompt/P1", headers=token)
    app.get("/api/session/1", status=404)
    app.get("/api/prompt/1", status=404)
    app.get("/api/session/2")
    app.get("/api/prompt/2")


def test_what_was_forgotten_is_not_saved_again(app: TestApp, token: dict[str, str]) -> None:
    saved = app.post_json("/api/memory/save", {"text": "The lighthouse blinks."}, headers=token).json
    app.delete(f"/api/observation/{saved['id']}", headers=token)
    answer = app.post_json("/api/memory/save", {"text": "The lighthouse blinks."}, headers=token, status=409)
    assert answer.json["code"] == "forgotten"


@pytest.mark.parametrize(("method", "path"), [("POST", "/api/memory/save"), ("DELETE", "/api/observation/2"),
                                              ("DELETE", "/api/session/1"), ("DELETE", "/api/prompt/1"),
                                              ("POST", "/api/v1/memory/save")])
def test_writing_needs_the_token(app: TestApp, token: dict[str, str], method: str, path: str) -> None:
    given = {**HERE, "CONTENT_TYPE": "application/json"}
    body = b'{"text": "The lighthouse blinks."}' if method == "POST" else b""
    for headers, code in (({}, "token_required"), ({"Authorization": "Bearer " + "0" * 64}, "token_wrong")):
        answer = app.request(path, method=method, body=body, environ=given, headers=headers, status=403)
        assert answer.json["code"] == code
    assert app.get("/api/search?query=lighthouse").json["total"] == 0
    app.request(path, method=method, body=body, environ=given, headers=token)


def test_every_route_that_changes_something_needs_the_token() -> None:
    for route in ROUTES:
        assert route.writes == (route.method == "DELETE" or route.path == "/api/memory/save"), route.path


# ---- browsing

def test_lists_are_pages_newest_first(app: TestApp) -> None:
    first = app.get("/api/observations?limit=2").json
    assert ([item["id"] for item in first["items"]], first["hasMore"], first["total"]) == (["5", "4"], True, 5)
    last = app.get("/api/observations?limit=2&offset=4").json
    assert ([item["id"] for item in last["items"]], last["hasMore"]) == (["1"], False)
    assert [item["id"] for item in app.get("/api/summaries").json["items"]] == ["S2", "S1"]
    assert [item["id"] for item in app.get("/api/prompts?project=shop").json["items"]] == ["P1"]
    assert [item["id"] for item in app.get("/api/observations?type=bugfix").json["items"]] == ["2"]
    assert app.get("/api/observations?limit=1&format=full").json["items"][0]["narrative"]


def test_projects_and_stats_count_what_is_there(app: TestApp) -> None:
    found = app.get("/api/projects").json
    assert found["projects"] == ["boat", "shop"]
    assert found["details"][1] == {"name": "shop", "root": "/r/shop", "observations": 4, "summaries": 1, "prompts": 1,
                                   "newest_epoch": BEGIN + 300_000}
    stats = app.get("/api/stats").json["database"]
    assert (stats["observations"], stats["summaries"], stats["prompts"], stats["projects"]) == (5, 2, 2, 2)
    assert stats["types"]["decision"] == 1
    assert stats["bytes"] > 0


def test_the_session_start_text_is_the_projects_own(app: TestApp) -> None:
    answer = app.get("/api/context/inject?project=shop")
    assert answer.content_type == "text/plain"
    assert "Comma in prices accepted" in answer.text
    assert "Hull" not in answer.text
    assert "Hull" in app.get("/api/context/inject?projects=/r/boat&colors=true").text
    assert app.get("/api/context/inject?project=nowhere").text == ""
    assert app.get("/api/context/inject", status=400).json["code"] == "missing_parameter"


def test_without_a_store_every_reading_route_answers(empty: TestApp) -> None:
    for route in ROUTES:
        if route.method == "GET" and "<id>" not in route.path and not route.live:
            status = 404 if "anchor=123" in route.example else 200
            empty.get(route.example, status=status)


# ---- the older routes

def test_the_older_searches_answer_in_their_shapes(app: TestApp) -> None:
    found = app.get("/api/search/observations?query=cents&unknown=1").json
    assert list(found) == ["query", "count", "format", "results"]
    assert found["results"] == [{"id": 3, "type": "decision", "title": "Keep prices as integers of cents",
                                 "subtitle": "", "created_at_epoch": BEGIN + 180_000, "project": "shop", "score": 1.0}]
    found = app.get("/api/search/sessions?query=float").json
    assert found["results"] == [{"id": 2, "request": "Does the boat float?", "completed": "It floats",
                                 "created_at_epoch": BEGIN + 480_000, "project": "boat", "score": 1.0}]
    found = app.get("/api/search/prompts?query=boat").json
    assert found["results"] == [{"id": 2, "prompt_number": 1, "prompt_text": "Does the boat float?",
                                 "created_at_epoch": BEGIN + 360_000, "project": "boat", "score": 1.0}]
    full = app.get("/api/search/observations?query=comma&format=full").json["results"][0]
    assert full["narrative"] and full["facts"] == ["4 tests pass"]


def test_by_concept_file_and_type(app: TestApp) -> None:
    found = app.get("/api/search/by-concept?concept=gotcha").json
    assert (found["concept"], found["count"], found["results"][0]["id"]) == ("gotcha", 1, 3)
    found = app.get("/api/search/by-file?filePath=prices.py").json
    assert (found["filePath"], found["count"]) == ("prices.py", 3)
    assert [item["id"] for item in found["results"]["observations"]] == [2, 1]
    assert [item["id"] for item in found["results"]["sessions"]] == [1]
    found = app.get("/api/search/by-type?type=decision").json
    assert (found["type"], [item["id"] for item in found["results"]]) == ("decision", [3])
    assert [item["id"] for item in app.get("/api/search/by-type?type=decision,bugfix").json["results"]] == [3, 2]


def test_recent_context_holds_the_newest_summaries(app: TestApp) -> None:
    found = app.get("/api/context/recent").json
    assert (found["project"], found["limit"], found["count"]) == (None, 3, 2)
    assert found["sessions"][0]["completed"] == "It floats"
    assert app.get("/api/context/recent?project=shop&limit=500").json["limit"] == 100


def test_the_older_timelines_have_a_list_for_each_kind(app: TestApp) -> None:
    found = app.get("/api/context/timeline?anchor=3&depth_before=1&depth_after=1").json
    assert (found["anchor"], found["depth_before"], found["depth_after"], found["project"]) == (3, 1, 1, None)
    assert {name: [item["id"] for item in part] for name, part in found["timeline"].items()} == {
        "observations": [2, 3], "sessions": [1], "prompts": []}
    assert app.get("/api/timeline/context?anchor=S1").json["anchor"] == "S1"
    assert app.get("/api/context/timeline?anchor=99", status=404).json["error"] == "Observation #99 not found"
    assert app.get("/api/context/timeline?anchor=soon", status=400).json["error"] == "Invalid timestamp: soon"
    by_query = app.get("/api/timeline/by-query?query=cents&mode=observations&depth_before=0&depth_after=0").json
    assert (by_query["query"], by_query["mode"], by_query["match"]["id"]) == ("cents", "observations", 3)
    nothing = app.get("/api/timeline/by-query?query=zebra").json
    assert nothing["match"] is None
    assert nothing["message"]


@pytest.mark.parametrize(("path", "name"), [
    (route.path, name) for route in ROUTES for _, name in route.required])
def test_a_missing_parameter_is_named(app: TestApp, path: str, name: str) -> None:
    for given in ("", f"?{name}=", f"?{name}=%20"):
        assert app.get(path + given, status=400).json["error"] == f"Missing required parameter: {name}"


# ---- the description

def test_every_answer_is_as_the_description_says(app: TestApp, token: dict[str, str]) -> None:
    """Each route's own example, in an order that writes last."""
    description = app.get("/api/openapi.json").json
    for route in sorted((route for route in ROUTES if not route.live), key=lambda route: route.writes):
        path, _, rest = route.example.replace("123", "1").replace("S5", "S1").replace("P7", "P1").partition(" ")
        words = shlex.split(rest)
        body = words[words.index("-d") + 1].encode() if "-d" in words else b""
        environ = {**HERE, **({"CONTENT_TYPE": "application/json"} if body else {})}
        answer = app.request(path, method=route.method, body=body, environ=environ, headers=token)
        told = description["paths"][route.path.replace("<id>", "{id}")][route.method.lower()]
        content = told["responses"][str(answer.status_int)]["content"][answer.content_type]
        if answer.content_type == "application/json":
            assert faults(answer.json, content["schema"], description["components"]["schemas"]) == [], route.path


def test_errors_are_as_the_description_says(app: TestApp) -> None:
    for path in ("/nowhere", "/api/search?x=1", "/api/observation/99"):
        assert faults(app.get(path, expect_errors=True).json, SCHEMAS["Error"], SCHEMAS) == []


def test_the_description_names_every_route_and_parameter(app: TestApp) -> None:
    description = app.get("/api/openapi.json").json
    assert description["openapi"].startswith("3.1")
    operations = [operation for path in description["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert len(operations) == sum(1 + len(route.aliases) for route in ROUTES)
    assert set(PARAMETERS) == set(SPELLINGS)
    for route in ROUTES:
        assert set(route.parameters) <= set(SPELLINGS), route.path
        assert not route.handler.__doc__ or route.help


def test_every_described_parameter_is_accepted_and_others_are_not(app: TestApp) -> None:
    good = {"query": "prices", "format": "full", "kind": "observations", "obs_type": "bugfix", "concepts": "gotcha",
            "files": "prices", "branch": "main", "project": "shop", "range": '{"start": "2026-01-01"}', "since": "7d",
            "until": "today", "limit": "5", "offset": "1", "order": "date_asc", "mode": "auto", "anchor": "1",
            "before": "1", "after": "1", "output": "json"}
    for route in ROUTES:
        if route.method != "GET" or route.live:
            continue
        path = route.path.replace("<id>", "1")
        needed = dict(route.required)
        if route.path == "/api/timeline":
            needed["anchor"] = "anchor"
        for meaning in route.parameters:
            if (meaning, route.path) == ("query", "/api/timeline"):
                continue   # it excludes the anchor
            for name in SPELLINGS[meaning]:
                asked = {**{spelling: good[needed_meaning] for needed_meaning, spelling in needed.items()
                            if needed_meaning != meaning}, name: good[meaning]}
                app.get(path, asked, status=200)
        asked = {spelling: good[meaning] for meaning, spelling in needed.items()}
        app.get(path, {**asked, "colour": "red"}, status=200 if route.old else 400)


def test_help_shows_a_call_for_every_route_with_the_port_that_is_listened_on(app: TestApp) -> None:
    told = app.get("/api/search/help").json
    assert list(told) == ["title", "description", "endpoints", "examples"]
    assert len(told["examples"]) == len(told["endpoints"]) == len(ROUTES)
    assert all(example.startswith(("curl -s http://127.0.0.1:37777/", "curl -s 'http://127.0.0.1:37777/"))
               for example in told["examples"])
    assert app.get("/api/help").json == told
