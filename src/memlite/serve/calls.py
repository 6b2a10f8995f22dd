"""One request as the handlers see it, and what all requests of one worker share."""

from __future__ import annotations

import os
from urllib.parse import parse_qsl

from memlite import build_info, clock, jsoncodec, settings
from memlite.chroma.engine import Engine
from memlite.errors import UsageError
from memlite.search import controller
from memlite.search.parameters import OUTPUTS, Parameters
from memlite.serve import guard, replies
from memlite.serve.feed import Feed
from memlite.serve.given import Given
from memlite.serve.pool import Pool
from memlite.serve.replies import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from memlite.search.controller import Answer
    from memlite.search.request import SearchRequest
    from memlite.serve.route import Route

_MOST_FIELDS = 200


class Worker:
    """What the handlers of one worker share."""

    def __init__(self, home: str, *, host: str = "127.0.0.1", require_token: bool = False) -> None:
        self.home = home
        self.host = host
        self.require_token = require_token or not guard.is_loopback(host)
        self.pool = Pool(home)
        self.pid = os.getpid()
        self.started = clock.now_ms()
        self.version = build_info.version()
        self.commit = build_info.commit()
        self.nonce = os.urandom(32).hex()
        self.feed = Feed(self.pool)
        self.given = Given(home)
        self.semantic = Engine(home, settings.load(home))
        self.routes: tuple[Route, ...] = ()

    def stop(self) -> None:
        """End what would go on by itself: the event streams."""
        self.feed.close()

    def close(self) -> None:
        """Close the connections to the store and end the search by meaning."""
        self.feed.close()
        self.semantic.close()
        self.given.close()
        self.pool.close()


class Call:
    """One request on its way through a handler."""

    def __init__(self, worker: Worker, route: Route, environ: dict[str, Any], arguments: dict[str, str]) -> None:
        self.worker = worker
        self.route = route
        self.environ = environ
        self.arguments = arguments    # the parts of the path, by name
        self.now = clock.now_ms()
        self.passing = False          # whether a better answer may be had soon, though nothing is stored meanwhile
        try:
            self.pairs = parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            raise UsageError("too many parameters", f"at most {_MOST_FIELDS}") from None
        renames = dict(route.renames)
        given = [(renames.get(name, name), value) for name, value in self.pairs]
        self.parameters = Parameters(given, route.parameters, strict=not route.old)
        for meaning, name in route.required:
            if not self.parameters.listed(meaning):
                raise UsageError(f"Missing required parameter: {name}", f"for example {route.example}",
                                 "missing_parameter")

    def body(self) -> dict[str, Any]:
        """The JSON object that came as the body, with no members but those of the route. Raises UsageError."""
        text = self.environ["wsgi.input"].read(int(self.environ.get("CONTENT_LENGTH") or 0))
        try:
            found = jsoncodec.loads(text.decode("utf-8"))
        except ValueError as failure:
            raise UsageError(f"the body is not JSON: {failure}", "", "invalid_json") from None
        if not isinstance(found, dict):
            raise UsageError("the body must be a JSON object", "", "invalid_json")
        for name, schema, required in self.route.body:
            value = found.get(name)
            if value is None and required:
                raise UsageError(f"Missing required parameter: {name}", f"for example {self.route.example}",
                                 "missing_parameter")
            if value is not None and not _fits(value, schema):
                raise UsageError(f"{name} must be {_named(schema)}")
        unknown = set(found) - {name for name, _, _ in self.route.body}
        if unknown:
            known = ", ".join(name for name, _, _ in self.route.body)
            raise UsageError(f"Unknown parameter: {sorted(unknown)[0]}", f"known here: {known}", "unknown_parameter")
        return found

    def search(self, request: SearchRequest) -> Answer:
        """What the worker's store and index of meanings answer. Raises as the controller."""
        with self.worker.pool.lend() as database:
            found = controller.search(database, request, semantic=self.worker.semantic)
        self.passing = self.passing or found.degraded
        return found

    @property
    def output(self) -> str:
        """json, markdown or mcp: by the parameter, else by the Accept header."""
        return self.parameters.choice("output", OUTPUTS, "markdown" if accepts_markdown(self.environ) else "json")

    def shown(self, found: Any, as_json: Callable[[Any], Any], as_markdown: Callable[[Any], str]) -> Any:
        """What was found in the form the caller wants."""
        output = self.output
        if output == "json":
            return as_json(found)
        text = as_markdown(found)
        if output == "mcp":
            return [{"type": "text", "text": text}]
        return Reply(text.encode("utf-8", "replace"), replies.MARKDOWN)


def accepts_markdown(environ: dict[str, Any]) -> bool:
    """Whether the Accept header of a WSGI call names markdown: all that is made of that header."""
    return "text/markdown" in environ.get("HTTP_ACCEPT", "")


_TYPES: dict[str, tuple[type, str]] = {
    "string": (str, "a text"), "array": (list, "a list"), "integer": (int, "a number")}


def _fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether `value` is of the (small) JSON schema: a type, and of a list the type of its items."""
    if "anyOf" in schema:
        return any(_fits(value, option) for option in schema["anyOf"])
    if schema["type"] == "integer" and isinstance(value, float):
        return value.is_integer()   # JSON has one kind of number
    if not isinstance(value, _TYPES[schema["type"]][0]) or isinstance(value, bool):
        return False
    if isinstance(value, list):
        return len(value) <= schema["maxItems"] and all(_fits(part, schema["items"]) for part in value)
    return True


def _named(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_named(option) for option in schema["anyOf"])
    name = _TYPES[schema["type"]][1]
    return f"{name} of at most {schema['maxItems']}" if "maxItems" in schema else name
