"""Whose work it is: a folder → its project, the same for every worktree of one repository.

Read from the files git itself reads (gitrepository-layout(5)), without running git.
"""

from __future__ import annotations

import os

from memlite import privacy
from memlite.model import Project

_GIT_FILE_LIMIT = 4096


def project_of(folder: str) -> Project:
    """The project that `folder` belongs to.

    Inside a git repository its identity is the repository's common directory, so worktrees and subfolders share it
    and another repository of the same name does not; elsewhere it is the folder itself. A folder that does not
    exist here (a transcript from another machine) is its own project.
    """
    folder = _normal(folder)
    current = folder if os.path.isabs(folder) else ""
    while current:
        common = _common_directory(os.path.join(current, ".git"))
        if common:
            root = os.path.dirname(common) if os.path.basename(common) == ".git" else common
            return _named(root, os.path.basename(root).removesuffix(".git"))
        parent = os.path.dirname(current)
        if parent == current:
            break
        current = parent
    return _named(folder, folder.replace("\\", "/").rpartition("/")[2])


def current_folder() -> str:
    """The folder this process works in; when it has been deleted, the name it had as the shell knows it, or ""."""
    try:
        return os.getcwd()
    except OSError:
        return os.environ.get("PWD", "")


def _named(root: str, name: str) -> Project:
    """A folder's name may be any bytes and hold a secret; what is kept of it is clean text."""
    root, name = (privacy.clean(part.encode("utf-8", "replace").decode("utf-8")) for part in (root, name))
    return Project(root=root, name=name or root or "unknown")


def _normal(folder: str) -> str:
    """`folder` absolute and without links, so that one folder has one name; foreign paths are left as they are."""
    if not folder or "\x00" in folder:
        return ""
    return os.path.realpath(folder) if os.path.isabs(folder) and os.path.exists(folder) else folder.rstrip("/\\")


def _common_directory(dot_git: str) -> str:
    """The common git directory behind a `.git` entry; "" when there is none."""
    if os.path.isdir(dot_git):
        return dot_git if os.path.exists(os.path.join(dot_git, "HEAD")) else ""
    target = _first_line(dot_git)
    if not target.startswith("gitdir:"):
        return ""
    git_dir = os.path.join(os.path.dirname(dot_git), target.removeprefix("gitdir:").strip())
    common = _first_line(os.path.join(git_dir, "commondir"))  # only worktrees have it
    if common:
        return os.path.realpath(os.path.join(git_dir, common))
    return os.path.realpath(git_dir) if os.path.isdir(git_dir) else ""


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_GIT_FILE_LIMIT).partition("\n")[0].strip()
    except OSError:
        return ""


def branch_of(folder: str) -> str:
    """The branch checked out in `folder`; "" when there is none to tell."""
    current = _normal(folder)
    while current:
        dot_git = os.path.join(current, ".git")
        if os.path.exists(dot_git):
            target = _first_line(dot_git) if os.path.isfile(dot_git) else ""
            git_dir = os.path.join(current, target.removeprefix("gitdir:").strip()) if target else dot_git
            return _first_line(os.path.join(git_dir, "HEAD")).removeprefix("ref: refs/heads/")
        parent = os.path.dirname(current)
        if parent == current:
            break
        current = parent
    return ""
