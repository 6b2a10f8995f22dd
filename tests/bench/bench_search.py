"""How long a search takes and how large the store gets, at 1,000, 10,000 and 100,000 made-up observations.

    python tests/bench/bench_search.py [--sizes 1000 10000 100000] [--million] [--questions 200]

Times are of the controller in one process with the store open, as the worker has it, in ms of processor time, which
other work on the machine does not lengthen; each question is asked once. The words are spread as in text: the
commonest stands in most memories, so a question with it matches most of them. Ends with 1 when a bar is missed.
A million memories take about ten minutes and two gigabytes to make.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time

import table
from bench_startup import fill, vocabulary

from memlite.search.controller import search
from memlite.search.request import SearchRequest
from memlite.store.database import Database, open_database

COMMON = 2  # the commonest words, each in more than half of the memories
BARS = {100_000: (15.0, 50.0), 1_000_000: (150.0, 500.0)}  # ms: median and 95 of 100, at most


def questions(count: int) -> dict[str, list[str]]:
    """Questions of one to four words by kind: drawn as they stand in text, rare ones, and with the commonest."""
    words, weights = vocabulary(1)
    chosen = random.Random(3)
    lengths = [number % 4 + 1 for number in range(count)]
    return {
        "as in text": [" ".join(chosen.choices(words, weights, k=length)) for length in lengths],
        "rare words": [" ".join(chosen.choices(words[1000:], k=length)) for length in lengths],
        "common words": [" ".join([words[number % COMMON], *chosen.choices(words, weights, k=length - 1)])
                         for number, length in enumerate(lengths)],
    }


def times(database: Database, asked: list[str]) -> list[float]:
    """Milliseconds that each question took."""
    taken = []
    for text in asked:
        started = time.process_time()
        search(database, SearchRequest(query=text, limit=10))
        taken.append((time.process_time() - started) * 1000)
    return taken


def sizes(database: Database) -> tuple[int, int]:
    """(bytes of the whole store, bytes of its full-text index)."""
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    index = database.rows("SELECT sum(length(block)) FROM words_data")[0][0]
    return os.path.getsize(database.path), int(index)


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="a million too")
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    lines, missed = [], []
    for count in [*options.sizes, *([1_000_000] if options.million else [])]:
        with tempfile.TemporaryDirectory() as home:
            started = time.process_time()
            fill(home, count, home)
            filled = time.process_time() - started
            with open_database(home) as database:
                taken = {kind: times(database, asked) for kind, asked in questions(options.questions).items()}
                whole, index = sizes(database)
        figures = {kind: (statistics.median(values), table.percentile(values, 0.95)) for kind, values in taken.items()}
        lines.append([f"{count:,}", *(f"{middle:.1f} / {high:.1f}" for middle, high in figures.values()),
                      f"{whole / 1e6:.1f}", f"{index / 1e6:.1f}", f"{whole / count:,.0f}", f"{count / filled:,.0f}"])
        missed += [f"{kind} at {count:,}: {middle:.1f} / {high:.1f} ms, the bar is {BARS[count]}"
                   for kind, (middle, high) in figures.items()
                   if count in BARS and (middle > BARS[count][0] or high > BARS[count][1])]
    table.show("Search in an open store: ms, median / 95 of 100; size in MB; bytes per memory (about 100 words each)",
               ["memories", *questions(4), "store", "index", "bytes", "stored a second"], lines)
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
