"""Runs the benchmarks, each in a process of its own, one table each.

    python tests/bench/run.py [NAME …] [--record]

NAME is what stands after `bench_` in a file's name; all of them by default. --record keeps what each printed in
results/NAME.txt, which the README shows. Ends with 1 when a bar is missed; such a run is not kept.
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import subprocess
import sys
from pathlib import Path

from memlite import build_info

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULTS = HERE / "results"
NAMES = sorted(file.stem.removeprefix("bench_") for file in HERE.glob("bench_*.py"))


def measure(name: str) -> tuple[int, str]:
    """(exit code, output) of a benchmark, which is printed as it comes."""
    process = subprocess.Popen([sys.executable, str(HERE / f"bench_{name}.py")], cwd=ROOT, stdout=subprocess.PIPE,
                               text=True, encoding="utf-8", env={**os.environ, "PYTHONIOENCODING": "utf-8"})
    assert process.stdout is not None
    output = []
    for line in process.stdout:
        line = line.replace(os.path.realpath(getattr(sys, "_base_executable", sys.executable)), "python3")
        print(line, end="", flush=True)
        output.append(line)
    return process.wait(), "".join(output)


def commit() -> str:
    """The commit of this tree for the first line, with a plus when something but the results was changed since."""
    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)

    found = git("rev-parse", "--short=12", "HEAD").stdout.strip() or "unknown"
    changed = git("diff", "--quiet", "HEAD", "--", ".", ":!tests/bench/results").returncode
    return found + ("+" if changed else "")


def main() -> int:
    """Run what was asked for. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--record", action="store_true", help=f"keep what was printed under {RESULTS.name}/")
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    machine = (f"memlite {build_info.version()} ({commit()}), {platform.system()} {platform.machine()}, "
               f"{os.cpu_count()} cores, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}")
    print(machine)
    failed = []
    for name in options.names or NAMES:
        print(f"\n{name}")
        code, output = measure(name)
        if code != 0:
            failed.append(name)
        elif options.record and not output.startswith("skipped"):
            RESULTS.mkdir(exist_ok=True)
            (RESULTS / f"{name}.txt").write_text(f"{machine}\n\n{output}", encoding="utf-8")
    if failed:
        print(f"\nnot within the bars: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
