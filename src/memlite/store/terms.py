"""Text → the words it is found by, for the index and for queries alike.

The index stores derived text, not the original: identifiers appear whole and in parts, and scripts written without
spaces are cut into overlapping pairs, so that SQLite's stock tokenizer can find them.
"""

from __future__ import annotations

# Scripts without spaces between words: Hiragana … CJK ideographs, Hangul, their compatibility forms, extensions.
_UNSPACED = ((0x0E00, 0x0EFF), (0x2E80, 0x2FDF), (0x3040, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
             (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x20000, 0x3FFFF))


def is_unspaced(character: str) -> bool:
    """Whether `character` belongs to a script that writes words without spaces."""
    point = ord(character)
    return point >= 0x0E00 and any(low <= point <= high for low, high in _UNSPACED)


def identifier_parts(word: str) -> list[str]:
    """The parts of a camelCase or PascalCase `word`, `loadHTTPSessions2` → load, HTTP, Sessions2; [] if it is one."""
    if word.islower() or word.isupper() or not word.isalnum():
        return []
    cuts = [0]
    for i in range(1, len(word)):
        upper_starts = word[i].isupper() and (word[i - 1].islower() or word[i - 1].isdigit())
        acronym_ends = (word[i].islower() and word[i - 1].isupper() and i - 1 > cuts[-1]
                        and word[i - 2].isupper())
        if upper_starts:
            cuts.append(i)
        elif acronym_ends:
            cuts.append(i - 1)
    if len(cuts) == 1:
        return []
    return [word[a:b] for a, b in zip(cuts, [*cuts[1:], len(word)], strict=True)]


# The punctuation beyond ASCII that prose adds: spaces that do not break, dashes, quotation marks, arrows, lines.
_MARKS = ("\u00a0\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u2022\u2190\u2192\u2500\u2502\u3001\u3002\uff0c\uff01"
          "\uff1f\uff1a")
# Every byte → itself, but those ASCII characters that are neither letter nor digit → a space.
_SPACES = bytes(code if code > 127 or chr(code).isalnum() else 32 for code in range(256))
_LINES = bytes(code if code in (0, 10) else _SPACES[code] for code in range(256))


def separated(text: str, *, lines: bool = False) -> str:
    """`text` with a space for each character that stands between words; with `lines`, NUL and line feeds stay.

    Surrogates that belong to no pair, which SQLite can't take, become spaces too. (By bytes, because str.translate is
    ten times slower once a text holds a single character beyond ASCII.)
    """
    found = text.encode("utf-8", "replace").translate(_LINES if lines else _SPACES).decode()
    if not text.isascii():
        for mark in _MARKS:
            found = found.replace(mark, " ")
    return found


def words(text: str) -> list[str]:
    """The words of `text` as they are written: what stands between white space and punctuation."""
    return separated(text).split()


def pairs(run: str) -> list[str]:
    """The overlapping two-character pieces of an unspaced `run`; the run itself when it is one character."""
    return [run[i:i + 2] for i in range(len(run) - 1)] or [run]


def split_scripts(word: str) -> list[tuple[bool, str]]:
    """`word` as (unspaced?, run) pieces: `修复bug了` → (True, 修复), (False, bug), (True, 了)."""
    if word.isascii():
        return [(False, word)] if word else []
    pieces: list[tuple[bool, str]] = []
    for character in word:
        unspaced = is_unspaced(character)
        if pieces and pieces[-1][0] == unspaced:
            pieces[-1] = (unspaced, pieces[-1][1] + character)
        else:
            pieces.append((unspaced, character))
    return pieces


# Names that are nothing without their punctuation, which the tokenizer would drop.
_NAMED = (("c++", "cplusplus"), ("c#", "csharp"), ("f#", "fsharp"), (".net", "dotnet"))
_SYMBOL_NAMES = frozenset(word for _, word in _NAMED)


def symbol_words(text: str) -> list[str]:
    """Words for what of `text` the tokenizer would drop: `C++` → cplusplus, an emoji → its code point."""
    found: list[str] = []
    if "+" in text or "#" in text or ".n" in text or ".N" in text:
        lowered = text.lower()
        found += [word for name, word in _NAMED if name in lowered]
    if not text.isascii():
        found += [f"u{ord(c):x}" for c in dict.fromkeys(text) if "\u2600" <= c <= "\u27bf" or c >= "\U0001f300"
                  and c <= "\U0001faff"]
    return list(dict.fromkeys(found))


def is_symbol_word(word: str) -> bool:
    """Whether `word` is one that `symbol_words` puts for a symbol."""
    return word in _SYMBOL_NAMES or (word[:1] == "u" and len(word) in (5, 6) and not word[1:].strip("0123456789abcdef"))


def index_text(text: str) -> str:
    """`text` as the index stores it: itself, with unspaced runs cut into pairs and single characters, followed by
    its identifiers in parts, each in order, and by the words for its symbols."""
    spaced = text
    if not text.isascii() and any(map(is_unspaced, set(text))):  # most that is not ASCII is dashes and arrows
        spaced = "".join(_spaced(run) for _, run in split_scripts(text))
    extra = [" ".join(parts) for word in sorted(set(words(text)))
             if not word.islower() and (parts := identifier_parts(word))]
    extra += symbol_words(text)
    return spaced if not extra else spaced + "\n" + "\n".join(extra)


def _spaced(run: str) -> str:
    if not is_unspaced(run[0]):
        return run
    return " " + " ".join([*pairs(run), *(run if len(run) > 1 else "")]) + " "
