"""The plugin folder as the client reads it: manifests, hooks, skill, commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import memlite
from memlite.cli.main import cli

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "plugin"
HOOKS = json.loads((PLUGIN / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
SKILL = PLUGIN / "skills" / "mem-search" / "SKILL.md"
DOCUMENTS = [SKILL, *sorted((PLUGIN / "commands").glob("*.md"))]

# Event names of the oldest supported client; one it does not know makes it drop the whole file.
EVENTS = {"SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd"}


def front_matter(document: Path) -> dict[str, str]:
    """The `key: value` lines between the two rules at the top of a skill or command."""
    head = document.read_text("utf-8").split("---\n")[1]
    return dict(line.split(": ", 1) for line in head.splitlines())


def hook(event: str) -> dict[str, object]:
    """The one hook entry of `event`."""
    [group] = HOOKS[event]
    [entry] = group["hooks"]
    assert isinstance(entry, dict)
    return entry


def test_plugin_and_package_have_one_version() -> None:
    """plugin.json, pyproject.toml and the package agree."""
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    project = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert project is not None
    assert manifest["name"] == "memlite"
    assert manifest["version"] == memlite.__version__ == project[1]


def test_marketplace_points_to_the_plugin() -> None:
    """The repository itself can be added as a marketplace."""
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text("utf-8"))
    [plugin] = market["plugins"]
    assert (ROOT / plugin["source"] / ".claude-plugin" / "plugin.json").samefile(
        PLUGIN / ".claude-plugin" / "plugin.json")
    assert plugin["name"] == "memlite"


def test_hooks_use_the_six_events_every_client_knows() -> None:
    """No event is missing and none is too new."""
    assert set(HOOKS) == EVENTS


def test_session_start_leaves_out_resume() -> None:
    """On resume the injected text would be added again, copy after copy."""
    [group] = HOOKS["SessionStart"]
    assert group["matcher"] == "startup|clear|compact"
    assert all("matcher" not in HOOKS[event][0] for event in EVENTS - {"SessionStart"})


@pytest.mark.parametrize("event", sorted(EVENTS))
def test_hook_runs_synchronously_with_a_limit_in_seconds(event: str) -> None:
    """An asynchronous hook is killed at the end of `claude -p`; a limit is seconds, not milliseconds."""
    entry = hook(event)
    assert "async" not in entry
    assert isinstance(entry["timeout"], int)
    assert 5 <= entry["timeout"] <= 60


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX shell")
@pytest.mark.parametrize("event", sorted(EVENTS))
def test_hook_command_passes_input_and_event_and_survives_spaces(event: str, tmp_path: Path) -> None:
    """With a plugin folder full of blanks and quotes the program gets its event, its input and its output
    through."""
    root = fake_plugin(tmp_path / "it's a $folder", '#!/bin/sh\necho "$1 $2 $(cat)"\n')
    done = as_the_client(event, root, {"HOME": str(tmp_path)}, "the input")
    assert (done.returncode, done.stdout) == (0, f"hook {event} the input\n")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX shell")
@pytest.mark.parametrize("event", sorted(EVENTS))
@pytest.mark.parametrize("code", [1, 2, 126, 127, 255])
def test_hook_command_ends_with_0_whatever_the_program_does(event: str, code: int, tmp_path: Path) -> None:
    """The client blocks a prompt on 2 and shows all other codes as a failed hook."""
    root = fake_plugin(tmp_path / "plugin", f"#!/bin/sh\nexit {code}\n")
    home = tmp_path / "home"
    done = as_the_client(event, root, {"HOME": str(home)}, "")
    assert (done.returncode, done.stdout) == (0, "")
    assert f"hook {event}: " in (home / ".memlite" / "memlite.log").read_text("utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX shell")
def test_second_try_runs_elsewhere_with_the_same_input(tmp_path: Path) -> None:
    """A program that cannot unpack into the first folder gets its untouched input in the second."""
    program = '#!/bin/sh\n[ "$TMPDIR" = "$HOME/.memlite/tmp" ] || exit 255\ncat\n'
    root = fake_plugin(tmp_path / "plugin", program)
    done = as_the_client("Stop", root, {"HOME": str(tmp_path)}, "the input")
    assert (done.returncode, done.stdout) == (0, "the input")
    log = (tmp_path / ".memlite" / "memlite.log").read_text("utf-8")
    assert log.count("is used instead") == 1
    as_the_client("Stop", root, {"HOME": str(tmp_path)}, "the input")
    assert (tmp_path / ".memlite" / "memlite.log").read_text("utf-8") == log  # said once


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX shell")
def test_second_try_gives_back_a_lost_exec_bit(tmp_path: Path) -> None:
    """A plugin unpacked by a tool that forgets exec bits works from the first hook on."""
    root = fake_plugin(tmp_path / "plugin", "#!/bin/sh\ncat\n")
    (root / "bin" / "memlite").chmod(0o644)
    done = as_the_client("UserPromptSubmit", root, {"HOME": str(tmp_path)}, "the input")
    assert (done.returncode, done.stdout) == (0, "the input")
    assert os.access(root / "bin" / "memlite", os.X_OK)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX shell")
@pytest.mark.parametrize("missing", ["bin/memlite", "hooks/second-try.sh", "."])
def test_hook_survives_deleted_files(missing: str, tmp_path: Path) -> None:
    """A session outlives a plugin that was removed while it ran."""
    root = fake_plugin(tmp_path / "plugin", "#!/bin/sh\nexit 255\n")
    if missing == ".":
        root.rename(tmp_path / "elsewhere")
    else:
        (root / missing).unlink()
    done = as_the_client("Stop", root, {"HOME": str(tmp_path)}, "")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX shell")
def test_second_try_sweeps_only_what_a_dead_bootloader_left(tmp_path: Path) -> None:
    """Half-unpacked folders of processes that are gone go; complete ones, living ones and strangers stay."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    temporary = tmp_path / "temporary"
    half = temporary / f"_MEI{dead.pid:08x}aBcDeF"
    whole = temporary / f"_MEI{dead.pid:08x}aBcDeG"
    living = temporary / f"_MEI{os.getpid():08x}aBcDeF"
    stranger = temporary / "_MEImine-and-dear"
    for folder in (half, whole, living, stranger):
        folder.mkdir(parents=True)
        (folder / "libpython3.so").write_bytes(b"")
    (whole / "base_library.zip").write_bytes(b"")
    root = fake_plugin(tmp_path / "plugin", "#!/bin/sh\nexit 255\n")
    as_the_client("Stop", root, {"HOME": str(tmp_path), "TMPDIR": str(temporary)}, "")
    assert {path.name for path in temporary.iterdir()} == {whole.name, living.name, stranger.name}


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_second_try_makes_only_private_files(tmp_path: Path) -> None:
    """Whatever the umask, folder and log are the owner's alone."""
    root = fake_plugin(tmp_path / "plugin", "#!/bin/sh\nexit 255\n")
    before = os.umask(0)
    try:
        as_the_client("Stop", root, {"HOME": str(tmp_path)}, "")
    finally:
        os.umask(before)
    home = tmp_path / ".memlite"
    assert {path.stat().st_mode & 0o077 for path in (home, home / "memlite.log", home / "tmp")} == {0}


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_scripts_are_executable() -> None:
    """Exec bits are in the work tree; the built executable has its own test."""
    assert os.access(PLUGIN / "hooks" / "second-try.sh", os.X_OK)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_descriptions_are_short(document: Path) -> None:
    """A skill's description costs tokens in every session."""
    assert 20 <= len(front_matter(document)["description"].encode()) <= 145


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_examples_need_no_shell_expansion(document: Path) -> None:
    """A Bash call with `$(…)`, a variable or a pipe is never approved by a rule, so no example has one."""
    blocks = re.findall(r"^```\n(.*?)^```", document.read_text("utf-8"), re.M | re.S)
    commands = [line for block in blocks for line in block.splitlines()]
    assert all(line.startswith(("memlite ", "curl ")) for line in commands)
    assert not [line for line in commands if re.search(r"[$`|;<>]|&&", line)]


def test_skill_has_examples_to_check() -> None:
    """The rule above looks at something."""
    assert SKILL.read_text("utf-8").count("\nmemlite ") >= 4


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_commands_and_options_named_exist(document: Path) -> None:
    """Whatever a document tells the model to run, the program knows."""
    text = document.read_text("utf-8")
    named = set(re.findall(r"(?:^|[`(]|tmp )memlite ([a-z-]+)", text, re.M))
    assert named
    assert named <= set(cli.commands), named - set(cli.commands)
    known = {option for command in cli.commands.values() for parameter in command.params for option in parameter.opts}
    options = set(re.findall(r"`(?:memlite [a-z-]+ )?(--?[a-z][a-z-]*)", text))
    assert options <= known, options - known


def fake_plugin(root: Path, program: str) -> Path:
    """A plugin folder whose executable is the shell script `program`."""
    (root / "bin").mkdir(parents=True)
    (root / "hooks").mkdir()
    (root / "hooks" / "second-try.sh").write_bytes((PLUGIN / "hooks" / "second-try.sh").read_bytes())
    (root / "bin" / "memlite").write_text(program)
    (root / "bin" / "memlite").chmod(0o755)
    return root


def as_the_client(event: str, root: Path, environment: dict[str, str],
                  given: str) -> subprocess.CompletedProcess[str]:
    """Run the hook command of `event` through `sh -c`, as the client does."""
    return subprocess.run(["/bin/sh", "-c", str(hook(event)["command"])], input=given, text=True, check=False,
                          capture_output=True, timeout=30,
                          env={"PATH": "/usr/bin:/bin", "CLAUDE_PLUGIN_ROOT": str(root), **environment})
