"""Single memories: read by id, saved, forgotten."""

from __future__ import annotations

from memlite.errors import NotFound, UsageError
from memlite.model import OBSERVATION, PROMPT, SUMMARY, parse_ref
from memlite.render import items
from memlite.render.text import record_text
from memlite.serve.calls import Call
from memlite.serve.replies import Reply
from memlite.store import forget as forgetting
from memlite.store import records
from memlite.store.save import project_called, save

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_IDS = 100
_NAMES = {OBSERVATION: "Observation", SUMMARY: "Session", PROMPT: "Prompt"}


def _reference(call: Call, kind: str) -> tuple[str, int]:
    """The record that the path names: a number, or the id of that kind as it is cited. Raises UsageError."""
    text = call.arguments["id"]
    reference = parse_ref(text)
    if reference is None or (reference[0] != kind and not text.lstrip("#").isdigit()):
        raise UsageError(f"{text!r} is no id of such a record", "ids look like 123, S5 and P7", "invalid_id")
    return kind, reference[1]


def _one(call: Call, kind: str) -> Any:
    reference = _reference(call, kind)
    with call.worker.pool.lend() as database:
        found = records.fetch(database, [reference]) if database is not None else []
    if not found:
        raise _missing(kind, reference[1])
    return call.shown(found[0], items.full, lambda record: record_text(record, color=False))


def _missing(kind: str, ident: int) -> NotFound:
    return NotFound(f"{_NAMES[kind]} #{ident} not found", "GET /api/search finds ids")


def observation(call: Call) -> Any:
    """A whole observation."""
    return _one(call, OBSERVATION)


def session(call: Call) -> Any:
    """A whole session summary."""
    return _one(call, SUMMARY)


def prompt(call: Call) -> Any:
    """A whole prompt."""
    return _one(call, PROMPT)


def batch(call: Call) -> list[dict[str, Any]]:
    """Whole records of any kind in the order asked for; unknown ones are left out."""
    wanted = []
    for ident in call.body()["ids"]:
        reference = parse_ref(str(int(ident) if isinstance(ident, float) else ident))
        if reference is None:
            raise UsageError(f"{ident!r} is no id", "ids look like 123, S5 and P7", "invalid_id")
        wanted.append(reference)
    with call.worker.pool.lend() as database:
        found = records.fetch(database, dict.fromkeys(wanted)) if database is not None else []
    return [items.full(record) for record in found]


def save_memory(call: Call) -> Reply:
    """Store a text as an observation."""
    body = call.body()
    with call.worker.pool.lend(create=True) as database:
        assert database is not None   # it was to be created
        saved = save(database, body["text"], now=call.now, title=body.get("title") or "",
                     project=project_called(database, (body.get("project") or "").strip()),
                     type=body.get("type") or "discovery", concepts=tuple(body.get("concepts") or ()),
                     files=tuple(body.get("files") or ()))
    return Reply.of(items.saved(saved), status=200 if saved.duplicate else 201)


def _forget(call: Call, kind: str) -> dict[str, Any]:
    reference = _reference(call, kind)
    with call.worker.pool.lend() as database:
        if database is None or not forgetting.forget(database, [reference]):
            raise _missing(kind, reference[1])
        erased = forgetting.erase(database)
    return items.forgotten([records.cite(*reference)], erased)


def forget_observation(call: Call) -> Any:
    """Remove an observation for good."""
    return _forget(call, OBSERVATION)


def forget_session(call: Call) -> Any:
    """Remove a session summary for good."""
    return _forget(call, SUMMARY)


def forget_prompt(call: Call) -> Any:
    """Remove a prompt for good."""
    return _forget(call, PROMPT)
