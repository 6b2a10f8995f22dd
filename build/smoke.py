"""Tries the built executable as a stranger's machine would run it: no environment, empty home, other folder.

    python build/smoke.py [EXECUTABLE]
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

PROMPT = "Why does the lighthouse blink twice at dawn?"


def run(command: list[str], environment: dict[str, str], folder: str, given: str = "") -> str:
    """Run `command`; its output. Raises SystemExit when it fails."""
    done = subprocess.run(command, env=environment, cwd=folder, input=given, capture_output=True, text=True,
                          encoding="utf-8", timeout=60, check=False)
    if done.returncode != 0:
        sys.exit(f"smoke: {command[1:]} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(text: str, output: str, what: str) -> None:
    """Stop with the output when `text` is not in it."""
    if text not in output:
        sys.exit(f"smoke: {what} does not show {text!r}:\n{output}")
    print(f"smoke: {what}: ok")


def wait_for(address: str, process: subprocess.Popen[bytes]) -> str:
    """The body of `address` as soon as it answers, within 15 seconds."""
    for _ in range(150):
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return str(answer.read(), "utf-8")
        except OSError:
            time.sleep(0.1)
    sys.exit(f"smoke: {address} does not answer")


def try_commands(binary: Path) -> None:
    """Version, hook, query, worker and its end. Raises SystemExit with the first thing that is wrong."""
    with tempfile.TemporaryDirectory(prefix="memlite smoke ") as home:
        environment = {"HOME": home}
        if os.name == "nt":
            environment = {"USERPROFILE": home, "TEMP": home, "SYSTEMROOT": os.environ["SYSTEMROOT"]}
        memlite = str(binary)

        expect("memlite", run([memlite, "--version"], environment, home), "memlite --version")
        payload = {"hook_event_name": "UserPromptSubmit", "cwd": home, "prompt": PROMPT,
                   "session_id": "00000000-0000-4000-8000-000000000000",
                   "transcript_path": os.path.join(home, "none.jsonl")}
        said = run([memlite, "hook", "UserPromptSubmit"], environment, home, json.dumps(payload))
        if said:
            json.loads(said)
        found = run([memlite, "query", "lighthouse", "--json"], environment, home)
        expect("lighthouse blink", found, "memlite query after a hook")

        port = "37991"
        worker = subprocess.Popen([memlite, "serve"], env={**environment, "MEMLITE_PORT": port}, cwd=home,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            health = wait_for(f"http://127.0.0.1:{port}/health", worker)
            expect("{", health, "GET /health")
        finally:
            worker.terminate() if os.name == "nt" else worker.send_signal(signal.SIGTERM)
            code = worker.wait(15)
        if os.name != "nt" and code != 0:
            sys.exit(f"smoke: the worker ended with {code} on SIGTERM")
        print("smoke: the worker stops on SIGTERM: ok")


if __name__ == "__main__":
    name = "memlite.exe" if os.name == "nt" else "memlite"
    built = Path(__file__).resolve().parent.parent / "plugin" / "bin" / name
    try_commands(Path(sys.argv[1]) if len(sys.argv) > 1 else built)
