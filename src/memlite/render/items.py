"""Records and answers → JSON-ready values."""

from __future__ import annotations

from memlite.clock import ms_to_iso
from memlite.model import OBSERVATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.errors import MemliteError
    from memlite.search.contextualize import Context
    from memlite.search.controller import Answer
    from memlite.search.timeline import Timeline
    from memlite.store.save import Saved


_MOMENT = len("2026-01-31T12:00:00.000Z")   # created_at, which stands beside the epoch


def type_of(record: Any) -> str:
    """An observation's type; else the kind."""
    return str(record.type) if record.KIND == OBSERVATION else str(record.KIND)


def tokens(record: Any) -> int:
    """About how many tokens reading the full record costs, at four characters a token; where its transcript lies does
    not count, so that the same memory costs the same everywhere."""
    counted = len(record.KIND) + len(record.ref) + _MOMENT
    for name in record.FIELDS:
        if name not in ("id", "transcript", "uuids"):
            counted += len(str(getattr(record, name)))
    return counted // 4


def brief(record: Any, *, score: float | None = None, match: str = "") -> dict[str, Any]:
    """A record in brief: what it takes to decide whether to read it."""
    return {"kind": record.KIND, "id": record.ref, "type": type_of(record), "title": record.headline,
            "subtitle": getattr(record, "subtitle", ""), "project": record.project,
            "created_at": ms_to_iso(record.created_at_epoch), "created_at_epoch": record.created_at_epoch,
            "score": score, "match": match, "tokens": tokens(record)}


def full(record: Any) -> dict[str, Any]:
    """Every field of a record, provenance included."""
    item = {"kind": record.KIND, **record.as_dict(), "created_at": ms_to_iso(record.created_at_epoch)}
    item["id"] = record.ref
    return item


def answer(found: Answer) -> dict[str, Any]:
    """The answer to a search."""
    request = found.request
    if request.format == "full":
        results = [{**full(hit.record), "score": hit.score} for hit in found.hits]
    else:
        results = [{**brief(hit.record, score=hit.score, match=hit.line),
                    **({"similar": hit.similar} if hit.similar else {})} for hit in found.hits]
    return {"query": request.query, "count": len(results), "total": found.total, "limit": request.limit,
            "offset": request.offset, "format": request.format,
            "search": {"requested": request.mode, "used": found.used, "degraded": found.degraded,
                       "reason": found.reason},
            "confident": found.confident, "results": results}


def timeline(found: Timeline) -> dict[str, Any]:
    """A timeline: its anchor (an id, or the moment as ISO 8601) and its items, earliest first."""
    request = found.request
    anchor = None
    if found.moment is not None:
        anchor = found.anchor.ref if found.anchor is not None else ms_to_iso(found.moment)
    items = [full(item) if request.format == "full" else brief(item) for item in found.items]
    answered: dict[str, Any] = {"anchor": anchor, "depth_before": request.before, "depth_after": request.after,
                                "format": request.format, "count": len(items), "timeline": items}
    if request.query:
        answered = {"query": request.query, "match": brief(found.match) if found.match else None, **answered}
    return answered


def context(found: Context) -> dict[str, Any]:
    """A topic's context: its timeline, newest first, and what the newest of each part says."""
    newest = {name: {**brief(record), "narrative": getattr(record, "narrative", "")}
              for name, record in found.newest.items()}
    return {"query": found.query, "anchor_date": None if found.moment is None else ms_to_iso(found.moment),
            "count": len(found.items), "timeline": [brief(item) for item in found.items], "newest": newest}


def saved(found: Saved) -> dict[str, Any]:
    """What became of a text to be saved; the observation's id is a number here, as older scripts expect."""
    record = found.record
    message = "was saved before" if found.duplicate else "is saved"
    return {"success": True, "id": record.id, "title": record.title, "project": record.project,
            "duplicate": found.duplicate, "message": f"the memory {message} as observation #{record.id}"}


def forgotten(references: list[str], erased: bool) -> dict[str, Any]:
    """Which records were forgotten, and whether their bytes have left the file too."""
    return {"success": True, "forgotten": references, "erased": erased}


def error(failure: MemliteError) -> dict[str, Any]:
    """An error: what went wrong, its code, and the way out."""
    return {"error": failure.message, "code": failure.code, "hint": failure.hint}
