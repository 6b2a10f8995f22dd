"""Time without the `datetime` package, which costs milliseconds of every hook's start.

Moments are Unix epoch milliseconds (int, UTC) everywhere in memlite.
"""

from __future__ import annotations

import time

_DAY_MS = 86_400_000


def now_ms() -> int:
    """This moment in epoch milliseconds."""
    return time.time_ns() // 1_000_000


def _days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar (Howard Hinnant, "chrono-Compatible Low-Level
    Date Algorithms", days_from_civil)."""
    year -= month <= 2
    era = year // 400
    year_of_era = year - era * 400
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * 146_097 + day_of_era - 719_468


def iso_to_ms(text: str) -> int | None:
    """Epoch milliseconds of an ISO 8601 moment such as `2026-11-30T18:16:10.571Z`; None when it is not one.

    Accepts a date alone (midnight), a space for the T, fractions of any length, `Z` or `±HH:MM`; without a zone
    the moment counts as UTC.
    """
    try:
        year, month, day = int(text[0:4]), int(text[5:7]), int(text[8:10])
        if text[4] != "-" or text[7] != "-" or not (1 <= month <= 12 and 1 <= day <= 31):
            return None
        ms = _days_from_civil(year, month, day) * _DAY_MS
        rest = text[10:]
        if not rest:
            return ms
        if rest[0] not in "T " or rest[3] != ":":
            return None
        hour, minute = int(rest[1:3]), int(rest[4:6])
        tail, second, fraction = rest[6:], 0, 0
        if tail[:1] == ":":
            second, tail = int(tail[1:3]), tail[3:]
            if tail[:1] in (".", ","):
                digits = len(tail[1:]) - len(tail[1:].lstrip("0123456789"))
                fraction, tail = int((tail[1:1 + digits] + "000")[:3]), tail[1 + digits:]
        if not (hour <= 24 and minute < 60 and second <= 60):
            return None
        offset = 0
        if tail[:1] in ("+", "-"):
            sign, zone = (-1 if tail[0] == "-" else 1), tail[1:].replace(":", "")
            offset, tail = sign * (int(zone[:2]) * 60 + int(zone[2:4] or 0)), ""
        if tail not in ("", "Z", "z"):
            return None
        return ms + ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction
    except (ValueError, IndexError):
        return None


def ms_to_iso(ms: int) -> str:
    """`ms` as ISO 8601 in UTC with milliseconds, e.g. `2026-11-30T18:16:10.571Z`."""
    t = time.gmtime(ms // 1000)
    return (f"{t.tm_year:04d}-{t.tm_mon:02d}-{t.tm_mday:02d}T"
            f"{t.tm_hour:02d}:{t.tm_min:02d}:{t.tm_sec:02d}.{ms % 1000:03d}Z")


def age(ms: int, now: int) -> str:
    """How long before `now` the moment `ms` was, in one short word for a person: `now`, `5m`, `3h`, `2d`, `7w`, `2y`."""
    seconds = max(0, (now - ms) // 1000)
    for unit, size in (("y", 31_557_600), ("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60)):
        # Weeks read well up to a year, days up to two weeks.
        if seconds >= size * (2 if unit == "w" else 1):
            return f"{seconds // size}{unit}"
    return "now"
