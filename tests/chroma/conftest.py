"""What the tests with a real Chroma and a real model need; where either is missing they say so and are skipped."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memlite import settings
from memlite.chroma import places
from memlite.chroma.engine import Engine

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# Before any test is set apart from the environment.
_PYTHON = os.environ.get("MEMLITE_CHROMA_PYTHON") or sys.executable
_CHOSEN = {"chroma_python": _PYTHON, "chroma_model": os.environ.get("MEMLITE_CHROMA_MODEL", "")}
FOUND = places.find("", _CHOSEN)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip this folder's tests where there is nothing to test."""
    if FOUND.missing:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=f"{FOUND.missing} (looked for beside {_PYTHON}); "
                                                 "`tox -e chroma` installs both"))


@pytest.fixture
def environment() -> dict[str, str]:
    """What makes a memlite process use the real Chroma."""
    return {"MEMLITE_CHROMA": "1", "MEMLITE_CHROMA_PYTHON": FOUND.python, "MEMLITE_CHROMA_DAYS": "0",
            "MEMLITE_CHROMA_MODEL": _CHOSEN["chroma_model"]}


@pytest.fixture
def engine_for() -> Iterator[Callable[..., Engine]]:
    """Makes engines for data directories, and closes them."""
    made: list[Engine] = []

    def make(home: str, **chosen: Any) -> Engine:
        engine = Engine(home, {**settings.load(home), "chroma": True, **_CHOSEN, "chroma_days": 0, **chosen})
        made.append(engine)
        return engine

    yield make
    for engine in made:
        engine.close()
