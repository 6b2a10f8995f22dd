"""Temporary directories that can't hold a program: what a person reads, and what the client's hooks do.

The executable unpacks itself before it runs. Each case gets a mount namespace of its own.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import REPOSITORY, Machine, payload

HOOKS = json.loads((REPOSITORY / "plugin" / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
PROMPT = "Why does the lighthouse blink twice?"
# Mount options of the temporary directory → what the program says it could not do.
CASES = {
    "noexec,size=64m": "failed to map segment",
    "size=2m": "No space left on device",
    "ro,size=64m": "Could not create temporary directory",
}


@functools.cache
def can_mount() -> bool:
    """Whether this account may mount in a namespace of its own."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], check=False,
                          capture_output=True).returncode == 0


needs_mounts = pytest.mark.skipif(not can_mount(), reason="needs root and mount namespaces")


class Cramped:
    """The plugin folder and an account on a system whose temporary directories are all mounted with
    `options`."""

    def __init__(self, machine: Machine, options: str) -> None:
        self.machine = machine
        self.options = options
        self.home = machine.home
        self.plugin = machine.home / "plugin"
        shutil.copytree(REPOSITORY / "plugin", self.plugin, ignore=shutil.ignore_patterns("memlite*"))
        shutil.copy2(machine.binary, self.plugin / "bin" / "memlite")

    def shell(self, command: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a shell command there."""
        temporary = self.machine.environment["TMPDIR"]
        mounts = "".join(f"mount -t tmpfs -o {self.options} none {folder} && "
                         for folder in (temporary, "/var/tmp", "/tmp"))
        # The account lies below /tmp, which gets hidden, so it moves.
        script = f'mount --bind "$HOME" /mnt && {mounts} cd /mnt && HOME=/mnt; {command}'
        return subprocess.run(["unshare", "-m", "/bin/sh", "-c", script], input=given, text=True, check=False,
                              capture_output=True, timeout=60,
                              env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", **self.machine.environment,
                                   "CLAUDE_PLUGIN_ROOT": "/mnt/plugin", **environment})


@needs_mounts
@pytest.mark.parametrize(("options", "says"), CASES.items(), ids=CASES)
def test_a_person_reads_why_and_another_directory_helps(machine: Machine, options: str, says: str) -> None:
    """The way out that README and skill describe works: TMPDIR in the data directory."""
    cramped = Cramped(machine, options)
    done = cramped.shell("plugin/bin/memlite --version")
    assert done.returncode != 0
    assert says in done.stderr
    done = cramped.shell("mkdir -p .memlite/tmp && TMPDIR=/mnt/.memlite/tmp plugin/bin/memlite --version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("memlite ")
    assert list((cramped.home / ".memlite" / "tmp").iterdir()) == []


@needs_mounts
@pytest.mark.parametrize("options", CASES)
def test_a_hook_stores_its_prompt_all_the_same(machine: Machine, options: str) -> None:
    """The client's command line ends with 0, prints JSON or nothing, and nothing is lost; the log says
    why."""
    cramped = Cramped(machine, options)
    command = HOOKS["UserPromptSubmit"][0]["hooks"][0]["command"]
    done = cramped.shell(f"{command}; echo \"code $?\" >&2; ls -A /tmp >&2", payload(cramped.home, PROMPT))
    assert done.stdout == "" or json.loads(done.stdout)
    assert done.stderr.endswith("code 0\n")  # and nothing is left in /tmp
    assert "lighthouse blink" in machine.found("lighthouse", "--all-projects")
    assert "/mnt/.memlite/tmp is used instead" in (cramped.home / ".memlite" / "memlite.log").read_text("utf-8")
    assert list((cramped.home / ".memlite" / "tmp").iterdir()) == []


@needs_mounts
def test_a_hook_with_nowhere_to_go_ends_with_0(machine: Machine) -> None:
    """Data directory and temporary directories all read-only: no JSON, no failed hook."""
    cramped = Cramped(machine, "ro")
    command = HOOKS["Stop"][0]["hooks"][0]["command"]
    done = cramped.shell(f"mount -o remount,ro,bind /mnt; {command}", payload(cramped.home, PROMPT))
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("event", sorted(HOOKS))
def test_hook_command_with_the_real_executable(machine: Machine, event: str, tmp_path: Path) -> None:
    """Each command line of hooks.json runs from a folder with blanks in its name and prints JSON or
    nothing."""
    root = tmp_path / "a plugin's folder"
    shutil.copytree(REPOSITORY / "plugin", root, ignore=shutil.ignore_patterns("memlite*"))
    os.symlink(machine.binary, root / "bin" / "memlite")
    given = json.loads(payload(machine.home, PROMPT))
    given.update(hook_event_name=event, source="startup", trigger="manual", reason="exit")
    done = subprocess.run(["/bin/sh", "-c", HOOKS[event][0]["hooks"][0]["command"]], input=json.dumps(given), text=True,
                          capture_output=True, check=False, timeout=60, cwd=machine.home,
                          env={"PATH": "/usr/bin:/bin", "CLAUDE_PLUGIN_ROOT": str(root), **machine.environment,
                               "MEMLITE_BACKFILL": "0"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "" or json.loads(done.stdout)
    assert not (machine.home / ".memlite" / "memlite.log").exists()
