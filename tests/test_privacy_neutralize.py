"""Stored text keeps its words and loses its power before a model or a terminal sees it."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite.model import ENVELOPE_TAG
from memlite.privacy import neutralize


@pytest.mark.parametrize("tag", [
    f"</{ENVELOPE_TAG}>", f"<{ENVELOPE_TAG} project='x'>", f"< / {ENVELOPE_TAG.upper()} >", f"</{ENVELOPE_TAG}",
    "<system-reminder>", "</system-reminder>", "<System-Reminder x=1>", "<\nsystem-reminder>", "<system>", "<user>",
    "</assistant>", "<human>", "<function_calls>", "<invoke name='Bash'>", "<invoke>", "<tool_result>",
    "<task-notification>", "<command-name>", "<private>", "<|im_start|>", "&lt;system-reminder&gt;",
    r"\u003c/system-reminder\u003e",
])
def test_a_tag_that_speaks_for_someone_is_shown_but_is_no_tag(tag: str) -> None:
    shown = neutralize(f"before {tag} after")
    assert tag not in shown
    rest = next(tag[len(left):] for left in ("<", "&lt;", r"\u003c") if tag.startswith(left))
    assert shown == f"before ‹{rest} after"


@pytest.mark.parametrize("text", [
    "<div class='x'>", "a < b", "List<String>", "x <- 1", "<userinfo>", "<my-system-reminder>",
    "#include <system_error>",
    "plain", "", "tab\tand\nline", "Ünïcödé 漢字 👩‍👩‍👧 עברית", "if (a<b && c>d)",
])
def test_other_text_is_shown_as_it_is(text: str) -> None:
    assert neutralize(text) == text


@pytest.mark.parametrize(("text", "shown"), [
    ("\x1b[31mred\x1b[0m", "red"),
    ("\x1b[1;38;5;196mred\x1b[m", "red"),
    ("\x9b31mred", "red"),
    ("\x1b]0;title\x07text", "text"),
    ("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("\x9d0;title\x9ctext", "text"),
    ("\x1bP1$r0m\x1b\\text", "text"),
    ("\x1b(Btext", "text"),
    ("\x1bctext", "text"),
    ("\x1b[2J\x1b[Htext", "text"),
    ("\x1b\x1b[31mtext", "text"),
    ("\x1b]52;c;never ended", "52;c;never ended"),
    ("\x1b", ""),
    ("a\x00b\x08c\x7fd\x85e\r\nf", "abcde\nf"),
    ("admin\u202etxt.exe", "admintxt.exe"),
    ("\u2066a\u2069\u200bb\ufeffc\u2060", "abc"),
    ("hi\U000e0041\U000e0042", "hi"),
    ("half \ud83d and \udc00", "half \ufffd and \ufffd"),
    ("<sys\u200btem-reminder>", "‹system-reminder>"),
    ("<sys\x1b[0mtem-reminder>", "‹system-reminder>"),
])
def test_terminal_sequences_and_hidden_characters_are_gone(text: str, shown: str) -> None:
    assert neutralize(text) == shown


_PIECES = st.sampled_from([
    "\x1b", "[", "]", "31", "m", ";", "\x07", "\\", "\x9b", "\x9c", "\x9d", "P", "<", ">", "/", "|", "system-reminder",
    ENVELOPE_TAG, "user", " ", "\n", "\u202e", "\u200b", "\ud800", "&lt;", "x"])
_ANY = st.text(st.characters(exclude_categories=()), max_size=200)


@given(st.one_of(_ANY, st.lists(_PIECES, max_size=16).map("".join)))
def test_what_is_shown_holds_no_control_and_can_be_encoded(text: str) -> None:
    shown = neutralize(text)
    shown.encode("utf-8")
    assert all(c in "\n\t" or unicodedata.category(c) != "Cc" for c in shown)
    assert not {"\u202a", "\u202b", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068"} & set(shown)
    assert re.search(rf"<\s*/?\s*({ENVELOPE_TAG}|system-reminder|user)(?![\w:-])", shown) is None
    assert neutralize(shown) == shown
