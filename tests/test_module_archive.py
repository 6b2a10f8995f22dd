"""The archive of modules inside the executable: what the build writes is what the bootstrap imports."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BUILD = Path(__file__).resolve().parent.parent / "build"


def recipe(name: str) -> Any:
    """The module build/`name`.py, which is no part of the package."""
    spec = importlib.util.spec_from_file_location(f"build_{name}", BUILD / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BOOTSTRAP, WRITER = recipe("bootstrap"), recipe("module_archive")
SOURCES = {
    "house/__init__.py": '"""A package."""\nassert False, "asserts are gone at level 1"\n',
    "house/room.py": '"""A room."""\nfrom house import __doc__ as outside\n',
    "house/page.html": "<p>héllo</p>",
    "house/attic.py": "WORDS = 'rarely needed ' * 1000\n",
    "house/attic.txt": "rarely needed " * 1000,
}


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An Archive in front of the import system, behind the first bytes of a file, as in an executable."""
    for name, text in SOURCES.items():
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    writer = WRITER.ArchiveWriter()
    writer.add_module("house", tmp_path / "source/house/__init__.py", 1)
    writer.add_module("house.room", tmp_path / "source/house/room.py", 2)
    writer.add_data("house/page.html", tmp_path / "source/house/page.html")
    writer.add_module("house.attic", tmp_path / "source/house/attic.py", 2, packed=True)
    writer.add_data("house/attic.txt", tmp_path / "source/house/attic.txt", packed=True)
    writer.add_text("told", "COMMIT = 'abc'\n")
    library = getattr(importlib.import_module("_json"), "__file__", None)
    if library:
        writer.add_extension("_json", library)
    writer.write(tmp_path / "archive")
    program = tmp_path / "pro?gram"
    program.write_bytes(b"\x7fELF" + b"-" * 96 + (tmp_path / "archive").read_bytes() + b"behind")
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    monkeypatch.setattr(sys, "_MEIPASS", str(unpacked), raising=False)
    found = BOOTSTRAP.Archive(f"{program}?100")
    monkeypatch.setattr(sys, "meta_path", [found, *sys.meta_path])
    yield found
    found.file.close()
    for name in ("house", "house.room", "house.attic", "told"):
        sys.modules.pop(name, None)


def imported(name: str) -> ModuleType:
    """The module `name`, freshly imported."""
    return importlib.import_module(name)


def test_packages_and_modules_are_imported_from_the_archive(archive: Any) -> None:
    """Level 1 drops asserts, level 2 docstrings too; files are named without the build's paths."""
    house, room = imported("house"), imported("house.room")
    assert (house.__doc__, room.__doc__, room.outside) == ("A package.", None, "A package.")
    assert house.__path__ == [os.path.join(sys._MEIPASS, "house")]  # type: ignore[attr-defined]
    assert room.__file__ == os.path.join(sys._MEIPASS, "house/room.py")  # type: ignore[attr-defined]
    assert archive.get_code("house.room").co_filename == "house/room.py"
    assert (archive.is_package("house"), archive.is_package("house.room")) == (True, False)


def test_text_made_by_the_build_is_a_module(archive: Any) -> None:
    """The commit travels like this."""
    assert imported("told").COMMIT == "abc"


def test_data_files_come_through_pkgutil(archive: Any) -> None:
    """A file beside a module is read from the archive; another one, or a module's, is missing."""
    assert pkgutil.get_data("house", "page.html") == "<p>héllo</p>".encode()
    with pytest.raises(FileNotFoundError):
        pkgutil.get_data("house", "other.html")
    with pytest.raises(FileNotFoundError):
        archive.get_data(os.path.join(sys._MEIPASS, "house"))  # type: ignore[attr-defined]


def test_what_few_runs_need_is_packed(archive: Any) -> None:
    """A module and a file come out of the archive as they went in, and take less room there."""
    imported("house")
    assert imported("house.attic").WORDS == "rarely needed " * 1000
    assert pkgutil.get_data("house", "attic.txt") == b"rarely needed " * 1000
    assert archive.contents["house.attic"][2] + archive.contents["house/attic.txt"][2] < 1000


def test_what_is_not_there_is_not_found(archive: Any) -> None:
    """Other finders get their turn, and a name of a data file is no module."""
    assert archive.find_spec("nowhere") is None
    assert archive.find_spec("house/page.html") is None
    with pytest.raises(ImportError):
        archive.get_code("nowhere")
    assert archive.find_spec("house").loader is archive


def test_late_imports_outlive_the_executable(archive: Any, tmp_path: Path) -> None:
    """A worker keeps importing after an update has put another file in the place of its own."""
    (tmp_path / "new").write_bytes(b"another program")
    os.replace(tmp_path / "new", tmp_path / "pro?gram")
    assert imported("told").COMMIT == "abc"


def test_same_modules_give_the_same_bytes(tmp_path: Path) -> None:
    """The order of adding does not matter, so builds can be compared."""
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"NAME = '{name}'\n")
    for order in (["one", "two"], ["two", "one"]):
        writer = WRITER.ArchiveWriter()
        for name in order:
            writer.add_module(name, tmp_path / name, 0)
        writer.write(tmp_path / "-".join(order))
    assert (tmp_path / "one-two").read_bytes() == (tmp_path / "two-one").read_bytes()


needs_shared_json = pytest.mark.skipif(not hasattr(importlib.import_module("_json"), "__file__"),
                                       reason="this interpreter has _json built in")


@needs_shared_json
def test_extension_module_is_unpacked_when_asked_for(archive: Any, tmp_path: Path) -> None:
    """Nothing is written before the first import, then the file and nothing else."""
    unpacked = tmp_path / "unpacked"
    assert list(unpacked.iterdir()) == []
    spec = archive.find_spec("_json")
    assert [path.name for path in unpacked.iterdir()] == [Path(spec.origin).name]
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.__file__ == spec.origin
    assert hasattr(module, "make_scanner")
    assert archive.find_spec("_json").origin == spec.origin


@needs_shared_json
def test_extension_module_without_room_says_what_to_do(archive: Any, tmp_path: Path) -> None:
    """A temporary directory that vanished or is full gives one sentence with the way out."""
    (tmp_path / "unpacked").rmdir()
    with pytest.raises(ImportError, match="can't unpack _json.*set TMPDIR"):
        archive.find_spec("_json")


@pytest.mark.skipif(sys.platform != "linux", reason="LD_LIBRARY_PATH is Linux's")
def test_children_get_the_environment_from_before_the_bootloader() -> None:
    """Bundled libraries are not offered to git, and a worker started from a hook unpacks itself."""
    environment = {"HOME": "/h", "LD_LIBRARY_PATH": "/tmp/_MEI1:/opt/lib", "LD_LIBRARY_PATH_ORIG": "/opt/lib",
                   "_PYI_ARCHIVE_FILE": "/p", "_PYI_PARENT_PROCESS_LEVEL": "1"}
    BOOTSTRAP.leave_no_traces(environment)
    assert environment == {"HOME": "/h", "LD_LIBRARY_PATH": "/opt/lib"}
    environment = {"LD_LIBRARY_PATH": "/tmp/_MEI1"}
    BOOTSTRAP.leave_no_traces(environment)
    assert environment == {}


@pytest.mark.skipif(os.name != "posix", reason="POSIX processes")
def test_launcher_is_read_from_the_folder_it_made() -> None:
    """A name the bootloader does not give tells no launcher, so nothing is watched and nothing removed."""
    assert BOOTSTRAP.launcher_of("/tmp/_MEI000010cdo7vIis") == 0x10CD
    for other in ("/tmp/_MEIo7vIis", "/tmp/_MEI0000xyzwo7vIis", "/opt/memlite/_internal", ""):
        assert BOOTSTRAP.launcher_of(other) == 0


def test_unpacked_files_are_removed_with_their_folders(tmp_path: Path) -> None:
    """Nothing of the folder stays, everything beside it does."""
    (tmp_path / "_MEI/python3.11/lib-dynload").mkdir(parents=True)
    (tmp_path / "_MEI/python3.11/lib-dynload/a.so").write_bytes(b"")
    (tmp_path / "_MEI/base_library.zip").write_bytes(b"")
    (tmp_path / "beside").write_bytes(b"")
    BOOTSTRAP.remove_unpacked(str(tmp_path / "_MEI"))
    assert [path.name for path in tmp_path.iterdir()] == ["beside"]


@pytest.mark.parametrize(("script", "code", "output"), [
    ("print('said', end='')", 0, "said"),
    ("print('said', end=''); sys.exit(3)", 3, "said"),
    ("sys.exit()", 0, ""),
    ("sys.exit('a reason')", 1, ""),
    ("1 / 0", 1, ""),
    ("import threading; threading.Timer(0.1, print, ['late']).start(); sys.exit(4)", 4, "late\n"),
])
def test_program_ends_with_its_code_and_all_its_output(script: str, code: int, output: str) -> None:
    """The quick end skips the interpreter's tear-down, but neither output nor running threads."""
    load = ("import importlib.util, sys; spec = importlib.util.spec_from_file_location('bootstrap', sys.argv[1]); "
            "bootstrap = importlib.util.module_from_spec(spec); spec.loader.exec_module(bootstrap); "
            "sys.memlite_launcher = 0; bootstrap.run(lambda: exec(sys.argv[2]))")
    done = subprocess.run([sys.executable, "-c", load, str(BUILD / "bootstrap.py"), script], capture_output=True,
                          text=True, check=False)
    assert (done.returncode, done.stdout) == (code, output)
