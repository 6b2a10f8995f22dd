"""The program in both its forms: from source, and the executable that users have."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from running import Program

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["source", "executable"])
def memlite(request: pytest.FixtureRequest) -> Program:
    """How to run memlite. The executable is MEMLITE_BINARY or that of the plugin folder."""
    if request.param == "source":
        return Program([sys.executable, "-m", "memlite"])
    binary = Path(os.environ.get("MEMLITE_BINARY") or REPOSITORY / "plugin" / "bin" / "memlite")
    if not binary.is_file():
        pytest.fail(f"there is no memlite at {binary}: build it (tox -e plugin) or set MEMLITE_BINARY")
    return Program([str(binary)])
