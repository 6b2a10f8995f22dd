"""doctor: it names what is wrong and the way out, changes nothing unless asked, and loses nothing then."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memlite import doctor, processes, worker_file
from memlite.capture.ingest import ingest
from memlite.doctor import FAIL, OK, WARN, Finding
from memlite.errors import StoreNewer
from memlite.hooks.log import log
from memlite.store.database import open_database
from rows import shop_session
from stored import contents


def finding(home: str, name: str) -> Finding:
    """The finding of that name."""
    return next(found for found in doctor.examine(home) if found.name == name)


def snapshot(folder: str) -> dict[str, tuple[int, bytes]]:
    """Mode and bytes of every file that SQLite does not make and drop by itself."""
    return {path.name: (path.stat().st_mode, path.read_bytes()) for path in Path(folder).iterdir()
            if path.is_file() and not path.name.endswith("-shm") and (path.suffix != ".db-wal" or path.stat().st_size)}


@pytest.fixture
def filled(home: str, tmp_path: Path) -> str:
    """A home with a session in its store, all read; the client's configuration is there."""
    path = shop_session().write(tmp_path / "claude" / "projects" / "-nowhere-shop" / "s.jsonl")
    with open_database(home) as database:
        ingest(database, path)
    return home


@pytest.fixture
def damaged(filled: str) -> str:
    """A home whose database has a page of zeros."""
    path = Path(filled, "memlite.db")
    data = bytearray(path.read_bytes())
    data[len(data) // 2:len(data) // 2 + 8192] = bytes(8192)
    path.write_bytes(data)
    return filled


def test_all_is_well_and_nothing_is_changed_by_looking(filled: str) -> None:
    """Every line is ok and says what was looked at."""
    before = snapshot(filled)
    found = doctor.examine(filled)
    assert {(f.name, f.state) for f in found} == {(name, OK) for name in (
        "data directory", "database", "settings", "hooks", "worker", "by meaning", "Claude Code", "transcripts",
        "program")}
    assert "5 observation" in finding(filled, "database").text and filled in finding(filled, "data directory").text
    assert snapshot(filled) == before


def test_home_that_does_not_exist_is_not_made(home: str) -> None:
    """A fresh machine is a healthy one."""
    assert {found.state for found in doctor.examine(home) if found.name != "Claude Code"} == {OK}
    assert not os.path.exists(home)


def test_home_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    """With the nearest folder that is there."""
    (tmp_path / "file").write_text("")
    found = finding(str(tmp_path / "file" / "below" / "home"), "data directory")
    assert (found.state, "MEMLITE_HOME" in found.hint) == (FAIL, True)
    assert found.text.endswith(f"{tmp_path / 'file'} can't be written")


def test_home_that_is_a_file_is_named(tmp_path: Path) -> None:
    """And nothing else trips over it."""
    (tmp_path / "file").write_text("x")
    assert finding(str(tmp_path / "file"), "data directory").state == FAIL
    doctor.examine(str(tmp_path / "file"))


def test_files_that_others_can_read_are_named_and_closed(filled: str) -> None:
    """Directory and files."""
    Path(filled, "settings.json").write_text("{}")
    os.chmod(filled, 0o755)
    os.chmod(os.path.join(filled, "settings.json"), 0o644)
    found = finding(filled, "data directory")
    assert found.state == WARN and "settings.json" in found.text
    assert doctor.repair(filled) == [f"made {filled} private", "made settings.json private"]
    assert finding(filled, "data directory").state == OK and doctor.repair(filled) == []


def test_disk_that_is_full_is_named(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Full is a failure, nearly full a warning."""
    usage = type(doctor.shutil.disk_usage("/"))  # type: ignore[attr-defined]
    for free, state in ((0, FAIL), (10_000_000, WARN), (10**9, OK)):
        monkeypatch.setattr("shutil.disk_usage", lambda path, free=free: usage(10**9, 10**9 - free, free))
        assert finding(filled, "data directory").state == state


def test_damage_is_named_with_the_way_out_and_left_as_it_is(damaged: str) -> None:
    """Only --fix acts."""
    before = snapshot(damaged)
    found = finding(damaged, "database")
    assert found.state == FAIL and "memlite.db" in found.text and "doctor --fix" in found.hint
    assert snapshot(damaged) == before


def test_repair_moves_the_damage_aside_and_saves_the_rest(damaged: str) -> None:
    """The damaged bytes stay; a new store is sound; a second repair has nothing to do."""
    before = Path(damaged, "memlite.db").read_bytes()
    done = doctor.repair(damaged)
    assert len(done) == 2 and done[0].startswith("moved the damaged store to ") and "transcripts" in done[1]
    kept = Path(done[0].removeprefix("moved the damaged store to "))
    assert kept.read_bytes() == before
    assert finding(damaged, "database").state == OK
    found = finding(damaged, "damaged files")
    assert found.state == OK and str(kept) in found.text
    assert doctor.repair(damaged) == []


def test_what_the_damage_took_comes_back_from_the_transcripts(damaged: str, tmp_path: Path) -> None:
    """Positions are forgotten, so that everything still there is read anew."""
    doctor.repair(damaged)
    path = str(tmp_path / "claude" / "projects" / "-nowhere-shop" / "s.jsonl")
    with open_database(damaged) as database, open_database(str(tmp_path / "whole")) as whole:
        ingest(database, path)
        ingest(whole, path)
        assert contents(database) == contents(whole)


def test_repair_that_was_broken_off_is_taken_up_again(damaged: str) -> None:
    """Moved aside but not saved yet: told, and done by the next one."""
    doctor.salvage.move_aside(damaged, "20260101")  # type: ignore[attr-defined]
    assert finding(damaged, "damaged files").state == WARN
    open_database(damaged).close()
    assert finding(damaged, "damaged files").state == WARN
    [done] = doctor.repair(damaged)
    assert done.startswith("saved from memlite.db.damaged-20260101")
    assert finding(damaged, "damaged files").state == OK


def test_word_index_that_lies_is_made_anew(filled: str) -> None:
    """The database itself is sound and stays where it is."""
    with open_database(filled) as database:
        database.execute("DELETE FROM words_data WHERE id > 10")
    assert finding(filled, "database").state == FAIL
    assert doctor.repair(filled) == ["made the search index anew"]
    assert finding(filled, "database").state == OK


def test_newer_store_is_refused_by_repair_too(filled: str) -> None:
    """It is not damaged; what wrote it can read it."""
    with open_database(filled) as database:
        database.execute("PRAGMA user_version = 99")
    before = snapshot(filled)
    assert finding(filled, "database").state == FAIL
    with pytest.raises(StoreNewer):
        doctor.repair(filled)
    assert snapshot(filled) == before


def test_settings_and_what_was_changed_are_told(filled: str) -> None:
    """Nonsense is a failure with the file's name."""
    Path(filled, "settings.json").write_text('{"inject": false}')
    os.chmod(Path(filled, "settings.json"), 0o600)
    assert "inject = false" in finding(filled, "settings").text
    Path(filled, "settings.json").write_text("{")
    assert finding(filled, "settings").state == FAIL and "settings.json" in finding(filled, "settings").text


def test_latest_errors_of_the_hooks_are_shown(filled: str) -> None:
    """Five of them, those of the last week."""
    for number in range(8):
        log(filled, "Stop", ValueError(f"number {number}"))
    with open(Path(filled, "memlite.log"), "a") as file:
        file.write("2020-01-01T00:00:00.000Z hook Stop: of yore\nno line of ours\n")
    found = finding(filled, "hooks")
    assert found.state == WARN and found.text.startswith("8 errors")
    assert "number 7" in found.text and "number 3" in found.text
    assert "number 2" not in found.text and "of yore" not in found.text


def test_transcripts_that_are_behind_are_counted(filled: str, tmp_path: Path) -> None:
    """Those being written to right now are left to their hooks."""
    path = shop_session(name="x").write(tmp_path / "claude" / "projects" / "-nowhere-shop" / "t.jsonl")
    assert finding(filled, "transcripts").state == OK
    os.utime(path, (time.time() - 700, time.time() - 700))
    found = finding(filled, "transcripts")
    assert (found.state, found.text) == (WARN, "1 of 2 are not read to their end")


def test_worker_that_is_gone_is_told_and_cleared_away(filled: str) -> None:
    """One that runs but does not answer is left alone."""
    told = {"pid": 999_999, "port": 1, "host": "127.0.0.1", "version": "0", "commit": "x", "nonce": "n"}
    worker_file.write(filled, told)
    assert "is gone" in finding(filled, "worker").text
    assert doctor.repair(filled) == ["removed what a worker that is gone had left"]
    assert finding(filled, "worker").state == OK
    worker_file.write(filled, told)
    lock = processes.Lock(os.path.join(filled, worker_file.LOCK))
    assert lock.take()
    assert "does not answer" in finding(filled, "worker").text
    lock.release()


def test_client_that_is_not_there_is_a_warning(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """memlite works without, but has nothing to do."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/nowhere/claude")
    assert finding(filled, "Claude Code").state == WARN
    assert finding(filled, "transcripts").text == "0, all read"


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plugin folder around a pretended executable, which is what runs."""
    folder = tmp_path / "plugin"
    for name, text in (("bin/memlite", "binary"), (".claude-plugin/plugin.json", "{}"), ("hooks/hooks.json", "{}"),
                       ("bin/memlite.sha256", hashlib.sha256(b"binary").hexdigest() + "  memlite\n")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "bin/memlite").chmod(0o755)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(folder / "bin" / "memlite"))
    return folder


def test_plugin_as_it_was_built_is_well(home: str, plugin: Path) -> None:
    """Program and folder."""
    assert finding(home, "program").state == finding(home, "plugin").state == OK
    assert "as it was built" in finding(home, "program").text


def test_program_that_was_changed_is_named(home: str, plugin: Path) -> None:
    """By its checksum; without one nothing is claimed."""
    (plugin / "bin/memlite").write_text("something else")
    assert finding(home, "program").state == FAIL
    (plugin / "bin/memlite.sha256").unlink()
    assert (finding(home, "program").state, "no checksum" in finding(home, "program").text) == (OK, True)


@pytest.mark.parametrize("broken", ["hooks/hooks.json", ".claude-plugin/plugin.json"])
def test_plugin_file_that_is_broken_is_named(home: str, plugin: Path, broken: str) -> None:
    """Missing, no JSON, no object."""
    for text in ("{", "[]"):
        (plugin / broken).write_text(text)
        found = finding(home, "plugin")
        assert found.state == FAIL and Path(broken).name in found.text
    (plugin / "hooks/hooks.json").unlink()
    assert finding(home, "plugin").state == FAIL


def run(home: str, *arguments: str) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of `memlite doctor ARGUMENTS`."""
    done = subprocess.run([sys.executable, "-m", "memlite", "doctor", *arguments], capture_output=True, text=True,
                          env={**os.environ, "MEMLITE_HOME": home})
    return done.returncode, done.stdout, done.stderr


def test_command_prints_a_line_for_each_and_ends_with_1_on_failure(damaged: str) -> None:
    """With the way out below; --fix tells what it did and ends well."""
    code, output, errors = run(damaged)
    assert (code, errors) == (1, "")
    assert "fail  database: " in output and "→ " in output and "`memlite doctor --fix`" in output
    code, output, errors = run(damaged, "--fix")
    assert (code, errors) == (0, "") and "fixed moved the damaged store to" in output and "ok  database: " in output


def test_command_speaks_json(damaged: str) -> None:
    """The same, for programs."""
    code, output, _ = run(damaged, "--json")
    told: dict[str, Any] = json.loads(output)
    assert code == 1 and told["ok"] is False and told["fixed"] == []
    assert {f["name"]: f["state"] for f in told["findings"]}["database"] == "fail"
    assert set(told["findings"][0]) == {"name", "state", "text", "hint"}
    code, output, _ = run(damaged, "--json", "--fix")
    assert code == 0 and json.loads(output)["ok"] is True and len(json.loads(output)["fixed"]) == 2
