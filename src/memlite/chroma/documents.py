"""A record as the index of meanings holds it: texts to embed, and fields to filter by. The texts are not kept there."""

from __future__ import annotations

from memlite.model import OBSERVATION, SUMMARY
from memlite.store import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Raise it whenever `texts` or `fields` change: the index is then filled anew.
FORM = "1"

_TITLE, _BODY = 400, 1_500  # characters; the model reads 128 tokens of a text, about 500 characters


def texts(record: Any) -> list[str]:
    """The texts whose mean direction is the record's vector: what it is called, and what it says.

    Measured on coding sessions: a title tells a record's subject better than its text does, both together best; and
    an average of the two vectors better than the vector of the two together.
    """
    if record.KIND == OBSERVATION:
        title = f"{record.title}\n{record.subtitle}"
        body = [record.subtitle, record.narrative, *record.facts]
    elif record.KIND == SUMMARY:
        title = record.request
        body = [record.completed, record.learned, record.investigated, record.next_steps, record.notes]
    else:
        title, body = record.text, []
    said = "\n".join(part for part in body if part)[:_BODY]
    return [text for text in (title[:_TITLE if said else _BODY], said) if text.strip()] or ["(empty)"]


def fields(record: Any, project: int) -> dict[str, str | int | bool]:
    """What the record can be filtered by in the index; `project` is a row number."""
    found: dict[str, str | int | bool] = {
        "kind": record.KIND, "type": getattr(record, "type", record.KIND), "project": project,
        "branch": record.branch.lower(), "at": record.created_at_epoch}
    found.update((concept(value), True) for name, value in index.facets(record) if name == index.CONCEPT)
    return found


def concept(value: str) -> str:
    """The name of the field that says that a record has this concept."""
    return f"concept:{value}"
