"""The built executable and a stranger's machine to run it on.

Environment: MEMLITE_BINARY (the executable under test, by default plugin/bin/memlite).
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def binary() -> Path:
    """The executable under test; its absence is a failure, because these tests are about nothing else."""
    found = Path(os.environ.get("MEMLITE_BINARY") or REPOSITORY / "plugin" / "bin" / "memlite").resolve()
    if not found.is_file():
        pytest.fail(f"there is no memlite at {found}: build it (tox -e plugin) or set MEMLITE_BINARY")
    return found


class Machine:
    """A user's account with nothing in it: a home, a temporary directory, and no other environment."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.binary = binary
        self.home = folder / "home"
        self.temporary = folder / "tmp"
        self.home.mkdir()
        self.temporary.mkdir()
        self.environment = {"HOME": str(self.home), "TMPDIR": str(self.temporary), "MEMLITE_WORKER": "0"}

    def run(self, *arguments: str, given: str = "", cwd: str | Path | None = None,
            **environment: str) -> subprocess.CompletedProcess[str]:
        """Run memlite with exactly this account's environment and `environment` on top."""
        return subprocess.run([str(self.binary), *arguments], input=given, cwd=cwd or self.home, text=True,
                              encoding="utf-8", capture_output=True, timeout=60, check=False,
                              env={**self.environment, **environment})

    def remember(self, prompt: str) -> None:
        """Store `prompt` the way the client does: through the UserPromptSubmit hook."""
        done = self.run("hook", "UserPromptSubmit", given=payload(self.home, prompt))
        assert (done.returncode, done.stderr) == (0, ""), done

    def found(self, *arguments: str) -> str:
        """What `memlite query …` prints."""
        done = self.run("query", *arguments)
        assert done.returncode == 0, done
        return done.stdout

    def unpacked(self) -> list[str]:
        """What runs have left in the temporary directory."""
        return sorted(path.name for path in self.temporary.iterdir())


def payload(cwd: Path, prompt: str) -> str:
    """The client's JSON for UserPromptSubmit."""
    return json.dumps({"hook_event_name": "UserPromptSubmit", "cwd": str(cwd), "prompt": prompt,
                       "session_id": "00000000-0000-4000-8000-000000000000", "permission_mode": "default",
                       "transcript_path": str(cwd / "no-transcript-yet.jsonl")})


@pytest.fixture
def machine(binary: Path, tmp_path: Path) -> Iterator[Machine]:
    """A fresh account; at its end no run may have left anything in the temporary directory."""
    account = Machine(binary, tmp_path)
    yield account
    assert account.unpacked() == []
