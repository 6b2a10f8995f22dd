"""Records and answers → text for a person at a terminal, and the envelope for a model's context."""

from __future__ import annotations

from memlite.clock import age, ms_to_iso
from memlite.model import ENVELOPE_TAG, PROMPT
from memlite.privacy import neutralize
from memlite.render.items import type_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.search.contextualize import Context
    from memlite.search.controller import Answer, Hit
    from memlite.search.timeline import Timeline

_BOLD, _DIM, _CYAN, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[0m"


def envelope(text: str) -> str:
    """`text` inside the one pair of tags that marks memlite's words in a model's context."""
    return f"<{ENVELOPE_TAG}>\n{text}\n</{ENVELOPE_TAG}>"


def answer_text(answer: Answer, *, now: int, width: int | None, color: bool) -> str:
    """A search answer for a person: a line for each result with its matching line below, at most `width` columns
    wide (None: as wide as need be)."""
    if answer.request.format == "full":
        return "\n\n".join(record_text(hit.record, color=color) for hit in answer.hits)
    return "\n".join(_hit_lines(hit, now, width, color) for hit in answer.hits)


def timeline_text(found: Timeline, *, now: int, width: int | None, color: bool) -> str:
    """A timeline for a person, earliest first, the anchor marked with an arrow."""
    if found.request.format == "full":
        return "\n\n".join(record_text(item, color=color) for item in found.items)
    lines = [_record_line(item, now, None if width is None else width - 2, color) for item in found.items]
    return "\n".join(("→ " if item is found.anchor else "  ") + line
                     for item, line in zip(found.items, lines, strict=True))


def context_text(found: Context, *, now: int, width: int | None, color: bool) -> str:
    """A topic's context for a person: the newest of each part, then the timeline, newest first."""
    blocks = [_paint(f"newest {name.replace('_', '-')}", _CYAN, color) + "\n" + _record_line(record, now, width, color)
              + "\n" + neutralize(getattr(record, "narrative", "")) for name, record in found.newest.items()]
    if found.items:
        blocks.append(_paint("timeline, newest first", _CYAN, color) + "\n" + "\n".join(
            _record_line(item, now, width, color) for item in found.items))
    return "\n\n".join(blocks)


def _hit_lines(hit: Hit, now: int, width: int | None, color: bool) -> str:
    first = _record_line(hit.record, now, width, color, f" (+{hit.similar} similar)" if hit.similar else "")
    line = _flat(hit.line)
    if not line or line in _flat(hit.record.headline):
        return first
    indent = " " * (23 if width is None or width >= 60 else 7)
    line = _cut(line, None if width is None else max(10, width - len(indent)))
    return first + "\n" + indent + _paint(line, _DIM, color)


def _record_line(record: Any, now: int, width: int | None, color: bool, more: str = "") -> str:
    head = f"{record.ref:>6} {age(record.created_at_epoch, now):>4} {_flat(type_of(record)):<9} "
    name = f"  ({_flat(record.project)})"
    label = _flat(record.headline)
    if width is not None and width < 60:  # a narrow terminal: the project gives way first
        name = ""
    name = more + name
    label = _cut(label, None if width is None else max(10, width - len(head) - len(name)))
    return f"{_paint(head, _CYAN, color)}{_paint(label, _BOLD, color)}{_paint(name, _DIM, color)}"


def record_text(record: Any, *, color: bool) -> str:
    """A whole record for a person or model to read."""
    lines = [_paint(f"{record.ref} {_flat(type_of(record))}: {_flat(record.headline)}", _BOLD, color),
             _paint(f"{ms_to_iso(record.created_at_epoch)}  project {_flat(record.project)}  session "
                    f"{_flat(record.session_id)}" + (f"  branch {_flat(record.branch)}" if record.branch else "")
                    + f"  origin {_flat(record.origin)}", _DIM, color)]
    if record.KIND == PROMPT:
        lines.append(neutralize(record.text))
    for name in ("subtitle", "request", "narrative", "investigated", "completed", "learned", "next_steps", "notes"):
        value = getattr(record, name, "")
        if value and value != record.headline:
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
