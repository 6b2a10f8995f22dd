"""`memlite import` and `memlite reindex`: the commands that work through a lot and show progress."""

from __future__ import annotations

import os

import click

from memlite import leftovers, paths
from memlite.capture import backfill
from memlite.cli import options, output
from memlite.cli.frame import cli, progress, with_options
from memlite.model import KINDS
from memlite.store import records
from memlite.store.database import open_database
from memlite.store.reindex import rebuild
from memlite.wording import counted


@cli.group("import", help="Bring in memories from elsewhere.")
def import_group() -> None:
    pass


@import_group.command("transcripts", help="""Read Claude Code transcripts into the store: a file or a folder of them,
by default all of this user's. What is stored already is not stored twice, so it can be repeated at will.""")
@click.argument("path", required=False)
@click.option("--dry-run", is_flag=True, help="count what would be stored, store nothing")
@click.option("--background", is_flag=True, hidden=True)
@with_options(options.JSON)
def transcripts(path: str | None, dry_run: bool, background: bool, json: bool) -> None:
    home = paths.home()
    if background:
        leftovers.remove(leftovers.temporary_directories(home))
        backfill.in_background(home, path or "")
        return
    files = backfill.transcript_files(path or os.path.join(paths.claude_config(), "projects"))
    total = sum(size for _, size in files)
    with backfill.target(home, dry_run) as database, progress(total, "reading transcripts") as bar:
        report = backfill.run(database, files, progress=bar.update)
    if json:
        output.write(output.json_text({"dry_run": dry_run, **report.as_dict()}))
        return
    output.write(report.text(dry_run))
    for name, reason in report.unreadable:
        output.say(f"memlite: {name} could not be read: {reason}")


@cli.command(help="Make the search index anew from the stored records. Searching goes on meanwhile.")
@click.option("--chroma", is_flag=True, help="the index of meanings instead, by the worker")
@with_options(options.JSON)
def reindex(json: bool, chroma: bool) -> None:
    if chroma:
        from memlite.cli.chroma import refill

        refill(json)
        return
    with open_database(paths.home()) as database:
        there = records.counts(database)
        total = sum(there[kind] for kind in KINDS)
        with progress(total, "indexing") as bar:
            entered = rebuild(database, bar.update)
    output.write(output.json_text({"indexed": entered}) if json else f"{counted(entered, 'record')} indexed")
