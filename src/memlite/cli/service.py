"""`memlite serve`, `status` and their kin: the worker and the state of the house."""

from __future__ import annotations

import os

import click

from memlite import build_info, paths, settings
from memlite.cli import options, output
from memlite.cli.main import cli, with_options
from memlite.store import records
from memlite.store.database import open_for_reading


@cli.command(help="""Serve the memories over HTTP until stopped, normally at http://127.0.0.1:37777; prints the
address as soon as it answers. Where that port is taken the next free one is used.""")
@click.option("--port", type=click.IntRange(0, 65535), help="this port and no other; 0: any free one")
@click.option("--host", default="127.0.0.1", show_default=True, help="the address to listen on")
def serve(port: int | None, host: str) -> None:
    from memlite.serve import run
    from memlite.serve.server import Server

    def ready(server: Server) -> None:
        output.write(server.url)

    home = paths.home()
    chosen = settings.load(home)["port"] if port is None else port
    run.serve(home, host, chosen, exactly=port is not None, ready=ready)


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
