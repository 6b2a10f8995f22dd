"""Reading a value out of a text: where it begins and ends, however it is quoted and escaped."""

from __future__ import annotations

_MOST_ESCAPES = 32   # five levels of JSON in JSON
_ESCAPED = frozenset("\"'\\`")
# What code writes before a string's opening quote.
_PREFIXES = frozenset(("f", "b", "r", "u", "l", "rb", "br", "fr", "rf", "@", "$", "$@"))
_READ_AS = (("\\n", " \n"), ("\\r", "  "), ("\\t", "  "), ("\\/", "//"),
            ("\\u001b", "     \x1b"), ("\\u001B", "     \x1b"), ("\\u2192", "      "))
_READ_DEEPER_AS = (("\\ \n", "  \n"), ("\\  ", "   "), ("\\//", "///"))
# A value is judged by so much of it; a longer one that is taken is then taken whole.
_LOOKED_AT = 64
_LONGEST_QUOTED = 4096


def unescaped(text: str) -> str:
    """`text` with JSON's escapes for white space and slashes as what they stand for, position by position.

    What follows `\\n` then begins a word, in JSON inside JSON too. Quotes keep their backslashes, which tell levels.
    """
    if "\\" not in text:
        return text
    for escape, shown in _READ_AS:
        text = text.replace(escape, shown)
    for _ in range(_MOST_ESCAPES):   # JSON in JSON has more backslashes before it
        before = text
        for escape, shown in _READ_DEEPER_AS:
            text = text.replace(escape, shown)
        if text == before:
            break
    return text


def ending(characters: str) -> dict[int, str]:
    """The table that `until` takes: what ends a value, each mapped to one mark that is found at the speed of C."""
    return str.maketrans(dict.fromkeys(characters, "\n"))


_INLINE = ending(" \t\r\n\"'`,;(){}<>|&")
_LINE = ending(" \t\r\n\"'`<>")


def past_space(text: str, at: int, most: int) -> int:
    """The first position from `at` that holds no blank or tab and no terminal colour, at most `most` further on."""
    limit = min(len(text), at + most)
    while at < limit:
        character = text[at]
        if character == " " or character == "\t":
            at += 1
        elif character == "\x1b" and (colour := _past_colour(text, at)) > at:
            at = colour
        else:
            break
    return at


def past_closers(text: str, at: int) -> int:
    """Past what ends a name before its operator: colours, an escaped or plain quote, a bracket, blanks."""
    at = past_space(text, at, 24)
    at = max(at, past_quote(text, at))
    if text[at:at + 1] == "]":
        at += 1
    return past_space(text, at, 24)


def past_quote(text: str, at: int) -> int:
    """Past the quote at `at`, which may be escaped for some levels of JSON; 0 if there is none."""
    limit = at + _MOST_ESCAPES
    while at < limit and text[at:at + 1] == "\\":
        at += 1
    return at + 1 if text[at:at + 1] in ('"', "'", "`") else 0


def value_at(text: str, at: int, whole_line: bool) -> tuple[int, int, bool]:
    """(start, end, quoted) of the value at `at`, quotes excluded, looked at up to a bound.

    An unquoted value ends where code or a query string goes on, or, with `whole_line`, at the next white space.
    """
    for length in (1, 2):
        if text[at + length:at + length + 1] in ("'", '"') and text[at:at + length].lower() in _PREFIXES:
            at += length
            break
    if start := past_quote(text, at):
        mark, escapes = text[start - 1], start - 1 - at
        if text.startswith(mark * 2, start):
            start += 2
        end = _closing(text, start, mark, escapes)
        if end >= 0:
            return start, end, True
        at = start
    return at, until(text, at, _LINE if whole_line else _INLINE, at + _LOOKED_AT), False


def full_end(text: str, start: int, end: int, whole_line: bool) -> int:
    """Where the unquoted value really ends of which `value_at` saw the part from `start` to `end`."""
    whole = end if end - start < _LOOKED_AT else until(text, end, _LINE if whole_line else _INLINE, len(text))
    while whole > start and text[whole - 1] in ".,;:":
        whole -= 1   # the sentence's or the code's, not the value's
    return whole


def without_marks(value: str) -> str:
    """`value` without what was redacted before and without terminal colours, to be judged."""
    if "[redacted:" not in value and "\x1b" not in value:
        return value
    kept: list[str] = []
    at = 0
    while at < len(value):
        if value.startswith("[redacted:", at) and (end := value.find("]", at)) >= 0:
            at = end + 1
        elif (colour := _past_colour(value, at)) > at:
            at = colour
        else:
            kept.append(value[at])
            at += 1
    return "".join(kept)


def until(text: str, at: int, ends: dict[int, str], limit: int) -> int:
    """The first position from `at` and before `limit` of a character that `ends` maps to a line feed, or of an escaped
    quote; else `limit`. Colour sequences are passed over."""
    limit = min(len(text), limit)
    while at < limit:
        window = text[at:min(limit, at + _LOOKED_AT)]
        end = window.translate(ends).find("\n")
        if end >= 0:
            window = window[:end]
        escape = _first(window.find("\\"), window.find("\x1b"))
        if escape < 0:
            at += len(window)
            if end >= 0:
                return at
            continue
        at += escape
        if (colour := _past_colour(text, at)) > at:
            at = colour
        elif text[at] == "\\" and text[at + 1:at + 2] in _ESCAPED:
            return at
        else:
            at += 1
    return min(at, limit)


def _first(one: int, other: int) -> int:
    return one if other < 0 or 0 <= one < other else other


def _closing(text: str, start: int, mark: str, escapes: int) -> int:
    """Where the string ends that `escapes` backslashes and `mark` opened; -1 if not on this line (an
    escaped line feed, which is read as a blank and a line feed, is part of the string).

    JSON in JSON doubles what is before a quote and adds one: 0, 1, 3, 7 backslashes are 0, 1, 2, 3 levels of it.
    Undone as often as the opening quote was wrapped, an even number leaves a closing quote, an odd one an escaped.
    """
    run = 0
    for at in range(start, min(len(text), start + _LONGEST_QUOTED)):
        character = text[at]
        if character == "\\":
            run += 1
            continue
        if character == "\n" and text[at - 1] != " ":
            return -1
        if character == mark:
            level, left = escapes, run
            while level and left:
                level, left = level >> 1, left >> 1
            if run < escapes or left % 2 == 0:
                return at - (run if run < escapes else escapes)
        run = 0
    return -1


def _past_colour(text: str, at: int) -> int:
    """Past the terminal's colour sequence at `at`; `at` itself if there is none."""
    if not text.startswith("\x1b[", at):
        return at
    end = at + 2
    while end < len(text) and end - at < 24 and text[end] in "0123456789;":
        end += 1
    return end + 1 if text[end:end + 1] in ("m", "K") else at
