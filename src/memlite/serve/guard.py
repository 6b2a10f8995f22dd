"""What stands between the network and the routes.

Whoever sits at this machine may read; a web page open in their browser may not, neither from another origin nor by
making its own name point here (DNS rebinding), and it may store nothing. So the Host must be a loopback name with the
port that is listened on, a request that a foreign page caused is refused, no CORS header is ever sent, and writing
needs a token that only this user can read. Beyond loopback everything needs the token.
"""

from __future__ import annotations

import hmac
import socket
import threading
import time
from collections.abc import Callable, Iterable

from memlite.errors import MemliteError
from memlite.serve import access_token, replies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

BODY_LIMIT = 4 * 1024 * 1024
RATE = 20.0      # requests a second that one address beyond loopback may make for long
BURST = 60.0     # and at once
_ADDRESSES = 1000
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_PLACE = "the file `token` of the data directory, ~/.memlite by default"
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

# Memories belong neither into a browser's cache nor into another site's frame or script.
HEADERS = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
           ("Cross-Origin-Resource-Policy", "same-origin"))
POLICY = ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")


class Refused(MemliteError):
    """A request that does not get through."""

    def __init__(self, status: int, code: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint, code)
        self.http_status = status


class Guard:
    """WSGI middleware: lets through to `application` what may pass, and puts the protecting headers on every answer."""

    def __init__(self, application: Application, home: str, *, host: str = "127.0.0.1", require_token: bool = False,
                 clock: Callable[[], float] = time.monotonic) -> None:
        """`host` is the address listened on; where it is not loopback all requests need the token."""
        self.application = application
        self.home = home
        self.wide = not is_loopback(host)
        self.require_token = require_token or self.wide
        self.names = {host.lower(), f"[{host}]".lower(), socket.gethostname().lower()} if self.wide else set()
        self._rates = Rates(clock)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """One request, as PEP 3333 has it."""
        def start(status: str, headers: list[tuple[str, str]], *failure: Any) -> Any:
            names = {name.lower() for name, _ in headers}
            added = [item for item in (*HEADERS, POLICY) if item[0].lower() not in names]
            return start_response(status, [*headers, *added], *failure)

        try:
            self.check(environ)
        except MemliteError as failure:
            return replies.start_error(failure, start)
        return self.application(environ, start)

    def check(self, environ: dict[str, Any]) -> None:
        """Raise Refused, or HomeUnusable for a token file that can't be trusted, when the request may not pass."""
        self._check_host(environ)
        check_origin(environ)
        if self.wide and not is_loopback(environ.get("REMOTE_ADDR", "")):
            self._rates.count(environ.get("REMOTE_ADDR", ""))
        check_size(environ)
        if self.require_token:
            check_token(environ, self.home)

    def _check_host(self, environ: dict[str, Any]) -> None:
        host = str(environ.get("HTTP_HOST", "")).lower()
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        if not name:
            name, port = host, ""
        known = name in _LOOPBACK_NAMES or name in self.names or (self.wide and _is_address(name))
        if not known or (port or "80") != str(environ.get("SERVER_PORT", "")):
            raise Refused(421, "wrong_host", "this server does not answer for that Host",
                          f"call it as http://127.0.0.1:{environ.get('SERVER_PORT', '')}")


def check_origin(environ: dict[str, Any]) -> None:
    """Refuse what a page of another origin caused; its Origin (null included) or Sec-Fetch-Site tells.

    Raises Refused.
    """
    origin = environ.get("HTTP_ORIGIN")
    site = environ.get("HTTP_SEC_FETCH_SITE", "none")
    own = f"http://{environ.get('HTTP_HOST', '')}".lower()
    if (origin is not None and origin.lower() != own) or site.lower() not in ("none", "same-origin"):
        raise Refused(403, "foreign_origin", "pages of other origins have no access here",
                      "open the page of the worker itself, or call it from outside a browser")


def check_size(environ: dict[str, Any]) -> None:
    """Refuse bodies that are too large. Raises Refused."""
    stated = str(environ.get("CONTENT_LENGTH") or "0")
    if not (stated.isascii() and stated.isdigit()):
        raise Refused(400, "bad_request", "Content-Length is not a number")
    if len(stated) > 15 or int(stated) > BODY_LIMIT:
        raise Refused(413, "body_too_large", "the body is too large", f"at most {BODY_LIMIT} bytes")


def check_json(environ: dict[str, Any]) -> None:
    """Refuse an unsafe method without JSON, which no page can send to another origin unasked. Raises Refused."""
    method = environ["REQUEST_METHOD"]
    kind = str(environ.get("CONTENT_TYPE", "")).partition(";")[0].strip().lower()
    # DELETE may come without a body: its token header can't be sent unasked either.
    bare = method == "DELETE" and not int(environ.get("CONTENT_LENGTH") or 0) and not kind
    if method not in _SAFE_METHODS and not bare and kind != "application/json":
        raise Refused(415, "json_required", f"{method} needs a JSON body",
                      "send the header Content-Type: application/json")


def check_token(environ: dict[str, Any], home: str) -> None:
    """Refuse a request without the right token, compared in constant time. Raises Refused, HomeUnusable."""
    given = access_token.given(environ)
    wanted = access_token.read(home)   # anew each time: a replaced token counts at once
    if not given:
        raise Refused(403, "token_required", "this needs the token",
                      f"send the header Authorization: Bearer …, with what is in {_PLACE}")
    if wanted is None or not hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode()):
        raise Refused(403, "token_wrong", "that is not the token", f"it is in {_PLACE}")


class Rates:
    """How many requests each address has made lately: a bucket of BURST that fills at RATE."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}    # address → (left, when)
        self._lock = threading.Lock()

    def count(self, address: str) -> None:
        """Note a request of `address`. Raises Refused when it is one too many."""
        now = self._clock()
        with self._lock:
            left, when = self._buckets.get(address, (BURST, now))
            left = min(BURST, left + (now - when) * RATE)
            if left >= 1:
                if len(self._buckets) >= _ADDRESSES:   # those that have not called for long are as good as new
                    self._buckets = {known: bucket for known, bucket in self._buckets.items()
                                     if bucket[1] > now - BURST / RATE}
                self._buckets[address] = (left - 1, now)
                return
            self._buckets[address] = (left, now)
        raise Refused(429, "too_many_requests", "too many requests", f"at most {RATE:.0f} a second")


def is_loopback(address: str) -> bool:
    """Whether `address` (an IP address or localhost) reaches this machine only."""
    plain = address.lower().strip("[]").removeprefix("::ffff:")
    return plain in ("localhost", "::1") or (plain.startswith("127.") and _is_address(plain))


def _is_address(name: str) -> bool:
    for family, text in ((socket.AF_INET, name), (socket.AF_INET6, name.strip("[]"))):
        try:
            socket.inet_pton(family, text)
        except OSError:
            continue
        return True
    return False
