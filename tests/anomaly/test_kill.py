"""Killed at any instant, memlite has stored whole pieces only, and the next run completes them."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from running import Program, kill_after, long_session, payload

from memlite.store.database import open_database
from rows import shop_session
from stored import contents, sound

KILLS = 100


def holding(home: str | Path) -> dict[str, list[tuple[object, ...]]]:
    """All that is stored under `home`, which must be sound."""
    with open_database(str(home)) as database:
        assert sound(database)
        return contents(database)


def settled(home: Path) -> dict[str, list[tuple[object, ...]]]:
    """All that is stored once nothing comes in any more: on a slow machine a hook leaves the rest to the background."""
    before: dict[str, list[tuple[object, ...]]] = {}
    while (now := holding(home)) != before:
        before = now
        time.sleep(1.0)
    return now


def completed(home: Path, expected: dict[str, list[tuple[object, ...]]]) -> bool:
    """Whether the store holds what is expected, if need be after a while. (A bare comparison would print it all.)"""
    deadline = time.monotonic() + 30
    while holding(home) != expected:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def lifetime(memlite: Program, home: Path, *arguments: str, given: object) -> float:
    """How long such a run takes, in seconds: the median of three, each in a copy of `home`."""
    times = []
    for number in range(3):
        copy = home.with_name(f"timed-{number}")
        shutil.copytree(home, copy)
        begin = time.monotonic()
        assert memlite.run(str(copy), *arguments, given=given).code == 0
        times.append(time.monotonic() - begin)
        shutil.rmtree(copy)
    return sorted(times)[1]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A store with an earlier session in it."""
    from memlite.capture.ingest import ingest

    home = tmp_path / "home"
    with open_database(str(home)) as database:
        ingest(database, shop_session(session="earlier", name="e").write(tmp_path / "earlier.jsonl"))
    return home


def test_killed_hook_loses_and_doubles_nothing(memlite: Program, home: Path, tmp_path: Path) -> None:
    """A hundred times, at moments spread over its whole life: the next hook gives the rows of an undisturbed run."""
    path = long_session(tmp_path / "s.jsonl", turns=150)
    given = payload("Stop", path)
    life = lifetime(memlite, home, "hook", "Stop", given=given)
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(home, undisturbed)
    assert memlite.hook(str(undisturbed), "Stop", path).was_silent()
    expected = settled(undisturbed)
    assert len(expected["observations"]) > 300
    chance = random.Random(4711)
    killed, partly = 0, 0
    for number in range(KILLS):
        trial = tmp_path / f"trial-{number}"
        shutil.copytree(home, trial)
        killed += kill_after(memlite.start(str(trial), "hook", "Stop", given=given), chance.uniform(0, 1) * life)
        held = len(holding(trial)["observations"])
        partly += 5 < held < len(expected["observations"])
        assert memlite.hook(str(trial), "Stop", path).was_silent()
        assert completed(trial, expected), f"kill number {number}"
        shutil.rmtree(trial)
    assert killed > KILLS // 4 and partly > 0, "the kills came too late to test anything"


def test_killed_first_run_loses_nothing(memlite: Program, tmp_path: Path) -> None:
    """The store itself is being made when the process dies."""
    path = shop_session(session="s").write(tmp_path / "s.jsonl")
    empty = tmp_path / "empty"
    empty.mkdir()
    life = lifetime(memlite, empty, "hook", "Stop", given=payload("Stop", path))
    expected = None
    chance = random.Random(815)
    for number in range(40):
        trial = tmp_path / f"trial-{number}"
        if number:
            kill_after(memlite.start(str(trial), "hook", "Stop", given=payload("Stop", path)),
                       chance.uniform(0, 1) * life)
        assert memlite.hook(str(trial), "Stop", path).was_silent()
        expected = expected or settled(trial)
        assert completed(trial, expected) and len(expected["observations"]) == 5
        shutil.rmtree(trial)


def test_killed_import_goes_on_where_it_stopped(memlite: Program, home: Path, tmp_path: Path) -> None:
    """Several transcripts, killed in any of them, several times in a row."""
    folder = tmp_path / "projects"
    for number in range(4):
        long_session(folder / f"s{number}.jsonl", turns=30, name=f"n{number}")
    arguments = ("import", "transcripts", str(folder))
    life = lifetime(memlite, home, *arguments, given=None)
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(home, undisturbed)
    assert memlite.run(str(undisturbed), *arguments).code == 0
    expected = holding(undisturbed)
    chance = random.Random(42)
    for number in range(15):
        trial = tmp_path / f"trial-{number}"
        shutil.copytree(home, trial)
        for _ in range(chance.randint(1, 4)):
            kill_after(memlite.start(str(trial), *arguments), chance.uniform(0.2, 1) * life)
            holding(trial)
        assert memlite.run(str(trial), *arguments).code == 0
        assert completed(trial, expected), f"trial {number}"
        shutil.rmtree(trial)


def test_two_sessions_at_once_are_stored_as_one_after_the_other(memlite: Program, home: Path, tmp_path: Path) -> None:
    """One of the two is killed at any moment; its next hook completes it."""
    paths = [long_session(tmp_path / f"s{number}.jsonl", turns=60, name=f"n{number}") for number in range(2)]
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(home, undisturbed)
    for path in paths:
        assert memlite.hook(str(undisturbed), "Stop", path).was_silent()
    expected = settled(undisturbed)
    life = lifetime(memlite, home, "hook", "Stop", given=payload("Stop", paths[0]))
    chance = random.Random(7)
    for number in range(20):
        trial = tmp_path / f"trial-{number}"
        shutil.copytree(home, trial)
        processes = [memlite.start(str(trial), "hook", "Stop", given=payload("Stop", path)) for path in paths]
        if number % 2:
            kill_after(processes[number // 2 % 2], chance.uniform(0, 1.5) * life)
        for process in processes:
            process.communicate(timeout=60)
        for path in paths:
            assert memlite.hook(str(trial), "Stop", path).was_silent()
        assert completed(trial, expected), f"trial {number}"
        assert not (trial / "memlite.log").exists()
        shutil.rmtree(trial)


def test_hooks_of_one_session_at_once_store_it_once(memlite: Program, home: Path, tmp_path: Path) -> None:
    """Stop, SessionEnd and a background import may all read the same rows."""
    path = long_session(tmp_path / "s.jsonl", turns=60)
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(home, undisturbed)
    assert memlite.hook(str(undisturbed), "Stop", path).was_silent()
    expected = holding(undisturbed)
    for number in range(5):
        trial = tmp_path / f"trial-{number}"
        shutil.copytree(home, trial)
        processes = [memlite.start(str(trial), "hook", event, given=payload(event, path))
                     for event in ("Stop", "SessionEnd", "Stop")]
        processes.append(memlite.start(str(trial), "import", "transcripts", path))
        for process in processes:
            output, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors
        assert memlite.hook(str(trial), "Stop", path).was_silent()
        assert completed(trial, expected), f"trial {number}"
        shutil.rmtree(trial)


def test_killed_reindex_gives_the_same_answers_in_the_end(memlite: Program, home: Path, tmp_path: Path) -> None:
    """Killed at any moment of making the index anew: no memory is gone, and the next readings complete it."""
    path = long_session(tmp_path / "s.jsonl", turns=150)
    assert memlite.hook(str(home), "Stop", path).was_silent()
    questions = ("comma", "part 7 of the shop", "tests pass")

    def answers(where: Path) -> list[list[str]]:
        told = [memlite.run(str(where), "query", "-a", "--json", "-n", "20", question).output for question in questions]
        return [[item["id"] for item in json.loads(answer)["results"]] for answer in told]

    before, expected = answers(home), holding(home)
    life = lifetime(memlite, home, "reindex", given=None)
    chance = random.Random(99)
    for number in range(15):
        trial = tmp_path / f"trial-{number}"
        shutil.copytree(home, trial)
        kill_after(memlite.start(str(trial), "reindex"), chance.uniform(0.2, 1) * life)
        for _ in range(10):
            if answers(trial) == before:
                break
        assert answers(trial) == before
        assert completed(trial, expected), f"trial {number}"
        shutil.rmtree(trial)


WRITER = """
import sys
from memlite.model import Observation, Project, Session
from memlite.store import write
from memlite.store.database import open_database
home, name = sys.argv[1:]
for number in range(250):
    with open_database(home, busy_ms=3000) as database, database.transaction():
        record = Observation(title=f"memory {number} of {name}", uuids=[f"{name}-{number}"], created_at_epoch=number)
        write.store(database, record, Session(session_id=f"s-{name}", project=Project(root="/shop", name="shop")))
"""


def test_eight_writers_lose_and_double_nothing(tmp_path: Path) -> None:
    """250 writes each with a hook's patience: 2,000 rows, and nobody hears of a locked database."""
    home = str(tmp_path / "home")
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, home, str(number)], stderr=subprocess.PIPE)
               for number in range(8)]
    assert [(writer.communicate()[1], writer.returncode) for writer in writers] == [(b"", 0)] * 8
    found = holding(home)["observations"]
    assert len(found) == 2000 and len({row[3] for row in found}) == 2000


def test_hooks_in_a_crowd_all_succeed(memlite: Program, tmp_path: Path) -> None:
    """Eight sessions submit twelve prompts each at the same time: 96 prompts, no error in the log."""
    home = str(tmp_path / "home")
    for number in range(12):
        processes = [memlite.start(home, "hook", "UserPromptSubmit", given=payload(
            "UserPromptSubmit", f"/nowhere/s{session}.jsonl", prompt=f"prompt {number}",
            prompt_id=f"{session}-{number}"))
            for session in range(8)]
        for process in processes:
            output, errors = process.communicate(timeout=60)
            assert (process.returncode, errors) == (0, b"")
    assert len(holding(home)["prompts"]) == 96
    assert not (tmp_path / "home" / "memlite.log").exists()
