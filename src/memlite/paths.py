"""Where things lie: the data directory and the files in it, private to their owner."""

from __future__ import annotations

import _thread
import os
import stat

from memlite.errors import HomeUnusable

DATABASE = "memlite.db"
SETTINGS = "settings.json"
LOG = "memlite.log"
_creating = _thread.allocate_lock()


def home() -> str:
    """The data directory: `MEMLITE_HOME`, else `~/.memlite`. Absolute; not created here. Raises HomeUnusable when the
    user has no home at all."""
    return _absolute(os.environ.get("MEMLITE_HOME") or "~/.memlite", "MEMLITE_HOME")


def claude_config() -> str:
    """Claude Code's configuration directory: `CLAUDE_CONFIG_DIR`, else `~/.claude`. Raises as `home`."""
    return _absolute(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude", "CLAUDE_CONFIG_DIR")


def _absolute(path: str, variable: str) -> str:
    if path.startswith("~") and os.environ.get("HOME") == "":
        del os.environ["HOME"]  # expanduser takes an empty one for the root
    expanded = os.path.expanduser(path)
    if expanded.startswith("~"):  # neither HOME nor an entry in the password database
        raise HomeUnusable(f"{path} can't be found: this user has no home directory",
                           f"set HOME, or {variable} to a directory of your own")
    try:
        return os.path.abspath(expanded)
    except FileNotFoundError:
        raise HomeUnusable(f"{path} can't be found: the current folder has been deleted",
                           f"set {variable} to an absolute path") from None


def ensure_home(path: str) -> str:
    """Create `path` with mode 0700 whatever the umask, or tighten it. Returns it.

    Raises HomeUnusable when it can't be made, is no directory, or belongs to someone else (whose owner could
    read or swap the memory).
    """
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        found = os.stat(path)
        if hasattr(os, "getuid"):
            _refuse_foreign(path, found.st_uid)
            if found.st_mode & 0o077:
                os.chmod(path, 0o700)
    except OSError as failure:
        raise HomeUnusable(f"the data directory {path} can't be used: {failure.strerror}",
                           "make it a writable directory of yours or set MEMLITE_HOME to one") from None
    return path


def refuse_foreign(path: str) -> None:
    """Raise HomeUnusable when the directory `path` belongs to someone else, who decides what stands in the memory."""
    if hasattr(os, "getuid"):
        _refuse_foreign(path, os.stat(path).st_uid)


def _refuse_foreign(path: str, owner: int) -> None:
    if owner != os.getuid():
        raise HomeUnusable(f"{path} belongs to user {owner}, not to you",
                           "set MEMLITE_HOME to a directory of your own")


def unreadable(home: str, failure: OSError) -> HomeUnusable:
    """Why something in the directory `home` can't be read, and the way out."""
    try:
        refuse_foreign(home)
    except HomeUnusable as foreign:
        return foreign
    except OSError:
        pass  # not even the directory itself can be looked at
    return HomeUnusable(f"{failure.filename or home} can't be read: {failure.strerror}",
                        "make it readable, or set MEMLITE_HOME to a directory of your own")


def create_private(path: str) -> None:
    """Make sure the file `path` exists with mode 0600 before anybody writes to it. Raises OSError.

    A file that is there is not opened: with its closing, this process would lose the locks that SQLite holds on it for
    other connections, and another process would take away the write-ahead log under them (measured: I/O errors within
    seconds; https://sqlite.org/howtocorrupt.html, "Posix advisory locks canceled by a separate thread doing close()").
    """
    with _creating:   # who comes second must not open it before the first has closed it
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
            try:
                descriptor = os.open(path, flags, 0o600)
            except FileExistsError:
                return    # another process was first, and makes it private too
            try:
                if hasattr(os, "fchmod"):
                    os.fchmod(descriptor, 0o600)
            finally:
                os.close(descriptor)
            return
        if stat.S_ISLNK(found.st_mode):
            raise OSError(0, "a symbolic link is not followed", path)
        if found.st_mode & 0o077 and os.name == "posix":
            os.chmod(path, 0o600)
