"""Transcript rows as the client writes them, for tests that need a session of their own making."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BEGIN_MS = 1_780_000_000_000  # 2026-05-28T20:26:40Z
SESSION = "11111111-2222-4333-8444-555555555555"


class Script:
    """A session being written, row by row: each method adds a row and returns its uuid."""

    def __init__(self, *, session: str = SESSION, cwd: str = "/nowhere/shop", name: str = "r", agent: str = "") -> None:
        self.session = session
        self.cwd = cwd
        self.name = name
        self.agent = agent
        self.rows: list[dict[str, Any]] = []
        self.calls = 0

    def prompt(self, text: str, *, prompt_id: str = "", **more: Any) -> str:
        """The person asks."""
        given = {"promptId": prompt_id} if prompt_id else {}
        return self.row("user", {"role": "user", "content": text}, **given, **more)

    def says(self, text: str, **more: Any) -> str:
        """The assistant says something."""
        return self.row("assistant", {"role": "assistant", "content": [{"type": "text", "text": text}]}, **more)

    def calls_tool(self, tool: str, **arguments: Any) -> str:
        """The assistant calls a tool; its result is still to come."""
        self.calls += 1
        block = {"type": "tool_use", "id": f"{self.name}-call-{self.calls}", "name": tool, "input": arguments}
        return self.row("assistant", {"role": "assistant", "content": [block]})

    def answers(self, output: str, *, failed: bool = False, call: int = 0, outcome: object = None) -> str:
        """The tool answers the last call, or the one of that number."""
        block = {"type": "tool_result", "tool_use_id": f"{self.name}-call-{call or self.calls}", "content": output,
                 "is_error": failed}
        given = {} if outcome is None else {"toolUseResult": outcome}
        return self.row("user", {"role": "user", "content": [block]}, **given)

    def runs(self, command: str, output: str = "", *, failed: bool = False) -> None:
        """A shell command and its output."""
        self.calls_tool("Bash", command=command)
        self.answers(output, failed=failed)

    def edits(self, path: str, old: str = "old", new: str = "new") -> None:
        """An edit that succeeds."""
        self.calls_tool("Edit", file_path=path, old_string=old, new_string=new)
        self.answers(f"The file {path} has been updated successfully.")

    def reads(self, path: str, content: str = "1\tcontent") -> None:
        """A file that is read."""
        self.calls_tool("Read", file_path=path)
        self.answers(content)

    def queued(self, text: str) -> None:
        """The person types while the assistant works: a row without uuid and without folder."""
        self.rows.append({"type": "queue-operation", "operation": "enqueue", "timestamp": self._moment(),
                          "sessionId": self.session, "content": text})

    def compacted(self, summary: str = "This session is being continued. It was about the shop.") -> str:
        """The client compacts the session."""
        self.row("system", None, subtype="compact_boundary")
        return self.row("user", {"role": "user", "content": summary}, isCompactSummary=True)

    def row(self, kind: str, message: object, **more: Any) -> str:
        """Any row. Returns its uuid."""
        number = len(self.rows) + 1
        uuid = f"{self.name}-{number:04d}"
        row: dict[str, Any] = {"type": kind, "uuid": uuid, "timestamp": self._moment(), "sessionId": self.session,
                               "cwd": self.cwd, "gitBranch": "main", "isSidechain": bool(self.agent), **more}
        if self.agent:
            row["agentId"] = self.agent
        if message is not None:
            row["message"] = message
        self.rows.append(row)
        return uuid

    def _moment(self) -> str:
        seconds = len(self.rows)
        return f"2026-05-28T{20 + seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.000Z"

    def lines(self) -> list[bytes]:
        """The rows as the file holds them."""
        return [json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in self.rows]

    def write(self, path: Path | str) -> str:
        """Write the transcript. Returns its path."""
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(b"".join(self.lines()))
        return str(path)


def shop_session(**how: Any) -> Script:
    """A session of three turns with what real ones have: reading, editing, a failing test, a commit, a compaction."""
    script = Script(**how)
    script.prompt("Prices with a comma crash the shop, please fix it", prompt_id="p-1")
    script.says("I'll look at how prices are parsed.")
    script.reads(f"{script.cwd}/shop/prices.py", "1\tdef parse(text): return float(text)")
    script.says("`float` doesn't accept a decimal comma, that is the root cause. I'll replace it before parsing.")
    script.edits(f"{script.cwd}/shop/prices.py", "float(text)", "float(text.replace(',', '.'))")
    script.runs("pytest -q tests/test_prices.py", "Exit code 1\nE   ValueError: 1,5\n1 failed, 3 passed in 0.2s",
                failed=True)
    script.says("One test still fails because of the thousands separator.")
    script.edits(f"{script.cwd}/shop/prices.py", "replace(',', '.')", "translate(SEPARATORS)")
    script.runs("pytest -q tests/test_prices.py", "4 passed in 0.2s")
    script.says("Prices with a decimal comma are now parsed. All 4 tests pass.\n\nNext steps:\n- tell the importers")
    script.prompt("commit it", prompt_id="p-2")
    script.says("I'll commit this.")
    script.runs('git commit -am "fix: parse prices with a decimal comma"',
                "[main 1a2b3c4] fix: parse prices with a decimal comma\n 1 file changed")
    script.compacted()
    script.says("Committed as 1a2b3c4.")
    script.prompt("which file was it?", prompt_id="p-3")
    script.says("It was `shop/prices.py`, the function `parse`.")
    return script
