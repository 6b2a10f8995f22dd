"""How long the executable's worker takes for each GET over a kept-alive connection, beside the same SQL in-process and
beside claude-mem; how soon it answers after its start, and what memory it holds.

    python tests/bench/bench_api.py [--rounds 200] [--records 5000] [--starts 15]

Environment: MEMLITE_BINARY (by default plugin/bin/memlite); MEMLITE_BENCH_CLAUDE_MEM (a folder with claude-mem's
node_modules; without it there is no comparison). Each round asks everything once, so that a slow moment of the machine
hits all alike, and begins with a write, so that no answer is one given before; what counts are medians. Ends with 1
when a bar is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from types import TracebackType
from urllib.parse import urlencode, urlsplit

import table
from bench_startup import vocabulary
from claude_mem import ClaudeMem, installed

from memlite.model import CAPTURED, CONCEPTS, TYPES, Memory, Observation, Project, Prompt, Session, Summary
from memlite.search.controller import search
from memlite.search.request import SearchRequest
from memlite.serve.routes import ROUTES
from memlite.store import records, write
from memlite.store.database import Database, open_database, open_for_reading

REPOSITORY = Path(__file__).resolve().parents[2]
BEGIN = 1_750_000_000_000
MEGABYTE = 1_000_000
SQL_BAR = 3.0            # × the same SQL in-process
CLAUDE_MEM_BAR = 0.25    # × claude-mem's time
GET_BAR = 10.0           # ms, where /health takes HEALTH_MS
HEALTH_MS = 0.3
IDLE_BAR = 30 * MEGABYTE
START_BAR = 0.4          # s
LIMIT = 20
CLAUDE_MEM_FOUND = b'{"content":[{"type":"text","text":"Found '    # how its answer begins when it is one


def fill(home: str, count: int) -> list[Memory]:
    """Store `count` records, four fifths of them observations, of sixty sessions in six projects. Returns them."""
    words, weights = vocabulary(1)
    chosen = random.Random(5)
    with open_database(home) as database:
        with database.transaction():
            for number in range(count):
                text = chosen.choices(words, weights, k=100)
                name = f"project{number % 6}"
                owner = Session(session_id=f"session-{number % 60}", project=Project(root=f"/r/{name}", name=name),
                                cwd=f"/r/{name}", transcript="")
                record: Memory
                if number % 10 == 8:
                    record = Summary(request=" ".join(text[:12]), completed=" ".join(text[12:60]),
                                     learned=" ".join(text[60:]))
                elif number % 10 == 9:
                    record = Prompt(text=" ".join(text[:40]), prompt_number=1)
                else:
                    record = Observation(
                        title=" ".join(text[:8]), narrative=" ".join(text[8:]), type=TYPES[number % len(TYPES)],
                        concepts=[CONCEPTS[number % len(CONCEPTS)]], facts=[" ".join(text[20:30])], origin=CAPTURED,
                        files_read=[f"src/{text[0]}/{text[1]}.py"])
                record.created_at_epoch = BEGIN + number * 60_000
                if write.store(database, record, owner) is None:
                    raise SystemExit(f"record {number} was not stored")
        return [record for kind in ("observation", "summary", "prompt") for record in records.every(database, kind)]


def questions(count: int) -> list[str]:
    """Questions of one to four words, drawn as they stand in text."""
    words, weights = vocabulary(1)
    chosen = random.Random(3)
    return [" ".join(chosen.choices(words, weights, k=number % 4 + 1)) for number in range(count)]


class Worker:
    """The executable's worker, as a context manager that ends it. `seconds` is from its start to its first answer."""

    def __init__(self, binary: Path, home: str) -> None:
        self.binary = binary
        self.home = home

    def __enter__(self) -> Worker:
        started = time.perf_counter()
        self.process = subprocess.Popen([str(self.binary), "serve", "--port", "0"], stdout=subprocess.PIPE, text=True,
                                        env={"HOME": self.home, "MEMLITE_HOME": self.home})
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        self.connection = http.client.HTTPConnection(urlsplit(self.url).netloc)
        self.get("/api/search?query=word")
        self.seconds = time.perf_counter() - started
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def get(self, path: str) -> float:
        """Milliseconds until the answer to GET `path` is there. Raises SystemExit for an error."""
        return get(self.connection, path)

    def resident(self) -> int:
        """Bytes that the launcher and the program it unpacked hold."""
        family = [self.process.pid, *children(self.process.pid)]
        return sum(resident(process) for process in family)


def get(connection: http.client.HTTPConnection, path: str) -> float:
    """Milliseconds until the answer to GET `path` has been read. Raises SystemExit for an error."""
    return fetch(connection, path)[0]


def fetch(connection: http.client.HTTPConnection, path: str) -> tuple[float, bytes]:
    """(milliseconds until the answer to GET `path` has been read, the answer). Raises SystemExit for an error."""
    started = time.perf_counter()
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    taken = (time.perf_counter() - started) * 1000
    if answer.status != 200:
        raise SystemExit(f"GET {path}: {answer.status} {body[:300]!r}")
    return taken, body


def children(process: int) -> list[int]:
    """The process ids of its children (proc(5))."""
    return [int(text) for text in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def resident(process: int) -> int:
    """Its resident memory in bytes (proc(5), statm)."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Replay:
    """The SQL of a search without all that is around it: recorded once, then run again by itself."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.statements: list[str] = []

    def record(self, request: SearchRequest) -> None:
        """Remember the statements that answer `request`; those of the full-text index's own tables begin with --."""
        self.statements.clear()
        self.database.connection.set_trace_callback(self.statements.append)
        search(self.database, request)
        self.database.connection.set_trace_callback(None)
        self.statements = [text for text in self.statements if not text.startswith("--")]

    def run(self) -> float:
        """Milliseconds that the statements take."""
        started = time.perf_counter()
        for text in self.statements:
            self.database.connection.execute(text).fetchall()
        return (time.perf_counter() - started) * 1000


def paths(asked: list[Memory]) -> dict[str, str]:
    """Route → a call of it with an answer of usual size, for every GET but the search and the streams."""
    words = vocabulary(1)[0]
    ids = {record.KIND: record.ref for record in asked}
    values = {"anchor": ids["observation"], "query": words[60], "concepts": CONCEPTS[0], "files": words[3],
              "obs_type": "decision", "project": "project1"}
    found = {}
    for route in ROUTES:
        if route.method != "GET" or route.path in ("/api/search", "/stream", "/ws"):
            continue
        needed = {name: values[meaning] for meaning, name in route.required}
        if route.path == "/api/timeline":
            needed = {"anchor": ids["observation"]}
        kind = {"/api/observation/<id>": "observation", "/api/session/<id>": "summary"}.get(route.path, "prompt")
        path = route.path.replace("<id>", ids[kind])
        found[route.path] = f"{path}?{urlencode(needed)}" if needed else path
    found["/api/decisions, with words"] = "/api/decisions?" + urlencode({"query": f"{words[40]} {words[400]}"})
    found["/api/contextualize, with words"] = "/api/contextualize?" + urlencode({"query": words[60]})
    found["/api/timeline, by words"] = "/api/timeline?" + urlencode({"query": f"{words[40]} {words[400]}"})
    return found


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> int:
    """Measure, print the tables, and return 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--records", type=int, default=5000)
    parser.add_argument("--starts", type=int, default=15)
    options = parser.parse_args()
    binary = Path(os.environ.get("MEMLITE_BINARY") or REPOSITORY / "plugin" / "bin" / "memlite").resolve()
    if not binary.is_file():
        raise SystemExit(f"there is no memlite at {binary}: build it (tox -e plugin) or set MEMLITE_BINARY")
    times: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        home = f"{folder}/memlite"
        stored = fill(home, options.records)
        routes = paths(stored)
        folder_of_other = installed()
        beside: http.client.HTTPConnection | None = None
        claude_mem: ClaudeMem | None = None
        if folder_of_other is not None:
            their_home = Path(folder, "claude-mem")
            their_home.mkdir()
            claude_mem = stack.enter_context(ClaudeMem(folder_of_other, their_home, free_port(), stored))
            beside = http.client.HTTPConnection("127.0.0.1", claude_mem.port)
        starts = []
        for _ in range(options.starts):
            with Worker(binary, home) as worker:
                starts.append(worker.seconds)
        worker = stack.enter_context(Worker(binary, home))
        time.sleep(1)
        idle = worker.resident()
        database = open_for_reading(home)
        assert database is not None
        replay = Replay(database)
        asked = questions(options.rounds)
        for text in asked[:5]:   # everybody warms up
            worker.get(f"/api/search?{urlencode({'query': text})}")
            if beside is not None:
                get(beside, f"/api/search?{urlencode({'query': text})}")
        writing = stack.enter_context(open_database(home))
        for number, text in enumerate(asked):
            writing.execute("UPDATE sessions SET started_at_epoch = ? WHERE id = 1", (number,))
            path = f"/api/search?{urlencode({'query': text, 'limit': LIMIT})}"
            request = SearchRequest(query=text, limit=LIMIT)
            replay.record(request)
            times["SQL"].append(replay.run())
            started = time.perf_counter()
            search(database, request)
            times["search in-process"].append((time.perf_counter() - started) * 1000)
            times["/api/search"].append(worker.get(path))
            times["/api/search, again"].append(worker.get(path))
            if beside is not None:
                taken, body = fetch(beside, path)
                times["claude-mem"].append(taken)
                if body.startswith(CLAUDE_MEM_FOUND):
                    times["claude-mem, answered"].append(taken)
                    times["the same of memlite"].append(times["/api/search"][-1])
                times["claude-mem, again"].append(get(beside, path))
            for name, call in routes.items():
                times[name].append(worker.get(call))
        loaded, theirs = worker.resident(), ""
        if claude_mem is not None:
            theirs = f"; claude-mem {resident(claude_mem.pid) / MEGABYTE:.0f} MB"
        database.close()
        if beside is not None:
            beside.close()

    medians = {name: statistics.median(taken) for name, taken in times.items()}
    bar = GET_BAR * max(1.0, medians["/health"] / HEALTH_MS)
    rows = [("the same SQL in-process", medians["SQL"], ""),
            ("the same search in-process", medians["search in-process"], ""),
            ("GET /api/search", medians["/api/search"], f"{SQL_BAR * medians['SQL']:.2f}"),
            ("GET /api/search, asked again", medians["/api/search, again"], "")]
    answered = len(times["claude-mem, answered"])
    if "claude-mem" in medians:
        rows += [("GET /api/search of claude-mem", medians["claude-mem"], ""),
                 ("… asked again", medians["claude-mem, again"], ""),
                 (f"… the {answered} questions it answers", medians.get("claude-mem, answered", 0.0), ""),
                 ("… and memlite the same ones", medians.get("the same of memlite", 0.0),
                  f"{CLAUDE_MEM_BAR * medians.get('claude-mem, answered', 0.0):.2f}")]
    rows += [(f"GET {name}", medians[name], f"{bar:.1f}") for name in routes]
    table.show(f"{options.records} records, medians of {options.rounds}", ("", "ms", "bar"),
               [(name, f"{value:.2f}", limit) for name, value, limit in rows])
    start = statistics.median(starts)
    print(f"\nfrom start to first answer: {start:.3f} s (bar {START_BAR}); idle {idle / MEGABYTE:.1f} MB (bar "
          f"{IDLE_BAR / MEGABYTE:.0f}), after {sum(map(len, times.values()))} calls {loaded / MEGABYTE:.1f} MB"
          + theirs)
    missed = []
    if medians["/api/search"] > SQL_BAR * medians["SQL"]:
        missed.append(f"GET /api/search takes {medians['/api/search'] / medians['SQL']:.2f} × its SQL, not {SQL_BAR}")
    if answered:
        part = medians["the same of memlite"] / medians["claude-mem, answered"]
        print(f"where both answer, GET /api/search takes {part:.2f} × claude-mem's time (bar {CLAUDE_MEM_BAR})")
        if part > CLAUDE_MEM_BAR:
            missed.append(f"GET /api/search takes {part:.2f} × claude-mem's time, not {CLAUDE_MEM_BAR}")
    missed += [f"GET {name} takes {medians[name]:.1f} ms, not {bar:.1f}" for name in routes if medians[name] > bar]
    if start > START_BAR:
        missed.append(f"{start:.2f} s from start to first answer, not {START_BAR}")
    if idle > IDLE_BAR:
        missed.append(f"{idle / MEGABYTE:.1f} MB idle, not {IDLE_BAR / MEGABYTE:.0f}")
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
