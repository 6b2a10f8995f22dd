"""The rooms of the house: imports go one way, and the quick paths stay light."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import memlite

SOURCE = Path(memlite.__file__).parent

# What everyone uses; these import nothing but each other.
WORDS = {"model", "errors", "settings", "paths", "jsoncodec", "wording", "clock", "build_info", "processes",
         "worker_file", "leftovers"}
# Room → the rooms it may import, besides WORDS and itself.
ROOMS: dict[str, set[str]] = {
    **{word: set() for word in WORDS},
    "privacy": set(),
    "store": {"privacy"},
    "render": {"privacy"},
    "search": {"privacy", "store"},
    "chroma": {"privacy", "store", "search"},
    "capture": {"privacy", "store"},
    "briefing": {"privacy", "store", "search", "render"},
    "recall": {"privacy", "store", "search", "render", "briefing"},
    "hooks": {"privacy", "store", "search", "capture", "render", "briefing", "recall"},
    "serve": {"privacy", "store", "search", "capture", "render", "briefing", "chroma"},
    "doctor": {"privacy", "store", "search", "capture", "render", "hooks", "serve", "chroma"},
    "cli": {"privacy", "store", "search", "capture", "render", "hooks", "serve", "doctor", "chroma"},
    "__main__": {"cli", "hooks"},
    "__init__": set(),
}


def room_of(module: str) -> str:
    """The room of a dotted module name: what follows the package's name."""
    return (module.split(".") + ["__init__"])[1]


def imports(path: Path) -> set[str]:
    """The modules of ours that a file imports when it runs; what only a type checker reads is left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    checked = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.If)
               and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING" for inner in ast.walk(node)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in checked:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("memlite.")}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "memlite":
            found |= {node.module or ""} if node.module != "memlite" else {f"memlite.{a.name}" for a in node.names}
    return {name for name in found if not room_of(name).startswith("__") or room_of(name) == "__main__"}


FILES = sorted(SOURCE.rglob("*.py"))


def test_every_file_is_in_a_known_room() -> None:
    """A new room is entered here with what it may import."""
    rooms = {(path.relative_to(SOURCE).parts[0]).removesuffix(".py") for path in FILES}
    assert rooms <= set(ROOMS)
    assert {"store", "capture", "search", "cli"} <= rooms


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    """model ← privacy ← store ← search, capture ← hooks, serve ← cli."""
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    allowed = ROOMS[room] | WORDS | {room}
    assert {name for name in imports(path) if room_of(name) not in allowed} == set()


def test_import_that_goes_the_wrong_way_would_be_seen(tmp_path: Path) -> None:
    """The control: at the top, in a function, but not under TYPE_CHECKING."""
    path = tmp_path / "file.py"
    path.write_text("import memlite.cli.main\nTYPE_CHECKING = False\nif TYPE_CHECKING:\n"
                    "    from memlite.serve import app\ndef f():\n    from memlite.search import words\n"
                    "from memlite import hooks, paths\n")
    assert {room_of(name) for name in imports(path)} == {"cli", "search", "hooks", "paths"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_store_knows_sql(path: Path) -> None:
    """A SQLite module is imported by no other room but those that look at foreign files."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert path.relative_to(SOURCE).parts[0] == "store" or not modules & {"sqlite3", "_sqlite3"}


# All that the quick paths load besides memlite and what a bare interpreter has: each of the usual packages (re, json,
# datetime, enum, dataclasses, typing, click) would cost more than a hook's whole work.
LIGHT = {"__future__", "_blake2", "_json", "math"}

LOADED = """
import _sqlite3, os, sys  # the first brings functools and collections by itself
before = set(sys.modules)
leave = os._exit
def tell(code):
    sys.stderr.write("\\n".join(sorted(set(sys.modules) - before)))
    sys.stderr.flush()
    leave(code)
os._exit = tell
from memlite.__main__ import main
try:
    main()
except SystemExit as end:
    tell(end.code or 0)
"""


def loaded(home: str, *arguments: str, given: object = None) -> set[str]:
    """The modules that `memlite ARGUMENTS` loads when it is run with nothing imported beforehand."""
    path = os.pathsep.join(map(os.path.abspath, sys.path))
    done = subprocess.run([sys.executable, "-S", "-c", LOADED, *arguments], input=json.dumps(given or {}), text=True,
                          capture_output=True, env={"PYTHONPATH": path, "MEMLITE_HOME": home, "MEMLITE_BACKFILL": "0",
                                                    "MEMLITE_WORKER": "0",  # starting one loads fcntl
                                                    "HOME": home, "PATH": os.environ.get("PATH", "")})
    assert done.returncode == 0, done.stderr
    return {line for line in done.stderr.splitlines() if line and not line.startswith(("memlite", " "))}


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact",
                                   "SessionEnd"])
def test_hooks_load_next_to_nothing(home: str, tmp_path: Path, event: str) -> None:
    """With a transcript to read, garbage in it included, and memories to tell of."""
    from rows import shop_session

    path = shop_session(cwd=str(tmp_path)).write(tmp_path / "s.jsonl")
    if sys.version_info < (3, 12):  # since then the interpreter's own scanner imports json where something is none
        with open(path, "ab") as file:
            file.write(b'no json\n{"torn')
    payload = {"session_id": "s", "transcript_path": path, "agent_transcript_path": path, "agent_type": "x",
               "cwd": str(tmp_path), "prompt": "fix it", "hook_event_name": event}
    assert loaded(home, "hook", "Stop", given={**payload, "hook_event_name": "Stop"}) <= LIGHT
    assert loaded(home, "hook", event, given=payload) <= LIGHT
    assert not os.path.exists(os.path.join(home, "memlite.log"))


def test_query_loads_next_to_nothing(home: str, tmp_path: Path) -> None:
    """In both forms of output; what needs click loads it, which is how we know that it would be seen."""
    from memlite.capture.ingest import ingest
    from memlite.store.database import open_database
    from rows import shop_session

    with open_database(home) as database:
        ingest(database, shop_session().write(tmp_path / "s.jsonl"))
    assert loaded(home, "query", "-a", "decimal", "comma") <= LIGHT
    assert loaded(home, "query", "-a", "--json", "-n", "3", "decimal") <= LIGHT
    assert {"click", "re"} <= loaded(home, "query", "--help")
