"""projects: a folder's project is its repository, whichever worktree or subfolder it is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from memlite.capture.projects import branch_of, project_of


def git(folder: Path, *arguments: str) -> None:
    """Run git in `folder` as nobody in particular."""
    subprocess.run(["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
                   check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit on the branch `trunk`."""
    folder = tmp_path / "code" / "shop"
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "trunk")
    git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
    return folder


def test_subfolder_belongs_to_the_repository(repository: Path) -> None:
    """Its root is the identity, its folder's name is for people."""
    deep = repository / "src" / "prices"
    deep.mkdir(parents=True)
    assert project_of(str(deep)) == project_of(str(repository))
    assert (project_of(str(deep)).root, project_of(str(deep)).name) == (str(repository), "shop")


def test_worktrees_share_the_project_and_have_their_own_branch(repository: Path, tmp_path: Path) -> None:
    """Memory is shared between them; the branch tells them apart."""
    tree = tmp_path / "elsewhere" / "shop-fix"
    git(repository, "worktree", "add", "-q", "-b", "fix/comma", str(tree))
    assert project_of(str(tree)) == project_of(str(repository))
    assert (branch_of(str(tree)), branch_of(str(repository))) == ("fix/comma", "trunk")


def test_bare_repository_gives_its_name_to_its_worktrees(repository: Path, tmp_path: Path) -> None:
    """`shop.git` is called shop."""
    bare = tmp_path / "shop.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    git(bare, "worktree", "add", "-q", str(tmp_path / "tree"), "trunk")
    found = project_of(str(tmp_path / "tree"))
    assert (found.root, found.name) == (str(bare), "shop")


def test_submodule_is_a_project_of_its_own(repository: Path, tmp_path: Path) -> None:
    """It has a repository of its own, wherever git keeps that."""
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    git(inner, "commit", "-q", "--allow-empty", "-m", "begin")
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "vendor/inner")
    assert project_of(str(repository / "vendor" / "inner")) != project_of(str(repository))
    assert project_of(str(repository / "vendor" / "inner")).name == "inner"


def test_same_name_elsewhere_is_another_project(repository: Path, tmp_path: Path) -> None:
    """Two folders called shop are not mixed."""
    other = tmp_path / "other" / "shop"
    other.mkdir(parents=True)
    assert project_of(str(other)).name == project_of(str(repository)).name
    assert project_of(str(other)).root != project_of(str(repository)).root


def test_link_to_a_folder_is_that_folder(repository: Path, tmp_path: Path) -> None:
    """One folder has one name."""
    (tmp_path / "link").symlink_to(repository)
    assert project_of(str(tmp_path / "link")) == project_of(str(repository))


def test_empty_git_folder_makes_no_repository(tmp_path: Path) -> None:
    """A stray `.git` without HEAD does not swallow what lies below it."""
    (tmp_path / "plain" / ".git").mkdir(parents=True)
    assert project_of(str(tmp_path / "plain")).root == str(tmp_path / "plain")
    assert branch_of(str(tmp_path / "plain")) == ""


@pytest.mark.parametrize(("folder", "root", "name"), [
    ("/gone/long/ago/shop", "/gone/long/ago/shop", "shop"), ("/gone/shop/", "/gone/shop", "shop"),
    ("C:\\Users\\u\\shop", "C:\\Users\\u\\shop", "shop"), ("", "", "unknown"), ("shop", "shop", "shop"),
    ("/gone/\x00", "", "unknown"), ("/gone/\udcff", "/gone/?", "?")])
def test_folder_of_another_machine_is_its_own_project(folder: str, root: str, name: str) -> None:
    """Nothing on this disk is asked for more than it can tell; odd names become text."""
    found = project_of(folder)
    assert (found.root, found.name) == (root, name)
    assert branch_of(folder) == ""


def test_relative_folder_is_not_looked_up_from_here(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transcript's relative folder has nothing to do with the folder of the process that reads it."""
    monkeypatch.chdir(repository)
    assert project_of("src").root == "src"
    assert project_of(os.getcwd()).root == str(repository)


def test_detached_head_has_its_commit_for_a_branch(repository: Path) -> None:
    """What HEAD says is what is told."""
    git(repository, "checkout", "-q", "--detach")
    assert len(branch_of(str(repository))) == 40
