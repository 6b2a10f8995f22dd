"""How far the index of meanings has followed the store, in a file beside it: what goes with the index goes with it."""

from __future__ import annotations

import os

from memlite import jsoncodec, paths
from memlite.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

FILE = "position.json"


class Position(Record):
    """All changes of the journal `birth` from number `low` to number `high` are in the index `index`.

    `owner` is the random name under which this data directory's vectors stand in the index, which others may share.
    """

    __slots__ = ("owner", "index", "birth", "low", "high")
    DEFAULTS: ClassVar[dict[str, Any]] = {"low": 1, "high": 0}
    owner: str
    index: str
    birth: str
    low: int
    high: int


def load(folder: str) -> Position:
    """The position kept in `folder`; a new one of a new owner when there is none."""
    try:
        with open(os.path.join(folder, FILE), encoding="utf-8") as file:
            return Position(**jsoncodec.loads(file.read(10_000)))
    except (OSError, ValueError, TypeError):
        return Position(owner=os.urandom(8).hex())


def save(folder: str, position: Position) -> None:
    """Keep it, in one step. Raises OSError."""
    path = os.path.join(folder, FILE)
    part = f"{path}.part"
    paths.create_private(part)
    with open(part, "w", encoding="utf-8") as file:
        file.write(jsoncodec.dumps(position.as_dict()))
    os.replace(part, path)
