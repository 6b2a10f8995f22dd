"""The options of the searching commands, in one table read by click and by the quick way to `query`.

click takes longer to import than a query takes to answer (84 ms against 60 ms frozen), so `memlite query` parses the
usual options itself from this table and leaves everything else, such as --help or a mistake, to click.
"""

from __future__ import annotations

from memlite.model import KINDS, TYPES, Record
from memlite.search.request import FORMATS, MAX_LIMIT, MODES, ORDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar


class Option(Record):
    """One option. `name` is the request parameter it sets. A `switch` takes no value; `many` may be repeated;
    `number` takes a whole number; `choices` are the values it admits."""

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
KIND = Option(name="kind", flags=("--kind",), many=True, choices=KINDS, help="only this kind of memory")
TYPE = Option(name="obs_type", flags=("--type",), many=True,
              help=f"only observations of this type: {', '.join(TYPES)}")
CONCEPT = Option(name="concept", flags=("--concept",), many=True, help="only with this concept, e.g. gotcha")
FILE = Option(name="file", flags=("--file",), many=True, help="only what touched a file with this in its path")
BRANCH = Option(name="branch", flags=("--branch",), many=True, help="only from this git branch")
SINCE = Option(name="since", flags=("--since",), help="only from then on: 2026-01-31, 7d, yesterday")
UNTIL = Option(name="until", flags=("--until",), help="only up to then, the whole day included")
PROJECT = Option(name="project", flags=("-p", "--project"), many=True, help="only this project, by name or root folder")
ALL = Option(name="all_projects", flags=("-a", "--all-projects"), switch=True, default=False,
             help="all projects instead of the current folder's")
ORDER = Option(name="order", flags=("--order",), choices=ORDERS, help="by default relevance, newest first without TEXT")
FORMAT = Option(name="format", flags=("--format",), choices=FORMATS, default="index",
                help="full: every field, provenance included")
MODE = Option(name="mode", flags=("--mode",), choices=MODES, default="auto", help="how TEXT is searched for")
BEFORE = Option(name="depth_before", flags=("-B", "--before"), number=True, default=10, help="how many items before")
AFTER = Option(name="depth_after", flags=("-A", "--after"), number=True, default=10, help="how many items after")
JSON = Option(name="json", flags=("--json",), switch=True, default=False, help="JSON on standard output")
MARKDOWN = Option(name="markdown", flags=("--markdown",), switch=True, default=False,
                  help="compact markdown for a model to read")

_SCOPE = (PROJECT, ALL)
_FILTERS = (KIND, TYPE, CONCEPT, FILE, BRANCH, SINCE, UNTIL, *_SCOPE)
_PRINTING = (JSON, MARKDOWN)
SEARCHING = (LIMIT, OFFSET, *_FILTERS, ORDER, MODE, FORMAT, *_PRINTING)
READY_MADE = (LIMIT, OFFSET, SINCE, UNTIL, *_SCOPE, ORDER, FORMAT, *_PRINTING)
AROUND = (BEFORE, AFTER, *_SCOPE, FORMAT, *_PRINTING)
TOPIC = (*_SCOPE, *_PRINTING)


def pairs(values: dict[str, Any]) -> list[tuple[str, Any]]:
    """The request parameters among option `values`, as (name, value) pairs."""
    ours = (ALL.name, *(option.name for option in _PRINTING))
    return [(name, list(value) if isinstance(value, tuple) else value) for name, value in values.items()
            if name not in ours and value is not None and value != ()]


def parse(arguments: list[str], options: tuple[Option, ...]) -> tuple[list[str], dict[str, Any]] | None:
    """(words, option values) of `arguments`; None for anything but plain, valid use of `options`."""
    by_flag = {flag: option for option in options for flag in option.flags}
    values: dict[str, Any] = {option.name: () if option.many else option.default for option in options}
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
        if option.number and not (value.isascii() and value.isdigit()):
            return None
        if option.choices and value not in option.choices:
            return None
        values[option.name] = (*values[option.name], value) if option.many else value
    return words, values
