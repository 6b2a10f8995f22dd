"""Whatever breaks in memlite, the person's session goes on as if nothing had happened."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from claude_client import Turn, Workplace, new_session
from fake_anthropic import FakeAnthropic, call, say

WORK = "Count the herons at the weir"
RESULT = "There are seven herons."
AFTERWARDS = "Good morning at the weir"
GARBAGE = random.Random(7).randbytes(100_000)


def can_mount() -> bool:
    """Whether a process may mount folders for itself alone: as root, but not in most containers."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0


class Fault:
    """A way to break memlite: make does the damage, mend undoes it, under is a command to run clients under.

    With a silent fault the client must see exit 0 from every hook; only the client's own time limit can't be
    answered for. A harmless one does not even keep the session from being stored.
    """

    silent = True
    harmless = False
    under: tuple[str, ...] = ()

    def __init__(self, workplace: Workplace) -> None:
        self.workplace = workplace
        self.binary = workplace.plugin / "bin" / "memlite"
        self.spare = workplace.folder / "memlite.spare"
        shutil.copy2(self.binary, self.spare)

    def make(self) -> None:
        """Does the damage."""

    def mend(self) -> None:
        """Undoes it."""
        shutil.copy2(self.spare, self.binary)


class BinaryDeleted(Fault):
    """The executable is gone, the plugin still enabled."""

    def make(self) -> None:
        self.binary.unlink()


class HookKilled(Fault):
    """Every hook dies of SIGKILL."""

    def make(self) -> None:
        self.binary.write_text('#!/bin/sh\necho $2 >>"$0.ran"\nkill -9 $$\n')


class HookHangs(Fault):
    """Every hook hangs, past a time limit that is lowered to a second for the test's sake."""

    silent = False

    def make(self) -> None:
        self.binary.write_text('#!/bin/sh\necho $2 >>"$0.ran"\nexec sleep 600\n')
        self.hooks = self.workplace.plugin / "hooks" / "hooks.json"
        self.before = self.hooks.read_text()
        declared = json.loads(self.before)
        for groups in declared["hooks"].values():
            for hook in (hook for group in groups for hook in group["hooks"]):
                hook["timeout"] = 1
        self.hooks.write_text(json.dumps(declared))

    def mend(self) -> None:
        super().mend()
        self.hooks.write_text(self.before)


class DataReadOnly(Fault):
    """The data directory can be read but not written (by a mount, since modes don't bind root)."""

    def make(self) -> None:
        if os.geteuid() == 0:
            if not can_mount():
                pytest.skip("modes don't bind root, and it can't mount here")
            mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
            self.under = ("unshare", "--mount", "sh", "-c", mount, str(self.workplace.data))
        else:
            self._chmod(0o500, 0o400)

    def mend(self) -> None:
        if os.geteuid() != 0:
            self._chmod(0o700, 0o600)

    def _chmod(self, directory: int, file: int) -> None:
        for path in self.workplace.data.iterdir():
            path.chmod(directory if path.is_dir() else file)
        self.workplace.data.chmod(directory)


class DataIsAFile(Fault):
    """Something that is no directory is in the data directory's place."""

    def make(self) -> None:
        self.workplace.data.rename(self.workplace.folder / "data.spare")
        self.workplace.data.write_text("not a directory\n")

    def mend(self) -> None:
        assert self.workplace.data.read_text() == "not a directory\n"
        self.workplace.data.unlink()
        (self.workplace.folder / "data.spare").rename(self.workplace.data)


class TemporaryFolderNoexec(Fault):
    """The folder for temporary files is mounted noexec, which a one-file executable can't unpack into."""

    harmless = True

    def make(self) -> None:
        if not can_mount():
            pytest.skip("only root can mount, and not in every container")
        mount = 'mount -t tmpfs -o noexec tmpfs "$0" && exec "$@"'
        self.under = ("unshare", "--mount", "sh", "-c", mount, str(self.workplace.folder / "tmp"))


FAULTS = (BinaryDeleted, HookKilled, HookHangs, DataReadOnly, DataIsAFile, TemporaryFolderNoexec)


class Broken:
    """A healthy session, the same with the fault, and (the fault mended) what is stored, then one more."""

    def __init__(self, workplace: Workplace, api: FakeAnthropic, kind: type[Fault]) -> None:
        api.script(WORK, say("I'll count.", call("Bash", command="sh survey.sh seven-herons")), RESULT)
        api.script(AFTERWARDS, "Good morning.")
        self.workplace = workplace
        self.project = workplace.project("weir")
        self.healthy = workplace.say(WORK, self.project, session=new_session())
        workplace.settle()
        self.fault = kind(workplace)
        self.fault.make()
        self.id = new_session()
        self.turn = workplace.say(WORK, self.project, session=self.id, under=self.fault.under)
        self.probe = subprocess.run(
            [*self.fault.under, "touch", str(workplace.data / "probe")], capture_output=True, text=True
        )
        self.fault.mend()
        self.stored = self.memories()
        self.next = workplace.say(AFTERWARDS, self.project, session=new_session())
        workplace.settle()

    def memories(self) -> list[dict[str, Any]]:
        """What is stored of the session with the fault."""
        return [m for m in self.workplace.memories(self.project) if m["session_id"] == self.id]


@pytest.fixture(scope="module", params=FAULTS, ids=lambda kind: kind.__name__)
def broken(
    new_workplace: Callable[[], Workplace], api: FakeAnthropic, request: pytest.FixtureRequest
) -> Broken:
    """The three sessions around one fault."""
    return Broken(new_workplace(), api, request.param)


def course(turn: Turn) -> tuple[int, str, int, list[str]]:
    """What a person and the model saw of a session."""
    return turn.returncode, turn.answer, len(turn.requests), turn.requests[-1].tool_results


def test_the_session_goes_as_without_the_fault(broken: Broken) -> None:
    """Exit code, answer, number of requests and tool results are those of the healthy session."""
    assert course(broken.healthy) == (0, RESULT, 2, ["surveyed: seven-herons"])
    assert course(broken.turn) == course(broken.healthy)


def test_the_person_is_not_bothered(broken: Broken) -> None:
    """No hook is reported as failed or blocking.

    One that ran out of the client's time is cancelled, and newer clients say so of SessionEnd.
    """
    complaints = broken.turn.stderr.splitlines()
    if broken.fault.silent:
        assert complaints == []
    assert all(line.startswith("SessionEnd hook") and line.endswith("cancelled") for line in complaints)
    for hook in broken.turn.hooks:
        assert hook.exit_code != 2, "this would block the prompt"
        if broken.fault.silent:
            assert (hook.exit_code, hook.outcome) == (0, "success"), hook
            assert hook.stdout == "" or isinstance(json.loads(hook.stdout), dict), hook
        else:
            assert (hook.outcome, hook.stdout) == ("cancelled", ""), hook


def test_the_fault_was_real(broken: Broken) -> None:
    """With the fault nothing could be stored, or it took a second try that the log tells of."""
    assert broken.healthy.hooks
    if isinstance(broken.fault, DataReadOnly):
        assert broken.probe.returncode != 0
        assert "ead-only" in broken.probe.stderr or "denied" in broken.probe.stderr
    if isinstance(broken.fault, HookKilled | HookHangs):
        assert "Stop" in Path(f"{broken.fault.binary}.ran").read_text().split()
    if broken.fault.harmless:
        assert [memory["text"] for memory in broken.stored if memory["kind"] == "prompt"] == [WORK]
        assert "noexec" in (broken.workplace.data / "memlite.log").read_text()
    else:
        assert broken.stored == []


def test_the_session_is_remembered_once_the_fault_is_mended(broken: Broken) -> None:
    """The transcript is the queue: the next session's start reads what the faulty one could not store."""
    assert broken.next.answer == "Good morning."
    memories = broken.memories()
    assert [memory["text"] for memory in memories if memory["kind"] == "prompt"] == [WORK]
    assert any("surveyed: seven-herons" in json.dumps(m) for m in memories if m["kind"] == "observation")


@pytest.fixture(scope="module")
def garbage(new_workplace: Callable[[], Workplace], api: FakeAnthropic) -> Workplace:
    """A workplace where the database is no database, and a session was held."""
    workplace = new_workplace()
    api.script(WORK, say("I'll count.", call("Bash", command="sh survey.sh seven-herons")), RESULT)
    api.script(AFTERWARDS, "Good morning.")
    workplace.data.mkdir(mode=0o700)
    (workplace.data / "memlite.db").write_bytes(GARBAGE)
    workplace.say(WORK, workplace.project("weir"), session=new_session())
    workplace.settle()
    return workplace


def test_a_garbage_database_disturbs_no_session_and_is_kept(garbage: Workplace) -> None:
    """The session goes well, no hook fails, and the bytes are still there for a rescue."""
    turn = garbage.turns[0]
    assert course(turn) == (0, RESULT, 2, ["surveyed: seven-herons"])
    assert {(hook.exit_code, hook.outcome, hook.stderr) for hook in turn.hooks} == {(0, "success", "")}
    assert GARBAGE in [path.read_bytes() for path in garbage.data.rglob("*") if path.is_file()]


def test_a_garbage_database_is_named_with_a_way_out(garbage: Workplace) -> None:
    """A query says which file is damaged, without a traceback; a command that the hint names exists."""
    asked = garbage.memlite("query", "herons", project=garbage.project("weir"))
    assert asked.returncode > 0
    assert str(garbage.data / "memlite.db") in asked.stderr
    assert "Traceback" not in asked.stderr
    for command in re.findall(r"`memlite ([a-z]+)", asked.stderr):
        assert garbage.memlite(command, "--help", project=garbage.folder).returncode == 0, command


def test_once_a_garbage_database_is_moved_the_sessions_come_back(garbage: Workplace) -> None:
    """The next session's start reads anew what the transcripts hold."""
    project = garbage.project("weir")
    aside = garbage.folder / "aside"
    (garbage.data / "memlite.db").rename(aside)
    garbage.say(AFTERWARDS, project, session=new_session())
    garbage.settle()
    found = json.dumps(garbage.search("herons", project=project))
    (garbage.data / "memlite.db").unlink()
    aside.rename(garbage.data / "memlite.db")
    assert "surveyed: seven-herons" in found
