"""Records and answers → text for a person, or JSON. The only printer.

What is stored may come from anywhere, so all text for people and models goes through `neutralize`: no tag, escape
sequence or control character of a memory reaches a terminal or a model as such.
"""

from __future__ import annotations

from memlite import jsoncodec
from memlite.clock import age, ms_to_iso
from memlite.model import ENVELOPE_TAG, OBSERVATION, PROMPT, SUMMARY
from memlite.privacy import neutralize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.search.controller import Answer, Hit

_BOLD, _DIM, _CYAN, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[0m"


def envelope(text: str) -> str:
    """`text` inside the one pair of tags that marks memlite's words in a model's context."""
    return f"<{ENVELOPE_TAG}>\n{text}\n</{ENVELOPE_TAG}>"


def tokens(record: Any) -> int:
    """About how many tokens reading the full record costs, at four characters a token."""
    return max(1, sum(len(str(value)) for value in full_item(record).values()) // 4)


def title(record: Any) -> str:
    """The one line a record goes by."""
    if record.KIND == OBSERVATION:
        return str(record.title)
    text = record.request or record.completed if record.KIND == SUMMARY else record.text
    flat = " ".join(text.split())
    return flat if len(flat) <= 160 else flat[:159].rstrip() + "…"


def type_of(record: Any) -> str:
    """An observation's type; else the kind."""
    return str(record.type) if record.KIND == OBSERVATION else str(record.KIND)


def index_item(hit: Hit) -> dict[str, Any]:
    """A result in brief: what it takes to decide whether to read it."""
    record: Any = hit.record
    return {"kind": record.KIND, "id": record.ref, "type": type_of(record), "title": title(record),
            "subtitle": getattr(record, "subtitle", ""), "project": record.project,
            "created_at": ms_to_iso(record.created_at_epoch), "created_at_epoch": record.created_at_epoch,
            "score": hit.score, "match": hit.line, "tokens": tokens(record)}


def full_item(record: Any) -> dict[str, Any]:
    """Every field of a record, provenance included."""
    item = {"kind": record.KIND, **record.as_dict(), "created_at": ms_to_iso(record.created_at_epoch)}
    item["id"] = record.ref
    return item


def answer_json(answer: Answer) -> dict[str, Any]:
    """A search answer as its JSON object."""
    request = answer.request
    if request.format == "full":
        results = [{**full_item(hit.record), "score": hit.score} for hit in answer.hits]
    else:
        results = [index_item(hit) for hit in answer.hits]
    return {"query": request.query, "count": len(results), "total": answer.total, "limit": request.limit,
            "offset": request.offset, "format": request.format,
            "search": {"requested": request.mode, "used": answer.used, "degraded": answer.degraded,
                       "reason": answer.reason},
            "results": results}


def json_text(value: Any) -> str:
    """`value` as JSON for a terminal or pipe."""
    return jsoncodec.dumps(value)


def answer_text(answer: Answer, *, now: int, width: int | None, color: bool) -> str:
    """A search answer for a person: a line for each result with its matching line below, at most `width` columns
    wide (None: as wide as need be)."""
    if answer.request.format == "full":
        return "\n\n".join(record_text(hit.record, color=color) for hit in answer.hits)
    return "\n".join(_result_lines(hit, now, width, color) for hit in answer.hits)


def _result_lines(hit: Hit, now: int, width: int | None, color: bool) -> str:
    record: Any = hit.record
    head = f"{record.ref:>6} {age(record.created_at_epoch, now):>4} {type_of(record):<9} "
    name = f"  ({_flat(record.project)})"
    label = _flat(title(record))
    if width is not None and width < 60:  # a narrow terminal: the project gives way first
        name = ""
    label = _cut(label, None if width is None else max(10, width - len(head) - len(name)))
    first = f"{_paint(head, _CYAN, color)}{_paint(label, _BOLD, color)}{_paint(name, _DIM, color)}"
    line = _flat(hit.line)
    if not line or line in label:
        return first
    indent = " " * (len(head) if width is None or width >= 60 else 7)
    return first + "\n" + indent + _paint(_cut(line, None if width is None else max(10, width - len(indent))), _DIM, color)


def record_text(record: Any, *, color: bool) -> str:
    """A whole record for a person or model to read."""
    lines = [_paint(f"{record.ref} {type_of(record)}: {_flat(title(record))}", _BOLD, color),
             _paint(f"{ms_to_iso(record.created_at_epoch)}  project {_flat(record.project)}  session "
                    f"{_flat(record.session_id)}" + (f"  branch {_flat(record.branch)}" if record.branch else "")
                    + f"  origin {record.origin}", _DIM, color)]
    if record.KIND == PROMPT:
        lines.append(neutralize(record.text))
    for name in ("subtitle", "request", "narrative", "investigated", "completed", "learned", "next_steps", "notes"):
        value = getattr(record, name, "")
        if value and value != title(record):
            lines.append(f"{_label(name, color)}{neutralize(value)}")
    for name in ("facts", "concepts", "files_modified", "files_edited", "files_read"):
        values = getattr(record, name, [])
        if values:
            lines.append(_label(name, color) + "".join(f"\n  - {_flat(value)}" for value in values))
    if getattr(record, "details", ""):
        lines.append(f"{_label('details', color)}\n{neutralize(record.details)}")
    if record.transcript:
        lines.append(_paint(f"from {_flat(record.transcript)} ({len(record.uuids)} rows)", _DIM, color))
    return "\n".join(lines)


def _label(name: str, color: bool) -> str:
    return _paint(name.replace("_", " ") + ": ", _CYAN, color)


def _flat(text: str) -> str:
    return " ".join(neutralize(text).split()) if text.strip() else ""


def _cut(text: str, width: int | None) -> str:
    return text if width is None or len(text) <= width else text[:width - 1].rstrip() + "…"


def _paint(text: str, paint: str, color: bool) -> str:
    return f"{paint}{text}{_RESET}" if color and text else text
