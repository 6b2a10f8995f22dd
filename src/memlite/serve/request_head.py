"""The head of an HTTP/1.1 request: read within bounds, parsed strictly (RFC 9112).

What is ambiguous is refused, not guessed at: two lengths, two hosts, folded lines, chunked bodies.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from memlite.errors import MemliteError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

URL_LIMIT = 64 * 1024        # a query of 10,000 characters fits even percent-encoded, most scripts' at least
HEADERS_LIMIT = 32 * 1024
HEADER_COUNT = 100
HEAD_LIMIT = URL_LIMIT + HEADERS_LIMIT

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_REQUEST_LINE = re.compile(r"([A-Z]{1,20}) (\S+) HTTP/1\.([01])")
_SINGLE = frozenset(("HTTP_HOST", "CONTENT_LENGTH", "CONTENT_TYPE", "HTTP_AUTHORIZATION", "HTTP_ORIGIN",
                     "HTTP_TRANSFER_ENCODING", "HTTP_X_MEMLITE_TOKEN"))


class BadRequest(MemliteError):
    """A request that is not read any further; the connection ends after the answer."""

    code, http_status = "bad_request", 400

    def __init__(self, message: str, status: int = 400, code: str = "", hint: str = "") -> None:
        super().__init__(message, hint, code)
        self.http_status = status


def too_large(data: bytes | bytearray) -> BadRequest | None:
    """The refusal when the head read so far is beyond its bounds; None while it is within."""
    line_end = data.find(b"\n")
    if line_end < 0:
        if len(data) > URL_LIMIT:
            return BadRequest("the URL is too long", 414, "url_too_long", f"at most {URL_LIMIT} bytes")
    elif line_end > URL_LIMIT:
        return BadRequest("the URL is too long", 414, "url_too_long", f"at most {URL_LIMIT} bytes")
    elif len(data) - line_end > HEADERS_LIMIT:
        return BadRequest("the headers are too large", 431, "headers_too_large", f"at most {HEADERS_LIMIT} bytes")
    return None


def parse_head(head: bytes) -> dict[str, Any]:
    """The WSGI variables (PEP 3333) that the request `head` gives, without its closing empty line.

    Raises BadRequest.
    """
    lines = head.decode("latin-1").split("\r\n")
    found = _REQUEST_LINE.fullmatch(lines[0])
    if found is None:
        raise BadRequest("not an HTTP/1.1 request")
    method, target, minor = found.groups()
    if not target.startswith("/"):
        raise BadRequest("the request target must be a path")
    if len(lines) - 1 > HEADER_COUNT:
        raise BadRequest("too many headers", 431, "headers_too_large", f"at most {HEADER_COUNT}")
    path, _, query = target.partition("?")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method, "SCRIPT_NAME": "", "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query, "SERVER_PROTOCOL": f"HTTP/1.{minor}"}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon or _TOKEN.fullmatch(name) is None:
            raise BadRequest("a header line is not a header")
        if "_" in name:  # X_A and X-A would become one variable
            continue
        key = name.upper().replace("-", "_")
        if key not in ("CONTENT_TYPE", "CONTENT_LENGTH"):
            key = f"HTTP_{key}"
        value = value.strip(" \t")
        if key in environ:
            if key in _SINGLE:
                raise BadRequest(f"the header {name} is there twice")
            value = f"{environ[key]}, {value}"
        environ[key] = value
    if "HTTP_TRANSFER_ENCODING" in environ:
        raise BadRequest("chunked bodies are not read", 411, "length_required", "send a Content-Length")
    length = environ.get("CONTENT_LENGTH", "0")
    if not (length.isascii() and length.isdigit() and len(length) < 16):
        raise BadRequest("Content-Length is not a number")
    return environ


def keeps_alive(environ: dict[str, Any]) -> bool:
    """Whether the client wants to go on using the connection after this request."""
    wish = str(environ.get("HTTP_CONNECTION", "")).lower()
    if environ["SERVER_PROTOCOL"] == "HTTP/1.0":
        return "keep-alive" in wish
    return "close" not in wish
