"""Real sessions become exactly these memories. A person has read each line of the expected values and found it right.

`python tests/test_real_sessions.py` writes the expected values anew: read the difference before committing it.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from memlite.capture.ingest import ingest
from memlite.model import OBSERVATION, PROMPT, SUMMARY
from memlite.store import records
from memlite.store.database import open_database

DATA = Path(__file__).parent / "data"
TRANSCRIPTS = sorted((DATA / "transcripts").glob("*.jsonl"))
_SHOWN = {
    PROMPT: ("prompt_number", "text"),
    OBSERVATION: ("prompt_number", "type", "title", "subtitle", "facts", "files_read", "files_modified", "concepts"),
    SUMMARY: ("prompt_number", "request", "next_steps", "files_edited"),
}


def memories(transcript: Path) -> dict[str, list[dict[str, Any]]]:
    """What a transcript is turned into, by kind; `rows` is from how many of its rows."""
    with tempfile.TemporaryDirectory() as home, open_database(home) as database:
        ingest(database, str(transcript))
        return {kind: [{**{name: getattr(record, name) for name in shown}, "rows": len(record.uuids)}
                       for record in records.every(database, kind)] for kind, shown in _SHOWN.items()}


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem[:8])
def test_session_becomes_exactly_these_memories(transcript: Path) -> None:
    """Every prompt, observation and summary, field by field."""
    expected = json.loads((DATA / "expected" / f"{transcript.stem}.json").read_text(encoding="utf-8"))
    assert memories(transcript) == expected


def test_there_are_sessions_to_test() -> None:
    """The control: an empty folder would let everything pass."""
    assert len(TRANSCRIPTS) >= 3


if __name__ == "__main__":
    for path in TRANSCRIPTS:
        target = DATA / "expected" / f"{path.stem}.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(memories(path), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
