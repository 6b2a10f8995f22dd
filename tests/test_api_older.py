"""The ten older routes answer exactly so: whole answers, which a person has compared with what scripts expect.

`python tests/test_api_older.py` writes the expected answers anew: read the difference before committing it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from webtest import TestApp

from memlite.serve.app import application
from memlite.serve.calls import Worker
from shop_store import fill

EXPECTED = Path(__file__).parent / "data" / "expected" / "older"
HERE = {"HTTP_HOST": "127.0.0.1:37777", "SERVER_PORT": "37777"}
# File → requests over the store of `shop_store.fill`. Scores of a single hit are 1; what else a ranking gives is not
# the business of these tests, so several hits are asked for by date.
REQUESTS = {
    "search-observations": ["query=cents", "query=cents&format=full", "query=prices&orderBy=date_desc&limit=2",
                            "query=prices&orderBy=date_asc&project=shop&obs_type=bugfix,decision", "query=zebra", ""],
    "search-sessions": ["query=float", "query=float&format=full", "query=float&project=shop", ""],
    "search-prompts": ["query=boat", "query=boat&format=full", "query=boat&limit=0", ""],
    "search-by-concept": ["concept=gotcha", "concept=gotcha&format=full", "concept=none-such", ""],
    "search-by-file": ["filePath=prices.py", "filePath=prices.py&limit=1&project=shop", "filePath=none.py", ""],
    "search-by-type": ["type=decision", "type=decision,bugfix&limit=1", "type=none-such", ""],
    "context-recent": ["", "project=shop", "project=nowhere&limit=5"],
    "context-timeline": ["anchor=3&depth_before=1&depth_after=1", "anchor=S1&depth_before=0&depth_after=0&project=shop",
                         "anchor=2026-05-28T20:32:10Z&depth_before=0&depth_after=1", "anchor=99", "anchor=soon", ""],
    "timeline-by-query": ["query=cents&mode=observations&depth_before=0&depth_after=1",
                          "query=float&mode=sessions&depth_before=1&depth_after=0", "query=zebra", ""],
}


def answers(app: TestApp, name: str) -> list[dict[str, Any]]:
    """Each request of a file with its status and answer."""
    path = "/api/" + name.replace("-", "/", 1)
    found = []
    for query in REQUESTS[name]:
        answer = app.get(f"{path}?{query}", expect_errors=True)
        found.append({"request": f"GET {path}?{query}", "status": answer.status_int, "answer": answer.json})
    return found


def _app(home: str) -> tuple[Worker, TestApp]:
    fill(home)
    worker = Worker(home)
    return worker, TestApp(application(worker), extra_environ=HERE)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestApp]:
    """The application over the small store; nothing here writes."""
    worker, app = _app(str(tmp_path_factory.mktemp("older") / "home"))
    yield app
    worker.close()


@pytest.mark.parametrize("name", REQUESTS)
def test_an_older_route_answers_exactly_so(app: TestApp, name: str) -> None:
    assert answers(app, name) == json.loads((EXPECTED / f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("name", REQUESTS)
def test_the_members_come_in_the_order_scripts_print_them(app: TestApp, name: str) -> None:
    for expected, found in zip(json.loads((EXPECTED / f"{name}.json").read_text("utf-8")), answers(app, name),
                               strict=True):
        assert list(found["answer"]) == list(expected["answer"])


def test_no_expected_answer_is_left_without_its_request() -> None:
    assert {path.stem for path in EXPECTED.glob("*.json")} == set(REQUESTS)


def test_the_tenth_route_tells_of_all_the_others(app: TestApp) -> None:
    told = app.get("/api/search/help").json
    assert list(told) == ["title", "description", "endpoints", "examples"]
    assert all(set(endpoint) >= {"method", "path", "description", "parameters"} for endpoint in told["endpoints"])
    assert {"/api/" + name.replace("-", "/", 1) for name in REQUESTS} <= {each["path"] for each in told["endpoints"]}
    assert all(example.startswith("curl ") for example in told["examples"])


if __name__ == "__main__":
    EXPECTED.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        _, made = _app(f"{folder}/home")
        for file in REQUESTS:
            text = json.dumps(answers(made, file), ensure_ascii=False, indent=1)
            (EXPECTED / f"{file}.json").write_text(text + "\n", "utf-8")
