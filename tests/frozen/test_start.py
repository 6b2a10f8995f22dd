"""The executable starts anywhere, with nothing around it, and leaves nothing behind."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import memlite
from conftest import REPOSITORY, Machine, payload

MEGABYTE = 1_000_000
WORDS = "Why does the lighthouse blink twice — größer, 日本, 🦉?"


def test_version_and_commit_are_inside(machine: Machine) -> None:
    """`--version` names the package's version and a commit of this repository."""
    done = machine.run("--version")
    said = re.fullmatch(r"memlite (\S+) \(([0-9a-f]{12})\+?\)\n", done.stdout)
    assert said is not None, done
    assert said[1] == memlite.__version__
    known = subprocess.run(["git", "-C", str(REPOSITORY), "cat-file", "-e", f"{said[2]}^{{commit}}"], check=False)
    assert known.returncode == 0


def test_checksum_beside_it_is_its_own(binary: Path) -> None:
    """`sha256sum -c memlite.sha256` passes."""
    digest, name = (binary.parent / "memlite.sha256").read_text("ascii").split()
    assert (digest, name) == (hashlib.sha256(binary.read_bytes()).hexdigest(), binary.name)


def test_it_is_one_small_executable_file(binary: Path) -> None:
    """At most 15 MB, because its size is the largest part of its starting time."""
    assert os.access(binary, os.X_OK)
    assert binary.stat().st_size <= 15 * MEGABYTE


def test_it_names_no_path_of_the_machine_that_built_it(binary: Path) -> None:
    """Code objects carry names relative to the package, so tracebacks and the file tell nothing about a
    home."""
    content = binary.read_bytes()
    assert str(REPOSITORY).encode() not in content
    assert b"memlite/store/database.py" in content


def test_help_is_that_of_the_source(machine: Machine) -> None:
    """No command and no help text is lost by freezing."""
    source = subprocess.run([sys.executable, "-m", "memlite", "--help"], text=True, capture_output=True, check=True,
                            env={"PYTHONPATH": str(REPOSITORY / "src"), "HOME": str(machine.home)})
    assert "query" in source.stdout
    assert machine.run("--help").stdout == source.stdout


def test_without_any_environment(machine: Machine) -> None:
    """`env -i memlite query …` works."""
    done = subprocess.run([str(machine.binary), "query", "anything", "--json"], env={}, cwd=machine.home, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done
    assert '"query"' in done.stdout


def test_found_on_the_path_and_through_a_link(machine: Machine) -> None:
    """The client puts bin/ on the PATH, people link programs into theirs."""
    link = machine.home / "a link"
    link.symlink_to(machine.binary)
    assert subprocess.run([str(link), "--version"], env=machine.environment, check=False).returncode == 0
    by_name = subprocess.run(["/bin/sh", "-c", "memlite --version"], check=False,
                             env={**machine.environment, "PATH": str(machine.binary.parent)})
    assert by_name.returncode == 0


@pytest.mark.parametrize("name", ["with spaces", "größer 日本 🦉", "quo'te\"s", "new\nline", "per%cent?and#hash"])
def test_any_home_and_any_folder(machine: Machine, name: str) -> None:
    """What goes in through a hook comes out of a query, whatever the home and the project are called."""
    home = machine.home / name
    home.mkdir()
    machine.environment["HOME"] = str(home)
    stored = machine.run("hook", "UserPromptSubmit", given=payload(home, WORDS), cwd=home)
    assert (stored.returncode, stored.stderr) == (0, "")
    found = machine.run("query", "lighthouse", cwd=home)
    assert "größer, 日本, 🦉" in found.stdout, found
    assert (home / ".memlite" / "memlite.db").is_file()


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8", "de_DE.ISO-8859-1", "ja_JP.SJIS", "nonsense"])
def test_any_locale(machine: Machine, locale: str) -> None:
    """Input and output are UTF-8 whatever the locale says."""
    machine.environment.update(LC_ALL=locale, LANG=locale)
    machine.remember(WORDS)
    assert "größer, 日本, 🦉" in machine.found("日本")


def test_a_deleted_working_folder(machine: Machine) -> None:
    """A session's folder may be gone by the time its last hook runs."""
    doomed = machine.home / "doomed"
    doomed.mkdir()
    script = 'cd "$1" && rmdir "$1" && exec "$2" hook UserPromptSubmit'
    done = subprocess.run(["/bin/sh", "-c", script, "sh", str(doomed), str(machine.binary)], text=True, check=False,
                          input=payload(doomed, WORDS), capture_output=True, env=machine.environment)
    assert (done.returncode, done.stdout) == (0, "")
    assert "lighthouse" in machine.found("lighthouse", "--all-projects")


def test_a_python_of_the_user_is_not_looked_at(machine: Machine) -> None:
    """PYTHONPATH, PYTHONHOME and modules in the working folder can't change the program."""
    for name in ("json", "memlite", "encodings", "_sqlite3"):
        (machine.home / f"{name}.py").write_text("raise SystemExit(99)")
    done = machine.run("query", "anything", cwd=machine.home, PYTHONPATH=str(machine.home), PYTHONHOME="/nowhere",
                       PYTHONSTARTUP=str(machine.home / "json.py"))
    assert done.returncode == 0, done


def test_twenty_at_once(machine: Machine) -> None:
    """Starts don't get in each other's way, every hook's prompt is stored, nothing stays behind."""
    prompts = [f"prompt number{number} of a busy machine" for number in range(20)]
    with ThreadPoolExecutor(20) as pool:
        for done in pool.map(lambda text: machine.run("hook", "UserPromptSubmit",
                                                      given=payload(machine.home, text)), prompts):
            assert (done.returncode, done.stderr) == (0, "")
    for number in range(20):
        assert f"number{number} " in machine.found(f"number{number}")


# A small process that runs another and prints what the system accounted to it. The test's own process can't:
# a child starts with the peak of the process it was forked from, and this one is larger than memlite.
ACCOUNTANT = """
import os, sys
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, 1, 0)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, used = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss)
"""


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="POSIX accounting")
@pytest.mark.parametrize("arguments", [["query", "lighthouse"], ["hook", "UserPromptSubmit"], ["recent"],
                                       ["--version"]], ids=" ".join)
def test_peak_memory_is_at_most_40_mb(machine: Machine, arguments: list[str]) -> None:
    """The largest process of a run."""
    machine.remember(WORDS)
    done = subprocess.run([sys.executable, "-IS", "-c", ACCOUNTANT, str(machine.binary), *arguments], text=True,
                          input=payload(machine.home, WORDS), cwd=machine.home, env=machine.environment,
                          capture_output=True, check=True)
    code, peak = map(int, done.stdout.split())
    assert code == 0
    assert 5 * MEGABYTE < peak * (1 if sys.platform == "darwin" else 1024) <= 40 * MEGABYTE


def test_output_into_a_closed_pipe_is_no_traceback(machine: Machine) -> None:
    """`memlite query … | head -1` ends quietly."""
    for number in range(30):
        machine.remember(f"lighthouse number{number}")
    script = '"$1" query lighthouse | head -c 1'
    done = subprocess.run(["/bin/sh", "-c", script, "sh", str(machine.binary)], cwd=machine.home, check=False,
                          env={**machine.environment, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert len(done.stdout) == 1
