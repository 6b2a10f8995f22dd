"""What is never captured: text in `<private>` tags, blocks the client made, and what memlite itself injected.

A scanner instead of regular expressions: `re` costs a hook as much as all its other imports together, and a scanner
that only moves forward is linear by construction. A tag counts in any case, with attributes, with white space
inside, and spelled with `\\u003c` or `&lt;` as JSON and HTML writers do. Where a rule can err, it hides.
"""

from __future__ import annotations

from memlite.model import ENVELOPE_TAG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

WITHHELD = "[private]"

# What the client writes into prompts and tool results, seen in real transcripts, and the context of a predecessor.
MACHINE_MADE = frozenset((
    "system-reminder", "task-notification", "system_notification", "local-command-stdout", "local-command-stderr",
    "local-command-caveat", "command-message", "command-contents", "bash-stdout", "bash-stderr", "ide_opened_file",
    "ide_selection", "ide_diagnostics", "new-diagnostics", "user-prompt-submit-hook", "claude-mem-context"))

LEFT = ("<", "\\u003c", "\\u003C", "&lt;")
_RIGHT = (">", "\\u003e", "\\u003E", "&gt;")
# What a spelling of "<" may begin with, when a text is taken apart in the middle of it.
_BEGUN = tuple({spelling[:length] for spelling in LEFT for length in range(1, len(spelling))})
_SPACE = " \t\r\n\f\v"
_LONGEST_NAME = 40
# A joint of two kept pieces is looked at this far back for a tag that the join would complete.
_JOINT = 64


def strip_private(text: str) -> str:
    """`text` with `[private]` in place of each outermost `<private>…</private>`.

    Tags nest. One that is never closed hides all to the end, as do a self-closed tag (HTML reads it as an opening
    one) and code that merely mentions the tag. A closing tag without an opening one hides nothing and stays.
    Never cut a text before this: a piece from the middle of a private passage no longer shows that it was private.
    """
    if "private" not in text.lower():
        return text
    kept: list[str] = []
    position = depth = 0
    for start, end, _, closing in scan(text, frozenset(("private",))):
        if not closing and _opens(text, end):
            if depth == 0:
                kept += text[position:start], WITHHELD
            depth += 1
        elif closing and depth and (after := _closes(text, end)):
            depth -= 1
            position = after
    if depth == 0:
        kept.append(text[position:])
    return "".join(kept)


def strip_injected(text: str) -> str:
    """`text` without the blocks that no person and no tool wrote, and without memlite's own envelope.

    A machine-made block goes only when it is closed, since its name alone may be what the text is about. The
    envelope goes even when its end was cut off, since its content must never come back as a memory. A slash command
    keeps its visible text (`/review 167`), a `!` command its command line.
    """
    if any(spelling in text for spelling in LEFT):
        lowered = text.lower()
        names = frozenset(name for name in (*MACHINE_MADE, ENVELOPE_TAG) if name in lowered)
        if names:
            text = _without(text, _blocks(text, names))
        text = _typed(text)
    return text


def scan(text: str, names: frozenset[str]) -> Iterator[tuple[int, int, str, bool]]:
    """Everything that begins like a tag of one of `names`, in order: start, end of the name, name, closing."""
    spots = sorted((spot, len(spelling)) for spelling in LEFT for spot in _spots(text, spelling))
    for start, width in spots:
        at = _past_space(text, start + width)
        slash = at
        while text[slash:slash + 1] == "\\":   # JSON may write "<\/private>"
            slash += 1
        closing = text[slash:slash + 1] == "/"
        if closing:
            at = _past_space(text, slash + 1)
        end = at
        while end < len(text) and end - at <= _LONGEST_NAME and (text[end].isalnum() or text[end] in "-_:"):
            end += 1
        name = text[at:end].lower()
        if name in names:
            yield start, end, name, closing


def _spots(text: str, spelling: str) -> Iterator[int]:
    spot = text.find(spelling)
    while spot >= 0:
        yield spot
        spot = text.find(spelling, spot + len(spelling))


def _past_space(text: str, at: int) -> int:
    """The first position from `at` that is not white space, written plainly or as a JSON escape."""
    while True:
        if text[at:at + 1] and text[at] in _SPACE:
            at += 1
        elif text[at:at + 2] in ("\\n", "\\t", "\\r"):
            at += 2
        else:
            return at


def _opens(text: str, end: int) -> bool:
    """Whether the name that ends there makes an opening tag: `<private/notes.h>` does not."""
    after = _past_space(text, end)
    return after > end or after == len(text) or text.startswith(_RIGHT, after) or (
        text[after] == "/" and text.startswith(_RIGHT, _past_space(text, after + 1)))


def _closes(text: str, end: int) -> int:
    """Where the closing tag ends whose name ends at `end`; 0 if it is none."""
    after = _past_space(text, end)
    return next((after + len(right) for right in _RIGHT if text.startswith(right, after)), 0)


def _blocks(text: str, names: frozenset[str]) -> list[tuple[int, int]]:
    """The spans to take out, in order and without overlap."""
    spans: list[tuple[int, int]] = []
    unclosed: dict[str, list[int]] = {name: [] for name in names}
    for start, end, name, closing in scan(text, names):
        if not closing and _opens(text, end):
            unclosed[name].append(start)
        elif closing and unclosed[name] and (after := _closes(text, end)):
            spans.append((unclosed[name].pop(), after))
    if unclosed.get(ENVELOPE_TAG):
        spans.append((unclosed[ENVELOPE_TAG][0], len(text)))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """`text` without `spans`; where one stood, the wider of the white space around it is left."""
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        pieces.append(text[position:start])
        position = end
    pieces.append(text[position:])
    kept: list[str] = []
    space = ""
    for number, piece in enumerate(pieces):
        body = piece.strip()
        if not body:
            space = _wider(space, piece)
            continue
        lead = piece[:len(piece) - len(piece.lstrip())]
        if kept:
            kept.append(_joint(kept[-1], _wider(space, lead)))
        elif number == 0:
            kept.append(lead)
        kept.append(body)
        space = piece[len(lead) + len(body):]
    if pieces[-1].strip():
        kept.append(space)
    return "".join(kept)


def _wider(one: str, other: str) -> str:
    return max(one, other, key=lambda space: (space.count("\n"), len(space)))


def _joint(before: str, space: str) -> str:
    """What stands between two pieces that did not touch: two halves of a tag must not become a tag by the join."""
    tail = before[-_JOINT:]
    begun = max(tail.rfind(spelling) for spelling in LEFT)
    open_still = begun >= 0 and not any(right in tail[begun:] for right in _RIGHT)
    return f"{space}[…]{space}" if open_still or tail.endswith(_BEGUN) else space


def _typed(text: str) -> str:
    """A slash or `!` command as it was typed, from the wrappers the client puts round it; other text as it is."""
    begin = text.lstrip()
    if begin.startswith("<bash-input>"):
        command, closed, rest = begin[len("<bash-input>"):].partition("</bash-input>")
        return f"!{command}{_joint(command, '')}{rest}" if closed else text
    if not begin.startswith(("<command-name>", "<command-args>")):
        return text
    name, arguments = _between(begin, "command-name"), _between(begin, "command-args")
    # A name that begins with a tag would be unwrapped once more the next time.
    if not name or "<" in name:
        return text
    shown = f"{name} {arguments}".rstrip()
    rest = begin[max(begin.rfind(end) + len(end) for end in ("</command-name>", "</command-args>")):]
    return shown + _joint(shown, "") + rest


def _between(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].rpartition(f"</{tag}>")[0].strip()
