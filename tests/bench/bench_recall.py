"""How often the memory asked for is among the first, over real coding sessions with labelled questions.

    python tests/bench/bench_recall.py [--kinds] [--results FILE]

Reads $MEMLITE_BENCH_DATA/coding-memory, whose own score.py and budget.py do the counting. All transcripts are
imported by the command line, every question is a `memlite query`; what a result costs is the length of the text
that the command prints for it. Ends with 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import baselines
import product
import table

LEAST = {"R@1": 0.45, "R@5": 0.63, "MRR": 0.53, "easy": 0.95, "medium": 0.85, "1,000 chars": 0.48}
MOST = {"chars@5": 2500, "rows": 12}


def ask(memlite: product.Memlite, question: str) -> dict[str, Any]:
    """A question and its answer in the form the scorer reads, without the id."""
    options = ("--all-projects", "--limit", "10")
    answer = memlite.json("query", "--format", "full", *options, "--", question)
    found = answer["results"]
    costs = shown(memlite.text("query", *options, "--", question), [result["id"] for result in found])
    return {"results": [{"uuids": result["uuids"], "chars": cost, "score": result["score"]}
                        for result, cost in zip(found, costs, strict=True)],
            "confident": answer.get("confident", answer["search"].get("confident", True))}


def shown(text: str, ids: list[str]) -> list[int]:
    """How many characters the printed answer spends on each of the results `ids`, which it names in that order."""
    costs: list[int] = []
    for line in text.splitlines(keepends=True):
        if len(costs) < len(ids) and line.split()[:1] == [ids[len(costs)]]:
            costs.append(0)
        if costs:
            costs[-1] += len(line)
    if len(costs) != len(ids):
        raise SystemExit(f"the printed answer shows {len(costs)} of the results {ids}:\n{text}")
    return costs


def main() -> int:
    """Measure, print the tables, and return 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", action="store_true", help="recall by kind of question too")
    parser.add_argument("--results", type=Path, help="write memlite's results to this file, for score.py")
    options = parser.parse_args()
    folder = product.data("coding-memory")
    sys.path.insert(0, str(folder))
    import budget
    import score

    queries = score.load([folder / "dev" / "queries.jsonl"])
    sources = [folder / "transcripts", folder / "hay"]
    everything = list(baselines.rows(sources))
    with tempfile.TemporaryDirectory() as home:
        memlite = product.Memlite(Path(home))
        stored = [memlite.json("import", "transcripts", str(source)) for source in sources]
        answers = {"memlite": [{"id": query["id"], **ask(memlite, query["query"])} for query in queries]}
    for name, engine in (("FTS5, a row each", baselines.FullText(everything)), ("grep", baselines.Grep(everything))):
        answers[name] = [{"id": query["id"], "results": engine.search(query["query"])} for query in queries]
    if options.results:
        options.results.write_text("".join(json.dumps(line) + "\n" for line in answers["memlite"]), encoding="utf-8")

    asked = [query for query in queries if query["kind"] != "nothing"]
    lines, kinds, measured = [], {}, {}
    for name, given in answers.items():
        groups, nothing, _ = score.evaluate(queries, given)
        kinds[name] = groups
        whole = groups["ALL"]
        within = budget.hits(asked, {line["id"]: line["results"] for line in given}, 1000, skip=False)
        sizes = [len(result["uuids"]) for line in given for result in line["results"]]
        figures = {"R@1": whole["r@1"], "R@5": whole["r@5"], "R@10": whole["r@10"], "MRR": whole["mrr"],
                   **{level: groups[f"difficulty:{level}"]["r@5"] for level in ("easy", "medium", "hard")},
                   "1,000 chars": sum(within.values()) / len(asked), "chars@5": whole["chars@5"],
                   "rows": sum(sizes) / len(sizes), "silent": nothing["abstained"],
                   "shy": nothing["abstained on answerable"]}
        measured[name] = figures
        lines.append([name, *(f"{value:.0f}" if title == "chars@5" else f"{value:.1f}" if title == "rows"
                              else table.share(value) for title, value in figures.items())])
    kinds_stored = ("files", "observations", "summaries", "prompts")
    counts = {kind: sum(report[kind] for report in stored) for kind in kinds_stored}
    title = (f"Recall over {counts['files']} coding sessions ({counts['observations']} observations, "
             f"{counts['summaries']} summaries, {counts['prompts']} prompts), {len(asked)} questions. Easy, medium,\n"
             "hard: R@5. 1,000 chars: found within that much shown text. rows: transcript rows of a result.\n"
             "silent: no good match, it said, to a question without an answer; shy: to one that has one")
    table.show(title, ["", *measured["memlite"]], lines)
    if options.kinds:
        names = sorted(group for group in kinds["memlite"] if group.startswith("kind:"))
        print()
        table.show("R@5 by kind of question", ["", "questions", *kinds],
                   [[name.removeprefix("kind:"), str(kinds["memlite"][name]["n"]),
                     *(table.share(groups[name]["r@5"]) for groups in kinds.values())] for name in names])
    ours = measured["memlite"]
    missed = [f"{name} is {ours[name]:.3f}, the bar is {bar}" for name, bar in {**LEAST, **MOST}.items()
              if (ours[name] < bar if name in LEAST else ours[name] > bar)]
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
