"""The command line's frame: the group of commands, their shared options and errors, and the plainest commands.

Each command opens the store, calls one or two functions and prints.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from memlite import paths
from memlite.cli import options, output, query
from memlite.errors import MemliteError, NotFound, UsageError
from memlite.model import parse_ref
from memlite.render import items
from memlite.render.text import record_text
from memlite.store import records
from memlite.store.database import open_for_reading

Command = TypeVar("Command", bound=Callable[..., Any])


class Group(click.Group):
    """A group whose commands' MemliteErrors become a message and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a MemliteError ends the process with its exit code."""
        try:
            return super().invoke(ctx)
        except MemliteError as failure:
            sys.exit(output.report(failure, "--json" in sys.argv))
        except BrokenPipeError:
            sys.exit(output.reader_gone())


def main() -> None:
    """Run the command line in `sys.argv` and exit."""
    cli(prog_name="memlite")


def with_options(*chosen: options.Option) -> Callable[[Command], Command]:
    """Declare options of the shared table on a click command; their values arrive as keyword arguments."""
    def decorate(command: Command) -> Command:
        for option in reversed(chosen):
            settings: dict[str, Any] = {"help": option.help}
            if option.switch:
                settings["is_flag"] = True
            else:
                settings["type"] = click.Choice(option.choices) if option.choices else int if option.number else str
                settings["multiple"] = option.many
                if not option.many:
                    settings.update(default=option.default, show_default=option.default is not None)
            command = click.option(*option.flags, option.name, **settings)(command)
        return command
    return decorate


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]},
             help="A memory for Claude Code: remembers what was done in coding sessions and finds it again.",
             epilog="Data lies in ~/.memlite (MEMLITE_HOME). Every command that prints records takes --json.")
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, help="Show the version and commit.",
              callback=lambda context, _, asked: _version(context) if asked else None)
def cli() -> None:
    pass


def _version(context: click.Context) -> None:
    from memlite import build_info

    output.write(build_info.described())
    context.exit()


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
    wanted = []
    for text in ids:
        reference = parse_ref(text)
        if reference is None:
            raise UsageError(f"{text!r} is no id", "ids look like 123, S5 or P7; `memlite query` prints them")
        wanted.append(reference)
    database = open_for_reading(paths.home())
    found = records.fetch(database, wanted) if database else []
    known = {record.ref for record in found}
    missing = [text for text, (kind, ident) in zip(ids, wanted, strict=True) if records.cite(kind, ident) not in known]
    if json:
        output.write(output.json_text([items.full(record) for record in found]))
    elif found:
        output.write("\n\n".join(record_text(record, color=output.color()) for record in found))
    if missing:
        raise NotFound(f"no record {', '.join(missing)}", "`memlite query` and `memlite recent` print ids")


@cli.command(help="Answer a Claude Code hook event: its JSON on standard input, JSON or nothing on standard output.")
@click.argument("event")
def hook(event: str) -> None:
    from memlite.hooks import entry

    entry.main([event])


def _register() -> None:
    """Import the modules whose commands need more than this one; they add themselves to the group."""
    from memlite.cli import explore, imports, service  # noqa: F401


_register()
