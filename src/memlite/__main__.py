"""The entry point: hooks and plain queries go straight to their code, everything else through click."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line in `sys.argv` and exit with its code."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"] and arguments[1:2] != ["--help"]:
        from memlite.hooks.entry import main as hook

        hook(arguments[1:])
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this; no file may get its number
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for the life of the process
    if arguments[:1] == ["query"]:
        from memlite.cli.query import main as query

        code = query(arguments[1:])
        if code is not None:
            sys.exit(code)
    from memlite.cli.main import main as command_line

    command_line()


if __name__ == "__main__":
    main()
