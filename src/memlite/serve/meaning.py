"""Search by meaning for this machine's own commands, which can't have a Chroma of their own. No part of the API."""

from __future__ import annotations

from memlite import jsoncodec
from memlite.chroma import remote
from memlite.errors import SemanticUnavailable, UsageError
from memlite.serve.calls import Call
from memlite.serve.replies import Reply
from memlite.serve.route import Route
from memlite.store.find import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def nearest(call: Call) -> Any:
    """What `Semantic.nearest` says, as {"near": {key: similarity}, "gap": text}; or why it says nothing."""
    body = call.body()
    try:
        where = _filter(jsoncodec.loads(body["where"]))
        near = call.worker.semantic.nearest(body["text"], where, body["also"], body["limit"])
    except SemanticUnavailable as failure:
        return Reply.of({"error": failure.message, "code": failure.code, "hint": failure.hint,
                         "absent": failure.absent}, failure.http_status)
    except (ValueError, TypeError, AttributeError, KeyError):
        raise UsageError("that is no filter") from None
    return {"near": {str(key): value for key, value in near.items()}, "gap": call.worker.semantic.gap()}


def _filter(fields: dict[str, Any]) -> Filter:
    if fields.get("also") is not None:
        fields["also"] = _filter(fields["also"])
    return Filter(**{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()})


PRIVATE: tuple[Route, ...] = (
    Route(method="POST", path=remote.PATH, handler=nearest, help="", example="",
          body=(("text", {"type": "string"}, True), ("where", {"type": "string"}, True),
                ("also", {"type": "array", "items": {"type": "integer"}, "maxItems": 200}, True),
                ("limit", {"type": "integer"}, True))),
)
