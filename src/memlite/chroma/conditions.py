"""A search's filter in Chroma's words (https://docs.trychroma.com/docs/querying-collections/metadata-filtering)."""

from __future__ import annotations

from memlite.chroma.documents import concept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.store.find import Filter


def conditions(where: Filter) -> list[dict[str, Any]] | None:
    """The conditions that must all hold; None when the filter admits nothing at all. Files are not among them: a part
    of a path can't be asked for there."""
    found: list[dict[str, Any]] = []
    which: list[dict[str, Any]] = []
    if where.types:
        which.append({"type": {"$in": list(where.types)}})
    if where.concepts:
        which.append(_either([{concept(value): True} for value in where.concepts]))
    found += [_either(which)] if where.either and which else which
    for name, values in (("kind", where.kinds), ("branch", tuple(value.lower() for value in where.branches)),
                         ("project", where.projects)):
        if values:
            found.append({name: {"$in": list(values)}})
        elif name == "project" and values is not None:
            return None
    if where.since is not None:
        found.append({"at": {"$gte": where.since}})
    if where.until is not None:
        found.append({"at": {"$lt": where.until}})
    if where.also is not None:
        more = conditions(where.also)
        if more is None:
            return None
        found += more
    return found


def names_files(where: Filter) -> bool:
    """Whether the filter asks for files, which only the store can answer."""
    return bool(where.files) or (where.also is not None and names_files(where.also))


def _either(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"$or": parts} if len(parts) > 1 else parts[0]
