"""The secret that writing needs: 32 random bytes in hexadecimal, in a file that only its owner can read."""

from __future__ import annotations

import os
import stat

from memlite import paths
from memlite.errors import HomeUnusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = "token"
_DIGITS = 64


def path_of(home: str) -> str:
    """Where the token of the data directory `home` lies."""
    return os.path.join(home, FILE)


def read(home: str) -> str | None:
    """The token; None when there is none that can be trusted: absent, of another shape, or open to others.

    Raises HomeUnusable when it is a link, which somebody else could point elsewhere.
    """
    path = path_of(home)
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise _unusable(path, "is a symbolic link" if os.path.islink(path) else failure.strerror) from None
    try:
        found = os.fstat(descriptor)
        if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
            return None
        if not stat.S_ISREG(found.st_mode):
            raise _unusable(path, "is no file")
        text = os.read(descriptor, 200).decode("ascii", "replace").strip()
    finally:
        os.close(descriptor)
    return text if len(text) == _DIGITS and not text.strip("0123456789abcdef") else None


def ensure(home: str) -> str:
    """The token, made anew when there is none that can be trusted. Raises HomeUnusable."""
    known = read(home)
    if known is not None:
        return known
    path = path_of(home)
    fresh = os.urandom(_DIGITS // 2).hex()
    part = f"{path}.{os.getpid()}"
    try:
        paths.create_private(part)
        with open(part, "w", encoding="ascii") as file:
            file.write(f"{fresh}\n")
        os.replace(part, path)
    except OSError as failure:
        raise _unusable(path, failure.strerror) from None
    return fresh


def given(environ: dict[str, Any]) -> str:
    """The token a request carries: `Authorization: Bearer …` or `X-Memlite-Token: …`; "" without."""
    scheme, _, value = str(environ.get("HTTP_AUTHORIZATION", "")).partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    return str(environ.get("HTTP_X_MEMLITE_TOKEN", ""))


def _unusable(path: str, why: str | None) -> HomeUnusable:
    return HomeUnusable(f"the token file {path} {why}", "delete it; the worker makes a new one when it starts")
