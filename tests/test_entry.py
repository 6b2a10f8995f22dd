"""entry: whatever happens to a hook, it exits 0 and prints its JSON or nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memlite.hooks import entry
from memlite.store.database import open_database

DATA = Path(__file__).parent / "data" / "hook-payloads"


def hook(event: str, given: bytes | dict[str, Any], home: str,
         **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run `memlite hook EVENT` as the client does."""
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    return subprocess.run([sys.executable, "-m", "memlite", "hook", event], input=data, capture_output=True, timeout=60,
                          env={**os.environ, "MEMLITE_HOME": home, "MEMLITE_BACKFILL": "0", **environment})


def log(home: str) -> str:
    """The hooks' log."""
    path = Path(home, "memlite.log")
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_good_hook_prints_json_and_logs_nothing(home: str) -> None:
    """The control of all that follows."""
    done = hook("SessionStart", {"cwd": "/nowhere/shop", "source": "startup"}, home)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "nothing remembered of shop" in json.loads(done.stdout)["systemMessage"]
    assert log(home) == ""


@pytest.mark.parametrize(("given", "reason"), [
    (b"", "not JSON"), (b"{", "not JSON"), (b"[]", "not a JSON object"), (b"null", "not a JSON object"),
    (b"\xff\xfe\x00", "not JSON"), (b"[" * 100_000, "nested too deeply"), (b'{"prompt": "x"} {}', "extra data")])
def test_odd_input_is_silent_and_logged(home: str, given: bytes, reason: str) -> None:
    """Exit 0, nothing printed, one line in the private log that names event, error and place."""
    done = hook("UserPromptSubmit", given, home)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    [line] = log(home).splitlines()
    assert "hook UserPromptSubmit: ValueError:" in line and reason in line and line.endswith("]")
    assert os.stat(Path(home, "memlite.log")).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("arguments", [[], [""], ["Novelty"], ["Stop", "extra"], ["--json"], ["stop"]])
def test_odd_arguments_are_silent(home: str, arguments: list[str]) -> None:
    """Usage errors of other programs exit 2, which would block the person's prompt."""
    done = subprocess.run([sys.executable, "-m", "memlite", "hook", *arguments], input=b"{}", capture_output=True,
                          env={**os.environ, "MEMLITE_HOME": home})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_settings_that_can_not_be_read_are_logged(home: str) -> None:
    """The hook does nothing rather than something else than was set."""
    os.mkdir(home, 0o700)
    Path(home, "settings.json").write_text("{")
    assert hook("UserPromptSubmit", {"prompt": "fix it"}, home).returncode == 0
    assert "settings.json" in log(home)
    assert not Path(home, "memlite.db").exists()


def test_closed_output_is_no_failure(home: str) -> None:
    """The client may have stopped listening."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "memlite", "hook", "SessionStart"], input=b'{"cwd": "/nowhere/shop"}',
                          stdout=write, env={**os.environ, "MEMLITE_HOME": home, "MEMLITE_BACKFILL": "0"})
    os.close(write)
    assert done.returncode == 0 and "BrokenPipeError" in log(home)


def test_log_starts_anew_when_it_grows_large(home: str) -> None:
    """The one before is kept; a line is bounded and on one line."""
    os.mkdir(home, 0o700)
    Path(home, "memlite.log").write_text("x" * 600_000)
    entry.log(home, "Stop", ValueError("a\nb" * 1000))
    assert Path(home, "memlite.log.1").stat().st_size == 600_000
    [line] = log(home).splitlines()
    assert len(line) < 700 and "ValueError: a ba b" in line


def test_log_that_can_not_be_written_is_no_error(tmp_path: Path) -> None:
    """A full disk must not turn into a failed hook; without a home nothing is written anywhere."""
    (tmp_path / "file").write_text("")
    before = sorted(os.listdir("."))
    entry.log(str(tmp_path / "file"), "Stop", ValueError("x"))
    entry.log("", "Stop", ValueError("x"))
    assert sorted(os.listdir(".")) == before


def test_missing_home_variable_is_no_failure(home: str, tmp_path: Path) -> None:
    """Neither HOME nor MEMLITE_HOME, nor anything else in the environment but what Python needs."""
    done = subprocess.run([sys.executable, "-m", "memlite", "hook", "SubagentStop"], input=b"{}", capture_output=True,
                          cwd=tmp_path, env={"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert os.listdir(tmp_path) == []


def test_database_in_use_is_waited_for_and_then_given_up(home: str) -> None:
    """Within the hook's time, with the reason in the log."""
    with open_database(home) as database, database.transaction():
        done = hook("UserPromptSubmit", {"prompt": "fix it", "cwd": "/nowhere/shop"}, home)
    assert (done.returncode, done.stdout) == (0, b"")
    assert "StoreBusy" in log(home)
    assert hook("UserPromptSubmit", {"prompt": "fix it", "cwd": "/nowhere/shop"}, home).returncode == 0
    with open_database(home) as database:
        assert database.rows("SELECT count(*) FROM prompts")[0][0] == 1


def test_log_holds_no_secret(home: str) -> None:
    """A path, an event name or an error message may hold one."""
    secret = "ghp_" + "a1B2" * 9
    entry.log(home, secret, FileNotFoundError(2, "No such file or directory", f"/tmp/{secret}.jsonl"))
    assert secret not in log(home) and log(home).count("[redacted:github-token]") == 2
