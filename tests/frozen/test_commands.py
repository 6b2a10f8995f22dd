"""The commands of the executable print what they print from source: nothing they need was left out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import REPOSITORY, Machine

TRANSCRIPTS = REPOSITORY / "tests" / "data" / "transcripts"


@pytest.fixture(scope="module")
def filled(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """An account whose memory holds a real session, imported by the executable."""
    account = Machine(binary, tmp_path_factory.mktemp("account"))
    done = account.run("import", "transcripts", str(TRANSCRIPTS))
    assert done.returncode == 0, done
    return account


@pytest.mark.parametrize("command", [
    "query type consolidation --all-projects", "query test --all-projects --json",
    "query test --all-projects --json --format full", "query the", "query", "query --nonsense",
    "recent --all-projects", "recent --all-projects --json", "show 1", "show 1 P1 S1 --json", "show nonsense",
    "show 999999", "--help", "query --help", "import transcripts --help", "serve --help", "nonsense",
])
def test_output_is_that_of_the_source(filled: Machine, command: str) -> None:
    """Same bytes on standard output and error, same exit code."""
    arguments = command.split()
    source = subprocess.run([sys.executable, "-m", "memlite", *arguments], text=True, encoding="utf-8",
                            capture_output=True, check=False, cwd=filled.home, stdin=subprocess.DEVNULL,
                            env={**filled.environment, "PYTHONPATH": str(REPOSITORY / "src"), "PYTHONUTF8": "1"})
    frozen = filled.run(*arguments)
    assert (frozen.stdout, frozen.stderr, frozen.returncode) == (source.stdout, source.stderr, source.returncode)
    assert frozen.stdout + frozen.stderr


def test_import_counts_what_it_read(filled: Machine) -> None:
    """The session's prompts, observations and summaries are in the store, and a second import adds none."""
    counts = json.loads(filled.run("status", "--json").stdout)["counts"]
    assert all(count > 0 for count in counts.values()), counts
    assert filled.run("import", "transcripts", str(TRANSCRIPTS)).returncode == 0
    assert json.loads(filled.run("status", "--json").stdout)["counts"] == counts


def test_nothing_stays_unpacked(filled: Machine) -> None:
    """All the runs above have cleaned up."""
    assert filled.unpacked() == []
