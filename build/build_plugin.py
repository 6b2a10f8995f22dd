"""Builds the executable into `plugin/bin/`, with its SHA-256 beside it.

    python build/build_plugin.py            build plugin/bin/memlite and plugin/bin/memlite.sha256
    python build/build_plugin.py --smoke    … and try its commands in an empty environment
    python build/build_plugin.py --release  … and pack what a release publishes into out/release/

Needs PyInstaller, click and bottle in the running Python, and on Linux the binutils. Whatever it makes on
the way goes under out/ and is removed again; --keep leaves it there to be looked at.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

BUILD = Path(__file__).resolve().parent
ROOT = BUILD.parent
sys.path.insert(0, str(ROOT / "src"))

from memlite import build_info  # noqa: E402  (this tree's, not an installed one)

OUT = ROOT / "out"
SUFFIX = ".exe" if os.name == "nt" else ""
BINARY = ROOT / "plugin" / "bin" / f"memlite{SUFFIX}"
CHECKSUM = BINARY.parent / "memlite.sha256"
MEGABYTE = 1_000_000
LARGEST = 15 * MEGABYTE  # more would slow down every hook


class CannotBuild(Exception):
    """Something the build needs is missing; the text says what, and what to do about it."""


def commit() -> str:
    """The commit to write into the executable: `MEMLITE_COMMIT` where the tree has no .git, else what git
    says."""
    return os.environ.get("MEMLITE_COMMIT") or build_info.commit()


def commit_time() -> str:
    """When the commit was made, in seconds since 1970: the only time that gets into the executable."""
    told = os.environ.get("SOURCE_DATE_EPOCH")
    if told:
        return told
    try:
        done = subprocess.run(["git", "-C", str(ROOT), "log", "-1", "--format=%ct"], capture_output=True,
                              text=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return "0"
    return done.stdout.strip()


def check_tools() -> None:
    """Look for all the build needs before it starts. Raises CannotBuild with the line that installs it."""
    try:
        from PyInstaller.depend.bindepend import get_python_library_path
    except ImportError:
        raise CannotBuild("PyInstaller is missing: run `tox -e plugin`, or pip install pyinstaller click "
                          "bottle") from None
    if sys.platform == "linux":
        missing = [tool for tool in ("strip", "objdump", "objcopy") if shutil.which(tool) is None]
        if missing:
            raise CannotBuild(f"{', '.join(missing)} not found; on Debian and Ubuntu: apt-get install "
                              "binutils")
    if get_python_library_path() is None:
        raise CannotBuild(
            f"{sys.executable} has no shared library to put into the executable; on Debian and Ubuntu: "
            "apt-get install libpython3-dev; with pyenv: PYTHON_CONFIGURE_OPTS=--enable-shared pyenv install "
            "--force …")


def freeze(work: Path) -> Path:
    """Run PyInstaller and return the executable it made under `work`. Raises CannotBuild."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),  # this tree, not an installed memlite
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNODEBUGRANGES": "1",  # a traceback needs the line, not the column: 7 % of the code
        "SOURCE_DATE_EPOCH": commit_time(),
        "PYINSTALLER_CONFIG_DIR": str(work / "cache"),
        "MEMLITE_VERSION": build_info.version(),
        "MEMLITE_COMMIT": commit(),
    }
    done = subprocess.run(
        [sys.executable, "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level=WARN",
         "--distpath", str(work / "dist"), "--workpath", str(work / "work"), str(BUILD / "memlite.spec")],
        cwd=ROOT, env=environment, check=False)
    made = work / "dist" / BINARY.name
    if done.returncode != 0 or not made.is_file():
        raise CannotBuild(f"PyInstaller ended with {done.returncode}; its messages are above")
    return made


def install(made: Path) -> str:
    """Put the executable and its checksum into the plugin folder. Returns the SHA-256.

    A running worker keeps the file it was started from: the new one takes its name, it is not written over.
    """
    BINARY.parent.mkdir(parents=True, exist_ok=True)
    arriving = BINARY.with_name(BINARY.name + ".new")
    shutil.copyfile(made, arriving)
    arriving.chmod(0o755)
    digest = hashlib.sha256(arriving.read_bytes()).hexdigest()
    os.replace(arriving, BINARY)
    with open(CHECKSUM, "w", encoding="ascii", newline="\n") as file:
        file.write(f"{digest}  {BINARY.name}\n")  # as `sha256sum -c` reads it
    return digest


def main() -> int:
    """Build as the arguments say. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Build memlite's executable into plugin/bin/.")
    parser.add_argument("--smoke", action="store_true", help="try the executable's commands afterwards")
    parser.add_argument("--release", action="store_true", help="pack a release into out/release/")
    parser.add_argument("--keep", action="store_true", help="keep out/freeze/")
    options = parser.parse_args()
    work = OUT / "freeze"
    try:
        check_tools()
        shutil.rmtree(work, ignore_errors=True)
        digest = install(freeze(work))
    except CannotBuild as failure:
        print(f"build_plugin: {failure}", file=sys.stderr)
        return 1
    finally:
        if not options.keep:
            shutil.rmtree(work, ignore_errors=True)
    size = BINARY.stat().st_size
    print(f"{BINARY.relative_to(ROOT)}: memlite {build_info.version()} ({commit()}), "
          f"{size / MEGABYTE:.1f} MB, sha256 {digest}")
    if size > LARGEST:
        print(f"build_plugin: larger than {LARGEST // MEGABYTE} MB: see build/pruning.py", file=sys.stderr)
        return 1
    if options.smoke:
        import smoke

        smoke.try_commands(BINARY)
    if options.release:
        import release

        for path in release.pack(build_info.version()):
            print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
