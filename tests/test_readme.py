"""README.md and CONTRIBUTING.md: what they say of the program is so, and what the program has is in them."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from memlite import errors, settings
from memlite.cli.main import cli
from memlite.serve.routes import ROUTES

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
# Not a person's business: switches between memlite's own processes, the build's and the tests'.
INTERNAL = {"MEMLITE_COMMIT", "MEMLITE_VERSION"}


def commands(group: click.Group, prefix: str = "memlite") -> Iterator[str]:
    """The full names of all commands that are not hidden."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix} {name}")
        elif not command.hidden:
            yield f"{prefix} {name}"


def variables() -> set[str]:
    """The environment variables named after memlite in what ships."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "plugin" / "hooks").iterdir()]
    return {name for file in files for name in re.findall(r"\bMEMLITE_[A-Z_]+\b", file.read_text(encoding="utf-8"))}


def headings(text: str) -> set[str]:
    """The anchors of a document's headings."""
    return {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
            for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("name", sorted(commands(cli)))
def test_every_command_is_in_the_readme(name: str) -> None:
    """Someone who reads the README knows of it."""
    assert f"`{name}" in README


@pytest.mark.parametrize("name", sorted(settings.SETTINGS))
def test_every_setting_is_in_the_readme_with_its_variable(name: str) -> None:
    """In the file and in the environment it goes by these names."""
    assert f"`{name}`" in README
    assert f"`MEMLITE_{name.upper()}`" in README


@pytest.mark.parametrize("path", sorted({path for route in ROUTES for path in (route.path, *route.aliases)}))
def test_every_route_is_in_the_readme(path: str) -> None:
    """Under the path it answers."""
    assert f"`{path}`" in README


@pytest.mark.parametrize("name", sorted(variables() - INTERNAL))
def test_every_environment_variable_is_in_the_readme(name: str) -> None:
    """Nothing can be switched that is not written down."""
    assert name in README


def test_variables_are_found_at_all() -> None:
    """The control of the test above: it looks where variables are."""
    assert {"MEMLITE_HOME", "MEMLITE_COMMIT"} <= variables() | INTERNAL
    assert "MEMLITE_HOME" in variables()


def test_every_exit_code_is_in_the_readme() -> None:
    """The codes of the error tree are those the README lists."""
    sentence = README[README.index("Exit codes:"):].partition("\n\n")[0]
    listed = {int(code) for code in re.findall(r"(\d) [a-z]", sentence)}
    tree = {getattr(errors, name).exit_code for name in errors.__all__}
    assert listed == tree | {0}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_within_the_repository_lead_somewhere(name: str) -> None:
    """Files exist, anchors are headings."""
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)]+)\)", text)
    assert links
    for link in links:
        path, _, anchor = link.partition("#")
        target = ROOT / path if path else ROOT / name
        assert target.exists(), link
        if anchor:
            assert anchor in headings(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_files_named_in_the_text_exist(name: str) -> None:
    """What looks like a path of this repository is one, or is made by a build."""
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|tests|build|docs|plugin|\.ci|\.github)/[\w./-]*)`", text))
    assert named
    made = {"plugin/bin/memlite", "tests/test_NAME.py"}  # by the build; by whoever writes it
    assert not {path for path in named - made if not (ROOT / path).exists()}


def test_every_room_is_in_contributing() -> None:
    """The map of the source is whole."""
    rooms = {path.name for path in (ROOT / "src" / "memlite").iterdir() if not path.name.startswith("__")}
    assert {"store", "model.py"} <= rooms
    assert not {name for name in rooms if f"{name}`" not in CONTRIBUTING and f"/{name}/`" not in CONTRIBUTING}


def test_nobody_is_told_to_install_the_other_memlite() -> None:
    """On the package index the name belongs to another project."""
    forbidden = re.compile(r"(pip|pipx|uv tool|uvx|uv pip)\s+(install\s+)?(-\S+\s+)*memlite\b")
    assert forbidden.search("run " + "pip" + " install -U memlite")
    kinds = {".md", ".py", ".toml", ".ini", ".yml", ".json", ".sh"}
    skipped = {".git", ".tox", "out", "data"}
    files = [file for file in ROOT.rglob("*") if file.suffix in kinds and not skipped & set(file.parts)]
    assert ROOT / "README.md" in files
    assert not [str(file) for file in files if forbidden.search(file.read_text(encoding="utf-8"))]


def test_every_tox_environment_is_in_contributing() -> None:
    """Someone who works on memlite knows what can be checked."""
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    listed = {name.strip() for name in tox["tox"]["env_list"].split(",")}
    defined = {name.removeprefix("testenv:") for name in tox.sections() if name.startswith("testenv:")}
    assert {"lint", "e2e"} <= listed & defined
    assert not {name for name in listed | defined if f"`{name}`" not in CONTRIBUTING}
