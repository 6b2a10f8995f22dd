"""The whole command line: every module of commands, which enter themselves into the one group."""

from __future__ import annotations

from memlite.cli import chroma, doctor, explore, imports, reading, service, writing  # noqa: F401
from memlite.cli.frame import cli


def main() -> None:
    """Run the command line in `sys.argv` and exit."""
    cli(prog_name="memlite")
