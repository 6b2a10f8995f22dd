"""How often a prompt brings back a memory, and how often rightly: prompts about stored sessions against other prompts.

    python tests/bench/bench_prompts.py [--list]

Reads $MEMLITE_BENCH_DATA/coding-memory. Its sessions are imported by the command line; then its questions are typed as
prompts in the folders of the sessions they are about, and the ordinary prompts of data/ordinary_prompts.txt, which
are about other work, in each of these folders. Every prompt goes through the handler of UserPromptSubmit, in a session
of its own, with capture off, so that no prompt knows of another. Ends with 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import product
import table

from memlite.hooks import entry
from memlite.model import parse_ref
from memlite.store import records
from memlite.store.database import Database, open_database

ORDINARY = Path(__file__).with_name("data") / "ordinary_prompts.txt"
FIRES, RIGHT, SILENT = 0.50, 0.80, 0.05     # at least; at least of the firings; at most
LONGEST = 600                               # characters that one prompt may be given


def ordinary() -> list[str]:
    """The ordinary prompts; in the file a line with a percent sign parts them."""
    return ORDINARY.read_text(encoding="utf-8").strip("\n").split("\n%\n")


def brought_back(database: Database, home: str, prompt: str, cwd: str, number: int) -> tuple[str, list[Any]]:
    """(what the model is given for the prompt, the memories in it)."""
    payload = {"session_id": f"prompt-{number}", "cwd": cwd, "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    answer: Any = entry.run("UserPromptSubmit", payload, home) or {}
    text = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
    references = [parse_ref(cited) for cited in re.findall(r"^#(\S+)", text, re.MULTILINE)]
    return text, records.fetch(database, [reference for reference in references if reference])


def main() -> int:
    """Measure, print the table, and return 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="list the ordinary prompts that brought something back")
    options = parser.parse_args()
    folder = product.data("coding-memory")
    sys.path.insert(0, str(folder))
    import score

    queries = score.load([folder / "dev" / "queries.jsonl"])
    os.environ["MEMLITE_CAPTURE"] = "0"
    with tempfile.TemporaryDirectory() as scratch:
        memlite = product.Memlite(Path(scratch))
        del memlite.environment["MEMLITE_CAPTURE"]
        for source in ("transcripts", "hay"):
            memlite.json("import", "transcripts", str(folder / source))
        home = str(Path(scratch) / "memlite")
        with open_database(home) as database:
            cwds = {row[0]: row[1] for row in database.rows("SELECT session_id, cwd FROM sessions")}
            folders = list(dict.fromkeys(cwds[query["session"]] for query in queries if query["session"] in cwds))
            asked = {
                "answerable questions": [(query["query"], cwds[query["session"]], set(query["evidence"]))
                                         for query in queries if query["kind"] != "nothing"],
                "questions about nothing stored": [(query["query"], cwd, set()) for query in queries
                                                   if query["kind"] == "nothing" for cwd in folders],
                "ordinary prompts": [(prompt, cwd, set()) for prompt in ordinary() for cwd in folders]}
            lines, shares, number, longest = [], {}, 0, 0
            for kind, prompts in asked.items():
                fired, right = 0, 0
                for prompt, cwd, evidence in prompts:
                    number += 1
                    text, found = brought_back(database, home, prompt, cwd, number)
                    longest = max(longest, len(text))
                    fired += bool(text)
                    right += any(evidence & set(record.uuids) for record in found)
                    if text and not evidence and options.list:
                        print(f"{cwd}: {prompt[:100]!r} → {[record.headline for record in found]}")
                shares[kind] = (fired / len(prompts), right / fired if fired else 0.0)
                lines.append([kind, str(len(prompts)), table.share(shares[kind][0]),
                              table.share(shares[kind][1]) if kind == "answerable questions" else ""])
    table.show(f"What prompts bring back, at most {longest} characters; right: of those that brought something",
               ["", "prompts", "brought", "right"], lines)
    (fires, right), (nothing, _), (disturbed, _) = shares.values()
    missed = [text for text, wrong in (
        (f"{fires:.3f} of the answerable questions brought something, the bar is {FIRES}", fires < FIRES),
        (f"{right:.3f} of that was right, the bar is {RIGHT}", right < RIGHT),
        (f"{nothing:.3f} of the questions about nothing stored brought something, the bar is {SILENT}",
         nothing > SILENT),
        (f"{disturbed:.3f} of the ordinary prompts brought something, the bar is {SILENT}", disturbed > SILENT),
        (f"{longest} characters were given, the bar is {LONGEST}", longest > LONGEST)) if wrong]
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
