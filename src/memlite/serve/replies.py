"""Answers on their way out: values and errors → status, headers and bytes. The only place where serve makes JSON."""

from __future__ import annotations

from collections.abc import Callable
from http.client import responses as _reasons

from memlite import jsoncodec
from memlite.errors import MemliteError
from memlite.render import items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

JSON, TEXT, MARKDOWN = "application/json", "text/plain; charset=utf-8", "text/markdown; charset=utf-8"
REASONS = {**_reasons, 413: "Content Too Large"}


class Reply:
    """What a handler answers when it is more than a value to be sent as JSON."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, body: Any, content_type: str = JSON, status: int = 200, **headers: str) -> None:
        self.body = body            # bytes, or an iterator of them for a stream
        self.status = status
        self.headers = {"Content-Type": content_type,
                        **{name.replace("_", "-"): value for name, value in headers.items()}}

    @classmethod
    def of(cls, value: Any, status: int = 200) -> Reply:
        """`value` as JSON."""
        return cls(json_bytes(value), status=status)


def json_bytes(value: Any) -> bytes:
    """`value` as one line of UTF-8 JSON; a surrogate without its half becomes a question mark."""
    return jsoncodec.dumps(value).encode("utf-8", "replace") + b"\n"


def status_line(status: int) -> str:
    """`status` with its reason, as `404 Not Found`."""
    return f"{status} {REASONS.get(status, 'Unknown')}"


def start_error(failure: MemliteError, start_response: Callable[..., Any]) -> list[bytes]:
    """Answer a WSGI call with `failure`."""
    body = json_bytes(items.error(failure))
    headers = [("Content-Type", JSON), ("Content-Length", str(len(body)))]
    if failure.http_status == 429:
        headers.append(("Retry-After", "1"))
    start_response(status_line(failure.http_status), headers)
    return [body]
