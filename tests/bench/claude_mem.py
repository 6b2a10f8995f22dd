"""claude-mem's worker beside memlite's, on the same records, for the benchmark that compares the two.

It is installed by whoever runs the benchmark, into a folder of its own (CONTRIBUTING tells how), and is never part of
memlite. It runs with an empty environment, a home of its own and everything off that could leave the machine.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import time
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from memlite.clock import ms_to_iso
from memlite.model import OBSERVATION, SUMMARY, Memory

VARIABLE = "MEMLITE_BENCH_CLAUDE_MEM"
_SECONDS = 30.0
_TABLES = {OBSERVATION: "observations", SUMMARY: "session_summaries"}
_FIELDS = {OBSERVATION: ("type", "title", "subtitle", "narrative", "facts", "concepts", "files_read", "files_modified"),
           SUMMARY: ("request", "investigated", "learned", "completed", "next_steps", "notes", "files_read",
                     "files_edited")}


def installed() -> Path | None:
    """The folder in which npm has installed it; None, with a word why, when there is none."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        print(f"not compared with claude-mem: {VARIABLE} names no folder with its node_modules")
        return None
    found = Path(folder).resolve()
    if not (found / "node_modules" / "claude-mem" / "plugin" / "scripts" / "worker-service.cjs").is_file():
        print(f"not compared with claude-mem: there is no node_modules/claude-mem in what {VARIABLE} names")
        return None
    return found


class ClaudeMem:
    """Its worker on `port`, over `records`, as a context manager that ends it."""

    def __init__(self, folder: Path, home: Path, port: int, records: Iterable[Memory]) -> None:
        modules = folder / "node_modules"
        self.port = port
        self._command = ["bun", str(modules / "claude-mem" / "plugin" / "scripts" / "worker-service.cjs")]
        bun = next((modules / "@oven").glob("bun-*/bin"))
        self._environment = {
            "HOME": str(home), "PATH": f"{bun}:/usr/bin:/bin", "LANG": "C.UTF-8", "DO_NOT_TRACK": "1",
            "CLAUDE_MEM_TELEMETRY": "0", "CLAUDE_MEM_WORKER_PORT": str(port), "CLAUDE_MEM_CHROMA_ENABLED": "false",
            "CLAUDE_PLUGIN_ROOT": str(modules / "claude-mem" / "plugin")}
        self._data = home / ".claude-mem"
        self._records = list(records)
        self.pid = 0

    def __enter__(self) -> ClaudeMem:
        self._run("start")    # makes the tables
        self._wait()
        self._run("stop")
        self._wait(alive=False)
        self._fill()
        self._run("start")
        self.pid = int(self._wait()["pid"])
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._run("stop")
        self._wait(alive=False)

    def _run(self, verb: str) -> None:
        subprocess.run([*self._command, verb], env=self._environment, cwd=self._environment["HOME"], check=False,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_SECONDS)

    def _wait(self, alive: bool = True) -> dict[str, int]:
        """What its /api/health says, as soon as it says something; with alive=False, until it says no more."""
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            told: dict[str, int] | None = None
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/health", timeout=2) as answer:
                    told = json.load(answer)
            except (OSError, ValueError):
                pass
            if alive and told and told.get("initialized"):
                return told
            if not alive and told is None:
                return {}
            time.sleep(0.1)
        raise SystemExit("claude-mem's worker does not start or does not end")

    def _fill(self) -> None:
        """Put the records into its tables; its own triggers index them."""
        connection = sqlite3.connect(self._data / "claude-mem.db")
        with connection:
            sessions = {record.session_id: record for record in self._records}
            for session, record in sessions.items():
                connection.execute(
                    "INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at, "
                    "started_at_epoch, status) VALUES (?, ?, ?, ?, ?, 'completed')",
                    (session, session, record.project, ms_to_iso(record.created_at_epoch), record.created_at_epoch))
            for record in self._records:
                moment = (ms_to_iso(record.created_at_epoch), record.created_at_epoch)
                if record.KIND in _TABLES:
                    names = _FIELDS[record.KIND]
                    values = [json.dumps(value) if isinstance(value, list) else value
                              for value in (getattr(record, name) for name in names)]
                    names = ("memory_session_id", "project", *names, "created_at", "created_at_epoch")
                    values = [record.session_id, record.project, *values, *moment]
                    table = _TABLES[record.KIND]
                else:
                    names = ("content_session_id", "prompt_number", "prompt_text", "created_at", "created_at_epoch")
                    values = [record.session_id, record.prompt_number or 1, record.headline, *moment]
                    table = "user_prompts"
                marks = ",".join("?" * len(names))
                connection.execute(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", values)
        connection.close()


__all__ = ["VARIABLE", "ClaudeMem", "installed"]
