"""Runs the real Claude Code client in a workplace of its own, against the scripted API.

The client is proprietary. It is installed from npm when the tests run, into a cache folder outside the
repository (MEMLITE_CLIENT_CACHE, by default ~/.cache/memlite-tests/claude-client), and is never part of it.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fake_anthropic import FakeAnthropic, Request

VERSIONS = ("2.1.197", "2.1.332")
MACHINES = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}
PATH = "/usr/local/bin:/usr/bin:/bin"
PATIENCE = 90  # seconds: a client that hangs is a failure, not a reason to hang
WORK = ("Bash", "Write", "Read", "Edit", "Agent")


class ClientUnavailable(Exception):
    """The client can't be had here; the text says why."""


def fetch(version: str) -> Path:
    """The executable of that client version, installed into the cache if it is not there yet."""
    if platform.system() != "Linux" or platform.machine() not in MACHINES:
        raise ClientUnavailable(f"no client is known for {platform.system()} {platform.machine()}")
    package = f"@anthropic-ai/claude-code-{MACHINES[platform.machine()]}"
    cache = os.environ.get("MEMLITE_CLIENT_CACHE") or "~/.cache/memlite-tests/claude-client"
    home = Path(cache).expanduser() / version
    executable = home / "node_modules" / package / "claude"
    if executable.is_file():
        return executable
    if not shutil.which("npm"):
        raise ClientUnavailable("npm is not on the PATH")
    home.parent.mkdir(parents=True, exist_ok=True)
    # Built aside and renamed, so that a broken download is never taken for a client.
    aside = Path(tempfile.mkdtemp(dir=home.parent))
    try:
        (aside / "package.json").write_text('{"private": true}\n')
        quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-save")
        npm = subprocess.run(
            ["npm", "install", *quiet, f"{package}@{version}"], cwd=aside, capture_output=True, text=True
        )
        if npm.returncode:
            raise ClientUnavailable(f"npm could not install {package}@{version}: {npm.stderr[-300:].strip()}")
        shutil.rmtree(home, ignore_errors=True)
        aside.rename(home)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return executable


class HookRun:
    """What the client saw of one hook: event, stdout, stderr, exit code and its own verdict on it."""

    def __init__(self, event: dict[str, Any]) -> None:
        self.event: str = event["hook_event"]
        self.stdout: str = event["stdout"]
        self.stderr: str = event["stderr"]
        self.exit_code: int = event["exit_code"]
        self.outcome: str = event["outcome"]

    def __repr__(self) -> str:
        return f"{self.event} {self.outcome} {self.exit_code} {self.stdout[:200]!r} {self.stderr[:200]!r}"


class Turn:
    """One finished run of the client, and what it said to the API meanwhile.

    The client reports every hook it waited for in its event stream; SessionEnd, which runs after the
    stream is closed, is seen only by what it leaves behind.
    """

    def __init__(
        self, argv: Sequence[str], returncode: int, stdout: str, stderr: str, requests: list[Request]
    ) -> None:
        self.argv = list(argv)
        self.returncode = returncode
        self.stdout = stdout
        self.stderr = stderr
        self.requests = [request for request in requests if request.offers_tools]
        self.events: list[dict[str, Any]] = [
            json.loads(line) for line in stdout.splitlines() if line.startswith("{")
        ]

    @property
    def answer(self) -> str:
        """The model's closing words, as `claude -p` would print them."""
        return next((str(e.get("result")) for e in reversed(self.events) if e["type"] == "result"), "")

    @property
    def hooks(self) -> list[HookRun]:
        """Every finished hook, in order."""
        return [HookRun(event) for event in self.events if event.get("subtype") == "hook_response"]

    def __repr__(self) -> str:
        """What a person needs when a test has failed."""
        lines = [f"$ {' '.join(self.argv)}", f"exit {self.returncode}, answer {self.answer!r}"]
        lines += [f"hook {hook!r}" for hook in self.hooks]
        if not self.answer:
            lines.append("stdout: " + self.stdout[-3000:])
        return "\n".join([*lines, "stderr: " + self.stderr[-3000:]])


class Workplace:
    """A home, a configuration folder and some projects, in which one client version works with one plugin."""

    def __init__(self, client: Path, api: FakeAnthropic, folder: Path, plugin: Path) -> None:
        self.client = client
        self.api = api
        self.folder = folder
        self.plugin = plugin
        self.home = folder / "home"
        self.data = self.home / ".memlite"
        self.config = folder / "config"
        self.turns: list[Turn] = []
        for path in (self.home, self.config, folder / "tmp"):
            path.mkdir(parents=True)

    @property
    def environment(self) -> dict[str, str]:
        """All that the client and memlite see: nothing of the environment of the tests gets through."""
        return {
            "PATH": PATH,
            "HOME": str(self.home),
            "TMPDIR": str(self.folder / "tmp"),
            "LANG": "C.UTF-8",
            "CLAUDE_CONFIG_DIR": str(self.config),
            "ANTHROPIC_BASE_URL": self.api.url,
            "ANTHROPIC_API_KEY": "sk-ant-fake-local",
            "CLAUDE_CODE_MAX_RETRIES": "0",
            "MEMLITE_WORKER": "0",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def project(self, name: str) -> Path:
        """The folder of a project; when it is new, a git repository with a survey.sh that says what it is told.

        Commands that only look around (echo, ls, cat) are not worth a memory, a script's run is.
        """
        path = self.folder / "projects" / name
        if not path.exists():
            path.mkdir(parents=True)
            subprocess.run(["git", "init", "-q", str(path)], check=True, env=self.environment)
            (path / "survey.sh").write_text('echo "surveyed: $*"\n')
        return path

    def say(self, prompt: str, project: Path, **options: Any) -> Turn:
        """Types one prompt (`claude -p`) and waits for the answer; options as for start."""
        return self.start(prompt, project, **options).finish()

    def start(
        self,
        prompt: str,
        project: Path,
        *,
        session: str = "",
        resume: str = "",
        allow: Sequence[str] = WORK,
        plugin_dir: bool = True,
        under: Sequence[str] = (),
    ) -> Running:
        """Starts `claude -p PROMPT` in a project.

        session names a new session, resume goes on with an old one; allow lists what needs no approval;
        without plugin_dir only installed plugins are loaded; under is a command to run the client under.
        """
        argv = [*under, str(self.client), "-p", prompt]
        argv += ["--output-format", "stream-json", "--verbose", "--include-hook-events"]
        argv += ["--session-id", session] if session else []
        argv += ["--resume", resume] if resume else []
        argv += ["--plugin-dir", str(self.plugin)] if plugin_dir else []
        argv += ["--debug-file", str(self.folder / "debug.txt"), "--allowedTools", *allow]
        return Running(self, argv, project, session or resume)

    def claude(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a subcommand of the client, such as `plugin install`."""
        return self._run([str(self.client), *arguments], self.folder)

    def memlite(self, *arguments: str, project: Path) -> subprocess.CompletedProcess[str]:
        """Runs the plugin's binary in a project, as a person would in a terminal."""
        return self._run([str(self.plugin / "bin" / "memlite"), *arguments], project)

    def search(self, *arguments: str, project: Path) -> list[dict[str, Any]]:
        """The results of a query, every field of each."""
        return self._results("query", *arguments, project=project)

    def memories(self, project: Path) -> list[dict[str, Any]]:
        """All that is stored of a project, every field of each, newest first."""
        return self._results("recent", project=project)

    def _results(self, *arguments: str, project: Path) -> list[dict[str, Any]]:
        done = self.memlite(*arguments, "--json", "--format", "full", "--limit", "100", project=project)
        assert done.returncode == 0, f"memlite {arguments}: {done}"
        found: list[dict[str, Any]] = json.loads(done.stdout)["results"]
        return found

    def _run(self, argv: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            cwd=cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def transcripts(self, session: str) -> list[Path]:
        """The transcript of a session, then those of its subagents."""
        main = next((self.config / "projects").glob(f"*/{session}.jsonl"))
        return [main, *sorted(main.with_suffix("").glob("subagents/*.jsonl"))]

    def settle(self, seconds: float = 15.0) -> None:
        """Waits until nothing that was started here still runs (memlite may finish an import by itself)."""
        deadline = time.monotonic() + seconds
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.05)

    def processes(self) -> list[int]:
        """The pids of the living processes whose home is this workplace."""
        mark = f"HOME={self.home}\0".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:  # it has ended, or is someone else's
                continue
        return found

    def close(self) -> None:
        """Ends what still runs here."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def account(self) -> str:
        """What happened here, for the report of a failed test."""
        log = self.data / "memlite.log"
        parts = [repr(turn) for turn in self.turns[-4:]]
        parts.append("memlite.log: " + (log.read_text(errors="replace")[-3000:] if log.is_file() else "none"))
        return "\n\n".join(parts)


class Running:
    """A client at work."""

    def __init__(self, workplace: Workplace, argv: list[str], project: Path, session: str) -> None:
        self.workplace = workplace
        self.argv = argv
        self.session = session
        self.seen = len(workplace.api.requests)
        self.process = subprocess.Popen(
            argv,
            cwd=project,
            env=workplace.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def finish(self) -> Turn:
        """Waits for the client's end; one that takes too long is ended, and the test fails."""
        try:
            stdout, stderr = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            stdout, stderr = self.process.communicate()
            stderr += f"\n(ended by the test after {PATIENCE} s)"
        requests = self.workplace.api.requests[self.seen :]
        if self.session:
            requests = [request for request in requests if request.session == self.session]
        turn = Turn(self.argv, self.process.returncode, stdout, stderr, requests)
        self.workplace.turns.append(turn)
        return turn


def doubled(memories: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """(kind, uuid) of each transcript row that is in two memories of a kind."""
    rows = Counter((memory["kind"], row) for memory in memories for row in memory["uuids"])
    return {row for row, count in rows.items() if count > 1}


def new_session() -> str:
    """An id for a new session."""
    return str(uuid.uuid4())
