"""The options of the searching commands, in one table read by click and by the quick way to `query`.

click takes longer to import than a query takes to answer (84 ms against 60 ms frozen), so `memlite query` parses the
usual options itself from this table and leaves everything else, such as --help or a mistake, to click.
"""

from __future__ import annotations

from memlite.model import KINDS, TYPES, Record
from memlite.search.request import FORMATS, MAX_LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar


class Option(Record):
    """One option: `flags` as typed, `many` if it may be repeated, `choices` if it takes one of these, `number` if it
    takes a whole number; a `switch` takes no value."""

    __slots__ = ("name", "flags", "help", "default", "many", "choices", "number", "switch")
    DEFAULTS: ClassVar[dict[str, Any]] = {"default": None, "many": False, "choices": (), "number": False,
                                          "switch": False}
    name: str
    flags: tuple[str, ...]
    help: str
    default: Any
    many: bool
    choices: tuple[str, ...]
    number: bool
    switch: bool


LIMIT = Option(name="limit", flags=("-n", "--limit"), number=True, default=10, help=f"how many results, 1–{MAX_LIMIT}")
OFFSET = Option(name="offset", flags=("--offset",), number=True, default=0, help="how many results to pass over first")
KIND = Option(name="kind", flags=("--kind",), many=True, choices=KINDS, help="only this kind; may be repeated")
TYPE = Option(name="type", flags=("--type",), many=True, choices=TYPES, help="only observations of this type")
PROJECT = Option(name="project", flags=("-p", "--project"), many=True, help="only this project, by name or root folder")
ALL = Option(name="all_projects", flags=("-a", "--all-projects"), switch=True, default=False,
             help="all projects instead of the current folder's")
FORMAT = Option(name="format", flags=("--format",), choices=FORMATS, default="index",
                help="full: every field, provenance included")
JSON = Option(name="json", flags=("--json",), switch=True, default=False, help="JSON on standard output")

SEARCHING = (LIMIT, OFFSET, KIND, TYPE, PROJECT, ALL, FORMAT, JSON)


def parse(arguments: list[str], options: tuple[Option, ...]) -> tuple[list[str], dict[str, Any]] | None:
    """(words, option values) of `arguments`; None for anything but plain, valid use of `options`."""
    by_flag = {flag: option for option in options for flag in option.flags}
    values: dict[str, Any] = {option.name: [] if option.many else option.default for option in options}
    words: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            words.extend(rest)
            break
        if not word.startswith("-") or word == "-":
            words.append(word)
            continue
        flag, equals, value = word.partition("=")
        option = by_flag.get(flag)
        if option is None or (option.switch and equals):
            return None
        if option.switch:
            values[option.name] = True
            continue
        if not equals:
            if not rest:
                return None
            value = rest.pop(0)
        if option.number:
            if not (value.isascii() and value.isdigit()):
                return None
            value = int(value)  # type: ignore[assignment]
        elif option.choices and value not in option.choices:
            return None
        if option.many:
            values[option.name].append(value)
        else:
            values[option.name] = value
    return words, values
