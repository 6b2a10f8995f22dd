"""Recall over long conversations between people: LoCoMo, its sessions as documents, then its single turns.

    python tests/bench/bench_locomo.py

Reads $MEMLITE_BENCH_DATA/locomo/locomo_first5.json (five conversations; the data is not ours to copy). A session
becomes one observation with the session's words; a question is searched in its own conversation, and counts as
found when a session (or turn) that holds evidence is among the first results.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import product
import table

from memlite.model import OBSERVATION, Observation, Project, Session
from memlite.search.controller import search
from memlite.search.request import SearchRequest
from memlite.store import write
from memlite.store.database import Database, open_database

DEPTHS = (1, 5, 10)
BARS = {5: 0.87, 10: 0.94}  # of sessions, at least


def sessions(conversation: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """(date, turns) of each session of a conversation, in order."""
    names = sorted((name for name in conversation if re.fullmatch(r"session_\d+", name)), key=lambda n: int(n[8:]))
    return [(conversation[f"{name}_date_time"], conversation[name]) for name in names]


def said(turn: dict[str, Any]) -> str:
    """A turn as a line, with what its picture shows."""
    picture = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{picture}"


def as_sessions(conversation: dict[str, Any]) -> list[Observation]:
    """One observation for each session: dated, all turns in it."""
    return [Observation(title=date, narrative="\n".join(said(turn) for turn in turns),
                        uuids=[turn["dia_id"] for turn in turns]) for date, turns in sessions(conversation)]


def as_turns(conversation: dict[str, Any]) -> list[Observation]:
    """One observation for each turn."""
    return [Observation(title=date, narrative=said(turn), uuids=[turn["dia_id"]])
            for date, turns in sessions(conversation) for turn in turns]


def fill(database: Database, conversations: list[dict[str, Any]],
         documents: Callable[[dict[str, Any]], list[Observation]]) -> int:
    """Store every conversation as a project of its own. Returns how many memories there are."""
    count = 0
    with database.transaction():
        for number, talk in enumerate(conversations):
            owner = Session(session_id=f"talk-{number}", project=Project(root=f"/talk/{number}", name=f"talk-{number}"))
            for moment, document in enumerate(documents(talk["conversation"])):
                document.created_at_epoch = moment + 1
                document.uuids = [f"{number}/{turn}" for turn in document.uuids]
                if write.store(database, document, owner) is None:
                    raise SystemExit(f"not stored: {document}")
                count += 1
    return count


def recall(database: Database, conversations: list[dict[str, Any]]) -> tuple[int, dict[int, float]]:
    """(questions asked, share of them found within each of DEPTHS)."""
    asked, found = 0, dict.fromkeys(DEPTHS, 0)
    for number, talk in enumerate(conversations):
        for question in talk["qa"]:
            evidence = {f"{number}/{turn}" for turn in re.findall(r"D\d+:\d+", " ".join(question["evidence"]))}
            if not evidence:
                continue
            asked += 1
            request = SearchRequest(query=question["question"], roots=(f"/talk/{number}",), kinds=(OBSERVATION,),
                                    limit=max(DEPTHS))
            hits = search(database, request).hits
            rank = next((place for place, hit in enumerate(hits, 1) if evidence & set(hit.record.uuids)), None)
            for depth in DEPTHS:
                found[depth] += rank is not None and rank <= depth
    return asked, {depth: count / asked for depth, count in found.items()}


def main() -> int:
    """Measure, print the table, and return 1 when a bar is missed."""
    file = product.data("locomo") / "locomo_first5.json"
    conversations = json.loads(file.read_text(encoding="utf-8"))
    lines, measured = [], {}
    for name, documents in (("sessions", as_sessions), ("turns", as_turns)):
        with tempfile.TemporaryDirectory() as home, open_database(home) as database:
            count = fill(database, conversations, documents)
            asked, measured[name] = recall(database, conversations)
        lines.append([name, str(count), *(table.share(value) for value in measured[name].values())])
    table.show(f"Recall over LoCoMo, {len(conversations)} conversations, {asked} questions",
               ["", "memories", *(f"R@{depth}" for depth in DEPTHS)], lines)
    missed = [f"R@{depth} of sessions is {measured['sessions'][depth]:.3f}, the bar is {bar}"
              for depth, bar in BARS.items() if measured["sessions"][depth] < bar]
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
