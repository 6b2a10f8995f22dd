"""digest: what closing words say, on one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite.render.digest import digest, open_question


@pytest.mark.parametrize(("text", "said"), [
    ("Done. Added the limits.", "Added the limits."), ("Perfect! ✅ Fixed.", "✅ Fixed."),
    ("All tests pass. Here's a summary of the changes:\n\n## Changes\n\n1. **Parse** a comma\n2. Round `cents`",
     "Parse a comma; Round `cents`"),
    ("Now it works:\n```py\nx = 1\n```\n| a | b |\n|---|---|\nas planned", "Now it works. as planned"),
    ("See [the issue](https://example.org/1) for more.", "See the issue for more."),
    ("Yes — everything is pushed.", "Yes — everything is pushed."), ("Looking at the clock, it is late.", None),
    ("Done.", ""), ("", ""), ("```\nonly code\n```", ""), ("## Heading\n---", ""), ("price: 3 [x] (y)", None)])
def test_prose_stays_and_decoration_goes(text: str, said: str | None) -> None:
    """None: the text as it is."""
    assert digest(text, 200) == (text if said is None else said)


@pytest.mark.parametrize(("text", "question"), [
    ("Done. Want me to push it?", "Want me to push it?"), ("- Shall I go on?\n\n", "Shall I go on?"),
    ("Is it? It is.", ""), ("", ""), ("Why? Because. **Deploy now?**", "Deploy now?"), ("?", "?")])
def test_question_left_open_is_the_last_sentence(text: str, question: str) -> None:
    """And none when the last line is no question."""
    assert open_question(text) == question


@given(st.text(max_size=300), st.integers(1, 80))
def test_any_text_has_a_bounded_digest_of_one_line(text: str, limit: int) -> None:
    """Whatever it holds."""
    found = digest(text, limit)
    assert len(found) <= limit and len(found.splitlines()) <= 1
    assert len(open_question(text)) <= len(text)
