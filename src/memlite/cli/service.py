"""`memlite serve`, `start`, `stop`, `status` and their kin: the worker and the state of the house."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from memlite import build_info, paths, settings, worker_file
from memlite.cli import options, output
from memlite.cli.frame import cli, with_options
from memlite.errors import WorkerUnavailable
from memlite.store import records
from memlite.store.database import open_for_reading
from memlite.wording import all_counted


@cli.command(help="""Serve the memories over HTTP until stopped, normally at http://127.0.0.1:37777; prints the
address as soon as it answers. Where that port is taken the next free one is used.""")
@click.option("--port", type=click.IntRange(0, 65535), help="this port and no other; 0: any free one")
@click.option("--host", default="127.0.0.1", show_default=True,
              help="the address to listen on; beyond this machine every request needs the token")
@click.option("--background", is_flag=True, hidden=True)
def serve(port: int | None, host: str, background: bool) -> None:
    from memlite.serve import log, run
    from memlite.serve.server import Server

    home = paths.home()
    if background:
        sys.stderr = log.BoundedLog(os.path.join(home, worker_file.LOG), descriptor=2)

    def ready(server: Server) -> None:
        if background:
            log.say(f"{build_info.described()} serves {home} at {server.url}")
        else:
            output.write(server.url)

    chosen = settings.load(home)
    try:
        run.serve(home, host, chosen["port"] if port is None else port, exactly=port is not None,
                  require_token=chosen["require_token"], idle_minutes=chosen["idle_minutes"] if background else 0,
                  ready=ready)
    except WorkerUnavailable as failure:
        if not (background and failure.code == run.ALREADY):   # of several started at once all but one end here
            raise


@cli.command(help="Start the worker in the background, unless it runs; one of an older version is replaced.")
@with_options(options.JSON)
def start(json: bool) -> None:
    _tell(_started(), json)


@cli.command(help="Start the worker anew.")
@with_options(options.JSON)
def restart(json: bool) -> None:
    from memlite.serve import lifecycle

    lifecycle.stop(paths.home())
    _tell(_started(), json)


@cli.command(help="End the worker.")
@with_options(options.JSON)
def stop(json: bool) -> None:
    from memlite.serve import lifecycle

    ended = lifecycle.stop(paths.home())
    if json:
        output.write(output.json_text({"stopped": ended is not None, "pid": ended["pid"] if ended else None}))
    else:
        output.write(f"stopped the worker (process {ended['pid']})" if ended else "no worker runs")


@cli.command(help="Print the address of the worker, which is started if need be.")
def url() -> None:
    output.write(_started()["url"])


@cli.command(help="Print the end of the worker's log.")
@click.option("-n", "--lines", type=click.IntRange(1), default=50, show_default=True, help="how many lines")
def logs(lines: int) -> None:
    from memlite.serve import log

    path = os.path.join(paths.home(), worker_file.LOG)
    found = log.tail(path, lines)
    if found:
        output.write("\n".join(found))
    else:
        output.say(f"there is nothing in {path}")


@cli.command(help="Show what is stored where, and whether the worker runs.")
@with_options(options.JSON)
def status(json: bool) -> None:
    from memlite.chroma import report
    from memlite.serve import lifecycle

    home = paths.home()
    path = os.path.join(home, paths.DATABASE)
    counts: dict[str, int] = {}
    database = open_for_reading(home)
    if database is not None:
        with database:
            counts = records.counts(database)
    size = os.path.getsize(path) if database else 0
    worker = lifecycle.look(home)
    meaning = report.of(home, worker)
    if json:
        told = None if worker is None else {name: worker[name] for name in (
            "url", "port", "pid", "version", "commit", "uptime_seconds", "rss_bytes")}
        output.write(output.json_text({"version": build_info.described(), "home": home, "database": path,
                                       "bytes": size, "counts": counts, "worker": told, "chroma": meaning}))
        return
    stored = all_counted(counts) or "empty"
    output.write(f"{build_info.described()}\nstore: {path} ({size / 1e6:.1f} MB): {stored}\nworker: {_about(worker)}\n"
                 f"by meaning: {report.line(meaning)}")


def _started() -> dict[str, Any]:
    from memlite.serve import lifecycle

    worker = lifecycle.start(paths.home())
    if worker["wanted_port"] not in (None, worker["port"]):
        output.say(f"memlite: port {worker['wanted_port']} is taken by another program, "
                   f"so {worker['port']} is used")
    return worker


def _tell(worker: dict[str, Any], json: bool) -> None:
    if json:
        output.write(output.json_text({name: worker[name] for name in ("url", "port", "pid", "version", "commit")}))
    else:
        output.write(f"the worker answers at {worker['url']} (process {worker['pid']})")


def _about(worker: dict[str, Any] | None) -> str:
    """One line on the worker."""
    if worker is None:
        return "not running; `memlite start` starts it"
    memory = f", {worker['rss_bytes'] / 1e6:.0f} MB" if worker["rss_bytes"] else ""
    return (f"{worker['url']}, process {worker['pid']}, version {worker['version']} ({worker['commit']}), "
            f"up {worker['uptime_seconds'] / 60:.0f} min{memory}")
