"""The API's contract, table and all, with real curl against the executable's own worker."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from api_table import CASES, COVERED, EVENTS, WRITING, Case, faults
from shop_store import fill

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
AT_ONCE = 400    # requests of one curl, over one connection


class Served:
    """The executable serving the small store."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.folder = folder
        self.home = folder / ".memlite"
        fill(str(self.home))
        (folder / "tmp").mkdir()
        self.process = subprocess.Popen([str(binary), "serve", "--port", "0"], stdout=subprocess.PIPE, text=True,
                                        cwd=folder, env={"HOME": str(folder), "TMPDIR": str(folder / "tmp")})
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()

    @property
    def token(self) -> str:
        """The token that the worker has made."""
        return (self.home / "token").read_text().strip()

    def stop(self) -> None:
        """End the worker."""
        self.process.terminate()
        assert self.process.wait(10) == 0
        assert self.process.stdout is not None
        self.process.stdout.close()

    def wrong(self, cases: Sequence[Case]) -> list[str]:
        """What is wrong about the answers to `cases`, asked in their order."""
        found = []
        for start in range(0, len(cases), AT_ONCE):
            part = cases[start:start + AT_ONCE]
            with tempfile.TemporaryDirectory() as folder:
                seen = self._curl(part, Path(folder))
                for number, case in enumerate(part):
                    if number not in seen:
                        found.append(f"{case}: curl has not asked")
                        continue
                    body = Path(folder, str(number))
                    found += faults(case, *seen[number], body.read_bytes() if body.exists() else b"")
        return found

    def _curl(self, cases: Sequence[Case], folder: Path) -> dict[int, tuple[int, str]]:
        """(status, Content-Type) by number; the bodies are in files of that name."""
        config = folder / "config"
        config.write_text("\nnext\n".join(self._entry(number, case, folder) for number, case in enumerate(cases)))
        done = subprocess.run(["curl", "-q", "--config", str(config)], capture_output=True, encoding="utf-8",
                              timeout=120, check=False)
        assert done.returncode in (0, 28), done.stderr    # 28: a stream does not end by itself
        return {int(number): (int(status), kind)
                for number, status, kind in re.findall(r"^(\d+) (\d+) (.*)$", done.stdout, re.MULTILINE)}

    def _entry(self, number: int, case: Case, folder: Path) -> str:
        """The request as curl's configuration has it (curl(1), --config)."""
        lines = [f'url = "{self.url}{case.target}"', f'request = "{case.method}"', f'output = "{folder}/{number}"',
                 f'write-out = "{number} %{{http_code}} %{{content_type}}\\n"', "silent", "globoff", "path-as-is"]
        lines += [f'header = "{name}: {value}"' for name, value in case.headers]
        if case.token:
            lines.append(f'header = "Authorization: Bearer {self.token}"')
        if case.body is not None:
            body = folder / f"{number}.body"
            body.write_bytes(case.body)
            lines += [f'data-binary = "@{body}"', f'header = "Content-Type:{" " if case.kind else ""}{case.kind}"']
        if case.content == EVENTS and case.status == 200:
            lines += ["no-buffer", "max-time = 0.3"]
        return "\n".join(lines)


@pytest.fixture(scope="module")
def served(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One worker for all that only read."""
    running = Served(binary, tmp_path_factory.mktemp("served"))
    yield running
    running.stop()


# Every stream is held open for a moment, so of the hundred that the table has one of each sort will do.
def _few_streams(cases: Sequence[Case]) -> list[Case]:
    streams = [case for case in cases if case.content == EVENTS and case.status == 200]
    return [case for case in cases if case not in streams[3:-3]]


@pytest.mark.parametrize("route", sorted({case.route for case in CASES}))
def test_every_answer_is_as_the_contract_says(served: Served, route: str) -> None:
    """Statuses, kinds of content, keys and errors."""
    found = served.wrong(_few_streams([case for case in CASES if case.route == route]))
    if found:
        pytest.fail(f"{len(found)} faults:\n" + "\n".join(found[:20]), pytrace=False)


def test_every_write_is_as_the_contract_says(binary: Path, tmp_path: Path) -> None:
    """On a store of its own; what is forgotten is gone afterwards."""
    running = Served(binary, tmp_path)
    try:
        assert running.wrong(WRITING) == []
    finally:
        running.stop()


def test_every_route_is_asked_for() -> None:
    """The control: a table without cases would let everything pass."""
    assert len(COVERED) > 30
    assert len(CASES) > 20_000


def test_a_wrong_answer_is_noticed(served: Served) -> None:
    """The other control."""
    good = next(case for case in CASES if (case.method, case.target) == ("GET", "/api/search"))
    assert served.wrong([good]) == []
    assert len(served.wrong([good._replace(status=400), good._replace(keys=frozenset({"x"}))])) == 2
