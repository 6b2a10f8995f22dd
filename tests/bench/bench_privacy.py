"""How long cleaning takes: ordinary text, and for each rule the worst text of a million characters that was found.

    python tests/bench/bench_privacy.py [--size 1000000]

Ordinary is the text of the real session in tests/data and, where they are, of $MEMLITE_BENCH_DATA/coding-memory. The
worst texts are a rule's keyword, its examples whole, cut short and without their end, repeated without a pause.
Processor time, so that what else the machine does counts less.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import table

from memlite.privacy import clean, neutralize
from memlite.privacy.rules import RULES, Rule

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from secret_examples import filled  # noqa: E402

BAR = 1.0  # seconds for a million characters, whatever they are
SHOWN = 5


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def real_texts(folder: Path) -> list[str]:
    """All texts of at least 40 characters in the transcripts below `folder`."""
    return [text for file in sorted(folder.rglob("*.jsonl")) for line in file.read_text(encoding="utf-8").splitlines()
            if line.strip() for text in strings(json.loads(line)) if len(text) >= 40]


def worst_texts(rule: Rule, size: int) -> Iterator[str]:
    """Texts of `size` characters made to keep `rule` busy."""
    units = [keyword + after for keyword in rule.keywords for after in ("", " ", "=", '="', ": ", "\\n", "a1B")]
    for example in rule.positive:
        full, needles = filled(example, random.Random(1))
        head = full.split(needles[0])[0]
        units += [full, full + "\n", full[:-1], full[:len(full) * 2 // 3], full[:len(full) // 2] + " ", head]
        yield (head + "aB3" * size)[:size]
    for unit in filter(None, units):
        yield (unit * (size // len(unit) + 1))[:size]


def seconds(text: str) -> float:
    """Processor time of cleaning `text`."""
    started = time.process_time()
    clean(text)
    return time.process_time() - started


def main() -> int:
    """Measure, print the table, and return 1 when the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1_000_000, help="characters of each worst text")
    options = parser.parse_args()
    lines = []
    folders = {"a real session": TESTS / "data" / "transcripts"}
    if data := os.environ.get("MEMLITE_BENCH_DATA"):
        folders["real sessions"] = Path(data) / "coding-memory"
    for name, folder in folders.items():
        texts = real_texts(folder)
        characters = sum(map(len, texts))
        for what, each in (("clean", clean), ("neutralize", neutralize)):
            started = time.process_time()
            for text in texts:
                each(text)
            spent = time.process_time() - started
            lines.append([f"{what}: {name}, {len(texts):,} texts", f"{spent / characters * 1e6:.3f}", ""])
    slowest = []
    for rule in RULES:
        worst = max(worst_texts(rule, options.size), key=seconds)
        spent = min(seconds(worst) for _ in range(3))
        slowest.append((spent / options.size * 1e6, f"clean: worst for {rule.name}: {worst[:30]!r}…"))
    slowest.sort(reverse=True)
    lines += [[name, f"{spent:.3f}", f"{BAR:.1f}"] for spent, name in slowest[:SHOWN]]
    table.show(f"Cleaning of text, seconds for a million characters; the worst {SHOWN} of {len(RULES)} rules",
               ["", "s", "bar"], lines)
    for spent, name in slowest:
        if spent > BAR:
            print(f"missed: {name}: {spent:.2f} s, the bar is {BAR}", file=sys.stderr)
    return 1 if slowest[0][0] > BAR else 0


if __name__ == "__main__":
    sys.exit(main())
