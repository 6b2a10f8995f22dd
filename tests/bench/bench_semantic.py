"""What searching by meaning adds to the words, over real coding sessions and over LoCoMo's single turns.

    python tests/bench/bench_semantic.py

Needs a Python with chromadb and a model, as `memlite chroma status` finds them (MEMLITE_CHROMA_PYTHON names one), and
$MEMLITE_BENCH_DATA with coding-memory and locomo. The coding sessions are imported, taken in by a worker and asked for
by the command line; LoCoMo's turns are searched in one process. Every record is within reach whatever its age. Ends
with 1 when a bar is missed.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import bench_locomo
import product
import table

from memlite import settings
from memlite.chroma import places
from memlite.chroma.engine import Engine
from memlite.search import controller
from memlite.store.database import open_database

MODES = {"words": "keyword", "meaning": "semantic", "both": "auto"}
GAIN, HARD, LOCOMO_GAIN = 0.05, 0.30, 0.015     # R@5 of both over that of the words, at least; R@5 of hard ones


def coding(folder: Path) -> dict[str, dict[str, Any]]:
    """The scorer's groups for each mode, through worker and command line."""
    sys.path.insert(0, str(folder))
    import score

    queries = score.load([folder / "dev" / "queries.jsonl"])
    found = {}
    with tempfile.TemporaryDirectory() as home:
        memlite = product.Memlite(Path(home))
        memlite.environment.update(MEMLITE_CHROMA="1", MEMLITE_CHROMA_DAYS="0", MEMLITE_PORT="0",
                                   MEMLITE_CHROMA_MODEL=os.environ.get("MEMLITE_CHROMA_MODEL", ""))
        for source in ("transcripts", "hay"):
            memlite.json("import", "transcripts", str(folder / source))
        try:
            memlite.text("start")
            while (told := memlite.json("chroma", "status"))["state"] != "ready" or told["waiting"]:
                if told["state"] not in ("idle", "starting", "ready"):
                    raise SystemExit(f"Chroma is {told['state']}: {told['reason']}")
                time.sleep(0.5)
            for name, mode in MODES.items():
                answers = []
                for query in queries:
                    answer = memlite.json("query", "--format", "full", "--all-projects", "--limit", "10", "--mode",
                                          mode, "--", query["query"])
                    if answer["search"]["degraded"]:
                        print(f"degraded: {answer['search']['reason']}", file=sys.stderr)
                    answers.append({"id": query["id"], "confident": answer["confident"], "results": [
                        {"uuids": result["uuids"], "score": result["score"]} for result in answer["results"]]})
                found[name] = score.evaluate(queries, answers)[0]
        finally:
            memlite.text("stop")
    return found


def locomo(file: Path) -> dict[str, dict[int, float]]:
    """The recall at each depth for each mode, one turn a memory."""
    conversations = json.loads(file.read_text(encoding="utf-8"))
    found = {}
    with tempfile.TemporaryDirectory() as home, open_database(home) as database:
        bench_locomo.fill(database, conversations, bench_locomo.as_turns)
        engine = Engine(home, {**settings.load(home), "chroma": True, "chroma_days": 0})
        engine.start()
        while engine.state != "ready" or engine.waiting:
            if engine.state == "failed":
                raise SystemExit(f"Chroma failed: {engine.reason}")
            time.sleep(0.5)
        whole = controller.search
        for name, mode in MODES.items():
            def search(database: Any, request: Any, mode: str = mode) -> Any:
                request.mode = mode
                return whole(database, request, semantic=engine)
            bench_locomo.search = search    # type: ignore[assignment]
            found[name] = bench_locomo.recall(database, conversations)[1]
        engine.close()
    return found


def main() -> int:
    """Measure, print the table, and return 1 when a bar is missed."""
    missing = places.find("", settings.load("")).missing
    if missing:
        print(f"skipped: {missing}")
        return 0
    groups = coding(product.data("coding-memory"))
    turns = locomo(product.data("locomo") / "locomo_first5.json")
    figures = {name: [group["ALL"]["r@1"], group["ALL"]["r@5"], group["ALL"]["r@10"],
                      *(group[f"difficulty:{level}"]["r@5"] for level in ("easy", "medium", "hard")),
                      *turns[name].values()] for name, group in groups.items()}
    table.show("Recall by words, by meaning, and by both: coding sessions (easy, medium, hard: R@5), LoCoMo's turns",
               ["", "R@1", "R@5", "R@10", "easy", "medium", "hard", "turns R@1", "R@5", "R@10"],
               [[name, *map(table.share, values)] for name, values in figures.items()])
    words, both = figures["words"], figures["both"]
    bars = {"R@5": (both[1], words[1] + GAIN), "R@5 of easy": (both[3], words[3]), "R@5 of medium": (both[4], words[4]),
            "R@5 of hard": (both[5], HARD), "R@5 of LoCoMo's turns": (both[7], words[7] + LOCOMO_GAIN)}
    missed = [f"{name} by both is {value:.3f}, the bar is {bar:.3f}" for name, (value, bar) in bars.items() if
              value < bar - 1e-9]
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
