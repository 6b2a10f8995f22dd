"""What most tests need: a data directory of their own, and a store in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlite.store.database import Database, open_database


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the data of whoever runs it."""
    for name in ("CAPTURE", "INJECT", "BACKFILL", "PORT", "REQUIRE_TOKEN"):
        monkeypatch.delenv(f"MEMLITE_{name}", raising=False)
    for name in [name for name in os.environ if name.startswith("MEMLITE_CHROMA")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MEMLITE_CHROMA", "0")   # whatever this machine has
    monkeypatch.setenv("MEMLITE_WORKER", "0")   # none is left behind
    monkeypatch.setenv("MEMLITE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))


@pytest.fixture
def home(tmp_path: Path) -> str:
    """A data directory that does not exist yet."""
    return str(tmp_path / "home")


@pytest.fixture
def fresh_db(home: str) -> Iterator[Database]:
    """An empty store."""
    with open_database(home) as database:
        yield database
