"""Dates as people write them → epoch milliseconds. What names no zone is local time."""

from __future__ import annotations

import time

from memlite.clock import iso_to_ms
from memlite.errors import UsageError

_UNITS = {"m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800, "mo": 2_592_000, "y": 31_536_000}
# A bare number is a moment: seconds up to the year 5138, milliseconds above, which begins in 1973.
_MILLISECONDS_FROM = 100_000_000_000


def moment(text: str, *, now: int, end: bool = False) -> int:
    """Epoch ms of `text`: `2026-01-31`, ISO 8601, `today`, `yesterday`, `7d` (ago; m, h, d, w, mo, y), epoch seconds
    or milliseconds.

    As the `end` of a range the result is exclusive: a date includes its whole day, a moment itself. Raises UsageError.
    """
    given = text.strip()
    lowered = given.lower()
    if lowered in ("today", "yesterday", "now"):
        if lowered == "now":
            return now + end
        start = _midnight(now, -1 if lowered == "yesterday" else 0)
        return _midnight(start, 1) if end else start
    if given.isascii() and given.isdigit() and len(given) < 17:
        number = int(given)
        if number < 1_000_000:  # a year or an id, surely not a moment of January 1970
            raise _nonsense(text)
        return (number if number >= _MILLISECONDS_FROM else number * 1000) + end
    back = lowered.removesuffix(" ago").removesuffix("s") if lowered.endswith("ago") else lowered
    digits = len(back) - len(back.lstrip("0123456789"))
    unit = back[digits:].strip()
    if 0 < digits < 7 and back.isascii() and unit in _UNITS:
        return now - int(back[:digits]) * _UNITS[unit] * 1000
    ms = iso_to_ms(given)
    if ms is None:
        raise _nonsense(text)
    if len(given) == 10:
        return _local(given, ms, days=int(end))
    zoned = given[-1] in "Zz" or "+" in given[10:] or "-" in given[10:]
    return (ms if zoned else _local(given, ms)) + end


def _local(given: str, utc_ms: int, days: int = 0) -> int:
    """The epoch ms at which a local clock shows what a UTC clock shows at `utc_ms`, `days` later."""
    t = time.gmtime(utc_ms // 1000)
    try:
        seconds = time.mktime((t.tm_year, t.tm_mon, t.tm_mday + days, t.tm_hour, t.tm_min, t.tm_sec, 0, 0, -1))
    except (OverflowError, ValueError):
        raise _nonsense(given) from None
    return int(seconds) * 1000 + utc_ms % 1000


def _midnight(ms: int, days: int) -> int:
    """Local midnight at the start of the day of `ms`, `days` later."""
    t = time.localtime(ms // 1000)
    return int(time.mktime((t.tm_year, t.tm_mon, t.tm_mday + days, 0, 0, 0, 0, 0, -1))) * 1000


def _nonsense(text: str) -> UsageError:
    return UsageError(f"{text!r} is no date", "write 2026-01-31, 2026-01-31T12:00:00Z, 7d, yesterday or epoch ms")


__all__ = ["moment"]
