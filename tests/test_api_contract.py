"""Every route × every spelling of every parameter × good, empty, malformed and hostile values, at the WSGI level."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from webtest import TestApp
from webtest.app import TestRequest

import json_schema
from api_table import CASES, COVERED, EVENTS, JSON, WRITING, Case, faults
from memlite.serve import access_token
from memlite.serve.app import application
from memlite.serve.calls import Worker
from memlite.serve.routes import ROUTES
from shop_store import fill

HERE = {"HTTP_HOST": "127.0.0.1:37777", "SERVER_PORT": "37777", "REMOTE_ADDR": "127.0.0.1"}


class Api:
    """The application over a store of its own, and what its description says of each answer."""

    def __init__(self, home: str) -> None:
        fill(home)
        self.worker = Worker(home)
        self.app = TestApp(application(self.worker), extra_environ=HERE)
        self.token = access_token.ensure(home)
        self.description = self.app.get("/api/openapi.json").json

    def faults(self, case: Case) -> list[str]:
        """Ask, and say what is wrong with the answer."""
        answer = self.ask(case)
        body = b"" if case.content == EVENTS else answer.body
        found = faults(case, answer.status_int, answer.headers["Content-Type"], body)
        return found or self.against_description(case, answer)

    def ask(self, case: Case) -> Any:
        """The answer to `case`; that of an event stream is not read."""
        target, _, query = case.target.partition("?")
        request = TestRequest.blank(target, {**HERE, "QUERY_STRING": query}, method=case.method,
                                    headers=dict(case.headers))
        if case.body is not None:
            request.body, request.content_type = case.body, case.kind
        if case.token:
            request.headers["Authorization"] = f"Bearer {self.token}"
        if case.content == EVENTS and case.status == 200:
            status, headers, parts = request.call_application(self.app.app)
            parts.close()
            return request.ResponseClass(status=status, headerlist=headers)
        return self.app.do_request(request, status="*")

    def against_description(self, case: Case, answer: Any) -> list[str]:
        """The same answer against the schemas of /api/openapi.json."""
        told = self.description["paths"].get(case.route, {}).get(case.method.lower())
        if told is None or answer.status_int == 405:
            return []
        described = told["responses"].get(str(answer.status_int))
        if described is None:
            return [f"{case}: the description knows no {answer.status_int}"]
        content = described.get("content", {}).get(answer.content_type)
        if content is None:
            return [f"{case}: the description knows no {answer.content_type}"]
        if answer.content_type != JSON:
            return []
        return [f"{case}: {fault}" for fault in json_schema.faults(
            answer.json, content["schema"], self.description["components"]["schemas"])]


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One application for all that only read."""
    api = Api(str(tmp_path_factory.mktemp("contract") / "home"))
    yield api
    api.worker.close()


def nothing_wrong(api: Api, cases: tuple[Case, ...]) -> None:
    """Fail with what is wrong about the answers to `cases`."""
    found = [fault for case in cases for fault in api.faults(case)]
    if found:
        pytest.fail(f"{len(found)} faults:\n" + "\n".join(found[:20]), pytrace=False)


@pytest.mark.parametrize("route", sorted({case.route for case in CASES}))
def test_every_answer_is_as_the_contract_says(reading: Api, route: str) -> None:
    nothing_wrong(reading, tuple(case for case in CASES if case.route == route))


def test_every_write_is_as_the_contract_says(tmp_path: Path) -> None:
    api = Api(str(tmp_path / "home"))
    nothing_wrong(api, WRITING)
    api.worker.close()


def test_the_contract_covers_every_route_and_the_other_way_round() -> None:
    served = {(route.path.replace("<id>", "{id}"), route.method) for route in ROUTES}
    assert served == COVERED


def test_an_answer_that_is_not_as_it_must_be_is_noticed(reading: Api) -> None:
    good = next(case for case in CASES if (case.method, case.target) == ("GET", "/api/search"))
    assert reading.faults(good) == []
    for wrong in (good._replace(status=400), good._replace(content="text/markdown"),
                  good._replace(keys=frozenset({"query"})), good._replace(target="/api/search?limit=0"),
                  good._replace(target="/api/search?limit=0", status=400, code="not_found"),
                  good._replace(target="/api/search?limit=0", status=400, says="No.")):
        assert reading.faults(wrong) != [], wrong
