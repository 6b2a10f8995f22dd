"""`memlite save` and `memlite forget`: twins of the writing routes."""

from __future__ import annotations

import os
import sys

import click

from memlite import paths
from memlite.capture.projects import current_folder, project_of
from memlite.cli import options, output
from memlite.cli.frame import cli, references, with_options
from memlite.clock import now_ms
from memlite.errors import NotFound
from memlite.model import TYPES
from memlite.render import items
from memlite.store import forget as forgetting
from memlite.store import records, salvage
from memlite.store.database import open_database, open_for_reading
from memlite.store.save import project_called
from memlite.store.save import save as save_memory


@cli.command(help="Save TEXT as a memory of the current folder's project; - reads it from standard input.")
@click.argument("text", nargs=-1, required=True)
@click.option("--title", default="", help="by default the first line of TEXT")
@click.option("--type", "kind", type=click.Choice(TYPES), default="discovery", show_default=True, help="what it is")
@click.option("--concept", "concepts", multiple=True, help="what it is about, e.g. gotcha; may be repeated")
@click.option("--file", "files", multiple=True, help="a file it is about; may be repeated")
@click.option("-p", "--project", default="", help="another project, by name or root folder")
@with_options(options.JSON)
def save(text: tuple[str, ...], title: str, kind: str, concepts: tuple[str, ...], files: tuple[str, ...], project: str,
         json: bool) -> None:
    words = sys.stdin.read() if text == ("-",) else " ".join(text)
    with open_database(paths.home()) as database:
        owner = project_called(database, project) if project else project_of(current_folder())
        saved = save_memory(database, words, now=now_ms(), project=owner, title=title, type=kind, concepts=concepts,
                            files=files)
    record = saved.record
    if json:
        output.write(output.json_text(items.saved(saved)))
    else:
        output.write(f"{'saved before as' if saved.duplicate else 'saved as'} #{record.ref}: {record.title}")


@cli.command(help="Forget memories by ID for good: they leave the search, the file's bytes, and do not come back when "
                  "a transcript is read again.")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--turn", is_flag=True, help="all else of the same turns too: prompt, work and summary")
@click.option("-y", "--yes", is_flag=True, help="do not ask")
@with_options(options.JSON)
def forget(ids: tuple[str, ...], turn: bool, yes: bool, json: bool) -> None:
    wanted = references(ids)
    database = open_for_reading(paths.home())
    if database is None:
        raise NotFound(f"no record {', '.join(ids)}", "nothing is stored yet")
    with database:
        found = records.fetch(database, wanted)
        known = {(record.KIND, record.id) for record in found}
        missing = [text for text, reference in zip(ids, wanted, strict=True) if reference not in known]
        if missing:
            raise NotFound(f"no record {', '.join(missing)}", "nothing was forgotten; `memlite query` prints ids")
        others = forgetting.of_same_turn(database, wanted)
        if turn:
            found += records.fetch(database, others)
            wanted, others = [*wanted, *others], []
        if not yes:
            for record in found:
                output.say(f"{record.ref}: {record.headline}")
            click.confirm(f"forget {len(found)} for good?", abort=True, err=True)
        forgetting.forget(database, wanted)
        erased = forgetting.erase(database)
    if json:
        output.write(output.json_text(items.forgotten([record.ref for record in found], erased)))
    else:
        output.write(f"forgotten: {', '.join(record.ref for record in found)}")
    if not erased:
        output.say("another process is reading; the words leave the file's bytes when `memlite forget` runs next")
    if others:
        output.say("of the same turn, with words that may be the same, there still are "
                   f"{' '.join(records.cite(*other) for other in others)}; `memlite forget` takes them too")
    older = [os.path.join(paths.home(), name) for name in salvage.copies(paths.home())]
    if older:
        output.say(f"older copies of the store keep what was in it then; delete them if it must go: {' '.join(older)}")
