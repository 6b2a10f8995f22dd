"""Processes of memlite's own: how they are started so that they outlive their parent, and how many there may be."""

from __future__ import annotations

import os
import sys


def command() -> list[str]:
    """The command line that runs this same memlite."""
    return [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "memlite"]


def start_detached(arguments: list[str], home: str, errors: str = os.devnull) -> int:
    """Run memlite with `arguments` for the data directory `home`, in a session of its own and with all streams closed,
    so that whoever starts it neither waits for it nor takes it down. What it complains of goes to the file `errors`,
    which must exist. Returns its pid. Raises OSError."""
    environment = dict(os.environ)
    environment["MEMLITE_HOME"] = home
    environment["PYINSTALLER_RESET_ENVIRONMENT"] = "1"  # else the child runs in this process's unpacked folder
    environment.setdefault("MALLOC_ARENA_MAX", "2")  # glibc's default, 8 a processor, costs a busy worker 20 MB
    line = [*command(), *arguments]
    null = os.open(os.devnull, os.O_RDWR)
    complaints = os.open(errors, os.O_WRONLY | os.O_APPEND)
    try:
        if hasattr(os, "posix_spawn"):
            actions = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1),
                       (os.POSIX_SPAWN_DUP2, complaints, 2)]
            options = {"setsid": True} if sys.platform.startswith("linux") else {"setpgroup": 0}
            return os.posix_spawn(line[0], line, environment, file_actions=actions, **options)
        import subprocess  # Windows: too slow to import where the call above exists

        flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        return subprocess.Popen(line, env=environment, stdin=null, stdout=null, stderr=complaints,
                                creationflags=flags, close_fds=True).pid
    finally:
        os.close(null)
        os.close(complaints)


class Lock:
    """An exclusive lock on a file, held until `release` or the end of the process, however it ends."""

    def __init__(self, path: str) -> None:
        """Take no lock yet; `path` is made, private, when it is."""
        self.path = path
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take the lock. False when another process has it. Raises OSError."""
        flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(self.path, flags, 0o600)
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, 0o600)
        if not _lock(descriptor):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Give the lock back, if it was taken."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _lock(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
