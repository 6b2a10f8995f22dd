"""How fast an index of meanings fills, how fast it answers meanwhile and afterwards, and what its helper takes.

    python tests/bench/bench_chroma.py [RECORDS]

Needs a Python with chromadb and a model, as `memlite chroma status` finds them (MEMLITE_CHROMA_PYTHON names one).
Ends with 1 when a bar is missed.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import table
from bench_search import questions
from bench_startup import fill

from memlite import settings
from memlite.chroma import places
from memlite.chroma.engine import Engine
from memlite.search.controller import search
from memlite.search.request import SearchRequest
from memlite.store.database import Database, open_database

RECORDS = 10_000
TEXTS_A_SECOND, QUERY_MS, HELPER_MB = 40, 40, 350   # at least; at most; at most
SLOWER = 2.0                                        # p95 while the index fills, against afterwards, at most


def asked(database: Database, engine: Engine, query: str) -> tuple[float, bool]:
    """(ms that a query with filters takes, whether the index of meanings had part in it)."""
    began = time.perf_counter()
    answer = search(database, SearchRequest(query=query, kinds=("observation",), since=1), semantic=engine)
    return (time.perf_counter() - began) * 1000, answer.used == "hybrid"


def main() -> int:
    """Measure, print the table, and return 1 when a bar is missed."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    missing = places.find("", settings.load("")).missing
    if missing:
        print(f"skipped: {missing}")
        return 0
    queries = itertools.cycle(questions(200)["as in text"])
    with tempfile.TemporaryDirectory() as home:
        fill(home, count, home)
        return measure(home, count, queries)


def measure(home: str, count: int, queries: Iterator[str]) -> int:
    """Fill the index of the store under `home`, print the table, and return 1 when a bar is missed."""
    with open_database(home) as database:
        engine = Engine(home, {**settings.load(home), "chroma": True, "chroma_days": 0}, idle_seconds=5.0)
        began = time.perf_counter()
        engine.start()
        while engine.state != "ready":
            time.sleep(0.05)
        peak, during, joined = 0, [], 0
        while engine.waiting:
            took, hybrid = asked(database, engine, next(queries))
            during.append(took)
            joined += hybrid
            peak = max(peak, engine.status()["rss_bytes"] or 0)
            time.sleep(0.1)
        seconds = time.perf_counter() - began
        told = engine.status()
        after = [asked(database, engine, next(queries))[0] for _ in range(100)]
        size = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(
            os.path.join(home, "chroma", "index")) for name in names)
        while engine.state != "idle":
            time.sleep(0.2)
        gone = engine.status()["processes"] == 0
        engine.close()
    texts = 2 * count / seconds
    figures: dict[str, Any] = {
        "records": f"{told['records']:,}", "records/s": f"{count / seconds:.0f}", "texts/s": f"{texts:.0f}",
        "ms while filling": f"{table.percentile(during, .5):.0f} / {table.percentile(during, .95):.0f}",
        "with meaning": table.share(joined / len(during)),
        "ms afterwards": f"{table.percentile(after, .5):.0f} / {table.percentile(after, .95):.0f}",
        "helper MB": f"{peak / 1e6:.0f}", "index MB": f"{size / 1e6:.0f}"}
    table.show("An index of meanings: filled, and asked with filters meanwhile and afterwards (median / 95 of 100)",
               ["", *figures], [["Chroma", *figures.values()]])
    bars = {"texts/s": texts >= TEXTS_A_SECOND, "median ms": table.percentile(after, .5) <= QUERY_MS,
            "p95 while filling": table.percentile(during, .95) <= SLOWER * table.percentile(after, .95),
            "helper MB": peak / 1e6 <= HELPER_MB, "gone when idle": gone, "records": told["records"] == count}
    for name, held in bars.items():
        if not held:
            print(f"missed: {name}", file=sys.stderr)
    return 0 if all(bars.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
