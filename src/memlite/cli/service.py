"""`memlite serve`, `status` and their kin: the worker and the state of the house."""

from __future__ import annotations

import os

from memlite import build_info, paths
from memlite.cli import options, output
from memlite.cli.main import cli, with_options
from memlite.store import records
from memlite.store.database import open_for_reading


@cli.command(help="Show what is stored where.")
@with_options(options.JSON)
def status(json: bool) -> None:
    home = paths.home()
    database = open_for_reading(home)
    path = os.path.join(home, paths.DATABASE)
    size = os.path.getsize(path) if database else 0
    state = {"version": build_info.described(), "home": home, "database": path,
             "bytes": size, "counts": records.counts(database) if database else {}}
    if json:
        output.write(output.json_text(state))
        return
    counts = ", ".join(f"{count} {name}" for name, count in records.counts(database).items()) if database else "empty"
    output.write(f"{state['version']}\nstore: {path} ({size / 1e6:.1f} MB): {counts}")
