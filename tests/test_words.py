"""words: any string becomes a valid FTS5 expression."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memlite.search import words
from memlite.store.terms import index_text

ANYTHING = st.text(st.characters(), max_size=80) | st.text(alphabet="\"'*():^-+ANDORNOTNEAR{} ", max_size=30)


def index(*texts: str) -> sqlite3.Connection:
    """An FTS5 table as the store makes it, holding `texts`."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(body, content='', "
                       "tokenize='porter unicode61 remove_diacritics 2')")
    for number, text in enumerate(texts, start=1):
        connection.execute("INSERT INTO words(rowid, body) VALUES (?, ?)", (number, index_text(text)))
    return connection


def found(query: str, *texts: str) -> list[int]:
    """The places of those of `texts` that match `query`, from 1, best first."""
    expression = words.expression(words.terms(query))
    if not expression:
        return []
    with closing(index(*texts)) as connection:
        return [row[0] for row in connection.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words)", (expression,))]


EMPTY = index("something")


@given(ANYTHING)
@example("\x00")
@example('"')
@example("NEAR(a b, 5) AND NOT col:x*")
@example("\ud800 lone \udfff")
@example("مرحبا بالعالم \u202e")
@example("👩‍👩‍👧 🏳️‍🌈 e\u0301")
@example("\u0301\u200b\ufeff")
def test_any_string_becomes_a_valid_expression_or_none(query: str) -> None:
    """FTS5 takes whatever comes out; nothing in a query is taken for its syntax."""
    expression = words.expression(words.terms(query))
    if expression:
        EMPTY.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,)).fetchall()


@given(st.text(st.characters(categories=("Lu", "Ll", "Nd"), max_codepoint=0x2FF), min_size=1, max_size=12))
def test_a_word_is_found_by_itself(word: str) -> None:
    """Whatever letters it has, in whatever case it is typed."""
    assert found(word, "other text", f"before {word} after") == [2]


@pytest.mark.parametrize(("text", "query"), [
    ("the parser was fixed", "fixing parsers"), ("loadHTTPSessions broke", "sessions"),
    ("see load_sessions.py", "load"),
    ("loadSessions", "load_sessions"), ("修复登录错误", "登录"), ("修复登录错误", "录"), ("한국어 문서", "문서"),
    ("café crème", "cafe creme"), ("cafe", "café"), ("a/b/prices.py", "prices.py"), ("Δοκιμή", "δοκιμή"),
    ("100 ms", "100")])
def test_wording_may_differ_in_form(text: str, query: str) -> None:
    """Stems, parts of identifiers, pairs of unspaced scripts, accents and case."""
    assert found(query, "unrelated", text) == [2]


def test_all_meaningful_words_are_alternatives() -> None:
    """One word in common is enough; more words in common rank higher."""
    texts = ("the migration failed", "nothing of the kind", "the migration failed on SQLite")
    assert found("why did the sqlite migration fail?", *texts) == [3, 1]


def test_stop_words_are_dropped_unless_nothing_else_is_left() -> None:
    """How a question is put does not count; a question of nothing but stop words still searches."""
    assert words.terms("How does the parser work?") == ["parser", "work"]
    assert words.terms("how to do it") == ["how", "to", "do", "it"]
    assert words.terms(" -- ") == []


def test_terms_are_lower_case_in_order_and_without_repetition() -> None:
    """The identifier comes before the phrase of its parts."""
    assert words.terms("loadSessions LOAD sessions Prices") == ["loadsessions", "load sessions", "load", "sessions",
                                                                "prices"]


def test_ten_thousand_terms_are_bounded() -> None:
    """A pasted log searches by its first words; a hundred thousand characters are no crash."""
    query = " ".join(f"word{number}" for number in range(10_000))
    assert words.terms(query) == [f"word{number}" for number in range(words.MAX_TERMS)]
    assert len(words.terms("x" * 100_000)) == 1
    assert len(words.terms("語" * 100_000)) == 1
