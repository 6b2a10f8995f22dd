"""A command with --json prints what its route answers to the same request, byte for byte; with --markdown too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from webtest import TestApp

from memlite.serve import access_token
from memlite.serve.app import application
from memlite.serve.calls import Worker
from shop_store import fill

HERE = {"HTTP_HOST": "127.0.0.1:37777", "SERVER_PORT": "37777"}
TWINS = {
    "query prices -a -n 20": "/api/search?query=prices&limit=20",
    "query prices comma -a -n 2 --offset 1 --format full": "/api/search?q=prices+comma&limit=2&offset=1&format=full",
    "query prices -p shop -n 9 --order date_asc --mode keyword":
        "/api/search?query=prices&project=shop&limit=9&orderBy=date_asc&mode=keyword",
    "query prices -a --type bugfix --type decision --since 2026-05-28T20:28:00Z -n 20":
        "/api/search?query=prices&obs_type=bugfix,decision&since=2026-05-28T20:28:00Z",
    "query boat -a -n 20 --kind summary --kind prompt": "/api/search?query=boat&type=sessions,prompts",
    "query zebra -a -n 20": "/api/search?query=zebra",
    "recent -a -n 20": "/api/search",
    "recent -a -n 20 --concept gotcha --file prices --branch main":
        "/api/search?concept=gotcha&file=prices&branch=main",
    "recent -p boat -n 20 --until 2026-05-30": "/api/search?project=boat&dateEnd=2026-05-30",
    "decisions -a -n 20": "/api/decisions",
    "decisions cents -a -n 20 --format full": "/api/decisions?query=cents&format=full",
    "changes -p shop -n 1": "/api/changes?project=shop&limit=1",
    "how-it-works float -a -n 20": "/api/how-it-works?query=float",
    "timeline 3 -a": "/api/timeline?anchor=3",
    "timeline S1 -B 1 -A 0 -p shop --format full":
        "/api/timeline?anchor=S1&depth_before=1&depth_after=0&project=shop&format=full",
    "timeline 2026-05-28T20:30:00Z -a -B 2 -A 2":
        "/api/timeline?anchor=2026-05-28T20:30:00Z&depth_before=2&depth_after=2",
    "timeline cents -a": "/api/timeline?query=cents",
    "timeline zebra crossing -a": "/api/timeline?query=zebra+crossing",
    "contextualize -a": "/api/contextualize",
    "contextualize prices -p shop": "/api/contextualize?query=prices&project=shop",
    "contextualize zebra -a": "/api/contextualize?query=zebra",
}
FAILING = {
    "timeline 99 -a": ("/api/timeline?anchor=99", 404, 1),
    "timeline 2026-99-99 -a": ("/api/timeline?anchor=2026-99-99", 400, 2),
    "timeline 3 -a -B 101": ("/api/timeline?anchor=3&depth_before=101", 400, 2),
    "query prices -a -n 0": ("/api/search?query=prices&limit=0", 400, 2),
    "query prices -a --since soon": ("/api/search?query=prices&since=soon", 400, 2),
}


def memlite(home: str, line: str, *more: str, given: str = "") -> subprocess.CompletedProcess[bytes]:
    """What the command line answers in a folder that is no project."""
    return subprocess.run([sys.executable, "-m", "memlite", *line.split(), *more], input=given.encode(),
                          capture_output=True, cwd=Path(home).parent, check=False,
                          env={**os.environ, "MEMLITE_HOME": home, "PYTHONPATH": os.pathsep.join(sys.path)})


def serve(home: str) -> tuple[Worker, TestApp]:
    """The routes over the store in `home`."""
    worker = Worker(home)
    return worker, TestApp(application(worker), extra_environ=HERE)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, TestApp]]:
    """A home with the small store, and the routes over it."""
    home = str(tmp_path_factory.mktemp("twins") / "home")
    fill(home)
    worker, app = serve(home)
    yield home, app
    worker.close()


@pytest.mark.parametrize("line", TWINS)
def test_command_and_route_answer_the_same(filled: tuple[str, TestApp], line: str) -> None:
    home, app = filled
    path = TWINS[line]
    done = memlite(home, line, "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == app.get(path).body
    if "--format full" not in line:
        markdown = memlite(home, line, "--markdown")
        assert markdown.stdout == app.get(path + ("&" if "?" in path else "?") + "output=markdown").body + b"\n"


def test_whole_records_are_the_same_by_command_by_batch_and_alone(filled: tuple[str, TestApp]) -> None:
    home, app = filled
    shown = json.loads(memlite(home, "show 3 S1 P2 --json").stdout)
    assert shown == app.post_json("/api/observations/batch", {"ids": [3, "S1", "P2"]}).json
    assert shown == [app.get(path).json for path in ("/api/observation/3", "/api/session/1", "/api/prompt/P2")]


@pytest.mark.parametrize("line", FAILING)
def test_command_and_route_fail_alike(filled: tuple[str, TestApp], line: str) -> None:
    home, app = filled
    path, status, code = FAILING[line]
    done = memlite(home, line, "--json")
    assert done.returncode == code
    assert done.stdout == app.get(path, status=status).body


def test_saving_and_forgetting_are_the_same_by_command_and_by_route(tmp_path: Path) -> None:
    """The same on two stores of the same content."""
    for name in ("by-command", "by-route"):
        fill(str(tmp_path / name))
    home = str(tmp_path / "by-command")
    worker, app = serve(str(tmp_path / "by-route"))
    token = {"X-Memlite-Token": access_token.ensure(str(tmp_path / "by-route"))}

    def post(**body: Any) -> bytes:
        return bytes(app.post_json("/api/memory/save", body, headers=token).body)

    options = "--title Ferries --type decision --concept trade-off --file quay.py --project shop --json"
    asked = {"text": "Ferries carry cars.", "title": "Ferries", "type": "decision", "concepts": ["trade-off"],
             "files": ["quay.py"], "project": "shop"}
    for _ in range(2):   # the second time it is known
        assert memlite(home, "save - " + options, given="Ferries carry cars.").stdout == post(**asked)
    volatile = {"created_at", "created_at_epoch"}
    one, other = json.loads(memlite(home, "show 6 --json").stdout)[0], app.get("/api/observation/6").json
    assert {name: value for name, value in one.items() if name not in volatile} == {
        name: value for name, value in other.items() if name not in volatile}
    for ident, path in (("6", "/api/observation/6"), ("S1", "/api/session/1"), ("P2", "/api/prompt/P2")):
        assert memlite(home, f"forget {ident} --yes --json").stdout == app.delete(path, headers=token).body
    again = memlite(home, "save - " + options, given="Ferries carry cars.")
    assert again.returncode == 1
    assert again.stdout == app.post_json("/api/memory/save", asked, headers=token, status=409).body
    worker.close()
