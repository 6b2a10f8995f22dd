"""How long the built executable takes, as a multiple of starting Python to do nothing; with the bars it must
keep.

    python tests/bench/bench_startup.py [--rounds 20] [--memories 10000]

Environment: MEMLITE_BINARY (by default plugin/bin/memlite). Prints a table and ends with 1 when a bar is missed.
In each round every command runs once, after the reference, so that a slow moment of the machine hits all alike; what
counts is the median of the rounds' ratios. The reference is `python3 -IS -c pass` with the interpreter that runs this.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]
SESSION = "00000000-0000-4000-8000-000000000000"
MEGABYTE = 1_000_000
LARGEST_BINARY = 15 * MEGABYTE
LARGEST_PEAK = 40 * MEGABYTE


class Run(NamedTuple):
    """One finished run: seconds on the clock, and the largest process's memory in bytes."""

    seconds: float
    peak: int


class Command(NamedTuple):
    """What is measured: its arguments, what it reads, and the multiple of the reference it may take."""

    name: str
    arguments: list[str]
    given: dict[str, str]
    bar: float | None


def vocabulary(seed: int) -> tuple[list[str], list[float]]:
    """5,000 made-up words and their frequencies, which fall as they do in text (Zipf)."""
    chosen = random.Random(seed)
    parts = ["ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu"]
    words = sorted({"".join(chosen.choices(parts, k=chosen.randint(2, 4))) for _ in range(12_000)})
    chosen.shuffle(words)
    return words[:5000], [1 / rank for rank in range(10, 5010)]


def fill(home: str, count: int, project: str) -> None:
    """Store `count` observations of about 100 words each under `home`."""
    from memlite.capture.projects import project_of
    from memlite.model import Observation, Session
    from memlite.store import write
    from memlite.store.database import open_database

    words, weights = vocabulary(1)
    chosen = random.Random(2)
    owner = Session(session_id=SESSION, project=project_of(project), cwd=project, transcript="")
    with open_database(home) as database, database.transaction():
        for number in range(count):
            text = chosen.choices(words, weights, k=100)
            memory = Observation(title=" ".join(text[:8]), narrative=" ".join(text[8:]),
                                 files_read=[f"src/{text[0]}/{text[1]}.py"], facts=[" ".join(text[20:30])],
                                 created_at_epoch=1_700_000_000_000 + number * 60_000)
            if write.store(database, memory, owner) is None:
                raise SystemExit(f"memory {number} was not stored")


def run(command: list[str], environment: dict[str, str], cwd: str, given: str = "") -> Run:
    """Run `command` and account for it. Raises SystemExit when it fails."""
    with tempfile.TemporaryFile() as source:
        source.write(given.encode())
        source.seek(0)
        started = time.perf_counter()
        process = subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=environment, cwd=cwd)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return Run(seconds, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def grow(transcript: Path, cwd: str) -> None:
    """Append a turn of a few rows, as it is there when a Stop hook runs."""
    def row(kind: str, content: object, parent: str | None) -> dict[str, object]:
        return {"type": kind, "uuid": str(uuid.uuid4()), "parentUuid": parent, "sessionId": SESSION, "cwd": cwd,
                "isSidechain": False, "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
                "message": {"role": kind, "id": str(uuid.uuid4()), "content": content}}

    call = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex}", "name": "Bash",
            "input": {"command": "pytest -q", "description": "Run the tests"}}
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "12 passed in 0.3s"}
    with open(transcript, "a", encoding="utf-8") as file:
        for kind, content in (("user", f"Is it mended now, {uuid.uuid4().hex[:8]}?"),
                              ("assistant", [{"type": "text", "text": "I run the tests to see."}]),
                              ("assistant", [call]), ("user", [result]),
                              ("assistant", [{"type": "text", "text": "All twelve tests pass now."}])):
            file.write(json.dumps(row(kind, content, None)) + "\n")


def main() -> int:
    """Measure, print the table, and return 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--memories", type=int, default=10_000)
    options = parser.parse_args()
    binary = Path(os.environ.get("MEMLITE_BINARY") or REPOSITORY / "plugin" / "bin" / "memlite").resolve()
    if not binary.is_file():
        raise SystemExit(f"there is no memlite at {binary}: build it (tox -e plugin) or set MEMLITE_BINARY")
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))

    with tempfile.TemporaryDirectory() as folder:
        home, project, transcript = f"{folder}/memlite", f"{folder}/project", Path(folder, f"{SESSION}.jsonl")
        os.mkdir(project)
        # In a process of its own: a child starts with the peak memory of the process it was forked from.
        filler = "import sys, bench_startup as b; b.fill(sys.argv[1], int(sys.argv[2]), sys.argv[3])"
        paths = os.pathsep.join([str(REPOSITORY / "src"), str(Path(__file__).parent)])
        subprocess.run([sys.executable, "-c", filler, home, str(options.memories), project], check=True,
                       env={**os.environ, "PYTHONPATH": paths})
        words = vocabulary(1)[0]
        environment = {"HOME": folder, "MEMLITE_HOME": home, "MEMLITE_BACKFILL": "0", "MEMLITE_WORKER": "0"}
        common = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": project}
        commands = [
            Command("hook UserPromptSubmit", ["hook", "UserPromptSubmit"],
                    {**common, "hook_event_name": "UserPromptSubmit", "prompt": "How do the tests fare?"}, 7),
            Command("hook Stop, small tail", ["hook", "Stop"],
                    {**common, "hook_event_name": "Stop", "last_assistant_message": "All twelve tests pass now."}, 7),
            Command("hook SessionStart", ["hook", "SessionStart"],
                    {**common, "hook_event_name": "SessionStart", "source": "startup"}, None),
            Command("query, one word", ["query", words[60]], {}, 10),
            Command("query, three words", ["query", f"{words[40]} {words[400]} {words[4000]}"], {}, 10),
            Command("recent", ["recent"], {}, None),
            Command("--version", ["--version"], {}, None),
        ]
        reference: list[float] = []
        runs: dict[str, list[Run]] = {command.name: [] for command in commands}
        ratios: dict[str, list[float]] = {command.name: [] for command in commands}
        for number in range(-2, options.rounds):  # two rounds to warm up
            for command in commands:
                base = run([python, "-IS", "-c", "pass"], environment, project)
                if command.given.get("hook_event_name") == "Stop":
                    grow(transcript, project)
                given = dict(command.given)
                if "prompt" in given:
                    given["prompt"] += f" {number}"
                done = run([str(binary), *command.arguments], environment, project, json.dumps(given))
                if number >= 0:
                    reference.append(base.seconds)
                    runs[command.name].append(done)
                    ratios[command.name].append(done.seconds / base.seconds)

    print(f"{binary.name}: {binary.stat().st_size / MEGABYTE:.1f} MB; {options.memories} memories stored; "
          f"{options.rounds} rounds; {python} -IS -c pass: {statistics.median(reference) * 1000:.1f} ms")
    print(f"{'':24}{'median ms':>10}{'min ms':>8}{'× python':>10}{'bar':>6}{'peak MB':>9}")
    missed = [f"size above {LARGEST_BINARY // MEGABYTE} MB"] if binary.stat().st_size > LARGEST_BINARY else []
    for command in commands:
        times = [done.seconds * 1000 for done in runs[command.name]]
        ratio = statistics.median(ratios[command.name])
        peak = max(done.peak for done in runs[command.name])
        print(f"{command.name:24}{statistics.median(times):10.1f}{min(times):8.1f}{ratio:10.2f}"
              f"{command.bar or '':>6}{peak / MEGABYTE:9.1f}")
        if command.bar and ratio > command.bar:
            missed.append(f"{command.name}: {ratio:.2f} × python, the bar is {command.bar}")
        if peak > LARGEST_PEAK:
            missed.append(f"{command.name}: {peak / MEGABYTE:.1f} MB, the bar is {LARGEST_PEAK // MEGABYTE} MB")
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
