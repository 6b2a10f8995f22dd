"""The commands beyond plain search: ready-made searches, timelines, a topic's context. Twins of the HTTP routes."""

from __future__ import annotations

import sys
from typing import Any

import click

from memlite import paths
from memlite.cli import options, output, query
from memlite.cli.frame import cli, with_options
from memlite.clock import now_ms
from memlite.model import parse_ref
from memlite.render import items, markdown, text
from memlite.search import contextualize as ready_made
from memlite.search.parameters import TIMELINE, Parameters, timeline_request
from memlite.search.timeline import timeline as find_timeline
from memlite.store.database import open_for_reading


@cli.command(help="Show what was decided, newest first, or what fits TEXT best.")
@click.argument("text", nargs=-1)
@with_options(*options.READY_MADE)
def decisions(text: tuple[str, ...], **values: Any) -> None:
    sys.exit(query.run(" ".join(text), values, **ready_made.DECISIONS))


@cli.command(help="Show what was changed, newest first, or what fits TEXT best.")
@click.argument("text", nargs=-1)
@with_options(*options.READY_MADE)
def changes(text: tuple[str, ...], **values: Any) -> None:
    sys.exit(query.run(" ".join(text), values, **ready_made.CHANGES))


@cli.command("how-it-works", help="Show what explains how things work, newest first, or what fits TEXT best.")
@click.argument("text", nargs=-1)
@with_options(*options.READY_MADE)
def how_it_works(text: tuple[str, ...], **values: Any) -> None:
    sys.exit(query.run(" ".join(text), values, **ready_made.HOW_IT_WORKS))


@cli.command(help="Show what happened around ANCHOR: an id (123, S5, P7), a moment, or the best match of other words.")
@click.argument("anchor", nargs=-1, required=True)
@with_options(*options.AROUND)
def timeline(anchor: tuple[str, ...], **values: Any) -> None:
    words = " ".join(anchor)
    moment = words[:4].isdigit() and words[4:5] in ("", "-") or words.isdigit()
    name = "anchor" if parse_ref(words) or moment else "query"
    database = open_for_reading(paths.home())
    roots, _ = query.scope(database, values)
    parameters = Parameters([(name, words), *options.pairs(values)], TIMELINE, strict=True)
    request = timeline_request(parameters)
    request.roots = roots
    found = find_timeline(database, request, now=now_ms())
    if values["json"]:
        output.write(output.json_text(items.timeline(found)))
    elif values["markdown"]:
        output.write(markdown.timeline(found))
    elif found.items:
        output.write(text.timeline_text(found, now=now_ms(), width=output.width(), color=output.color()))
    else:
        output.say(f"nothing found for {words!r}")


@cli.command(help="Show where things stand, or where TEXT stands: the newest decisions, changes and explanations, and "
                  "what happened around them.")
@click.argument("text", nargs=-1)
@with_options(*options.TOPIC)
def contextualize(**values: Any) -> None:
    words = " ".join(values.pop("text"))
    database = open_for_reading(paths.home())
    roots, _ = query.scope(database, values)
    found = ready_made.contextualize(database, query=words, projects=values["project"], roots=roots, now=now_ms())
    if values["json"]:
        output.write(output.json_text(items.context(found)))
    elif values["markdown"]:
        output.write(markdown.context(found))
    elif found.items:
        output.write(text.context_text(found, now=now_ms(), width=output.width(), color=output.color()))
    else:
        output.say("no decisions, changes or explanations are remembered" + (f" about {words!r}" if words else ""))
