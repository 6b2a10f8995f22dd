"""What the program says about itself, as Markdown: the generated parts of the README (see `tox -e docs`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from memlite import settings
from memlite.cli.main import cli
from memlite.serve.description import parameter_of
from memlite.serve.routes import ROUTES

RESULTS = Path(__file__).resolve().parents[1] / "tests" / "bench" / "results"
# Recorded benchmarks in the order in which they are shown, and what is measured.
MEASURED = {
    "recall": "Is the memory asked for among the first?",
    "prompts": "What does a prompt bring back unasked?",
    "locomo": "The same over long conversations between people",
    "semantic": "With meanings beside words",
    "search": "How long does a search take, how large is the store?",
    "import": "How fast are transcripts read?",
    "startup": "How long does the executable take, as a multiple of an idle Python?",
    "api": "How long does the worker take?",
    "chroma": "How fast is the index of meanings?",
}


def each_command(group: click.Group = cli, prefix: str = "memlite") -> Iterator[tuple[str, click.Command]]:
    """(full name, command) of every command that is not hidden, groups resolved, in alphabetical order."""
    for name, command in sorted(group.commands.items()):
        if command.hidden:
            continue
        if isinstance(command, click.Group):
            yield from each_command(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


def options_of(command: click.Command) -> list[click.Option]:
    """The options of a command that are not hidden."""
    return [option for option in command.params if isinstance(option, click.Option) and not option.hidden]


def commands() -> str:
    """A table of all commands, and one of their options."""
    lines = ["| command | what it does |", "|---|---|"]
    explained: dict[tuple[str, str], list[str]] = {}
    for name, command in each_command():
        context = click.Context(command, info_name=name)
        words = [piece for argument in command.params if isinstance(argument, click.Argument)
                 for piece in argument.get_usage_pieces(context)]
        lines.append(row(f"`{' '.join([name, *words])}`", one_line(command.help)))
        for option in options_of(command):
            explained.setdefault((flags(option, context), meaning(option)), []).append(name.removeprefix("memlite "))
    lines += ["", "| option | meaning | of |", "|---|---|---|"]
    everywhere = len(list(each_command()))
    for (spelling, text), names in explained.items():
        lines.append(row(f"`{spelling}`", text, "all" if len(names) == everywhere else ", ".join(names)))
    return "\n".join(lines) + "\n"


def flags(option: click.Option, context: click.Context) -> str:
    """How an option is typed, with the kind of value it takes."""
    spelling = ", ".join([*option.opts, *option.secondary_opts])
    return spelling if option.is_flag else f"{spelling} {option.make_metavar(context)}"


def meaning(option: click.Option) -> str:
    """What an option does and what it is when not given."""
    default = f" (default {option.default})" if option.show_default and not option.is_flag else ""
    return one_line(option.help) + default


def environment_and_settings() -> str:
    """A table of all settings."""
    lines = ["| in `settings.json` | in the environment | default | meaning |", "|---|---|---|---|"]
    for name, (default, text) in settings.SETTINGS.items():
        value = str(default).lower() if isinstance(default, bool) else str(default)
        lines.append(row(f"`{name}`", f"`MEMLITE_{name.upper()}`", f"`{value}`" if value else "", text))
    return "\n".join(lines) + "\n"


def routes() -> str:
    """A table of all routes."""
    lines = ["| route | what it answers | parameters |", "|---|---|---|"]
    for route in ROUTES:
        paths = ", ".join(f"`{path}`" for path in (route.path, *route.aliases))
        lines.append(row(f"{route.method} {paths}", one_line(route.help),
                         ", ".join(f"`{parameter_of(route, meaning)['name']}`" for meaning in route.parameters)))
    return "\n".join(lines) + "\n"


def measured() -> str:
    """What the recorded runs of the benchmarks printed."""
    parts = []
    for name, title in MEASURED.items():
        file = RESULTS / f"{name}.txt"
        if file.exists():
            parts.append(f"### {title}\n\n```\n{file.read_text(encoding='utf-8').rstrip()}\n```\n")
    return "\n" + "\n".join(parts)


def one_line(text: str | None) -> str:
    """`text` without line breaks."""
    return " ".join((text or "").split())


def row(*cells: str) -> str:
    """A table row; a bar inside a cell is escaped."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
