"""helper: a process that answers, refuses, dies or hangs, and is always gone in the end."""

from __future__ import annotations

import ast
import os
import pkgutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_chroma import FakeChroma, until
from memlite.chroma.helper import Helper, HelperFailed, environment

ALLOWED = {"json", "os", "queue", "sys", "threading", "time", "fcntl", "msvcrt", "ctypes", "urllib", "chromadb",
           "onnxruntime", "tokenizers", "numpy"}


@pytest.fixture
def chroma(tmp_path: Path) -> FakeChroma:
    return FakeChroma(tmp_path / "fake")


@pytest.fixture
def helper(chroma: FakeChroma, tmp_path: Path) -> Iterator[Helper]:
    index = tmp_path / "index"
    index.mkdir()
    started = Helper(str(chroma.python), str(tmp_path))
    started.call("open", 20, path=str(index), collection="c", owner="o")
    yield started
    chroma.behave("well")
    started.close()


def ask(helper: Helper, seconds: float = 20) -> object:
    return helper.call("near", seconds, text="a", where=[], also=[], most=3)["near"]


def test_script_needs_nothing_but_chroma_and_never_memlite() -> None:
    """It is run by a Python that has no memlite; what it imports is written down here."""
    source = pkgutil.get_data("memlite.chroma", "helper.pytxt")
    assert source
    tree = ast.parse(source)
    names = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import)
             for alias in node.names}
    names |= {(node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names <= ALLOWED and {"chromadb", "json"} <= names
    assert len(source) < 20_000


def test_script_is_private_and_the_same_each_time(helper: Helper, tmp_path: Path) -> None:
    """Nobody else may write what the user's Python runs."""
    script = tmp_path / "helper.py"
    assert script.read_bytes() == pkgutil.get_data("memlite.chroma", "helper.pytxt")
    assert script.stat().st_mode & 0o777 == 0o600


def test_answers_find_their_way_to_who_asked(helper: Helper) -> None:
    """Many at once over one pipe."""
    counts: list[int] = []
    helper.call("put", 20, put=[["o-4", ["a b"], {}]], drop=[])
    threads = [threading.Thread(target=lambda: counts.append(len(ask(helper)))) for _ in range(20)]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [1] * 20


def test_refusal_has_a_code_and_the_next_call_is_answered(helper: Helper, chroma: FakeChroma) -> None:
    """One failed query is not the end."""
    chroma.behave("dimension")
    with pytest.raises(HelperFailed, match="384") as failure:
        ask(helper)
    assert failure.value.code == "dimension"
    chroma.behave("well")
    assert ask(helper) == {}


def test_late_answer_is_thrown_away(helper: Helper, chroma: FakeChroma) -> None:
    """The next question gets its own answer, not that of the one before."""
    chroma.behave("hang")
    with pytest.raises(HelperFailed, match="did not answer within 50 ms"):
        ask(helper, 0.05)
    chroma.behave("well")
    assert helper.call("state", 20)["count"] == 0
    assert ask(helper) == {}


@pytest.mark.parametrize("how", ["die", "kill"])
def test_death_is_told_to_all_who_wait(helper: Helper, chroma: FakeChroma, how: str) -> None:
    """At once, not at their deadline."""
    chroma.behave("hang" if how == "kill" else "die")
    failures: list[str] = []

    def wait() -> None:
        try:
            ask(helper, 600)
        except HelperFailed as failure:
            failures.append(failure.code)

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    if how == "kill":
        until(lambda: chroma.log().count("near") == 3)
        os.kill(helper.pid, signal.SIGKILL)
    for thread in threads:
        thread.join(20)
    assert failures == ["gone"] * 3
    with pytest.raises(HelperFailed, match="has ended"):
        helper.call("state", 600)


def test_stopped_process_holds_up_nobody(helper: Helper) -> None:
    """More than a pipe holds is waiting to be written, and the next call still comes back."""
    os.kill(helper.pid, signal.SIGSTOP)
    for _ in range(3):
        with pytest.raises(HelperFailed, match="did not answer"):
            helper.call("put", 0.02, put=[["o-1", ["x" * 200_000], {}]], drop=[])
    helper.kill()
    with pytest.raises(HelperFailed, match="has ended"):
        helper.call("state", 600)


def test_program_that_is_none_fails(tmp_path: Path) -> None:
    """A Python that was removed, or one that ends at once."""
    with pytest.raises(OSError):
        Helper(str(tmp_path / "gone"), str(tmp_path))
    ended = Helper("/bin/true", str(tmp_path))
    with pytest.raises(HelperFailed, match="has ended"):
        ended.call("open", 600)


def test_helper_is_gone_when_whoever_started_it_is_killed(chroma: FakeChroma, tmp_path: Path) -> None:
    """Its standard input ends, and so does it."""
    code = ("import sys, time\nfrom memlite.chroma.helper import Helper\n"
            f"h = Helper({str(chroma.python)!r}, {str(tmp_path)!r})\nprint(h.pid, flush=True)\ntime.sleep(600)\n")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout
        pid = int(starter.stdout.readline())
        until(lambda: alive(pid))
        starter.kill()
    until(lambda: not alive(pid))


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_environment_is_that_of_another_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the executable's launcher and another interpreter left is not handed on; the caches lie in the folder."""
    for name in ("_PYI_ARCHIVE_FILE", "_PYI_APPLICATION_HOME_DIR", "PYINSTALLER_RESET_ENVIRONMENT", "PYTHONHOME",
                 "PYTHONPATH"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/tmp/_MEI1")
    given = environment("/f")
    assert not {"PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH"} & set(given)
    assert not [name for name in given if "PYI" in name or "PYINSTALLER" in name]
    assert given["XDG_CACHE_HOME"] == "/f/cache" and given["PATH"] == os.environ["PATH"]
    monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", "/opt/lib")
    assert environment("/f")["LD_LIBRARY_PATH"] == "/opt/lib"
