"""evidence: how well a record's own words answer a question."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite.model import Observation, Prompt, Summary
from memlite.search.evidence import LINE, Evidence, fields

ASKED = {"comma": 3.0, "prices": 2.0, "parse": 1.0}


def weighed(record: Any, asked: dict[str, float] = ASKED) -> tuple[float, float]:
    """The score and the best line's share."""
    return Evidence(asked).weigh(record)


@pytest.mark.parametrize(("better", "worse"), [
    (Observation(title="comma"), Observation(narrative="comma " * 3 + "word " * 300)),
    (Observation(title="comma"), Observation(title="prices")),
    (Observation(title="x", narrative="comma"), Observation(title="x", details="comma")),
    (Observation(title="comma", details="word " * 2000),
     Observation(title="word", details="comma " * 3 + "word " * 300)),
    (Summary(request="comma"), Summary(request="word", completed="word " * 400 + "comma")),
    (Prompt(text="parse the comma"), Prompt(text="parse it"))])
def test_rare_words_in_telling_fields_weigh_most(better: Any, worse: Any) -> None:
    """Each field is measured against its own length: a long output does not dull a title."""
    assert weighed(better)[0] > weighed(worse)[0] > 0


def test_words_together_in_a_line_count_more_than_scattered() -> None:
    """The share is that of the best single line; a line of a tool's output counts half."""
    together = Observation(title="x", narrative="one\nparse prices with a comma\nthree")
    scattered = Observation(title="x", narrative="parse\nprices\ncomma")
    printed = Observation(title="x", details="parse prices with a comma")
    assert weighed(together)[1] == 1.0 > weighed(scattered)[1] == 0.5 == weighed(printed)[1]


@pytest.mark.parametrize(("term", "text"), [
    ("parsing", "it was parsed"), ("sessions", "see loadSessions"), ("migrat*", "the migration"), ("id", "the id"),
    ("load sessions", "load_sessions()"), ("café", "Café noir"), ("登录", "修复登录错误"), ("cplusplus", "in C++ code"),
    ("u1f680", "ship it 🚀"), ("csharp", "a C# port")])
def test_term_is_found_in_any_of_its_forms(term: str, text: str) -> None:
    """Stems, parts of names, beginnings, whole short words, phrases, other scripts, symbols."""
    assert weighed(Observation(title=text), {term: 1.0})[0] > 0
    assert weighed(Observation(title="nothing of the kind"), {term: 1.0}) == (0.0, 0.0)


def test_short_word_is_not_found_within_another() -> None:
    """`id` stands in half of all words."""
    assert weighed(Observation(title="an idea inside"), {"id": 1.0}) == (0.0, 0.0)


def test_synonym_counts_half() -> None:
    """And only where the word itself is missing."""
    asked = {"retry": 1.0}
    word, synonym = weighed(Observation(title="retry"), asked), weighed(Observation(title="backoff"), asked)
    assert synonym[0] == pytest.approx(word[0] / 2, rel=0.05) and synonym[1] == pytest.approx(word[1] / 2)
    assert weighed(Observation(title="retry backoff"), asked)[1] == word[1]


def test_nothing_asked_is_nothing_found() -> None:
    """No terms, no text: no error."""
    assert weighed(Observation(title="x"), {}) == (0.0, 0.0) == weighed(Observation(), ASKED)


def test_fields_hold_all_text_of_a_record() -> None:
    """Title, body, facts, files, details, whatever the kind."""
    observation = Observation(title="t", subtitle="s", narrative="n", facts=["f"], files_read=["r"],
                              files_modified=["m"], details="d")
    assert fields(observation) == ["t\ns", "n", "f", "m\nr", "d"]
    summary = Summary(request="q", completed="c", learned="l", next_steps="x", notes="o", files_edited=["e"])
    assert fields(summary) == ["q", "c\nl", "x\no", "e", ""]
    assert fields(Prompt(text="p")) == ["p", "", "", "", ""]


@pytest.mark.parametrize(("record", "line"), [
    (Observation(title="Prices", narrative="nothing here\nparse the comma of prices\nprices"),
     "parse the comma of prices"),
    (Observation(title="Prices", narrative="the comma", facts=["a rare comma of prices"]), "a rare comma of prices"),
    (Observation(title="Prices", narrative="the comma of prices", details="parse the comma of prices"),
     "the comma of prices"),
    (Observation(title="Parse the comma of prices", narrative="Parse the comma of prices.\nprices of old"), ""),
    (Observation(title="Parse the…", narrative="Parse the comma of prices."), ""),
    (Observation(title="Parse the comma", narrative="Now let me parse the comma."), ""),
    (Observation(title="Parse the comma", narrative="Let me parse the comma of prices."),
     "Let me parse the comma of prices."),
    (Observation(title="Parse it", narrative="**Parse it**\nprices with a comma"), "prices with a comma"),
    (Summary(request="Prices", completed="It was the comma."), "It was the comma."),
    (Prompt(text="hello\nplease parse the comma"), "please parse the comma"),
    (Observation(title="absent", narrative="absent"), ""), (Observation(title="", narrative=""), "")])
def test_line_below_the_headline_is_the_one_that_tells_most(record: Any, line: str) -> None:
    """What was said before what a tool printed; no repetition of the headline, and nothing that tells far less."""
    assert Evidence(ASKED).line(record) == line


def test_compound_name_has_a_line(line: str = "see load_user_profile() below") -> None:
    """It is a phrase to the index."""
    assert Evidence({"load user profile": 1.0}).line(Observation(title="x", narrative=f"first\n{line}")) == line


@given(st.integers(0, 400), st.integers(0, 400), st.sampled_from(["needle", "Übernadel", "語"]))
def test_long_line_is_cut_around_what_it_tells(before: int, after: int, needle: str) -> None:
    """Within bounds, and the word stays in it."""
    line = "x " * before + needle + " y" * after
    shown = Evidence({needle.lower(): 1.0}).line(Observation(title="title", narrative=line))
    assert len(shown) <= LINE and needle in shown
    assert shown == line.strip() or "…" in shown
