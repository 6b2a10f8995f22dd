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


def _number(digits: str, length: int) -> int:
    """The value of exactly `length` ASCII digits (int() alone takes signs, spaces and underscores). Raises
    ValueError."""
    if len(digits) != length or not (digits.isascii() and digits.isdigit()):
        raise ValueError(digits)
    return int(digits)


def iso_to_ms(text: str) -> int | None:
    """Epoch milliseconds of an ISO 8601 moment such as `2026-11-30T18:16:10.571Z`; None when it is not one.

    Accepts a date alone (midnight), a space for the T, fractions of any length, `Z` or `±HH:MM`; without a zone
    the moment counts as UTC.
    """
    try:
        day_ms = _date(text[:10])
        return day_ms if len(text) == 10 else day_ms + _time(text[10:])
    except (ValueError, IndexError):
        return None


def _date(text: str) -> int:
    year, month, day = _number(text[0:4], 4), _number(text[5:7], 2), _number(text[8:10], 2)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    length = 28 + leap if month == 2 else 30 + (month in (1, 3, 5, 7, 8, 10, 12))
    if text[4] != "-" or text[7] != "-" or not (1 <= month <= 12 and 1 <= day <= length):
        raise ValueError(text)
    return _days_from_civil(year, month, day) * _DAY_MS


def _time(text: str) -> int:
    hour, minute = _number(text[1:3], 2), _number(text[4:6], 2)
    if text[0] not in "T " or text[3] != ":" or hour > 24 or minute > 59:
        raise ValueError(text)
    second, fraction, zone = 0, "", text[6:]
    if zone[:1] == ":":
        second, zone = _number(zone[1:3], 2), zone[3:]
        if zone[:1] in (".", ","):
            rest = zone[1:].lstrip("0123456789")
            fraction, zone = zone[1:len(zone) - len(rest)], rest
    if second > 60:
        raise ValueError(text)
    return (((hour * 60 + minute - _offset(zone)) * 60 + second) * 1000) + int(f"{fraction}000"[:3])


def _offset(zone: str) -> int:
    """Minutes east of UTC."""
    if zone in ("", "Z", "z"):
        return 0
    hours, minutes = zone[1:3], zone[3:].removeprefix(":") or "00"
    if zone[0] not in "+-" or _number(hours, 2) > 23 or _number(minutes, 2) > 59:
        raise ValueError(zone)
    return (-1 if zone[0] == "-" else 1) * (int(hours) * 60 + int(minutes))


def ms_to_iso(ms: int) -> str:
    """`ms` as ISO 8601 in UTC with milliseconds, e.g. `2026-11-30T18:16:10.571Z`."""
    t = time.gmtime(ms // 1000)
    return (f"{t.tm_year:04d}-{t.tm_mon:02d}-{t.tm_mday:02d}T"
            f"{t.tm_hour:02d}:{t.tm_min:02d}:{t.tm_sec:02d}.{ms % 1000:03d}Z")


def age(ms: int, now: int) -> str:
    """How long before `now` the moment `ms` was, in one short word: `now`, `5m`, `3h`, `2d`, `7w`, `2y`."""
    seconds = max(0, (now - ms) // 1000)
    for unit, size in (("y", 31_557_600), ("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60)):
        # Weeks read well up to a year, days up to two weeks.
        if seconds >= size * (2 if unit == "w" else 1):
            return f"{seconds // size}{unit}"
    return "now"
