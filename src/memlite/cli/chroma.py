"""`memlite chroma`: the search by meaning switched on, off, and looked at."""

from __future__ import annotations

import time
from typing import Any

from memlite import paths
from memlite.cli import options, output
from memlite.cli.frame import cli, progress, with_options
from memlite.errors import SemanticUnavailable

_STEP_SECONDS = 0.2


@cli.group(help="Search by meaning too: an index of meanings that Chroma keeps.")
def chroma() -> None:
    pass


@chroma.command(help="""Switch the search by meaning on. What is missing is fetched: a private Python environment with
chromadb (about 500 MB) and an embedding model (25 MB), both into the data directory.""")
@with_options(options.JSON)
def enable(json: bool) -> None:
    from memlite.chroma import install

    home = paths.ensure_home(paths.home())
    install.enable(home, output.say)
    _restart_and_tell(home, json)


@chroma.command(help="Switch the search by meaning off; remove the environment, the model and the index.")
def disable() -> None:
    from memlite.chroma import install
    from memlite.serve import lifecycle

    home = paths.home()
    ran = lifecycle.stop(home)
    install.disable(home, output.say)
    if ran:
        lifecycle.start(home)
    output.write("the search by meaning is switched off and removed; words find everything as before")


@chroma.command(help="Show whether memories are found by meaning too, and if not, why.")
@with_options(options.JSON)
def status(json: bool) -> None:
    from memlite.chroma import report

    told = state(paths.home())
    if json:
        output.write(output.json_text(told))
        return
    output.write(report.line(told))
    for name in ("python", "model", "index"):
        if told[name]:
            output.write(f"{name}: {told[name]}")


def refill(json: bool) -> None:
    """Have the worker fill the index of meanings anew, and tell when it is full."""
    from memlite.chroma import install
    from memlite.serve import lifecycle

    home = paths.ensure_home(paths.home())
    lifecycle.stop(home)
    install.start_over(home)
    _restart_and_tell(home, json)


def _restart_and_tell(home: str, json: bool) -> None:
    from memlite.chroma import report
    from memlite.serve import lifecycle

    lifecycle.stop(home)
    lifecycle.start(home)
    told = follow(home)
    output.write(output.json_text(told) if json else report.line(told))
    if told["state"] not in ("ready", "idle"):
        raise SemanticUnavailable(f"memories are not found by meaning: {report.line(told)}")


def state(home: str) -> dict[str, Any]:
    """The status of the search by meaning: the worker's, if one runs."""
    from memlite.chroma import report
    from memlite.serve import lifecycle

    return report.of(home, lifecycle.look(home))


def follow(home: str) -> dict[str, Any]:
    """Show how the worker's index fills, until it is full or can't go on. Returns its status then."""
    told = state(home)
    total = told["waiting"]
    with progress(total, "taking in memories") as bar:
        left = total
        while told["state"] == "starting" or (told["waiting"] and told["state"] in ("idle", "ready")):
            time.sleep(_STEP_SECONDS)
            told = state(home)
            bar.update(max(0, left - told["waiting"]))
            left = min(left, told["waiting"])
    return told
