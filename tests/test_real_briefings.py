"""What a session is told that begins three hours after a real one. A person has read each text and found it useful.

`python tests/test_real_briefings.py` writes the expected texts anew: read the difference before committing it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from memlite import briefing
from memlite.capture.ingest import ingest
from memlite.model import Project
from memlite.store.database import open_database

DATA = Path(__file__).parent / "data"
TRANSCRIPTS = sorted((DATA / "transcripts").glob("*.jsonl"))
LATER = 3 * 3_600_000   # ms


def told(transcript: Path) -> str:
    """The text for the model, in the project and on the branch of the session."""
    with tempfile.TemporaryDirectory() as home, open_database(home) as database:
        ingest(database, str(transcript))
        root, name = database.rows("SELECT root, name FROM projects")[0]
        branch, last = database.rows("SELECT branch, created_at_epoch FROM observations ORDER BY id DESC LIMIT 1")[0]
        return briefing.compose(database, Project(root=root, name=name), now=last + LATER, branch=branch).text


def expected(transcript: Path) -> Path:
    """Where the text that is right is kept."""
    return DATA / "expected" / f"{transcript.stem}.briefing.txt"


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem[:8])
def test_session_after_a_real_one_is_told_exactly_this(transcript: Path) -> None:
    """Within 2,000 tokens."""
    text = told(transcript)
    assert text + "\n" == expected(transcript).read_text(encoding="utf-8")
    assert 500 < len(text) <= 8_000


def test_there_are_three_sessions_to_come_back_to() -> None:
    """The control: an empty folder would let everything pass."""
    assert len(TRANSCRIPTS) >= 3


if __name__ == "__main__":
    for path in TRANSCRIPTS:
        expected(path).write_text(told(path) + "\n", encoding="utf-8")
