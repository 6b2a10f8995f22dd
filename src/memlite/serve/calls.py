"""One request as the handlers see it, and what all requests of one worker share."""

from __future__ import annotations

import os
from urllib.parse import parse_qsl

from memlite import build_info, clock
from memlite.errors import UsageError
from memlite.search.parameters import OUTPUTS, Parameters
from memlite.serve import guard
from memlite.serve.pool import Pool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.serve.routes import Route

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

    def stop(self) -> None:
        """End what would go on by itself: the event streams."""

    def close(self) -> None:
        """Close the connections to the store."""
        self.pool.close()


class Call:
    """One request on its way through a handler."""

    def __init__(self, worker: Worker, route: Route, environ: dict[str, Any], arguments: dict[str, str]) -> None:
        self.worker = worker
        self.route = route
        self.environ = environ
        self.arguments = arguments    # the parts of the path, by name
        self.now = clock.now_ms()
        try:
            self.pairs = parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            raise UsageError("too many parameters", f"at most {_MOST_FIELDS}") from None
        self.parameters = Parameters(self.pairs, route.parameters, strict=not route.old)

    @property
    def output(self) -> str:
        """json, markdown or mcp: by the parameter, else by the Accept header."""
        accepts = "markdown" if "text/markdown" in self.environ.get("HTTP_ACCEPT", "") else "json"
        return self.parameters.choice("output", OUTPUTS, accepts)
