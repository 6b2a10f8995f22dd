"""The build: what it says when something is missing, what it leaves in the plugin folder, what a release holds."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import stat
import sys
import types
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def recipes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes the modules of build/ importable; they are no part of the package."""
    monkeypatch.syspath_prepend(str(ROOT / "build"))
    yield
    for name in ("build_plugin", "release"):
        sys.modules.pop(name, None)


@pytest.fixture
def build(recipes: None) -> Any:
    """build/build_plugin.py"""
    return importlib.import_module("build_plugin")


@pytest.fixture
def release(recipes: None) -> Any:
    """build/release.py"""
    return importlib.import_module("release")


def pretend_pyinstaller(monkeypatch: pytest.MonkeyPatch, library: str | None) -> None:
    """Let PyInstaller be there and find `library` as the interpreter's shared library."""
    bindepend: Any = types.ModuleType("PyInstaller.depend.bindepend")
    bindepend.get_python_library_path = lambda: library
    for name in ("PyInstaller", "PyInstaller.depend"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "PyInstaller.depend.bindepend", bindepend)


def test_nothing_missing_is_no_complaint(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control for the cases below."""
    pretend_pyinstaller(monkeypatch, "/usr/lib/libpython3.so")
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    build.check_tools()


def test_missing_pyinstaller_is_told_with_the_command(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way is tox."""
    monkeypatch.setitem(sys.modules, "PyInstaller", None)
    with pytest.raises(build.CannotBuild, match="tox -e plugin"):
        build.check_tools()


@pytest.mark.skipif(sys.platform != "linux", reason="binutils are Linux's")
@pytest.mark.parametrize("tool", ["strip", "objdump", "objcopy"])
def test_missing_tool_is_told_with_its_package(build: Any, monkeypatch: pytest.MonkeyPatch, tool: str) -> None:
    """Only the missing one is named."""
    pretend_pyinstaller(monkeypatch, "/usr/lib/libpython3.so")
    monkeypatch.setattr(shutil, "which", lambda name: None if name == tool else f"/usr/bin/{name}")
    with pytest.raises(build.CannotBuild, match=f"^{tool} not found.*apt-get install binutils"):
        build.check_tools()


def test_missing_libpython_is_told_with_its_package(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python without a shared library can't be frozen; Debian has a package, pyenv an option."""
    pretend_pyinstaller(monkeypatch, None)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(build.CannotBuild, match="apt-get install libpython3-dev.*--enable-shared"):
        build.check_tools()


def test_installed_executable_has_its_bits_and_its_checksum(build: Any, monkeypatch: pytest.MonkeyPatch,
                                                            tmp_path: Path) -> None:
    """The file replaces the old one, whose running programs keep theirs."""
    target = tmp_path / "bin" / "memlite"
    monkeypatch.setattr(build, "BINARY", target)
    monkeypatch.setattr(build, "CHECKSUM", target.parent / "memlite.sha256")
    made = tmp_path / "made"
    for content in (b"old", b"new"):
        made.write_bytes(content)
        before = target.stat().st_ino if target.exists() else None
        digest = build.install(made)
        assert digest == hashlib.sha256(content).hexdigest()
        assert (target.parent / "memlite.sha256").read_text() == f"{digest}  memlite\n"
        assert target.read_bytes() == content
        assert target.stat().st_ino != before
    if os.name == "posix":
        assert stat.S_IMODE(target.stat().st_mode) == 0o755
    assert sorted(path.name for path in target.parent.iterdir()) == ["memlite", "memlite.sha256"]


def test_release_holds_the_plugin_and_a_marketplace_tree(release: Any, monkeypatch: pytest.MonkeyPatch,
                                                         tmp_path: Path) -> None:
    """Zip and tree hold the same files, executables stay executable, and what git ignores is not left out."""
    root = tmp_path / "root"
    shutil.copytree(ROOT / "plugin", root / "plugin", ignore=shutil.ignore_patterns("memlite", "memlite.*"))
    shutil.copytree(ROOT / ".claude-plugin", root / ".claude-plugin")
    (root / "LICENSE").write_text("the licence")
    (root / "plugin" / "bin" / "memlite").write_bytes(b"program\r\n")
    monkeypatch.setattr(release, "ROOT", root)
    monkeypatch.setattr(release, "TARGET", tmp_path / "out")
    packed, tree = release.pack("1.2.3")

    assert packed.name == f"memlite-1.2.3-{release.platform_name()}.zip"
    with zipfile.ZipFile(packed) as archive:
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in archive.infolist()}
    assert {name: mode for name, mode in modes.items() if mode & 0o111} == {
        "memlite/bin/memlite": 0o755, "memlite/hooks/second-try.sh": 0o755}
    assert {"memlite/.claude-plugin/plugin.json", "memlite/LICENSE", "memlite/hooks/hooks.json",
            "memlite/skills/mem-search/SKILL.md"} < set(modes)
    assert not [name for name in modes if name.endswith(".gitignore")]

    files = {path.relative_to(tree / "plugin").as_posix() for path in (tree / "plugin").rglob("*") if path.is_file()}
    assert {f"memlite/{name}" for name in files} == set(modes)
    assert (tree / "plugin" / "bin" / "memlite").read_bytes() == b"program\r\n"
    market = json.loads((tree / ".claude-plugin" / "marketplace.json").read_text("utf-8"))
    assert (tree / market["plugins"][0]["source"] / ".claude-plugin" / "plugin.json").is_file()
    assert not list(tree.rglob(".gitignore"))


def test_platform_names_are_those_of_the_release_workflow(release: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each platform of the matrix is what its machine calls itself."""
    named = set()
    for system, machine in (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"), ("darwin", "x86_64"),
                            ("win32", "AMD64")):
        monkeypatch.setattr(release.sys, "platform", system)
        monkeypatch.setattr(release.platform, "machine", lambda machine=machine: machine)
        named.add(release.platform_name())
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    assert all(f"platform: {name}," in workflow for name in named)
    assert workflow.count("platform: ") == len(named) == 5
