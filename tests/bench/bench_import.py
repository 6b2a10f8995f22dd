"""How fast transcripts are read into an empty memory, by the command line, in MB a second.

    python tests/bench/bench_import.py [--rounds 3] [--size 20]

Reads copies of the real session in tests/data, each with ids of its own, until `--size` MB are together; and the
real sessions of $MEMLITE_BENCH_DATA/coding-memory where they are. Run with MEMLITE_BINARY to measure the executable.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

import product
import table

TRANSCRIPTS = Path(__file__).resolve().parents[1] / "data" / "transcripts"
BAR = 10  # MB a second, for real sessions as they come; the copies are of a short one with much in it
UUID = re.compile(r"\b[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)")


def multiply(folder: Path, megabytes: float) -> None:
    """Fill `folder` with copies of the real sessions until they make up that many megabytes."""
    written, number = 0, 0
    originals = sorted(TRANSCRIPTS.glob("*.jsonl"))
    while written < megabytes * 1e6:
        original = originals[number % len(originals)]
        number += 1

        def renumber(found: re.Match[str], number: int = number) -> str:
            return f"{int(found[0], 16) ^ number:08x}"

        target = folder / UUID.sub(renumber, original.name)
        target.write_text(UUID.sub(renumber, original.read_text(encoding="utf-8")), encoding="utf-8")
        written += target.stat().st_size


def measure(source: Path, rounds: int) -> list[str]:
    """The cells of a table line: what was read, and the median rate with the slowest and quickest."""
    rates = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as home:
            started = time.perf_counter()
            report = product.Memlite(Path(home)).json("import", "transcripts", str(source))
            rates.append(report["bytes"] / 1e6 / (time.perf_counter() - started))
    stored = sum(report[kind] for kind in ("observations", "summaries", "prompts"))
    return [str(report["files"]), f"{report['bytes'] / 1e6:.1f}", f"{stored:,}", f"{statistics.median(rates):.1f}",
            f"{min(rates):.1f}–{max(rates):.1f}"]


def main() -> int:
    """Measure, print the table, and return 1 when the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=float, default=20, help="megabytes of copies")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        multiply(Path(folder), options.size)
        lines = [["copies of a short session", *measure(Path(folder), options.rounds), ""]]
    real = os.environ.get("MEMLITE_BENCH_DATA")
    if real and (Path(real) / "coding-memory").is_dir():
        lines.append(["real sessions", *measure(Path(real) / "coding-memory", options.rounds), str(BAR)])
    table.show(f"Import of transcripts, start of the program included, {options.rounds} rounds",
               ["", "files", "MB", "memories", "MB/s", "range", "bar"], lines)
    slow = [line for line in lines if line[-1] and float(line[4]) < BAR]
    for line in slow:
        print(f"missed: {line[0]}: {line[4]} MB/s, the bar is {BAR}", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
