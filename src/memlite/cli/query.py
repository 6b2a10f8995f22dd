"""`memlite query` and `memlite recent`: options → request → controller → printer.

Imported without click for `query` (see `options`); click's commands call the same `run`.
"""

from __future__ import annotations

import os
import sys

from memlite import paths, render
from memlite.capture.projects import project_of
from memlite.cli import options
from memlite.clock import now_ms
from memlite.errors import MemliteError
from memlite.model import KINDS
from memlite.search.controller import Answer, search
from memlite.search.request import SearchRequest
from memlite.store.database import open_for_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main(arguments: list[str]) -> int | None:
    """Answer `memlite query ARGUMENTS` and return the exit code; None when click must take over."""
    parsed = options.parse(arguments, options.SEARCHING)
    if parsed is None or not parsed[0]:
        return None
    words, values = parsed
    try:
        return run(" ".join(words), values)
    except MemliteError as failure:
        return report(failure, values["json"])
    except BrokenPipeError:  # `memlite query … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0


def run(text: str, values: dict[str, Any]) -> int:
    """Search for `text` with the option `values` and print the answer. Returns the exit code. Raises MemliteError."""
    answer, note = ask(text, values)
    if values["json"]:
        output = render.json_text(render.answer_json(answer))
    else:
        output = render.answer_text(answer, now=now_ms(), width=width(), color=color())
    if output:
        write(output)
    if not values["json"]:
        if not answer.hits:
            note = note or (f"nothing found for {text!r}" if text else "nothing remembered yet")
        elif answer.total > len(answer.hits) + answer.request.offset:
            note = note or f"{len(answer.hits)} of {answer.total}; more with -n, whole records with `memlite show ID`"
        if note:
            say(note)
    return 0


def ask(text: str, values: dict[str, Any]) -> tuple[Answer, str]:
    """(the answer, a note for the person). Without --project or --all-projects the current folder's project is
    searched, and all projects when it has no memories."""
    home = paths.home()
    database = open_for_reading(home)
    asked = {"query": text, "limit": values["limit"], "offset": values["offset"], "format": values["format"],
             "kinds": tuple(values["kind"]) or KINDS, "types": tuple(values["type"])}
    here = project_of(os.getcwd())
    narrow = not values["all_projects"] and not values["project"]
    try:
        if not narrow:
            return search(database, SearchRequest(projects=tuple(values["project"]), **asked)), ""
        answer = search(database, SearchRequest(roots=(here.root,), **asked))
        if answer.hits or database is None or search(database, SearchRequest(roots=(here.root,), limit=1)).hits:
            return answer, ""
        answer = search(database, SearchRequest(**asked))
        answer.reason = f"no memories of the project {here.name} yet: all projects were searched"
        return answer, answer.reason if answer.hits else ""
    finally:
        if database is not None:
            database.close()


def width() -> int | None:
    """The terminal's columns; None when standard output is no terminal."""
    if not sys.stdout.isatty():
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except OSError:
        return None


def color() -> bool:
    """Whether to paint: on a terminal, unless NO_COLOR is set (https://no-color.org) or it is a dumb one."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def write(text: str) -> None:
    """`text` and a line feed to standard output, whatever its encoding. Raises BrokenPipeError."""
    data = (text + "\n").encode("utf-8", "replace")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """A line of talk to standard error."""
    sys.stderr.write(f"{text}\n")


def report(failure: MemliteError, as_json: bool) -> int:
    """Tell the person (or, as JSON on standard output, the program) what went wrong. Returns the exit code."""
    if as_json:
        write(render.json_text({"error": failure.message, "code": failure.code, "hint": failure.hint}))
    say(f"memlite: {failure.message}" + (f"\n  {failure.hint}" if failure.hint else ""))
    return failure.exit_code
