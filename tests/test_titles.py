"""titles: of all that was said, the sentence that tells a reader which memory to open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite.capture import titles


@pytest.mark.parametrize(("said", "title"), [
    ("Now let me check the generated migration.", "Check the generated migration"),
    ("Good. I'll add the route to `router.ex` first.", "Add the route to `router.ex` first"),
    ("Perfect! All tests pass. Now let me run the linter.", "Run the linter"),
    ("I see the issue - the replace_all accidentally modified the function too. Let me fix it.",
     "The replace_all accidentally modified the function too"),
    ("Let me look at it.\n\n`float` doesn't accept a decimal comma, that is the root cause.",
     "`float` doesn't accept a decimal comma, that is the root cause"),
    ("Done! I've successfully updated the home page to say that it's open source. Here's what I changed:\n\n"
     "- **Updated** `EmptyState.tsx`\n- Added a link", "Updated the home page to say that it's open source"),
    ("Based on my exploration, the list operates on the `sessions` branch.",
     "The list operates on the `sessions` branch"),
    ("Looking at the code, I found that unknown hooks are lost. This happens in `hooks.go`.",
     "Found that unknown hooks are lost"),
    ("So the bug is in `parse`, which never sees the comma.", "The bug is in `parse`, which never sees the comma"),
    ("Logged as [ENT-241](https://example.org/ENT-241) for the team.", "Logged as ENT-241 for the team"),
    ("## Summary\n\n| a | b |\n|---|---|\n\n```\ncode = 1\n```\nThe cache was never cleared.",
     "The cache was never cleared"),
    ("You're absolutely right! The test only checks the old name.", "The test only checks the old name"),
    ("", ""), ("OK.", ""), ("```\nonly code\n```", "")])
def test_title_is_the_sentence_that_tells_most(said: str, title: str) -> None:
    """Findings beat announcements; announcements become deeds; fillers go."""
    assert titles.best_sentence(said) == title


@pytest.mark.parametrize("sentence", [
    "All 43 tests pass, 0 failures", "All tests pass", "The lint passes", "I have full context now",
    "Here's what I found",
    "I understand the state machine", "Still compiling deps", "Everything looks correct", "Clean compile", "Expected",
    "Would you like me to continue?", "All checks pass — tests (1219/1219), lint, and typecheck"])
def test_sentence_that_says_only_that_all_is_well_tells_little(sentence: str) -> None:
    """With such a title nobody knows what to open."""
    assert titles.tells_little(sentence)


@pytest.mark.parametrize("sentence", [
    "The test only passes a string", "Add a test for the parser", "One test still fails because of the separator",
    "The build script ignores `--release`", "Fix the parser", "`parse` is called when the session ends"])
def test_sentence_that_names_its_object_tells_enough(sentence: str) -> None:
    """The control."""
    assert not titles.tells_little(sentence)


@pytest.mark.parametrize(("sentence", "deed", "intent"), [
    ("Let me now quickly check the logs", "Check the logs", True), ("I'll go ahead and fix it", "Fix it", True),
    ("I've also added a test", "Added a test", False), ("I need to see `app.js`", "See `app.js`", True),
    ("app.js is loaded twice", "app.js is loaded twice", False),
    ("Great, so the cache is stale", "The cache is stale", False),
    ("Rightly so", "Rightly so", False), ("Nowhere to be found", "Nowhere to be found", False),
    ("I need the id", "I need the id", False), ("gqc.4 is ready", "gqc.4 is ready", False)])
def test_announcement_is_told_as_the_deed(sentence: str, deed: str, intent: bool) -> None:
    """And it is known that it was one; words that only begin like a filler stay whole."""
    assert titles.as_deed(sentence) == (deed, intent)


def test_markdown_is_cut_into_plain_sentences() -> None:
    """Headings, bullets, numbers and emphasis lose their marks; code blocks, tables and rules are left out."""
    text = ("# Plan\n1. **Read** the file. Then fix it!\n* e.g. this, i.e. `a. B` stays\n---\n| x | y |\n"
            "> quoted → here\n~~~\nnot this\n~~~\n- [x] done")
    assert titles.sentences(text) == ["Plan", "Read the file.", "Then fix it!", "e.g. this, i.e. `a. B` stays",
                                      "quoted -> here", "[x] done"]
    assert titles.sentences("One. " * 99, 3) == ["One."] * 3


def test_title_is_cut_between_words() -> None:
    """With an ellipsis, on one line, without a closing period."""
    assert titles.shorten("One\n two.  ") == "One two"
    cut = titles.shorten("word " * 60)
    assert len(cut) <= titles.TITLE_LIMIT and cut.endswith("word…")
    assert titles.shorten("x" * 200) == "x" * 119 + "…"


@given(st.text(max_size=400))
def test_any_text_has_a_bounded_title(text: str) -> None:
    """On one line; the same every time."""
    title = titles.best_sentence(text)
    assert len(title) <= titles.TITLE_LIMIT and "\n" not in title
    assert titles.best_sentence(text) == title


@given(st.text(alphabet="[]() aB`*.#-", max_size=60))
def test_marks_without_their_other_half_are_no_error(text: str) -> None:
    """Brackets, backticks and asterisks as they come."""
    titles.sentences(text)
    titles.plain(text)
