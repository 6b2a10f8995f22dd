"""docs/api.md and docs/coming-from-claude-mem.md: every command in them is run with curl, what they show came back."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memlite.search.parameters import SPELLINGS
from memlite.serve import access_token
from memlite.serve.routes import ROUTES
from shop_store import fill
from worker_process import WorkerProcess

DOCS = Path(__file__).resolve().parent.parent / "docs"
SKILL = DOCS.parent / "plugin" / "skills" / "mem-search" / "SKILL.md"
GUIDES = ("api.md", "coming-from-claude-mem.md")
ADDRESS = "http://127.0.0.1:37777"
LEFT_OUT = "…"
BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:```(json|text)\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")


class Example(NamedTuple):
    """A command and what is shown below it."""

    command: str
    kind: str
    shown: str


def examples(name: str) -> list[Example]:
    """The examples of a guide in their order, which counts: one saves, the next forgets that."""
    return [Example(*found) for found in BLOCK.findall((DOCS / name).read_text("utf-8"))]


def as_shown(shown: Any, value: Any) -> bool:
    """Whether `value` is what was shown; `…` stands for any value, and at the end of a list or object for the rest."""
    if shown == LEFT_OUT:
        return True
    if isinstance(shown, dict):
        if not isinstance(value, dict) or (LEFT_OUT not in shown and set(shown) != set(value)):
            return False
        return all(name in value and as_shown(part, value[name]) for name, part in shown.items() if name != LEFT_OUT)
    if isinstance(shown, list):
        if not isinstance(value, list):
            return False
        if shown and shown[-1] == LEFT_OUT:
            shown, value = shown[:-1], value[:len(shown) - 1]
        return len(shown) == len(value) and all(map(as_shown, shown, value))
    return bool(shown == value)


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[WorkerProcess]:
    """A worker over the small store, with its data where the guide's reader has it."""
    home = str(tmp_path / ".memlite")
    fill(home)
    access_token.ensure(home)
    with WorkerProcess(home) as running:
        yield running


def run(worker: WorkerProcess, command: str, folder: Path) -> str:
    """What the command prints when typed by somebody whose home is `folder`."""
    done = subprocess.run(["sh", "-c", command.replace(ADDRESS, worker.url)], cwd=folder, capture_output=True,
                          encoding="utf-8", timeout=30, check=False, env={"PATH": "/usr/local/bin:/usr/bin:/bin",
                                                                           "HOME": str(folder)})
    # 28: a stream was read for as long as it was to be.
    assert done.returncode == 0 or (done.returncode == 28 and "--max-time" in command), (command, done)
    return done.stdout


@needs_curl
@pytest.mark.parametrize("name", GUIDES)
def test_every_command_of_a_guide_answers_what_is_shown(worker: WorkerProcess, tmp_path: Path, name: str) -> None:
    wrong = []
    for example in examples(name):
        printed = run(worker, example.command, tmp_path)
        if example.kind == "json":
            right = as_shown(json.loads(example.shown), json.loads(printed))
        elif example.kind == "text":
            right = printed.strip() == example.shown.strip()
        else:
            right = '"error"' not in printed
        if not right:
            wrong.append(f"{example.command}{printed}")
    assert not wrong, "\n\n".join(wrong)


@needs_curl
def test_the_calls_of_the_skill_go_from_titles_to_what_was_around_to_a_whole_record(worker: WorkerProcess,
                                                                                    tmp_path: Path) -> None:
    """In its order, with words and an id that this store has."""
    calls = re.findall(r"^curl .+$", SKILL.read_text("utf-8"), re.MULTILINE)
    calls = [call.replace("login timeout", "integers of cents").replace("123", "3") for call in calls]
    titles, around, whole = (run(worker, call, tmp_path) for call in calls)
    assert "#3 " in titles and "Keep prices as integers of cents" in titles
    assert "→ #3 " in around and "- #2 " in around
    assert whole.startswith("3 decision: Keep prices as integers of cents")
    assert "narrative: All about Keep prices" in whole


def test_the_guides_have_examples_and_what_is_shown_is_compared() -> None:
    for name in GUIDES:
        found = examples(name)
        text = (DOCS / name).read_text("utf-8")
        assert len(found) == text.count("```sh\n") >= 3
        assert sum(1 for example in found if example.kind) == text.count("```json\n") + text.count("```text\n")
    assert as_shown({"a": [1, LEFT_OUT], LEFT_OUT: LEFT_OUT}, {"a": [1, 2], "b": 3})
    for wrong in ({"a": [2, LEFT_OUT]}, {"a": [1]}, {"a": [1, 2], "c": 3}, {"a": [1, 2]}):
        assert not as_shown(wrong, {"a": [1, 2], "b": 3})


def test_every_route_and_spelling_is_in_the_guide() -> None:
    text = (DOCS / "api.md").read_text("utf-8")
    for route in ROUTES:
        for path in (route.path, *route.aliases):
            assert path.partition("<")[0] in text, path
    for spellings in SPELLINGS.values():
        for spelling in spellings:
            assert f"`{spelling}`" in text, spelling


def test_links_between_the_guides_lead_somewhere() -> None:
    for name in GUIDES:
        text = (DOCS / name).read_text("utf-8")
        titles = {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
                  for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
        for target in re.findall(r"\]\(([^)]+)\)", text):
            if target.startswith("#"):
                assert target[1:] in titles, target
            elif not target.startswith("http"):
                assert (DOCS / target.partition("#")[0]).is_file(), target
