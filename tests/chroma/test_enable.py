"""`memlite chroma enable` where there is nothing but python3: it fetches all it needs, and disable removes it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

BINARY = Path(os.environ.get("MEMLITE_BINARY") or Path(__file__).parents[2] / "plugin" / "bin" / "memlite").resolve()


@pytest.mark.skipif(not BINARY.is_file(), reason=f"there is no executable at {BINARY}: build it (tox -e plugin)")
def test_enable_installs_and_disable_removes(tmp_path: Path) -> None:
    """The executable has no Python of its own to install into; what it fetches is its own and goes again."""
    home = tmp_path / "memlite"
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_"))}
    environment = {**kept, "HOME": str(tmp_path), "MEMLITE_HOME": str(home), "MEMLITE_PORT": "0",
                   "PATH": os.defpath, "TMPDIR": str(tmp_path)}

    def run(*arguments: str) -> str:
        done = subprocess.run([str(BINARY), *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True,
                              check=False, timeout=600)
        assert done.returncode == 0, done
        return done.stdout

    run("save", "The session token expired and nobody renewed it")
    assert json.loads(run("chroma", "status", "--json"))["state"] == "absent"
    try:
        run("chroma", "enable")
        told = json.loads(run("chroma", "status", "--json"))
        assert (told["state"], told["records"]) == ("ready", 1)
        assert Path(told["python"]).is_relative_to(home) and Path(told["model"]).is_relative_to(home)
        [found] = json.loads(run("query", "users get signed out", "--mode", "semantic", "--json"))["results"]
        assert found["id"] == "1"
        run("chroma", "disable")
        assert not (home / "chroma").exists()
        assert json.loads(run("query", "token", "--json"))["search"]["used"] == "keyword"
    finally:
        run("stop")
