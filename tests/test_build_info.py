"""build_info: the version and commit a running memlite reports."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest

import memlite
from memlite import build_info


def test_version_is_the_package_version() -> None:
    """The version is the one constant in the package."""
    assert build_info.version() == memlite.__version__


def test_commit_comes_from_the_build_when_there_was_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the executable the module written by the build decides."""
    built = types.ModuleType("memlite_build")
    built.COMMIT = "0123456789ab"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "memlite_build", built)
    assert build_info.described() == f"memlite {memlite.__version__} (0123456789ab)"


def git(folder: str, *arguments: str) -> str:
    """Run git with an identity of its own."""
    command = ["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_source_tree_reports_its_commit_and_marks_changes(tmp_path: object) -> None:
    """A clean tree gives twelve digits; a changed file adds a plus."""
    tree = str(tmp_path)
    git(tree, "init", "-q")
    with open(f"{tree}/file", "w") as file:
        file.write("one")
    git(tree, "add", "file")
    git(tree, "commit", "-q", "-m", "one")
    head = git(tree, "rev-parse", "HEAD")
    assert build_info._commit_of(tree) == head[:12]
    with open(f"{tree}/file", "w") as file:
        file.write("two")
    assert build_info._commit_of(tree) == head[:12] + "+"


def test_folder_inside_a_strangers_repository_has_no_commit(tmp_path: object) -> None:
    """A package installed below somebody's checkout does not report that checkout's commit."""
    tree = str(tmp_path)
    git(tree, "init", "-q")
    git(tree, "commit", "-q", "--allow-empty", "-m", "one")
    assert build_info._commit_of(tree) != "unknown"
    assert build_info._commit_of(f"{tree}/below") == "unknown"
