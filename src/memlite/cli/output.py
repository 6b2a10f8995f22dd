"""Standard output is data, standard error is talk."""

from __future__ import annotations

import os
import sys

from memlite import jsoncodec
from memlite.errors import MemliteError
from memlite.render import items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def width() -> int | None:
    """The terminal's columns; None when standard output is no terminal."""
    if not sys.stdout.isatty():
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except OSError:
        return None


def color() -> bool:
    """Whether to paint: on a terminal, unless NO_COLOR is set (https://no-color.org) or it is a dumb one."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def json_text(value: Any) -> str:
    """`value` as one line of JSON."""
    return jsoncodec.dumps(value)


def write(text: str) -> None:
    """`text` and a line feed to standard output, whatever its encoding. Raises BrokenPipeError, and MemliteError when
    it can't be written for another reason."""
    sys.stdout.flush()
    try:
        sys.stdout.buffer.write((text + "\n").encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as failure:
        reader_gone()
        raise MemliteError(f"the output can't be written: {failure.strerror}", "free some space there") from None


def say(text: str) -> None:
    """A line of talk to standard error."""
    sys.stderr.write(f"{text}\n")


def reader_gone() -> int:
    """The reader of the pipe has seen enough: keep the interpreter from complaining about it at exit. Returns 0."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def report(failure: MemliteError, as_json: bool) -> int:
    """Tell the person (or, as JSON on standard output, the program) what went wrong. Returns the exit code."""
    if as_json:
        write(json_text(items.error(failure)))
    say(f"memlite: {failure.message}" + (f"\n  {failure.hint}" if failure.hint else ""))
    return failure.exit_code
