"""What one could do without memlite: grep over the raw transcripts, or a plain FTS5 table of their rows."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memlite.search.words import STOP_WORDS

CUT = 300  # characters of a found row that one looks at: whole ones run to megabytes. Counted as found either way
ANSWERS = 10


class Row(NamedTuple):
    """A transcript row: its id, what was said or done in it, and the line as it is in the file."""

    uuid: str
    text: str
    line: str


def rows(folders: list[Path]) -> Iterator[Row]:
    """All rows with an id in the transcripts below `folders`, in the order of the files."""
    for folder in folders:
        for file in sorted(folder.rglob("*.jsonl")):
            for line in file.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                if row.get("uuid") and row.get("type") in ("user", "assistant"):
                    yield Row(row["uuid"], text_of(row.get("message", {}).get("content", "")), line)


def text_of(content: Any) -> str:
    """The text of a message: what was said, the input of tools and what they gave back; not the thinking."""
    if isinstance(content, str):
        return content
    parts = []
    for block in content:
        if block.get("type") == "text":
            parts.append(block["text"])
        elif block.get("type") == "tool_use":
            parts.append(json.dumps(block.get("input"), ensure_ascii=False))
        elif block.get("type") == "tool_result":
            parts.append(text_of(block.get("content") or ""))
    return "\n".join(parts)


def words(query: str) -> list[str]:
    """The words of `query` that carry meaning."""
    found = [word.lower() for word in re.findall(r"\w+", query)]
    return [word for word in found if word not in STOP_WORDS] or found


class FullText:
    """One FTS5 document for each row, porter stems, OR of the words, bm25."""

    def __init__(self, everything: list[Row]) -> None:
        self.database = sqlite3.connect(":memory:")
        self.database.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
        self.database.executemany("INSERT INTO t(rowid, text) VALUES (?, ?)",
                                  ((number, row.text) for number, row in enumerate(everything)))
        self.rows = everything

    def search(self, query: str) -> list[dict[str, Any]]:
        """The best rows as the scorer wants them."""
        found = self.database.execute("SELECT rowid, bm25(t) FROM t WHERE t MATCH ? ORDER BY 2, 1 LIMIT ?",
                                      (" OR ".join(f'"{word}"' for word in words(query)), ANSWERS))
        return [{"uuids": [self.rows[number].uuid], "chars": min(CUT, len(self.rows[number].text)), "score": -score}
                for number, score in found]


class Grep:
    """Raw lines that hold the words, those with the most different ones first."""

    def __init__(self, everything: list[Row]) -> None:
        self.rows = everything
        self.lines = [row.line.lower() for row in everything]

    def search(self, query: str) -> list[dict[str, Any]]:
        """The best rows as the scorer wants them."""
        wanted = words(query)
        counted = [(sum(word in line for word in wanted), number) for number, line in enumerate(self.lines)]
        best = sorted((-count, number) for count, number in counted if count)[:ANSWERS]
        return [{"uuids": [self.rows[number].uuid], "chars": CUT, "score": -count} for count, number in best]
