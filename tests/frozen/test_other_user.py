"""Two users of one machine: each has a memory of their own, and is told so where one reaches for the other's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0,
                                reason="only root can be two users")
OTHER = 65534   # nobody


@pytest.fixture
def folder(binary: Path) -> Iterator[Path]:
    """A folder that both can enter, with the executable in it and a home for each."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        shutil.copy2(binary, place / "memlite")
        for home, owner in (("mine", 0), ("theirs", OTHER)):
            (place / home).mkdir(mode=0o700)
            os.chown(place / home, owner, owner)
        yield place


def run(folder: Path, user: int, data: Path, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """memlite as `user` with the data directory `data`."""
    home = folder / ("theirs" if user else "mine")
    return subprocess.run([str(folder / "memlite"), *arguments], input=given, capture_output=True, text=True,
                          check=False, user=user, group=user, extra_groups=[], cwd=home, timeout=60,
                          env={"HOME": str(home), "TMPDIR": str(home), "MEMLITE_HOME": str(data),
                               "MEMLITE_WORKER": "0", "PATH": "/usr/bin:/bin"})


def test_anothers_memory_is_refused_with_the_reason(folder: Path) -> None:
    """Not called empty, and nothing in it is touched; a hook goes on with exit 0."""
    data = folder / "data"
    assert run(folder, 0, data, "save", "the token expires").returncode == 0
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    for arguments in (("query", "token"), ("recent",), ("show", "1"), ("status",), ("save", "mine"), ("start",),
                      ("chroma", "status"), ("forget", "1", "--yes"), ("import", "transcripts", "."),
                      ("doctor",)):
        done = run(folder, OTHER, data, *arguments)
        assert done.returncode != 0 and "belongs to user 0, not to you" in done.stdout + done.stderr, (arguments, done)
    event = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/", "transcript_path": "/t.jsonl",
             "source": "startup"}
    hook = run(folder, OTHER, data, "hook", "SessionStart", given=json.dumps(event))
    assert hook.returncode == 0 and "belongs to user 0" in json.loads(hook.stdout)["systemMessage"]
    assert {path.name: path.read_bytes() for path in data.iterdir()} == before


def test_each_user_has_a_worker_of_their_own(folder: Path) -> None:
    """On a port of its own, with what that user stored and nothing else."""
    homes = {0: folder / "mine" / "data", OTHER: folder / "theirs" / "data"}
    try:
        urls = {}
        for user, data in homes.items():
            assert run(folder, user, data, "save", f"a thought of user {user}").returncode == 0
            assert run(folder, user, data, "start").returncode == 0
            urls[user] = json.loads(run(folder, user, data, "status", "--json").stdout)["worker"]["url"]
        assert len(set(urls.values())) == 2
        for user, url in urls.items():
            found = subprocess.run(["curl", "-s", f"{url}/api/search?query=thought"], capture_output=True, check=True)
            assert [item["title"] for item in json.loads(found.stdout)["results"]] == [f"a thought of user {user}"]
    finally:
        for user, data in homes.items():
            run(folder, user, data, "stop")
