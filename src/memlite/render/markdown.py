"""Answers → compact markdown for a model to read: ids it can cite and fetch, and what each record costs to read."""

from __future__ import annotations

from memlite.clock import ms_to_iso
from memlite.privacy import neutralize
from memlite.render import items
from memlite.render.text import record_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.search.contextualize import Context
    from memlite.search.controller import Answer
    from memlite.search.timeline import Timeline

_NEAREST = "No good match; nearest:"
_MORE = "Whole records: `memlite show ID ID…`; what happened around one: `memlite timeline ID`."


def answer(found: Answer) -> str:
    """The answer to a search: a line a result, with the line of it that matches below."""
    request = found.request
    about = f" for \"{neutralize(request.query)}\"" if request.query else ""
    if not found.hits:
        return f"No memories{about}." + (f" ({found.reason})" if found.reason else "")
    head = f"{len(found.hits)} of {found.total} memories{about} (id, date, type, title, tokens of the full record):"
    if request.format == "full":
        return "\n\n".join([head, *(record_text(hit.record, color=False) for hit in found.hits)])
    lines = [head] if found.confident else [_NEAREST, head]
    for hit in found.hits:
        lines.append(line(hit.record) + (f" (+{hit.similar} similar)" if hit.similar else ""))
        if hit.line and hit.line not in hit.record.headline:
            lines.append(f"    {_flat(hit.line)}")
    return "\n".join([*lines, _MORE])


def timeline(found: Timeline) -> str:
    """A timeline, earliest first, the anchor marked with an arrow."""
    if found.moment is None:
        return f"No memory matches \"{neutralize(found.request.query)}\"."
    if not found.items:
        return f"No memories around {ms_to_iso(found.moment)}."
    if found.request.format == "full":
        return "\n\n".join(record_text(item, color=False) for item in found.items)
    lines = [line(item, marked=item is found.anchor) for item in found.items]
    return "\n".join(["Timeline, earliest first (id, date, type, title, tokens of the full record):", *lines, _MORE])


def context(found: Context) -> str:
    """A topic's context: what was decided, changed and explained last, then the timeline, newest first."""
    if not found.items:
        return "No decisions, changes or explanations are remembered" + (
            f" about \"{neutralize(found.query)}\"." if found.query else ".")
    lines = []
    for name, record in found.newest.items():
        lines += [f"## Newest {name.replace('_', '-')}: {line(record)}",
                  neutralize(getattr(record, "narrative", "")), ""]
    lines.append("## Timeline, newest first (id, date, type, title, tokens of the full record)")
    return "\n".join([*lines, *(line(item) for item in found.items), _MORE])


def line(record: Any, *, marked: bool = False) -> str:
    """One record on one line; `marked` puts an arrow before it."""
    sign = "→ " if marked else "- "
    return (f"{sign}#{record.ref} {ms_to_iso(record.created_at_epoch)[:16].replace('T', ' ')} "
            f"{_flat(items.type_of(record))}: {_flat(record.headline)} (~{items.tokens(record)})")


def _flat(text: str) -> str:
    return " ".join(neutralize(text).split())
