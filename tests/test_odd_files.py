"""What real clients have sent and written, odd things included, is handled: exit 0, no traceback, skips counted.

MEMLITE_BENCH_DATA may name a folder with more of it: `data/hook-payloads` and `data/odd-transcripts` below it are
read too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memlite.capture import backfill
from memlite.hooks.entry import run
from memlite.hooks.events import HANDLERS
from memlite.model import OBSERVATION, PROMPT, SUMMARY
from memlite.store import records, transcripts
from memlite.store.database import Database, open_database
from stored import sound

DATA = Path(__file__).parent / "data"
MORE = Path(os.environ.get("MEMLITE_BENCH_DATA") or "/nowhere")
PAYLOADS = sorted([*DATA.glob("hook-payloads/*/*.json"), *MORE.glob("data/hook-payloads/*/*.json")])
PAYLOADS = [path for path in PAYLOADS if not path.name.startswith("transcript")]


def named(path: Path) -> str:
    """A short name for a sample."""
    return "/".join(path.parts[-2:])


def program(*arguments: str, given: str = "", home: str) -> subprocess.CompletedProcess[str]:
    """Run memlite."""
    return subprocess.run([sys.executable, "-m", "memlite", *arguments], input=given, capture_output=True, text=True,
                          env={**os.environ, "MEMLITE_HOME": home, "MEMLITE_BACKFILL": "0"})


@pytest.mark.parametrize("path", PAYLOADS, ids=named)
def test_every_payload_is_answered_in_silence_or_json(path: Path, home: str) -> None:
    """Known events and unknown ones, as the client sent them: exit 0, JSON or nothing."""
    event = json.loads(path.read_text())["hook_event_name"]
    done = program("hook", event, given=path.read_text(), home=home)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "" or isinstance(json.loads(done.stdout), dict)
    log = Path(home, "memlite.log")
    assert event not in HANDLERS or not log.exists() or "No such file" in log.read_text(), log.read_text()


@pytest.mark.parametrize("version", ["2.1.197", "2.1.332"])
def test_recorded_session_is_remembered_by_its_recorded_hooks(version: str, home: str, tmp_path: Path) -> None:
    """The payloads of one version with its transcript: prompts, work and subagent are found afterwards."""
    folder = DATA / "hook-payloads" / version
    session = json.loads((folder / "Stop.json").read_text())["session_id"]
    main = tmp_path / f"{session}.jsonl"
    main.write_bytes((folder / "transcript.jsonl").read_bytes())
    agent = tmp_path / session / "subagents" / "agent-a.jsonl"
    agent.parent.mkdir(parents=True)
    agent.write_bytes((folder / "transcript.subagent.jsonl").read_bytes())
    for name in ("SessionStart.startup", "UserPromptSubmit", "SubagentStop", "PreCompact", "Stop", "SessionEnd.other"):
        payload = json.loads((folder / f"{name}.json").read_text())
        payload.update(transcript_path=str(main), agent_transcript_path=str(agent))
        run(payload["hook_event_name"], payload, home)
    with open_database(home) as database:
        assert sound(database)
        prompts = [record.text for record in records.every(database, PROMPT)]  # type: ignore[attr-defined]
        found = list(records.every(database, OBSERVATION))
        assert "TEST-ONE please go" in prompts
        assert any("a.txt" in repr(record) and "exit 3" in repr(record) for record in found)
        assert [record.completed for record in records.every(database, SUMMARY)] == [  # type: ignore[attr-defined]
            "All done."]
        assert set(transcripts.sizes(database)) == {str(main), str(agent)}
        assert {record.project for record in found} == {"proj"}


@pytest.mark.parametrize(("name", "prompts", "observations", "skipped"), [
    ("pretty-printed-gemini", 0, 0, {"not_json": 99, "torn": 1}), ("two-sessions", 1, 2, {}), ("api-error", 1, 2, {}),
    ("image-and-clock", 3, 3, {})])
def test_odd_transcript_gives_what_is_in_it(fresh_db: Database, name: str, prompts: int, observations: int,
                                            skipped: dict[str, int]) -> None:
    """And a count of what is not."""
    path = DATA / "odd-transcripts" / f"{name}.jsonl"
    report = backfill.run(fresh_db, [(str(path), 0)]).as_dict()
    assert (report["prompts"], report["observations"]) == (prompts, observations)
    assert {reason: count for reason, count in report["skipped"].items() if count} == skipped
    assert sound(fresh_db)


def test_import_says_what_it_skipped(home: str) -> None:
    """For a person in a sentence, for a program in numbers; exit 0, nothing on standard error."""
    done = program("import", "transcripts", str(DATA / "odd-transcripts"), home=home)
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 transcripts read" in done.stdout and "rows skipped: 99 not json, 1 torn" in done.stdout
    again = json.loads(program("import", "transcripts", "--json", str(DATA / "odd-transcripts"), home=home).stdout)
    assert (again["observations"], again["skipped"]["torn"]) == (0, 1)


@pytest.mark.skipif(not MORE.is_dir(), reason="MEMLITE_BENCH_DATA names no folder with more odd files")
def test_more_odd_files_are_handled_too(home: str) -> None:
    """Everything below the folder that MEMLITE_BENCH_DATA names."""
    done = program("import", "transcripts", "--json", str(MORE), home=home)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["files"] > 10 and report["unreadable"] == []
    with open_database(home) as database:
        assert sound(database)
