"""events: each hook event does its part, and together they remember what one reading would."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from memlite.capture import ingest
from memlite.hooks import background, events
from memlite.hooks.entry import run
from memlite.model import OBSERVATION, PROMPT, SUMMARY
from memlite.store import records
from memlite.store.database import open_database
from rows import Script, shop_session
from stored import contents, sound


class Client:
    """Plays the client: grows the transcript, calls the hooks."""

    def __init__(self, home: str, folder: Path, script: Script) -> None:
        self.home = home
        self.path = str(folder / "projects" / "-nowhere-shop" / f"{script.session}.jsonl")
        self.script = script

    def hook(self, event: str, **more: Any) -> Any:
        """Call a hook with the keys that every event has, and `more`. Returns what it answers."""
        payload = {"session_id": self.script.session, "transcript_path": self.path, "cwd": self.script.cwd,
                   "hook_event_name": event, **more}
        return run(event, payload, self.home)

    def write(self) -> None:
        """Bring the transcript up to date."""
        self.script.write(self.path)

    def all(self, kind: str) -> list[Any]:
        """All stored records of a kind."""
        with open_database(self.home) as database:
            assert sound(database)
            return list(records.every(database, kind))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The background readings that hooks would have started, by the transcript they name."""
    calls: list[str] = []
    monkeypatch.setattr(background, "start_import", lambda home, path="": calls.append(path))
    return calls


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The data directories for which hooks would have started a worker."""
    calls: list[str] = []
    monkeypatch.setattr(background, "start_worker", calls.append)
    return calls


@pytest.fixture
def client(home: str, tmp_path: Path, started: list[str]) -> Client:
    """A client with an empty session."""
    return Client(home, tmp_path / "claude", Script())


def test_prompt_is_stored_at_once(client: Client) -> None:
    """Before there is a transcript; with its project, id and moment."""
    before = time.time_ns() // 1_000_000
    assert client.hook("UserPromptSubmit", prompt="fix the prices", prompt_id="p-1") is None
    [prompt] = client.all(PROMPT)
    assert (prompt.text, prompt.prompt_id, prompt.project, prompt.uuids) == ("fix the prices", "p-1", "shop", [])
    assert before <= prompt.created_at_epoch <= time.time_ns() // 1_000_000


@pytest.mark.parametrize("prompt", ["", "  ", "/clear", "<task-notification>\n<task-id>1", None, 7, ["x"]])
def test_what_no_person_asked_is_not_stored(client: Client, prompt: Any) -> None:
    """Machine-made prompts, bare commands and payloads without text."""
    client.hook("UserPromptSubmit", prompt=prompt)
    assert not os.path.exists(client.home)
    client.hook("UserPromptSubmit", prompt="a real one")
    assert len(client.all(PROMPT)) == 1


def test_hooks_of_a_session_store_what_one_reading_stores(client: Client, home: str, tmp_path: Path) -> None:
    """Each turn by its Stop, a compaction in between, the end by SessionEnd."""
    whole = shop_session()
    stops = [15, 22, 24]
    for number, row in enumerate(whole.rows, start=1):
        if row.get("promptId"):
            client.hook("UserPromptSubmit", prompt=row["message"]["content"], prompt_id=row["promptId"])
        client.script.rows.append(row)
        client.write()
        if row["type"] == "system":
            assert client.hook("PreCompact", trigger="auto") is None
        if number in stops:
            said = row["message"]["content"][0]["text"]
            assert client.hook("Stop", last_assistant_message=said, stop_hook_active=False) is None
    client.hook("SessionEnd", reason="other")
    with open_database(str(tmp_path / "other")) as other, open_database(home) as database:
        ingest.ingest(other, client.path)
        hooked, read = contents(database), contents(other)
        for table in ("prompts", "observations", "summaries", "catalogue", "projects"):
            assert hooked[table] == read[table]
    assert len(client.all(SUMMARY)) == 3


def test_missed_stop_is_made_up_for_by_the_next(client: Client) -> None:
    """A killed hook loses nothing."""
    client.script.prompt("first")
    client.script.says("The first thing is done and was tested too.")
    client.script.prompt("second")
    client.script.says("The second thing is done and was tested too.")
    client.write()
    client.hook("Stop", last_assistant_message="The second thing is done and was tested too.")
    assert [s.request for s in client.all(SUMMARY)] == ["first", "second"]


def test_without_transcript_the_last_words_are_kept(client: Client) -> None:
    """And not told twice once the transcript is there after all."""
    said = "The prices are fixed; the parser did not know the comma."
    client.hook("Stop", last_assistant_message=said)
    client.hook("Stop")
    assert [s.completed for s in client.all(SUMMARY)] == [said]
    client.script.prompt("fix the prices")
    client.script.says(said)
    client.write()
    client.hook("Stop", last_assistant_message=said)
    assert [(s.request, s.completed) for s in client.all(SUMMARY)] == [("fix the prices", said)]


def test_subagent_is_read_by_its_own_hook(client: Client) -> None:
    """The compaction's own agent, which has no type, is not."""
    agent = Script(agent="a7", name="agent")
    agent.prompt("find the docs")
    agent.runs("make -C doc", "built")
    agent.says("The docs are in doc/ and build with make.")
    path = agent.write(Path(client.path.removesuffix(".jsonl")) / "subagents" / "agent-a7.jsonl")
    client.hook("SubagentStop", agent_id="a7", agent_type="", agent_transcript_path=path)
    assert not os.path.exists(client.home)
    client.hook("SubagentStop", agent_id="a7", agent_type="Explore", agent_transcript_path=path,
                last_assistant_message="The docs are in doc/ and build with make.")
    assert {o.agent for o in client.all(OBSERVATION)} == {"a7"}
    assert client.all(PROMPT) == client.all(SUMMARY) == []


def test_subagent_whose_hook_was_missed_is_read_at_the_turns_end(client: Client) -> None:
    """One that still works in the background is left in its middle."""
    client.script.prompt("go")
    client.script.says("I sent two agents to look for the documentation.")
    client.write()
    folder = Path(client.path.removesuffix(".jsonl")) / "subagents"
    for name in ("done", "busy"):
        agent = Script(agent=name, name=name)
        agent.prompt("find the docs")
        agent.runs(f"make {name}", "built")
        agent.write(folder / f"agent-{name}.jsonl")
    client.hook("Stop", background_tasks=[{"id": "busy", "type": "subagent", "status": "running"}, "odd"])
    assert {o.agent for o in client.all(OBSERVATION)} == {"", "done"}
    client.hook("Stop", background_tasks="odd")
    assert {o.agent for o in client.all(OBSERVATION)} == {"", "done", "busy"}


def test_new_session_is_given_the_projects_memory(client: Client, started: list[str]) -> None:
    """The model gets the block, the person one line; nothing of another project."""
    answer = client.hook("SessionStart", source="startup")
    assert "hookSpecificOutput" not in answer and "nothing remembered of shop" in answer["systemMessage"]
    client.script.rows = shop_session().rows
    client.write()
    client.hook("Stop")
    answer = client.hook("SessionStart", source="startup")
    block = answer["hookSpecificOutput"]["additionalContext"]
    assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert block.startswith("<memlite-memory>") and "decimal comma" in block
    assert "5 memories of shop" in answer["systemMessage"]
    other = Client(client.home, Path(client.path).parent, Script(cwd="/nowhere/else"))
    assert "hookSpecificOutput" not in other.hook("SessionStart", source="startup")


def test_first_session_starts_the_reading_of_the_past(client: Client, started: list[str]) -> None:
    """Once; later only what is behind."""
    client.hook("SessionStart", source="startup")
    assert started == [""]
    with open_database(client.home) as database:
        database.execute("INSERT INTO meta VALUES ('backfilled', '{}')")
    client.hook("SessionStart", source="startup")
    assert started == [""]


def test_long_transcript_is_left_to_the_background(client: Client, started: list[str],
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook takes slices while it has time; the child is told which transcript ends a turn."""
    monkeypatch.setattr(ingest, "SLICE_BYTES", 1)
    monkeypatch.setattr(events, "_READING_SECONDS", {"Stop": -1.0, "PreCompact": -1.0})
    client.script.rows = shop_session().rows
    client.write()
    client.hook("PreCompact", trigger="manual")
    client.hook("Stop")
    assert started == ["", client.path]
    assert 0 < len(client.all(OBSERVATION)) < 5


@pytest.mark.parametrize(("setting", "event"), [
    ("capture", "UserPromptSubmit"), ("capture", "Stop"), ("capture", "PreCompact"), ("capture", "SubagentStop"),
    ("capture", "SessionEnd")])
def test_capture_that_is_off_stores_nothing(client: Client, monkeypatch: pytest.MonkeyPatch, setting: str,
                                            event: str) -> None:
    """For one session by the environment; on again it does."""
    client.script.rows = shop_session().rows
    client.write()
    payload = {"prompt": "remember me", "last_assistant_message": "and me", "agent_type": "x",
               "agent_transcript_path": client.path}
    monkeypatch.setenv(f"MEMLITE_{setting.upper()}", "0")
    client.hook(event, **payload)
    assert not os.path.exists(client.home)
    monkeypatch.delenv(f"MEMLITE_{setting.upper()}")
    client.hook(event, **{**payload, "last_assistant_message": None})
    assert sum(len(client.all(kind)) for kind in (OBSERVATION, SUMMARY, PROMPT)) > 0


def test_injection_and_backfill_can_be_turned_off(client: Client, started: list[str],
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by itself."""
    client.script.rows = shop_session().rows
    client.write()
    client.hook("Stop")
    monkeypatch.setenv("MEMLITE_INJECT", "0")
    assert client.hook("SessionStart", source="startup") is None and started == [""]
    monkeypatch.setenv("MEMLITE_BACKFILL", "0")
    client.hook("SessionStart", source="startup")
    assert started == [""]


@pytest.mark.parametrize("event", list(events.HANDLERS))
@pytest.mark.parametrize("payload", [{}, {"cwd": 5, "session_id": [], "transcript_path": {}, "prompt": None},
                                     {"transcript_path": "/nowhere", "cwd": "\x00", "session_id": "\ud800"}])
def test_payload_without_what_an_event_needs_is_no_error(client: Client, event: str, payload: dict[str, Any]) -> None:
    """Keys may be missing or of another type in some version of the client."""
    answer = run(event, payload, client.home)
    assert answer is None or set(answer) <= {"systemMessage", "hookSpecificOutput"}


def test_unknown_event_and_odd_input_are_refused_by_name(client: Client) -> None:
    """The entry point turns this into a line of the log."""
    with pytest.raises(ValueError, match="unknown hook event 'Novelty'"):
        run("Novelty", {}, client.home)
    with pytest.raises(ValueError, match="not a JSON object"):
        run("Stop", [], client.home)


def test_a_new_session_starts_the_worker_unless_that_is_unwanted(
        client: Client, workers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its start: other events do not."""
    client.hook("SessionStart", source="startup")
    assert workers == []   # these tests want none
    monkeypatch.delenv("MEMLITE_WORKER")
    client.hook("UserPromptSubmit", prompt="Prices with a comma crash the shop")
    client.hook("Stop")
    assert workers == []
    client.hook("SessionStart", source="startup")
    assert workers == [client.home]


def test_a_worker_that_can_not_be_started_is_in_the_log_and_stops_nothing(
        home: str, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session does well without."""
    from memlite import processes

    def fail(*arguments: Any, **more: Any) -> int:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.delenv("MEMLITE_WORKER")
    monkeypatch.setattr(processes, "start_detached", fail)
    client.hook("SessionStart", source="startup")
    assert "temporarily unavailable" in Path(home, "memlite.log").read_text(encoding="utf-8")
