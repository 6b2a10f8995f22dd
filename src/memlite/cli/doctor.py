"""`memlite doctor`: is all well, and if not, what helps."""

from __future__ import annotations

import sys

import click

from memlite import doctor, paths
from memlite.cli import options, output
from memlite.cli.frame import cli, with_options
from memlite.privacy import neutralize


@cli.command("doctor", help="""Look whether all is well and say what helps if not: data directory, database, settings,
hooks, worker, transcripts, plugin. Ends with 1 when something has failed.""")
@click.option("--fix", is_flag=True, help="mend what can be mended; a damaged database is moved aside, never deleted")
@with_options(options.JSON)
def doctor_command(fix: bool, json: bool) -> None:
    home = paths.home()
    done = doctor.repair(home) if fix else []
    found = doctor.examine(home)
    failed = any(finding.state == doctor.FAIL for finding in found)
    if json:
        output.write(output.json_text({"ok": not failed, "fixed": done,
                                       "findings": [finding.as_dict() for finding in found]}))
    else:
        output.write("\n".join([*(f"fixed {neutralize(line)}" for line in done), *map(_line, found)]))
    sys.exit(1 if failed else 0)


def _line(finding: doctor.Finding) -> str:
    text = neutralize(finding.text).replace("\n", "\n        ")
    hint = f"\n      → {neutralize(finding.hint)}" if finding.hint else ""
    return f"{finding.state:>4}  {finding.name}: {text}{hint}"
