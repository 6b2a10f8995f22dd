"""Time in plain words: "yesterday", "since last week", "before 12 february", "between 15:00 and 15:05 utc"."""

from __future__ import annotations

import time

from memlite.clock import iso_to_ms

_DAY = 86_400_000
_MONTHS = {name: number for number, names in enumerate((
    ("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",), ("june", "jun"),
    ("july", "jul"), ("august", "aug"), ("september", "sep", "sept"), ("october", "oct"), ("november", "nov"),
    ("december", "dec")), start=1) for name in names}
_WEEKDAYS = {name: number for number, name in enumerate(
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))}
_NUMBERS = {name: number for number, name in enumerate(
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1)}
_NUMBERS.update({"a": 1, "an": 1, "couple": 2, "few": 3})
_UNIT_DAYS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}
_LEADING = frozenset(("on", "at", "in", "during", "of", "from", "the", "this", "last", "past", "previous"))
_EARLIER, _LATER = ("before", "until", "till"), ("after", "since")
_BEFORE_A_MONTH = frozenset(("in", "during", "since", "last", "until", "before", "after"))  # may is a verb, march too

Window = tuple[int, int]


def window(text: str, *, now: int) -> tuple[Window | None, str]:
    """((since, until) in epoch ms that `text` speaks of, or None; `text` without the words that say so).

    Days are local, a time of day with `utc` behind it is not. A date without a year is its latest occurrence.
    """
    words = text.split()
    found: Window | None = None
    kept: list[str] = []
    clock: list[int] = []
    utc = False
    at = 0
    while at < len(words):
        span = None if found else _span(words, at, now)
        if span is not None:
            found, length = span
            while kept and kept[-1].lower() in _LEADING:
                kept.pop()
            if kept and kept[-1].lower() in _EARLIER:
                kept.pop()
                found = (min(0, found[0]), found[0])
            elif kept and kept[-1].lower() in _LATER:
                found = (min(now, found[kept.pop().lower() == "after"]), now + 1)
            at += length
            continue
        word = words[at].strip(",.?!()").lower()
        minutes = _clock(word)
        if minutes is not None:
            clock.append(minutes)
        elif word in ("utc", "gmt") and clock:
            utc = True
        else:
            kept.append(words[at])
        at += 1
    if not clock:
        return found, " ".join(kept) if found else text
    if found is None or found[1] - found[0] > 2 * _DAY:
        return found, text
    return _at_clock(found, clock, utc), " ".join(kept)


def _span(words: list[str], at: int, now: int) -> tuple[Window, int] | None:
    """(window, how many words say it) of a time expression that begins at word `at`."""
    word = words[at].strip(",.?!()").lower()
    then = words[at + 1].strip(",.?!()").lower() if at + 1 < len(words) else ""
    after = words[at + 2].strip(",.?!()").lower() if at + 2 < len(words) else ""
    if word in ("today", "yesterday"):
        start = _midnight(now, -(word == "yesterday"))
        return (start, _midnight(start, 1)), 1
    if word == "this" and then in ("morning", "afternoon", "evening"):
        return (_midnight(now, 0), now + 1), 2
    if word in ("last", "this", "past", "previous") and then.removesuffix("s") in _UNIT_DAYS:
        return _relative(word, then.removesuffix("s"), now), 2
    if word in ("last", "past") and _number(then) and after.removesuffix("s") in _UNIT_DAYS:
        return (_midnight(now, -_number(then) * _UNIT_DAYS[after.removesuffix("s")]), now + 1), 3
    if word == "last" and then in _WEEKDAYS:
        return _weekday(then, now), 2
    if word in _WEEKDAYS:
        return _weekday(word, now), 1
    if _number(word) and then.removesuffix("s") in _UNIT_DAYS and after == "ago":
        days = _number(word) * _UNIT_DAYS[then.removesuffix("s")]
        slack = 0 if then.startswith("day") else max(1, days // 3)
        return (_midnight(now, -days - slack), _midnight(now, -days + slack + 1)), 3
    if word[:4].isdigit() and len(word) == 10 and (ms := iso_to_ms(word)) is not None:
        t = time.gmtime(ms // 1000)
        return _date(t.tm_year, t.tm_mon, t.tm_mday), 1
    for day, name in ((word, then), (then, word)):  # 12 february, february 12
        if _day(day) and name in _MONTHS:
            year = int(after) if len(after) == 4 and after.isdigit() else 0
            return _latest(year, _MONTHS[name], _day(day), now), 2 + bool(year)
    if word in _MONTHS and len(then) == 4 and then.isdigit():
        return (_local(int(then), _MONTHS[word], 1), _local(int(then), _MONTHS[word] + 1, 1)), 2
    if word in _MONTHS and at and words[at - 1].lower() in _BEFORE_A_MONTH:
        t = time.localtime(now // 1000)
        year = t.tm_year - (_MONTHS[word] > t.tm_mon)
        return (_local(year, _MONTHS[word], 1), _local(year, _MONTHS[word] + 1, 1)), 1
    return None


def _number(word: str) -> int:
    return int(word) if word.isascii() and word.isdigit() and len(word) < 4 else _NUMBERS.get(word, 0)


def _day(word: str) -> int:
    digits = word[:-2] if word.endswith(("st", "nd", "rd", "th")) else word
    return int(digits) if digits.isascii() and digits.isdigit() and 1 <= int(digits) <= 31 else 0


def _clock(word: str) -> int | None:
    """Minutes since midnight of `15:05`."""
    hour, colon, minute = word.partition(":")
    plain = (hour + minute).isascii() and hour.isdigit() and minute.isdigit() and len(minute) == 2
    return int(hour) * 60 + int(minute) if colon and plain and int(hour) < 24 and int(minute) < 60 else None


def _relative(word: str, unit: str, now: int) -> Window:
    days = _UNIT_DAYS[unit]
    if word == "this":
        back = time.localtime(now // 1000).tm_wday if unit == "week" else days
        return _midnight(now, -back if unit != "day" else 0), now + 1
    if unit == "week":  # the calendar week before this one, and what of it a speaker may mean: the last seven days
        return _midnight(now, -7 - time.localtime(now // 1000).tm_wday), _midnight(now, 1)
    return _midnight(now, -2 * days if unit == "month" else -days), now + 1


def _weekday(name: str, now: int) -> Window:
    back = (time.localtime(now // 1000).tm_wday - _WEEKDAYS[name]) % 7 or 7
    start = _midnight(now, -back)
    return start, _midnight(start, 1)


def _latest(year: int, month: int, day: int, now: int) -> Window:
    this_year = time.localtime(now // 1000).tm_year
    start, end = _date(year or this_year, month, day)
    return _date(this_year - 1, month, day) if not year and start > now else (start, end)


def _date(year: int, month: int, day: int) -> Window:
    return _local(year, month, day), _local(year, month, day + 1)


def _local(year: int, month: int, day: int) -> int:
    try:
        return int(time.mktime((year, month, day, 0, 0, 0, 0, 0, -1))) * 1000
    except (OverflowError, ValueError):
        return 0


def _midnight(ms: int, days: int) -> int:
    t = time.localtime(ms // 1000)
    return _local(t.tm_year, t.tm_mon, t.tm_mday + days)


def _at_clock(day: Window, minutes: list[int], utc: bool) -> Window:
    """The part of `day` between the first and the last of the times, or the half hours around a single one."""
    start = day[0]
    if utc:
        t = time.localtime(start // 1000)
        start += t.tm_gmtoff * 1000
    first, last = min(minutes), max(minutes)
    if len(minutes) == 1:
        first, last = first - 30, last + 30
    return start + first * 60_000, start + (last + 1) * 60_000
