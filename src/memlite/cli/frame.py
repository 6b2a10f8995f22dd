"""The command line's frame: the group all commands belong to, their shared options, and how their errors end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from memlite.cli import options, output
from memlite.errors import MemliteError, UsageError
from memlite.model import parse_ref
from memlite.render import items

Command = TypeVar("Command", bound=Callable[..., Any])


class Group(click.Group):
    """A group whose commands' MemliteErrors become a message and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a MemliteError ends the process with its exit code."""
        try:
            return super().invoke(ctx)
        except MemliteError as failure:
            sys.exit(output.report(failure, "--json" in sys.argv))
        except click.UsageError as failure:  # click tells the person, but a program reads standard output
            if isinstance(failure, click.NoSuchOption) and failure.ctx and any(
                    isinstance(taken, click.Argument) for taken in failure.ctx.command.params):
                told = f"{failure.format_message()} Text that begins with - goes after --."
                failure = click.UsageError(told, failure.ctx)
            if "--json" in sys.argv:
                output.write(output.json_text(items.error(UsageError(failure.format_message()))))
            raise failure
        except BrokenPipeError:
            sys.exit(output.reader_gone())


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


def references(ids: tuple[str, ...]) -> list[tuple[str, int]]:
    """The (kind, id) of each id as it is cited, in their order. Raises UsageError for what is no id."""
    found = []
    for text in ids:
        reference = parse_ref(text)
        if reference is None:
            raise UsageError(f"{text!r} is no id", "ids look like 123, S5 or P7; `memlite query` prints them")
        found.append(reference)
    return found


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


def progress(total: int, label: str) -> Any:
    """A progress bar over `total` bytes or records, silent where standard error is no terminal."""
    return click.progressbar(length=total, label=label, file=sys.stderr,
                             hidden=not sys.stderr.isatty(), show_pos=False)
