"""wording: one is one, none and more are several."""

from __future__ import annotations

import pytest

from memlite.wording import all_counted, counted


@pytest.mark.parametrize(("count", "noun", "said"), [
    (0, "prompt", "0 prompts"), (1, "prompt", "1 prompt"), (2, "summary", "2 summaries"), (1, "summary", "1 summary"),
    (3, "idle step", "3 idle steps")])
def test_nouns_agree_with_their_numbers(count: int, noun: str, said: str) -> None:
    """Nothing a person reads says "1 sessions"."""
    assert counted(count, noun) == said


def test_several_may_come_in_the_plural() -> None:
    """As the tables are called."""
    assert all_counted({"summary": 2, "sessions": 1, "projects": 0}) == "2 summaries, 1 session, 0 projects"
