"""What an edit was about: the name of what it defines, read from the old and the new text by plain rules."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# What begins a definition in the usual languages, after modifiers such as `export` or `pub`.
_DEFINING = frozenset(("def", "class", "func", "function", "fn", "struct", "enum", "interface", "trait", "type",
                       "module", "defmodule", "defp", "defmacro", "record", "protocol", "extension"))
_VARIABLE = frozenset(("const", "let", "var", "val"))  # only at the margin do they tell something
_MODIFIERS = frozenset(("export", "default", "async", "pub", "pub(crate)", "public", "private", "protected", "final",
                        "abstract", "override", "internal", "open", "sealed", "inline", "virtual", "unsafe"))
_CLOSERS = "([{<:;=,"


def defined(text: str, *, prose: bool = False) -> list[str]:
    """What the lines of `text` define, in order: in code names as `name`, in prose headings as “heading”."""
    found: list[str] = []
    for line in text.splitlines()[:600]:
        if prose and line.startswith("#"):
            found.append(f"“{line.strip('# ')[:80]}”")
        elif not prose and (name := _defined_by(line)):
            found.append(f"`{name}`")
    return list(dict.fromkeys(found))


def _defined_by(line: str) -> str:
    words = line.split(None, 6)
    while words and words[0] in _MODIFIERS:
        words = words[1:]
    if len(words) < 2 or not (words[0] in _DEFINING or (words[0] in _VARIABLE and not line[:1].isspace())):
        return ""
    rest = line[line.index(words[0]) + len(words[0]):].strip()
    if rest.startswith("("):  # the receiver of a Go method
        rest = rest.partition(")")[2].strip()
    name = rest.partition(" ")[0]
    for closer in _CLOSERS:
        name = name.partition(closer)[0]
    return name if len(name) > 2 and name.replace("_", "").replace(".", "").isalnum() else ""


def deed(edits: Iterable[tuple[str, str, str]]) -> str:
    """One line for edits given as (path, old text, new text): "Add `parse_price` to prices.py and edit 2 more files".

    An edit without old text has written the whole file. "" when there are none.
    """
    paths: list[str] = []
    added = changed = created = ""
    for path, old, new in edits:
        paths.append(path)
        prose = path.lower().endswith((".md", ".rst", ".txt"))
        before, after = defined(old, prose=prose), defined(new, prose=prose)
        fresh = [name for name in after if name not in before]
        if not old:
            created = created or path
        elif fresh and not added:
            added = f"Add {fresh[0]} to {basename(path)}"
        elif not changed and (kept := [name for name in after if name in before]):
            changed = f"Edit {kept[0]} in {basename(path)}"
    names = list(dict.fromkeys(basename(path) for path in paths))
    if not names:
        return ""
    if created and len(names) == 1:
        return f"Create {names[0]}"
    if added or changed:
        others = len(names) - 1
        return (added or changed) + (f" and edit {others} more file{'s' if others > 1 else ''}" if others else "")
    return f"Edit {', '.join(names[:3])}" + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def basename(path: str) -> str:
    """The last part of a path of either system."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path
