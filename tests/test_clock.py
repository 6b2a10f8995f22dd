"""clock: ISO 8601 ↔ epoch milliseconds, held against datetime."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite import clock

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MOMENTS = st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(9999, 12, 31))
ZONES = st.integers(min_value=-14 * 60, max_value=14 * 60)


def milliseconds(moment: datetime) -> int:
    """Epoch milliseconds by datetime's own integers."""
    return (moment - EPOCH) // timedelta(milliseconds=1)


@given(MOMENTS, ZONES)
def test_every_moment_means_what_datetime_says(moment: datetime, zone: int) -> None:
    """A moment in any zone, to the millisecond."""
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=zone)))
    assert clock.iso_to_ms(aware.isoformat()) == milliseconds(aware)


@given(MOMENTS)
def test_moment_written_and_read_is_the_same(moment: datetime) -> None:
    """ms_to_iso and iso_to_ms are inverse, and datetime reads the text alike."""
    ms = milliseconds(moment.replace(tzinfo=timezone.utc))
    text = clock.ms_to_iso(ms)
    assert clock.iso_to_ms(text) == ms
    assert datetime.fromisoformat(text.replace("Z", "+00:00")) == EPOCH + timedelta(milliseconds=ms)


@given(MOMENTS)
def test_date_alone_is_its_midnight(moment: datetime) -> None:
    """A date without a time is the beginning of that day in UTC."""
    midnight = datetime(moment.year, moment.month, moment.day, tzinfo=timezone.utc)
    assert clock.iso_to_ms(moment.date().isoformat()) == milliseconds(midnight)


@given(st.text(alphabet="0123456789-:TZ+., 0", max_size=30) | st.text(max_size=12))
def test_any_other_string_is_none_and_never_an_error(text: str) -> None:
    """Whatever the text, the answer is a moment or None."""
    found = clock.iso_to_ms(text)
    assert found is None or isinstance(found, int)


@pytest.mark.parametrize(("text", "ms"), [
    ("2026-11-30T18:16:10.571Z", 1796062570571),
    ("2026-11-30T18:16:10Z", 1796062570000),
    ("2026-11-30 18:16", 1796062560000),
    ("2026-11-30T18:16:10.5714567Z", 1796062570571),
    ("2026-11-30T18:16:10,5Z", 1796062570500),
    ("2026-11-30T20:16:10+02:00", 1796062570000),
    ("2026-11-30T20:16:10+0200", 1796062570000),
    ("2026-11-30T20:16:10+02", 1796062570000),
    ("2024-02-29", 1709164800000),
    ("1969-12-31T23:59:59.999Z", -1),
])
def test_known_moments(text: str, ms: int) -> None:
    """Spellings found in transcripts and typed by people."""
    assert clock.iso_to_ms(text) == ms


@pytest.mark.parametrize("text", ["", "yesterday", "2026", "2026-13-01", "2026-02-30", "2025-02-29", "2026-11-31",
                                  "2026/11/30", "2026-11-30T25:00", "2026-11-30T10:60", "2026-11-30T10:00:61",
                                  "2026-11-30X10:00", "2026-11-30T1", "2026-11-30T10:00:00 UTC", "+026-11-30",
                                  "2026- 1- 1", "2_26-11-30", "2026-11-30T10:00:00+2x", "2026-11-30T10:00:00+25:00",
                                  "2026-11-30T10:00:00+02:0", "2026-11-30T10:00:", "٢٠٢٦-11-30"])
def test_what_is_no_moment_is_none(text: str) -> None:
    """Neither impossible dates nor half a time pass for a moment."""
    assert clock.iso_to_ms(text) is None


@pytest.mark.parametrize(("seconds", "word"), [
    (-5, "now"), (0, "now"), (59, "now"), (60, "1m"), (3599, "59m"), (3600, "1h"), (86_399, "23h"), (86_400, "1d"),
    (13 * 86_400, "13d"), (14 * 86_400, "2w"), (360 * 86_400, "51w"), (366 * 86_400, "1y"), (3 * 31_557_600, "3y")])
def test_age_is_one_short_word(seconds: int, word: str) -> None:
    """The largest unit that fits; a moment in the future is now."""
    assert clock.age(0, seconds * 1000) == word


def test_now_is_the_present_in_milliseconds() -> None:
    """now_ms lies between two readings of the system's clock."""
    before = time.time()
    now = clock.now_ms()
    assert before * 1000 - 1 <= now <= time.time() * 1000 + 1
