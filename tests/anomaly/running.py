"""Running memlite, ending it at any instant, and taking its disk away."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from rows import Script, shop_session


class Program:
    """memlite as a command, from source or as executable."""

    def __init__(self, command: list[str]) -> None:
        self.command = command

    def start(self, home: str, *arguments: str, given: object = None, **how: Any) -> subprocess.Popen[bytes]:
        """A process in a group of its own that has read its input. `how` goes to Popen; `wrapped` comes before it."""
        unpacked = f"{home}-unpacked"  # killed, the executable leaves there what it unpacked
        os.makedirs(unpacked, exist_ok=True)
        environment = {**os.environ, "MEMLITE_HOME": home, "MEMLITE_BACKFILL": "0", "MEMLITE_WORKER": "0",
                       "TMPDIR": unpacked,
                       **how.pop("environment", {})}
        line = [*how.pop("wrapped", []), *self.command, *arguments]
        process = subprocess.Popen(line, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True, **how)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"" if given is None else json.dumps(given).encode())
            process.stdin.close()
        process.stdin = None
        return process

    def run(self, home: str, *arguments: str, given: object = None, timeout: float = 60, **how: Any) -> Done:
        """Run to the end."""
        process = self.start(home, *arguments, given=given, **how)
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            kill(process)
            raise
        return Done(process.returncode, output.decode(), errors.decode())

    def hook(self, home: str, event: str, path: str, **how: Any) -> Done:
        """A hook of the session whose transcript is at `path`."""
        return self.run(home, "hook", event, given=payload(event, path), **how)


class Done:
    """How a run ended."""

    def __init__(self, code: int, output: str, errors: str) -> None:
        self.code = code
        self.output = output
        self.errors = errors

    def __repr__(self) -> str:
        return f"exit {self.code}, output {self.output[:500]!r}, errors {self.errors[:2000]!r}"

    def was_silent(self) -> bool:
        """As a hook must be: exit 0, JSON or nothing, and no word on standard error."""
        return self.code == 0 and self.errors == "" and (self.output == "" or isinstance(json.loads(self.output), dict))


def payload(event: str, path: str, **more: Any) -> dict[str, Any]:
    """What the client sends."""
    session = os.path.basename(path).removesuffix(".jsonl")
    return {"session_id": session, "transcript_path": path, "cwd": "/nowhere/shop", "hook_event_name": event, **more}


def kill(process: subprocess.Popen[bytes]) -> bool:
    """End the process and its children with SIGKILL. Whether it was still running."""
    alive = process.poll() is None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return alive


def kill_after(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Let it live for so long, then kill it. Whether it was still running."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        time.sleep(min(0.002, seconds / 20))
    return kill(process)


def long_session(path: Path | str, turns: int, name: str = "r") -> str:
    """A transcript of so many turns, 14 KB each. Returns its path."""
    script = shop_session(name=name, session=Path(path).stem)
    for number in range(turns):
        _turn(script, number)
    return script.write(path)


def _turn(script: Script, number: int) -> None:
    script.prompt(f"look at part {number} of the shop", prompt_id=f"{script.name}-{number}")
    script.says(f"I'll look at part {number} and replace what is wrong in it.")
    script.reads(f"{script.cwd}/shop/part{number}.py", "line of code\n" * 800)
    script.edits(f"{script.cwd}/shop/part{number}.py", f"old {number}", f"new {number}")
    script.runs(f"pytest tests/test_part{number}.py", f"{number + 1} passed in 0.2s")
    script.says(f"Part {number} now does what it should, and its tests pass.")
