"""The application: every route of the table under Bottle, and one way from a handler's result or error to an answer."""

from __future__ import annotations

import sys
import traceback

import bottle

from memlite.errors import MemliteError
from memlite.render import items
from memlite.serve import guard, log, replies
from memlite.serve.calls import Call, Worker, accepts_markdown
from memlite.serve.guard import Guard
from memlite.serve.meaning import PRIVATE
from memlite.serve.replies import Reply
from memlite.serve.route import Route
from memlite.serve.routes import ROUTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

def application(worker: Worker) -> Guard:
    """The WSGI application of `worker`: its routes behind the guard."""
    worker.routes = ROUTES
    app = bottle.Bottle()
    app.default_error_handler = _bottle_error
    for route in (*ROUTES, *PRIVATE):
        for path in route.paths():
            app.route(path, route.method, _callback(worker, route))
    return Guard(app, worker.home, host=worker.host, require_token=worker.require_token)


def _callback(worker: Worker, route: Route) -> Callable[..., bottle.HTTPResponse]:
    def answer(**arguments: str) -> bottle.HTTPResponse:
        try:
            environ = bottle.request.environ
            guard.check_json(environ)
            if route.writes:
                guard.check_token(environ, worker.home)
            reply = _found(worker, route, environ, arguments)
        except MemliteError as failure:
            if failure.http_status >= 500:
                log.say(f"{route.path}: {failure.message}")
            reply = error_reply(failure)
        return bottle.HTTPResponse(reply.body, reply.status, reply.headers)
    return answer


def _found(worker: Worker, route: Route, environ: dict[str, Any], arguments: dict[str, str]) -> Reply:
    """The answer of the route's handler, or the one it gave before if nothing has changed since."""
    asked = (route.path, environ.get("QUERY_STRING", ""), accepts_markdown(environ), *worker.semantic.stage)
    version = worker.given.version() if route.searches else ()
    given = worker.given.find(asked) if version else None
    if given is not None:
        return given
    call = Call(worker, route, environ, arguments)
    found = route.handler(call)
    reply = found if isinstance(found, Reply) else Reply.of(found)
    if not call.passing:
        worker.given.keep(asked, reply, version)
    return reply


def error_reply(failure: MemliteError) -> Reply:
    """`failure` as an answer."""
    return Reply.of(items.error(failure), failure.http_status)


def _bottle_error(found: bottle.HTTPError) -> bytes:
    """The body for what went wrong outside a handler's own errors: no such route, or a fault in the program."""
    request = bottle.request
    if found.status_code == 404:
        failure = MemliteError(f"there is no {request.path}", "GET /api/search/help lists the routes", "no_such_route")
    elif found.status_code == 405:
        failure = MemliteError(f"{request.path} does not answer {request.method}",
                               f"it answers {found.headers.get('Allow', '')}", "method_not_allowed")
    else:
        if found.exception is not None:
            log.say(f"{request.method} {request.path}: {found.exception!r}")
            traceback.print_exception(found.exception, file=sys.stderr)
        failure = MemliteError("the worker failed", "what happened is in worker.log", "internal_error")
    bottle.response.content_type = replies.JSON
    return replies.json_bytes(items.error(failure))
