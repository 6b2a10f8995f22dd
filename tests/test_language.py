"""language: what people type into a search box, understood."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memlite.search.language import Question, understand

NOW = 1_796_040_000_000


def question(query: str) -> Question:
    """`query` understood at a fixed moment."""
    return understand(query, now=NOW)


@pytest.mark.parametrize(("query", "terms", "required", "excluded"), [
    ("retry backoff", ["retry", "backoff"], [], []),
    ('"exact phrase" word', ["word"], ["exact phrase"], []),
    ("login -oauth", ["login"], [], ["oauth"]),
    ('login -"two words"', ["login"], [], ["two words"]),
    ("migrat*", ["migrat*"], [], []),
    ("-oauth", ["oauth"], [], []),
    ("git commit -m", ["git", "commit"], [], []),
    ("run with --verbose", ["run", "verbose"], [], []),
    ("x -> y", ["x", "y"], [], []),
    ("a->b", ["a b"], [], []),
    ("C++ templates", ["c", "cplusplus", "templates"], [], []),
    ("foo::bar", ["foo bar"], [], []),
    ('unclosed "quote here', ["unclosed", "quote"], [], []),
    ("修复登录", ["修复", "复登", "登录"], [], []),
    ('"修复登录"', [], ["修复 复登 登录"], [])])
def test_query_is_cut_into_what_it_asks_for(query: str, terms: list[str], required: list[str],
                                            excluded: list[str]) -> None:
    """Words, phrases, exclusions; dashes of code and unclosed quotes are text."""
    found = question(query)
    assert (found.terms, found.required, found.excluded) == (terms, required, excluded)
    assert found.filters == {}


@pytest.mark.parametrize(("query", "filters"), [
    ("type:bugfix", {"types": ("bugfix",)}), ("type:bugfix,feature x", {"types": ("bugfix", "feature")}),
    ("type:bugfix type:feature", {"types": ("bugfix", "feature")}), ("file:src/Auth.py", {"files": ("src/Auth.py",)}),
    ('project:"my shop"', {"projects": ("my shop",)}), ("kind:prompts", {"kinds": ("prompt",)}),
    ("concept:Gotcha", {"concepts": ("gotcha",)}), ("branch:main", {"branches": ("main",)}),
    ("since:1d", {"since": NOW - 86_400_000}), ("before:1796000000", {"until": 1_796_000_000_000}),
    ("until:1796000000", {"until": 1_796_000_000_001})])
def test_filters_are_request_fields(query: str, filters: dict[str, object]) -> None:
    """A filter is taken out of the words, whatever stands beside it."""
    assert question(query).filters == filters
    assert question(f"{query} word").terms[-1] == "word"


@pytest.mark.parametrize("query", ["since:tomorrowish", "kind:sandwich", "type:", "std::vector", "http://example.org/a",
                                   "note: this", "TODO: later", "C:\\path", "before:"])
def test_what_is_no_filter_is_text(query: str) -> None:
    """Nothing is an error, nothing is lost."""
    found = question(query)
    assert found.filters == {} and found.has_words


def test_time_in_words_is_a_window_and_no_filter() -> None:
    """The words of time leave the terms."""
    found = question("retries last week")
    assert found.terms == ["retries"] and found.window and found.filters == {}


@pytest.mark.parametrize("query", ["last week", "what did we do last week?", "what was that we did last week"])
def test_time_alone_is_a_filter(query: str) -> None:
    """A question that names nothing but a time asks for all of it; with a filter for the time, for what both admit."""
    found = question(query)
    assert not found.has_words and found.window == (found.filters["since"], found.filters["until"])
    dated = question(f"{query} since:1d")
    assert dated.filters["since"] == NOW - 86_400_000
    assert question(f'{query} "retry"').filters == {} and question(f"{query} -x").has_words


TABLE = sqlite3.connect(":memory:")
TABLE.execute("CREATE VIRTUAL TABLE words USING fts5(body, tokenize='porter unicode61 remove_diacritics 2')")


@given(st.text(st.characters(), max_size=80) | st.text(alphabet="\"'*():^-+ANDORNOTNEAR{} :typefilesince", max_size=40))
@example('-"a" NOT (b) OR "')
@example("\x00* \ud800 -\udfff")
@example("type:a:b file:\"")
def test_any_text_is_a_valid_query(query: str) -> None:
    """What comes out is taken by FTS5, or there is nothing to search for."""
    found = question(query)
    if found.has_words:
        TABLE.execute("SELECT rowid FROM words WHERE words MATCH ?", (found.expression(found.terms),)).fetchall()
