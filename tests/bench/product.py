"""memlite as its users run it: one process for each command, with an empty memory of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


class Memlite:
    """The command line with its data under `home`: the executable that MEMLITE_BINARY names, else this Python's
    installed package."""

    def __init__(self, home: Path) -> None:
        binary = os.environ.get("MEMLITE_BINARY")
        self.command = [binary] if binary else [sys.executable, "-m", "memlite"]
        self.home = home
        self.environment = {**os.environ, "HOME": str(home), "MEMLITE_HOME": str(home / "memlite"),
                            "CLAUDE_CONFIG_DIR": str(home / "claude"), "NO_COLOR": "1"}

    def text(self, *arguments: str) -> str:
        """What `memlite ARGUMENTS` prints. Raises SystemExit when it fails."""
        done = subprocess.run([*self.command, *arguments], env=self.environment, cwd=self.home, capture_output=True,
                              text=True, encoding="utf-8", check=False)
        if done.returncode != 0:
            raise SystemExit(f"memlite {' '.join(arguments)[:200]} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def json(self, *arguments: str) -> Any:
        """What `memlite ARGUMENTS --json` answers."""
        end = arguments.index("--") if "--" in arguments else len(arguments)
        return json.loads(self.text(*arguments[:end], "--json", *arguments[end:]))


def data(name: str) -> Path:
    """The folder or file `name` of the benchmark data. Ends the benchmark, without failing it, when it is not here."""
    folder = os.environ.get("MEMLITE_BENCH_DATA")
    if not folder:
        print(f"skipped: MEMLITE_BENCH_DATA names no folder with {name}")
        raise SystemExit(0)
    path = Path(folder) / name
    if not path.exists():
        print(f"skipped: there is no {name} in the folder that MEMLITE_BENCH_DATA names")
        raise SystemExit(0)
    return path
