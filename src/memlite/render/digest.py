"""Closing words of an assistant, Markdown and all → what they say, on one line."""

from __future__ import annotations

# Sentences that say nothing of what was done.
_FILLERS = frozenset((
    "perfect", "great", "excellent", "done", "all done", "good", "good question", "great question", "nice", "sure",
    "all tests pass", "absolutely", "all good", "all clean", "summary", "changes", "changes made", "ok", "okay",
    "you're right", "you're absolutely right", "excellent question", "final summary"))
_INTRODUCTIONS = ("here's ", "here is ", "here are ", "i've successfully completed", "looking at ", "let me ")


def digest(text: str, limit: int) -> str:
    """The prose of `text` without code, tables, headings and pleasantries; at most `limit` characters."""
    said: list[str] = []
    listed = fenced = False
    for raw in text.splitlines():
        stripped = raw.strip()
        fence = stripped.startswith(("```", "~~~"))
        fenced ^= fence
        if fence or fenced or stripped.startswith(("|", "#", "---", "===")):
            if said and said[-1].endswith(":"):  # what it announced is left out
                said[-1] = said[-1][:-1] + "."
            continue
        line = _plain(stripped)
        if not said:
            line = _without_fillers(line)
        if not line.strip("*_-— "):
            continue
        item = stripped[:2] in ("- ", "* ", "+ ") or stripped.partition(". ")[0].isdigit()
        if said and item and listed and not said[-1].endswith((".", ";", ":", "!", "?")):
            said[-1] += ";"
        said.append(line)
        listed = item
        if sum(map(len, said)) > limit:
            break
    flat = " ".join(" ".join(said).split())
    return flat if len(flat) <= limit else flat[:limit - 1].rsplit(" ", 1)[0].rstrip(" ;,:—") + "…"


def open_question(text: str) -> str:
    """The question that `text` ends with, "" when it ends with none."""
    lines = [line for line in text.splitlines() if line.strip()]
    last = _plain(lines[-1].strip()) if lines else ""
    if not last.endswith("?"):
        return ""
    begin = max(last.rfind(mark, 0, len(last) - 1) for mark in (". ", "! ", "? ", "; "))
    return last[begin + 2:] if begin >= 0 else last


def _plain(line: str) -> str:
    """A line of Markdown without its marks; code keeps its backticks, links their text."""
    line = line.lstrip("#>-*•+ \t")
    head, dot, rest = line.partition(". ")
    if dot and head.isdigit():
        line = rest
    at = line.find("](")
    while at >= 0:
        start, end = line.rfind("[", 0, at), line.find(")", at)
        if start < 0 or end < 0:
            break
        line = line[:start] + line[start + 1:at] + line[end + 1:]
        at = line.find("](", start)
    return line.replace("**", "").replace("__", "").strip()


def _without_fillers(line: str) -> str:
    """`line` without the sentences at its beginning that only please or introduce."""
    while line:
        ends = [at for mark in (". ", "! ", ": ", "? ") if (at := line.find(mark)) >= 0]
        sentence = line[:min(ends)] if ends else line
        words = sentence.lower().strip(" .!:?✅🎉*")
        if words not in _FILLERS and not (words.startswith(_INTRODUCTIONS) and line[len(sentence):][:1] in (":", "")
                                          and (ends or line.endswith(":"))):
            return line
        line = line[len(sentence) + 1:].lstrip() if ends else ""
    return line
