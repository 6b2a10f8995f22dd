"""Stored text on its way to a model or a terminal: still legible, but no longer able to act.

A memory may quote what an attacker wrote. Tags that a model takes for the client's or memlite's own voice, escape
sequences that a terminal obeys, and characters that hide or reorder what follows lose their effect here (S9).
"""

from __future__ import annotations

from memlite.model import ENVELOPE_TAG
from memlite.privacy.tags import LEFT, MACHINE_MADE, scan

# The shape stays recognisable to a person, and nothing that parses tags takes it for one.
_HARMLESS = "‹"

_VOICES = MACHINE_MADE | frozenset((
    ENVELOPE_TAG, "private", "command-name", "command-args", "bash-input", "system", "user", "assistant", "human",
    "developer", "tool", "tool_use", "tool_result", "tool_use_error", "function", "function_calls",
    "function_results", "invoke", "parameter", "parameters", "thinking", "instructions", "important", "antml:invoke",
    "antml:function_calls", "antml:function_results", "antml:parameter", "antml:thinking", "antml:thinking_mode",
    "system_notifications", "system-message", "system_prompt", "system-prompt", "persisted-output"))

# C0 and C1 controls except newline and tab, bidirectional embeddings, overrides and isolates, invisible separators,
# and the tag characters that spell ASCII nobody sees. Joiners stay: scripts and emoji need them.
_ERASED: dict[int, None] = dict.fromkeys((
    *range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A),
    0x200B, 0x2060, 0xFEFF, *range(0xE0000, 0xE0080)))

# What begins an escape sequence, and the letter that says which kind ("" when it is the next character).
_INTRODUCERS = {"\x1b": "", "\x9b": "[", "\x9d": "]", "\x90": "P", "\x98": "X", "\x9e": "^", "\x9f": "_"}
_LONGEST_STRING = 4096


def neutralize(text: str) -> str:
    """`text` with the same words and without power: safe inside the envelope and on a terminal.

    The `<` of our own envelope, of system-reminder-like and role tags and of `<|…|>` tokens becomes `‹`; ANSI and OSC
    sequences, control characters except newline and tab, and bidirectional overrides are removed; a surrogate
    without its half becomes U+FFFD. Doing it twice changes nothing more.
    """
    if not text.isprintable():   # false for surrogates and all that _ERASED holds, true for most lines
        if any(character in text for character in _INTRODUCERS):
            text = _without_sequences(text)
        text = text.translate(_ERASED)
        if not text.isascii():
            text = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    if "<|" in text:
        text = text.replace("<|", f"{_HARMLESS}|")
    return _without_tags(text)


def _without_tags(text: str) -> str:
    if not any(spelling in text for spelling in LEFT):
        return text
    kept: list[str] = []
    position = 0
    for start, _, _, _ in scan(text, _VOICES):
        width = next(len(spelling) for spelling in LEFT if text.startswith(spelling, start))
        kept += text[position:start], _HARMLESS
        position = start + width
    kept.append(text[position:])
    return "".join(kept)


def _without_sequences(text: str) -> str:
    """`text` without escape sequences as ECMA-48 writes them: ESC or its eight-bit form, then what belongs to it."""
    kept: list[str] = []
    position = 0
    for start, character in enumerate(text):
        if character in _INTRODUCERS and start >= position:
            kept.append(text[position:start])
            position = _sequence_end(text, start)
    kept.append(text[position:])
    return "".join(kept)


def _sequence_end(text: str, start: int) -> int:
    kind = _INTRODUCERS[text[start]]
    at = start + 1
    if not kind:
        kind = text[at:at + 1]
        at += 1
    if kind and kind in "]PX^_":     # a string command; unterminated, only its introducer goes
        limit = min(len(text), at + _LONGEST_STRING)
        end = next((i for i in range(at, limit) if text[i] in "\x07\x1b\x9c"), limit)
        if end == limit:
            return at
        return end + 2 if text.startswith("\x1b\\", end) else end + (text[end] != "\x1b")
    if kind == "[":
        while "0" <= text[at:at + 1] <= "?":
            at += 1
    elif not " " <= kind <= "/":
        return at if "0" <= kind <= "~" else start + 1
    while " " <= text[at:at + 1] <= "/":
        at += 1
    return at + 1 if "0" <= text[at:at + 1] <= "~" else at
