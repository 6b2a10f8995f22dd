"""Which memlite this is: its version and the commit it was built from."""

from __future__ import annotations

import os

from memlite import __version__

UNKNOWN = "unknown"


def version() -> str:
    """The version, as `0.1.0`."""
    return __version__


def commit() -> str:
    """The git commit in twelve digits, with `+` behind it when files were changed since.

    `unknown` outside git. The executable carries what its build wrote into the module `memlite_build`; a run
    from a source tree asks git.
    """
    try:
        from memlite_build import COMMIT
    except ImportError:
        return _commit_of(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    return str(COMMIT)


def described() -> str:
    """What `memlite --version` prints, as `memlite 0.1.0 (2a02dc5c1f3e)`."""
    return f"memlite {version()} ({commit()})"


def _commit_of(tree: str) -> str:
    """The commit of the source tree `tree`; `unknown` when it is not the top of a git work tree."""
    if not os.path.exists(os.path.join(tree, ".git")):
        return UNKNOWN  # installed somewhere below a stranger's repository
    import subprocess

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", tree, *arguments], capture_output=True, text=True, check=True,
                              timeout=10)
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN
