"""Unpacked folders that nobody removed.

The executable unpacks itself into a folder in the temporary directory, and the process that did so removes it at
the end. A process killed outright can't: 8 MB stay for each. They are removed by a later run.
"""

from __future__ import annotations

import os
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The build writes this as the name of the first entry of the one zip in the folder, which no other program has. A
# zip begins with a header of 30 bytes and the name (APPNOTE.TXT 4.3.7).
MARK = b"memlite"
_ZIP = "base_library.zip"
_MIN_AGE_SECONDS = 3600.0  # a program whose launcher was killed finishes within minutes and removes its folder itself


def temporary_directories(home: str) -> list[str]:
    """Where the executable may have been unpacked: the usual places, and the data directory's own."""
    named = [os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
    return [path for path in dict.fromkeys([*named, "/tmp", "/var/tmp", os.path.join(home, "tmp")]) if path]


def remove(directories: Iterable[str], *, now: float | None = None) -> list[str]:
    """Remove from `directories` what killed runs of memlite left an hour ago or earlier; the folders removed.

    A folder is taken for such only if it is the user's own, carries the build's mark, and the process in its name is
    gone. Raises nothing: what can't be removed stays.
    """
    removed = []
    moment = time.time() if now is None else now
    for directory in directories:
        try:
            names = [name for name in os.listdir(directory) if _launcher(name)]
        except OSError:
            continue
        for name in names:
            path = os.path.join(directory, name)
            try:
                if _is_left(path, _launcher(name), moment):
                    _remove_tree(path)
                    removed.append(path)
            except OSError:
                continue
    return removed


def _launcher(name: str) -> int:
    """The process that made a folder called `name`: _MEI, eight hexadecimal digits, six other characters; else 0."""
    try:
        return int(name[4:12], 16) if name.startswith("_MEI") and len(name) == 18 else 0
    except ValueError:
        return 0


def _is_left(path: str, launcher: int, moment: float) -> bool:
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or moment - found.st_mtime < _MIN_AGE_SECONDS:
        return False
    if not hasattr(os, "getuid") or found.st_uid != os.getuid():
        return False
    with open(os.path.join(path, _ZIP), "rb") as file:
        if file.read(30 + len(MARK))[30:] != MARK:
            return False
    try:
        os.kill(launcher, 0)
    except ProcessLookupError:
        return True
    return False


def _remove_tree(folder: str) -> None:
    for path, folders, files in os.walk(folder, topdown=False):
        for name in files:
            os.unlink(os.path.join(path, name))
        for name in folders:
            os.rmdir(os.path.join(path, name))
    os.rmdir(folder)
