"""leftovers: which unpacked folders are removed, and which never."""

from __future__ import annotations

import os
import subprocess
import time
import zipfile
from pathlib import Path

import pytest

from memlite import leftovers

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems don't let a running program's files go")
HOURS = 3600.0


@pytest.fixture
def gone() -> int:
    """The id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def folder(where: Path, name: str, first: str = "memlite") -> Path:
    """An unpacked folder whose zip begins with the entry `first`."""
    path = where / name
    (path / "python3.11" / "lib-dynload").mkdir(parents=True)
    (path / "python3.11" / "lib-dynload" / "_json.so").write_bytes(b"x")
    with zipfile.ZipFile(path / "base_library.zip", "w") as archive:
        archive.writestr(first, b"")
        archive.writestr("encodings/__init__.pyc", b"x")
    return path


def test_folder_of_a_killed_run_is_removed(tmp_path: Path, gone: int) -> None:
    """Its launcher is gone, it carries the mark and it is old enough."""
    left = folder(tmp_path, f"_MEI{gone:08x}aBcDeF")
    assert leftovers.remove([str(tmp_path)], now=time.time() + 2 * HOURS) == [str(left)]
    assert list(tmp_path.iterdir()) == []


def test_folder_that_may_be_in_use_stays(tmp_path: Path, gone: int) -> None:
    """A living launcher, or a run that ended less than an hour ago."""
    folder(tmp_path, f"_MEI{os.getpid():08x}aBcDeF")
    assert leftovers.remove([str(tmp_path)], now=time.time() + 2 * HOURS) == []
    folder(tmp_path, f"_MEI{gone:08x}aBcDeF")
    assert leftovers.remove([str(tmp_path)]) == []
    assert len(list(tmp_path.iterdir())) == 2


def test_folders_of_other_programs_stay(tmp_path: Path, gone: int) -> None:
    """Other frozen programs, other names, folders without the zip, and what a link points to."""
    folder(tmp_path, f"_MEI{gone:08x}aBcDeF", first="os.pyc")
    folder(tmp_path, "_MEInot-hexaBcDeF")
    (tmp_path / f"_MEI{gone:08x}aBcDeG").mkdir()
    elsewhere = folder(tmp_path, "elsewhere")
    (tmp_path / "temporary").mkdir()
    (tmp_path / "temporary" / f"_MEI{gone:08x}aBcDeF").symlink_to(elsewhere)
    directories = [str(tmp_path), str(tmp_path / "temporary"), str(tmp_path / "missing")]
    assert leftovers.remove(directories, now=time.time() + 2 * HOURS) == []
    assert (elsewhere / "base_library.zip").exists()


def test_the_usual_places_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables the launcher asks, the system's directories, and the second try's."""
    for name, value in (("TMPDIR", "/one"), ("TEMP", ""), ("TMP", "/tmp")):
        monkeypatch.setenv(name, value)
    assert leftovers.temporary_directories("/home/me/.memlite") == ["/one", "/tmp", "/var/tmp", "/home/me/.memlite/tmp"]
