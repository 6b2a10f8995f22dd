"""when: the time that plain words speak of."""

from __future__ import annotations

import datetime
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite.search import when

NOW = int(datetime.datetime(2026, 11, 30, 12, 0).timestamp() * 1000)  # a Monday, local noon


def day(year: int, month: int, day: int, days: int = 1) -> tuple[int, int]:
    """The window of `days` local days from that date on."""
    start = datetime.datetime(year, month, day)
    return int(start.timestamp() * 1000), int((start + datetime.timedelta(days=days)).timestamp() * 1000)


@pytest.mark.parametrize(("text", "window", "rest"), [
    ("what did we do yesterday", day(2026, 11, 29), "what did we do"),
    ("today", day(2026, 11, 30), ""),
    ("the hooks work of 12 feb", day(2026, 2, 12), "the hooks work"),
    ("on 12 February we fixed it", day(2026, 2, 12), "we fixed it"),
    ("December 24th plans", day(2025, 12, 24), "plans"),
    ("december 24 2024 plans", day(2024, 12, 24), "plans"),
    ("crash on 2026-02-11", day(2026, 2, 11), "crash"),
    ("fixed monday", day(2026, 11, 23), "fixed"),
    ("last friday's deploy", None, "last friday's deploy"),
    ("last friday deploy", day(2026, 11, 27), "deploy"),
    ("retries last week", day(2026, 11, 23, 8), "retries"),
    ("three days ago", day(2026, 11, 27), ""),
    ("march 2026 release", day(2026, 3, 1, 31), "release"),
    ("retries in october", day(2026, 10, 1, 31), "retries"),
    ("what broke last december", day(2025, 12, 1, 31), "what broke"), ("after today", (NOW, NOW + 1), ""),
    ("decided before 12 february", (0, day(2026, 2, 12)[0]), "decided"),
    ("commits after 2026-11-20", (day(2026, 11, 20)[1], NOW + 1), "commits"),
    ("changed since last week", (day(2026, 11, 23)[0], NOW + 1), "changed"),
    ("since monday", (day(2026, 11, 23)[0], NOW + 1), ""), ("before the release", None, "before the release"),
    ("may we add a march target", None, "may we add a march target"),
    ("version 15:04 of the protocol", None, "version 15:04 of the protocol"),
    ("no time here", None, "no time here"), ("", None, "")])
def test_words_of_time_become_a_window(text: str, window: tuple[int, int] | None, rest: str) -> None:
    """And leave the question; what only looks like time stays in it."""
    assert when.window(text, now=NOW) == (window, rest)


def test_times_of_day_narrow_a_day() -> None:
    """Local by default, UTC where it says so; the minute named last is included."""
    start = day(2026, 2, 12)[0]
    window, rest = when.window("what did we finish between 15:00 and 15:05 on 12 february", now=NOW)
    assert window == (start + 15 * 3_600_000, start + (15 * 60 + 6) * 60_000)
    assert rest == "what did we finish between and"
    utc = int(datetime.datetime(2026, 2, 12, 15, tzinfo=datetime.timezone.utc).timestamp() * 1000)
    assert when.window("finished 15:00 to 15:05 utc on 12 february", now=NOW)[0] == (utc, utc + 6 * 60_000)


@given(st.text(max_size=60) | st.lists(st.sampled_from(
    ["last", "week", "12", "february", "2026", "31", "feb", "ago", "two", "days", "15:00", "utc", "monday", "this",
     "before", "after", "since", "in", "may"]),
    max_size=8).map(" ".join), st.integers(0, 4_102_444_800_000))
def test_any_text_is_fine(text: str, now: int) -> None:
    """No text raises, and a window never ends before it begins."""
    window, rest = when.window(text, now=now)
    assert window is None or window[0] <= window[1]
    assert set(rest.split()) <= set(text.split())


def test_reckoning_follows_the_local_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Yesterday is the local yesterday."""
    if not hasattr(time, "tzset"):
        pytest.skip("this system can't change its zone")
    moment = int(datetime.datetime(2026, 11, 30, 3, 0, tzinfo=datetime.timezone.utc).timestamp() * 1000)
    found = []
    for zone in ("UTC", "America/Los_Angeles"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        found.append(when.window("yesterday", now=moment)[0])
    monkeypatch.undo()
    time.tzset()
    assert found[0] != found[1]
