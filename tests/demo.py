"""Shows the main job with the built executable: a real session is read, and found again.

    python tests/demo.py [EXECUTABLE]

Everything happens in a temporary folder that is gone at the end. Ends with 1 when what a person should see is not
there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SESSION = ROOT / "tests" / "data" / "transcripts" / "03a1382e-ecd5-42c4-b3d4-5c659e165904.jsonl"
PROJECT = "/Users/USER/workspace/cli/.worktrees/1"  # where that session took place, on its author's machine
QUESTION = "why was git status broken in the worktree"
ANSWER = "cache-tree"  # what was found out that day


class Demo:
    """Runs memlite commands the way a shell would show them."""

    def __init__(self, binary: Path, home: str) -> None:
        self.binary = binary
        self.environment = {"HOME": home, "TMPDIR": home, "PATH": os.environ.get("PATH", os.defpath),
                            "MEMLITE_WORKER": "0"}  # it would outlive the demo
        if os.name == "nt":
            self.environment |= {"USERPROFILE": home, "TEMP": home, "SYSTEMROOT": os.environ["SYSTEMROOT"]}
        self.home = home

    def run(self, *arguments: str, given: str = "") -> str:
        """The output of `memlite ARGUMENTS`. Ends the demo when it fails."""
        done = subprocess.run([str(self.binary), *arguments], env=self.environment, cwd=self.home, input=given,
                              capture_output=True, text=True, encoding="utf-8", timeout=60, check=False)
        if done.returncode != 0:
            sys.exit(f"memlite {' '.join(arguments)} ended with {done.returncode}\n{done.stderr}")
        return done.stdout

    def show(self, *arguments: str, lines: int = 30) -> str:
        """Run a command and print it with at most `lines` lines of its output, which is returned whole."""
        words = [f'"{word}"' if " " in word else word.replace(f"{ROOT}{os.sep}", "") for word in arguments]
        print(f"\n$ memlite {' '.join(words)}")
        output = self.run(*arguments)
        shown = output.splitlines()
        for line in shown[:lines]:
            print(line if len(line) <= 118 else line[:117] + "…")
        if len(shown) > lines:
            print(f"[… {len(shown) - lines} more lines]")
        return output


def expect(text: str, output: str, where: str) -> None:
    """Stop when `text` is not in `output`."""
    if text not in output:
        sys.exit(f"\ndemo: {text!r} should be in {where}:\n{output}")


def main(binary: Path) -> None:
    """Read, search, show, and what a new session would be given."""
    if not binary.is_file():
        sys.exit(f"demo: there is no {binary}; build it with: tox -e plugin")
    with tempfile.TemporaryDirectory(prefix="memlite-demo-") as home:
        demo = Demo(binary, home)
        print("A session about a broken git worktree, recorded by Claude Code, is read into an empty memory.")
        expect("memlite", demo.show("--version"), "the version")
        expect("stored", demo.show("import", "transcripts", str(SESSION)), "the report of the import")

        print("\nWeeks later: what was that again?")
        expect(ANSWER, demo.show("query", QUESTION, "--limit", "5"), "the first five results")
        found = json.loads(demo.run("query", QUESTION, "--limit", "5", "--json"))["results"]
        best = next(result["id"] for result in found if result["kind"] != "prompt")
        expect(SESSION.stem, demo.show("show", best, lines=14), "the record and where it comes from")
        expect("[]", json.dumps(json.loads(demo.run("query", "zzyzx", "--json"))["results"]), "the answer to nonsense")

        print("\nWhat Claude is told when the next session starts in that project (the first lines):\n")
        payload = {"hook_event_name": "SessionStart", "source": "startup", "cwd": PROJECT,
                   "session_id": "00000000-0000-4000-8000-000000000000",
                   "transcript_path": os.path.join(home, "none.jsonl")}
        demo.environment["MEMLITE_BACKFILL"] = "0"  # nothing of this machine's sessions comes into the demo
        answer = json.loads(demo.run("hook", "SessionStart", given=json.dumps(payload)))
        block = answer["hookSpecificOutput"]["additionalContext"]
        expect("git", block, "the block for the new session")
        for line in block.splitlines()[:12]:
            print(line if len(line) <= 118 else line[:117] + "…")
    print(f"""
That was {binary}, in a temporary folder that is gone now. To use it in Claude Code:

  claude plugin marketplace add {ROOT}
  claude plugin install memlite@memlite""")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("MEMLITE_BINARY") or ROOT / "plugin" / "bin"
              / ("memlite.exe" if os.name == "nt" else "memlite")))
