"""What a route is: a line of the one table that registers the routes and describes the API."""

from __future__ import annotations

from memlite.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from memlite.serve.calls import Call


class Route(Record):
    """One route. `parameters` are meanings of `search.parameters`, `required` says which must be there and under
    which name it is asked for. An `old` route passes over parameters it does not know; one that `writes` needs the
    token. `body` describes the members of a JSON body, `answer` names the schema of what comes back."""

    __slots__ = ("method", "path", "aliases", "help", "parameters", "required", "renames", "defaults", "body",
                 "answer", "handler", "old", "writes", "example")
    DEFAULTS: ClassVar[dict[str, Any]] = {
        "method": "GET", "aliases": (), "parameters": (), "required": (), "renames": (), "defaults": (), "body": (),
        "answer": "Object", "old": False, "writes": False}
    method: str
    path: str                               # in Bottle's spelling: /api/observation/<id>
    aliases: tuple[str, ...]
    help: str
    parameters: tuple[str, ...]
    required: tuple[tuple[str, str], ...]   # (meaning, name)
    renames: tuple[tuple[str, str], ...]    # (name, what it means here alone)
    defaults: tuple[tuple[str, Any], ...]   # (meaning, what holds when it is not given) where it differs
    body: tuple[tuple[str, dict[str, Any], bool], ...]   # (name, JSON schema, whether required)
    answer: str
    handler: Callable[[Call], Any]
    old: bool
    writes: bool
    example: str                            # what follows the address in a curl call

    @property
    def live(self) -> bool:
        """Whether the answer goes on for as long as the client listens."""
        return self.answer in ("EventStream", "WebSocket")

    @property
    def searches(self) -> bool:
        """Whether it answers from what is stored alone, and takes some time for it."""
        return self.method == "GET" and "query" in self.parameters

    def paths(self) -> list[str]:
        """All paths the route answers under: /api/… under /api/v1/… too."""
        found = [self.path, *self.aliases]
        return found + [path.replace("/api/", "/api/v1/", 1) for path in found if path.startswith("/api/")]
