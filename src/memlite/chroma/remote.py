"""The index of meanings as a command has it: the running worker is asked, and where none runs nobody waits.

`_socket` is used directly because `socket` imports `enum` and `selectors` (10 ms of a query's start).
"""

from __future__ import annotations

import os
import time

from memlite import jsoncodec, settings, worker_file
from memlite.errors import SemanticUnavailable
from memlite.search.semantic import Semantic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.store.find import Filter

FOLDER = "chroma"           # as in `places`
SECONDS = 0.4               # the worker takes at most 0.25 for it
PATH = "/internal/semantic"
_MOST_BYTES = 200_000


def index_of(home: str) -> Semantic | None:
    """The index of meanings of the data directory; None when there never was one, which costs one look at the disk, or
    it is switched off. Raises UsageError for settings that are none."""
    if not os.path.isdir(os.path.join(home, FOLDER)):
        return None
    chosen = settings.load(home)
    return Remote(home, chosen["chroma_days"]) if chosen["chroma"] else None


class Remote(Semantic):
    """Asks the worker of a data directory."""

    def __init__(self, home: str, days: int) -> None:
        self.home = home
        self.days = days
        self._gap = ""

    def nearest(self, text: str, where: Filter, also: list[int], limit: int) -> dict[int, float]:
        """See Semantic. Takes SECONDS at most."""
        told = worker_file.read(self.home)
        if told is None:
            raise SemanticUnavailable("no worker runs that could search by meaning", "`memlite start` starts one")
        body = jsoncodec.dumps({"text": text, "where": jsoncodec.dumps(where_as_json(where)), "also": also,
                                "limit": limit}).encode("utf-8", "replace")
        try:
            status, answer = _post(self.home, told, body)
        except (OSError, ValueError):
            raise SemanticUnavailable("the worker did not answer", "`memlite status` shows whether one runs") from None
        if status != 200:
            absent = bool(answer.get("absent"))
            raise SemanticUnavailable(str(answer.get("error", "the worker did not answer")), absent=absent)
        self._gap = str(answer.get("gap", ""))
        return {int(key): float(value) for key, value in answer.get("near", {}).items()}

    def gap(self) -> str:
        """See Semantic."""
        return self._gap


def where_as_json(where: Filter) -> dict[str, Any]:
    """A filter as a JSON object, as `find.Filter` takes it back."""
    fields = where.as_dict()
    if where.also is not None:
        fields["also"] = where_as_json(where.also)
    return fields


def _post(home: str, told: dict[str, Any], body: bytes) -> tuple[int, dict[str, Any]]:
    """(status, JSON object) that the worker answers. Raises OSError, ValueError."""
    import _socket

    url = worker_file.base_url(told)
    host = url.removeprefix("http://")
    token = _token(home) if told.get("token_required") else ""
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    address = host.rpartition(":")[0].strip("[]")
    deadline = time.monotonic() + SECONDS
    client = _socket.socket(_socket.AF_INET6 if ":" in address else _socket.AF_INET, _socket.SOCK_STREAM)
    try:
        client.settimeout(SECONDS)
        client.connect((address, told["port"]))
        rest = (f"POST {PATH} HTTP/1.0\r\nHost: {host}\r\n{authorization}Content-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        while rest:
            rest = rest[client.send(rest):]
        answer = b""
        while part := client.recv(65536):
            answer += part
            client.settimeout(max(0.01, deadline - time.monotonic()))
            if len(answer) > _MOST_BYTES or time.monotonic() > deadline:
                raise OSError
    finally:
        client.close()
    head, _, text = answer.partition(b"\r\n\r\n")
    value = jsoncodec.loads(text.decode("utf-8", "replace"))
    if not isinstance(value, dict):
        raise ValueError("no object")
    return int(head.split(b" ", 2)[1]), value


def _token(home: str) -> str:
    try:
        with open(os.path.join(home, "token"), encoding="ascii") as file:
            return file.read(200).strip()
    except (OSError, ValueError):
        return ""


__all__ = ["PATH", "Remote", "index_of", "where_as_json"]
