"""terms: text becomes the words it is found by, the same way for the index and for queries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite.store import terms


@pytest.mark.parametrize(("word", "parts"), [
    ("loadSessions", ["load", "Sessions"]), ("LoadSessions", ["Load", "Sessions"]),
    ("loadHTTPSessions2", ["load", "HTTP", "Sessions2"]), ("HTTPServer", ["HTTP", "Server"]),
    ("parseV2Config", ["parse", "V2", "Config"]), ("sha256Sum", ["sha256", "Sum"]),
    ("plain", []), ("LOUD", []), ("", []), ("Word", []), ("with_underscore", []), ("x", []),
    ("ÄpfelBaum", ["Äpfel", "Baum"]),
])
def test_identifier_is_cut_where_a_reader_would_cut_it(word: str, parts: list[str]) -> None:
    """Humps, acronyms and digits; a word of one part has none."""
    assert terms.identifier_parts(word) == parts


@given(st.text(alphabet=st.characters(categories=("Lu", "Ll", "Nd")), max_size=20))
def test_parts_of_an_identifier_are_the_identifier(word: str) -> None:
    """Nothing is lost or invented by the cut."""
    parts = terms.identifier_parts(word)
    assert not parts or ("".join(parts) == word and len(parts) > 1 and all(parts))


def test_words_stand_between_white_space_and_punctuation() -> None:
    """Paths, snake case, quotes, dashes and arrows of prose are taken apart."""
    assert terms.words("src/shop_prices.py: “parse” → fixed—done…") == ["src", "shop", "prices", "py", "parse", "fixed",
                                                                          "done"]
    assert terms.words("naïve café über") == ["naïve", "café", "über"]
    assert terms.words("\x00\t -- ***") == []


def test_unspaced_scripts_come_in_pairs() -> None:
    """Chinese, Japanese, Korean and Thai have no spaces to find words by."""
    assert terms.split_scripts("修复bug了") == [(True, "修复"), (False, "bug"), (True, "了")]
    assert terms.pairs("修复了") == ["修复", "复了"]
    assert terms.pairs("了") == ["了"]
    assert [terms.is_unspaced(c) for c in "語ก글a9é"] == [True, True, True, False, False, False]


@given(st.text(max_size=60))
def test_pieces_of_a_text_are_the_text(text: str) -> None:
    """Cutting by script loses nothing."""
    assert "".join(run for _, run in terms.split_scripts(text)) == text


def test_index_text_of_plain_words_is_the_text() -> None:
    """Nothing is added where nothing is needed."""
    assert terms.index_text("plain words, and more") == "plain words, and more"


def test_index_text_adds_the_parts_of_identifiers_once() -> None:
    """In a fixed order, so that an entry can be taken out of the index again."""
    text = "loadSessions calls loadSessions and saveAll"
    assert terms.index_text(text) == text + "\nload Sessions\nsave All"


def test_index_text_cuts_unspaced_runs_into_pairs_and_characters() -> None:
    """One typed character finds as well as two."""
    assert terms.index_text("见文档x").split() == ["见文", "文档", "见", "文", "档", "x"]


@given(st.text(max_size=200))
def test_index_text_is_the_same_every_time(text: str) -> None:
    """What was put into the index can be named again to take it out."""
    assert terms.index_text(text) == terms.index_text(text)
