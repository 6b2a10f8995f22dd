"""`memlite query`, `recent`, `show`, and `hook`: the commands that read, and the one the client calls."""

from __future__ import annotations

import sys
from typing import Any

import click

from memlite import paths
from memlite.cli import options, output, query
from memlite.cli.frame import cli, references, with_options
from memlite.errors import NotFound
from memlite.render import items
from memlite.render.text import record_text
from memlite.store import records
from memlite.store.database import open_for_reading


@cli.command("query", help="Search all memories for TEXT: plain words, the best match first.")
@click.argument("text", nargs=-1, required=True)
@with_options(*options.SEARCHING)
def query_command(text: tuple[str, ...], **values: Any) -> None:
    sys.exit(query.run(" ".join(text), values))


@cli.command(help="Show the newest memories, without a search.")
@with_options(*options.SEARCHING)
def recent(**values: Any) -> None:
    sys.exit(query.run("", values))


@cli.command(help="Show whole records by ID: 123 is an observation, S5 a summary, P7 a prompt.")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@with_options(options.JSON)
def show(ids: tuple[str, ...], json: bool) -> None:
    wanted = references(ids)
    found = []
    database = open_for_reading(paths.home())
    if database is not None:
        with database:
            found = records.fetch(database, wanted)
    known = {record.ref for record in found}
    missing = [text for text, (kind, ident) in zip(ids, wanted, strict=True) if records.cite(kind, ident) not in known]
    if json and (found or not missing):
        output.write(output.json_text([items.full(record) for record in found]))
    elif found and not json:
        output.write("\n\n".join(record_text(record, color=output.color()) for record in found))
    if missing:
        failure = NotFound(f"no record {', '.join(missing)}", "`memlite query` and `memlite recent` print ids")
        sys.exit(output.report(failure, json and not found))  # standard output is one JSON document


@cli.command(help="Answer a Claude Code hook event: its JSON on standard input, JSON or nothing on standard output.")
@click.argument("event")
def hook(event: str) -> None:
    from memlite.hooks import entry

    entry.main([event])
