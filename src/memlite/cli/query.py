"""The searching commands: options → request → controller → printer.

Imported without click for `memlite query` (see `options`); click's commands call the same functions.
"""

from __future__ import annotations

from memlite import paths
from memlite.capture.projects import current_folder, project_of
from memlite.chroma.remote import index_of
from memlite.cli import options, output
from memlite.clock import now_ms
from memlite.errors import MemliteError
from memlite.render import items, text
from memlite.search.controller import Answer, search
from memlite.search.parameters import SEARCH, Parameters, search_request
from memlite.search.request import SearchRequest
from memlite.store.database import Database, open_for_reading

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
        return output.report(failure, bool(values["json"]))
    except BrokenPipeError:  # `memlite query … | head`
        return output.reader_gone()


def run(query: str, values: dict[str, Any], **fixed: Any) -> int:
    """Search for `query` with the option `values` and `fixed` request fields, and print the answer.

    Returns the exit code. Raises MemliteError.
    """
    answer, note = ask(query, values, fixed)
    if values["json"]:
        output.write(output.json_text(items.answer(answer)))
        return 0
    if values["markdown"]:
        from memlite.render import markdown

        output.write(markdown.answer(answer))
        return 0
    printed = text.answer_text(answer, now=now_ms(), width=output.width(), color=output.color())
    if printed:
        if not answer.confident:
            output.say("no good match; nearest:")
        output.write(printed)
    if not answer.hits:
        note = note or (f"nothing found for {query!r}" if query else "nothing remembered yet")
    elif answer.total > len(answer.hits) + answer.request.offset:
        note = note or f"{len(answer.hits)} of {answer.total}; more with -n, whole records with `memlite show ID`"
    if note:
        output.say(note)
    return 0


def ask(query: str, values: dict[str, Any], fixed: dict[str, Any]) -> tuple[Answer, str]:
    """(the answer, a note for the person). Raises MemliteError."""
    parameters = Parameters([("query", query), *options.pairs(values)], SEARCH, strict=True)
    database = open_for_reading(paths.home())
    try:
        roots, note = scope(database, values)
        request = search_request(parameters, now=now_ms(), roots=roots, **fixed)
        answer = search(database, request, semantic=index_of(paths.home()))
        note = note if answer.hits else ""
        answer.reason = "; ".join(filter(None, (answer.reason, note))) or None
        return answer, answer.reason or ""
    finally:
        if database is not None:
            database.close()


def scope(database: Database | None, values: dict[str, Any]) -> tuple[tuple[str, ...], str]:
    """(the project roots to search, a note). Without --project or --all-projects that is the current folder's
    project; when it has no memories at all, every project is searched and the note says so."""
    if values["all_projects"] or values["project"] or database is None:
        return (), ""
    here = project_of(current_folder())
    if search(database, SearchRequest(roots=(here.root,), limit=1)).hits:
        return (here.root,), ""
    return (), f"no memories of the project {here.name} yet: all projects were searched"
