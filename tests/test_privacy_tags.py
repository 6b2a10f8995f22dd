"""Private passages, machine-made blocks and memlite's own envelope do not come through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite.model import ENVELOPE_TAG
from memlite.privacy import clean
from memlite.privacy.tags import MACHINE_MADE, WITHHELD, strip_injected, strip_private


@pytest.mark.parametrize(("text", "left"), [
    ("keep <private>hide</private> keep", "keep [private] keep"),
    ("keep <PRIVATE>hide</Private> keep", "keep [private] keep"),
    ("keep <private reason=\"a > b\" at='x'>hide</private> keep", "keep [private] keep"),
    ("keep < private >hide</ private > keep", "keep [private] keep"),
    ("keep <private\n  note>hide< / private\n> keep", "keep [private] keep"),
    ("keep <private>hide <private>hide</private> hide</private> keep", "keep [private] keep"),
    ("keep <private>hide</private><private>hide</private> keep", "keep [private][private] keep"),
    ("keep <private>hide", "keep [private]"),
    ("keep <private>hide <private>hide</private> hide", "keep [private]"),
    ("keep <private>hide</private hide", "keep [private]"),
    ("keep <private hide", "keep [private]"),
    ("keep <private", "keep [private]"),
    ("keep <private/>hide", "keep [private]"),
    ("keep </private> keep", "keep </private> keep"),
    ("keep\n\n<private>\nhide\n</private>\n\nkeep", "keep\n\n[private]\n\nkeep"),
    ("```\nkeep <private>hide</private>\n```", "```\nkeep [private]\n```"),
])
def test_what_stands_in_private_tags_is_withheld_and_the_rest_kept(text: str, left: str) -> None:
    assert strip_private(text) == left


@pytest.mark.parametrize("text", [
    r'{"prompt": "keep \u003cprivate\u003ehide\u003c/private\u003e keep"}',
    r'{"prompt": "keep \u003Cprivate\u003Ehide\u003C/private\u003E keep"}',
    r'{"prompt": "keep <private>hide<\/private> keep"}',
    r'{"prompt": "keep <private\nnote>hide</private> keep"}',
    "keep &lt;private&gt;hide&lt;/private&gt; keep",
])
def test_a_private_tag_counts_however_json_or_html_spell_it(text: str) -> None:
    left = strip_private(text)
    assert "hide" not in left
    assert left.count("keep") == 2


@pytest.mark.parametrize("text", [
    "#include <private/notes.h>", "private: a < private_b", "<privateer>keep</privateer>", "class A { private int b; }",
    "<x:private>keep</x:private>", "List<Private.Key>", "",
])
def test_what_only_looks_like_a_private_tag_is_kept(text: str) -> None:
    assert strip_private(text) == text


_PRIVATE = st.recursive(
    st.just("hide"),
    lambda inner: st.builds("".join, st.lists(st.one_of(
        inner, st.builds("<{}>{}</{}>".format, st.sampled_from(["private", "PRIVATE", "private a='1'", " private"]),
                         inner, st.sampled_from(["private", "Private", "private\n"])), st.just("<"), st.just("</b>")),
        min_size=1, max_size=4)), max_leaves=12)


_PLAIN = st.text(st.characters(exclude_characters="<&\\"))


@given(before=_PLAIN, inside=_PRIVATE, after=_PLAIN)
def test_nothing_private_survives_however_it_is_nested(before: str, inside: str, after: str) -> None:
    assert strip_private(f"{before}<private>{inside}</private>{after}") == f"{before}{WITHHELD}{after}"


@given(before=_PLAIN, inside=_PRIVATE, after=_PLAIN)
def test_an_unclosed_tag_hides_all_to_the_end(before: str, inside: str, after: str) -> None:
    assert strip_private(f"{before}<private>{inside}{after}") == f"{before}{WITHHELD}"


@pytest.mark.parametrize(("text", "left"), [
    ("fix it\n\n<system-reminder>\nhide\n</system-reminder>\n", "fix it"),
    ("<system-reminder>hide</system-reminder>\nfix it", "fix it"),
    ("one <system-reminder>hide</system-reminder> two", "one two"),
    ("one\n<system-reminder>hide</system-reminder>\n\ntwo", "one\n\ntwo"),
    ("one<system-reminder>hide</system-reminder>two", "onetwo"),
    ("one\n<ide_opened_file>hide</ide_opened_file>\n<IDE_selection>hide</IDE_selection>\ntwo", "one\ntwo"),
    ("<local-command-caveat>hide</local-command-caveat>", ""),
    ("<local-command-stdout>hide</local-command-stdout>", ""),
    ("<task-notification>\n<task-id>hide</task-id>\n</task-notification>\nRead it", "Read it"),
    ("a <system-reminder>hide <system-reminder>hide</system-reminder> hide</system-reminder> b", "a b"),
    (f"a\n<{ENVELOPE_TAG} project=\"x\">\nhide\n</{ENVELOPE_TAG}>\nb", "a\nb"),
    (f"a\n<{ENVELOPE_TAG}>\nhide and the end cut o", "a"),
    (f"a <{ENVELOPE_TAG.upper()}>hide</{ENVELOPE_TAG}> b", "a b"),
    (r'"keep\n<system-reminder>hide<\/system-reminder>"', r'"keep\n"'),
])
def test_machine_made_blocks_and_the_own_envelope_are_not_captured(text: str, left: str) -> None:
    assert strip_injected(text) == left


@pytest.mark.parametrize("name", sorted(MACHINE_MADE))
def test_each_machine_made_block_goes_whole(name: str) -> None:
    assert strip_injected(f"keep\n<{name}>hide</{name}>\nkeep") == "keep\nkeep"


@pytest.mark.parametrize("text", [
    "the `<system-reminder>` tag is stripped", "</system-reminder> alone", "<div>keep</div>", "a < b && c > d",
    "<persisted-output>\nkeep\n</persisted-output>", "memlite-memory", "  \n",
])
def test_what_is_no_machine_made_block_is_kept(text: str) -> None:
    assert strip_injected(text) == text


@pytest.mark.parametrize(("text", "left"), [
    ("<command-message>review</command-message>\n<command-name>/review</command-name>\n"
     "<command-args>167</command-args>", "/review 167"),
    ("<command-name>/clear</command-name>\n            <command-message>clear</command-message>\n"
     "            <command-args></command-args>", "/clear"),
    ("<command-name>/compact</command-name>\n<command-message>compact</command-message>\n"
     "<command-args>and go on with the tasks</command-args>", "/compact and go on with the tasks"),
    ("<bash-input>ls -la</bash-input>\n<bash-stdout>hide</bash-stdout><bash-stderr></bash-stderr>", "!ls -la"),
    ("parse the <command-name>x</command-name> tag", "parse the <command-name>x</command-name> tag"),
])
def test_a_typed_command_keeps_its_visible_text(text: str, left: str) -> None:
    assert strip_injected(text) == left


def test_taking_a_block_out_does_not_make_a_tag_of_what_stood_round_it() -> None:
    left = clean("<priv<system-reminder>x</system-reminder>ate>shown</private>")
    assert "<private>" not in left
    assert "shown" in left


_PIECES = st.sampled_from([
    "<private>", "</private>", "<", ">", "</", "private", "<system-reminder>", "</system-reminder>", "system-",
    "reminder>", f"<{ENVELOPE_TAG}>", f"</{ENVELOPE_TAG}>", "<command-name>", "</command-name>", "<command-args>",
    "</command-args>", "<bash-input>", "</bash-input>", "\\u003c", "\\u00", "3c", "&lt;", "&l", "t;", "&gt;", " ", "\n",
    "\\n", "\\", "/", "x", "y"])
_TAGGED = st.lists(_PIECES, max_size=14).map("".join)


@given(_TAGGED)
def test_cleaning_twice_is_cleaning_once_for_any_arrangement_of_tags(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert strip_private(strip_private(text)) == strip_private(text)
    assert strip_injected(strip_injected(text)) == strip_injected(text)


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_string_is_cleaned_without_an_error_and_stays_so(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
