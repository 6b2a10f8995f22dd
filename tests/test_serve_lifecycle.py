"""The one worker of a user: started, found, replaced and stopped, as processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memlite import build_info, processes, worker_file
from memlite.errors import WorkerUnavailable
from memlite.serve import lifecycle
from worker_process import WorkerProcess


@pytest.fixture(autouse=True)
def any_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLITE_PORT", "0")


@pytest.fixture(autouse=True)
def none_left(home: str) -> Iterator[None]:
    """Whatever a test leaves running is ended."""
    yield
    lifecycle.stop(home)


def memlite(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "memlite", *arguments], capture_output=True, text=True, timeout=60,
                          check=False, env={**os.environ, **environment})


def alive(pid: int) -> bool:
    """Whether the process runs, a moment's grace for its end included."""
    deadline = time.monotonic() + 0.3
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return _runs(pid)


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_start_url_status_logs_and_stop(home: str) -> None:
    started = memlite("start", "--json")
    assert started.returncode == 0, started.stderr
    worker = json.loads(started.stdout)
    assert alive(worker["pid"])
    assert memlite("url").stdout.strip() == worker["url"]
    told = json.loads(memlite("status", "--json").stdout)["worker"]
    assert (told["pid"], told["port"], told["version"]) == (worker["pid"], worker["port"], build_info.version())
    assert told["rss_bytes"] > 1_000_000
    assert worker["url"] in memlite("status").stdout
    assert worker["url"] in memlite("logs").stdout
    stopped = memlite("stop")
    assert f"process {worker['pid']}" in stopped.stdout
    assert not alive(worker["pid"])
    assert "not running" in memlite("status").stdout
    assert "no worker runs" in memlite("stop").stdout


def test_url_starts_the_worker(home: str) -> None:
    url = memlite("url").stdout.strip()
    found = lifecycle.look(home)
    assert found is not None
    assert found["url"] == url


def test_starting_twice_gives_the_same_worker_and_restarting_another(home: str) -> None:
    first = lifecycle.start(home)
    assert lifecycle.start(home)["pid"] == first["pid"]
    other = json.loads(memlite("restart", "--json").stdout)
    assert other["pid"] != first["pid"]
    assert not alive(first["pid"])


def test_ten_starts_at_once_leave_one_worker(home: str) -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(lifecycle.start(home)["pid"])) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 10
    assert len(set(found)) == 1
    deadline = time.monotonic() + 20
    while len(workers_of(home)) > 1 and time.monotonic() < deadline:   # the losers give up
        time.sleep(0.1)
    assert workers_of(home) == [found[0]]


def workers_of(home: str) -> list[int]:
    """The processes that serve `home`, by what the system says of them."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and _runs(int(name)):
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    line = file.read().split(b"\0")
                with open(f"/proc/{name}/environ", "rb") as file:
                    environment = file.read().split(b"\0")
            except OSError:
                continue
            if b"serve" in line and f"MEMLITE_HOME={home}".encode() in environment:
                found.append(int(name))
    return found


def test_a_second_worker_for_the_same_home_is_refused_and_names_the_first(home: str) -> None:
    first = lifecycle.start(home)
    second = memlite("serve", "--port", "0")
    assert second.returncode == 4
    assert first["url"] in second.stderr


def test_what_it_leaves_in_the_data_directory_is_private(home: str) -> None:
    lifecycle.start(home)
    for name in os.listdir(home):
        assert stat.S_IMODE(os.stat(os.path.join(home, name)).st_mode) == 0o600, name
    assert {"worker.json", "worker.lock", "worker.log", "token"} <= set(os.listdir(home))
    lifecycle.stop(home)
    assert "worker.json" not in os.listdir(home)


def test_a_stale_file_is_not_believed_and_a_new_worker_starts(home: str) -> None:
    killed = lifecycle.start(home)
    os.kill(killed["pid"], signal.SIGKILL)
    while alive(killed["pid"]):
        time.sleep(0.01)
    assert worker_file.read(home) is not None
    assert lifecycle.look(home) is None
    assert lifecycle.stop(home) is None
    assert lifecycle.start(home)["pid"] != killed["pid"]


@pytest.mark.parametrize("content", [b"", b"[]", b"{\"pid\": 1}", b"\xff\xfe", b"{\"pid\": \"1\", \"port\": 5}"])
def test_a_damaged_file_counts_as_none(home: str, content: bytes) -> None:
    os.makedirs(home)
    with open(os.path.join(home, worker_file.FILE), "wb") as file:
        file.write(content)
    assert lifecycle.look(home) is None
    assert lifecycle.start(home)["pid"]


Answer = Callable[[dict[str, Any], str], dict[str, Any]]


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """An innocent process."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def test_a_process_that_does_not_prove_to_be_the_worker_is_never_signalled(
        home: str, bystander: subprocess.Popen[bytes]) -> None:
    """A stranger answers on the recorded port, even with the recorded process id."""
    told = {"pid": bystander.pid, "version": "0", "commit": "", "proof": "00"}
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        def answer() -> None:
            while True:
                try:
                    client, _ = stranger.accept()
                except OSError:
                    return
                client.recv(1000)
                client.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + json.dumps(told).encode())
                client.close()

        threading.Thread(target=answer, daemon=True).start()
        port = stranger.getsockname()[1]
        os.makedirs(home)
        worker_file.write(home, {"pid": bystander.pid, "port": port, "host": "127.0.0.1", "version": "0",
                                 "commit": "", "nonce": "secret"})
        assert lifecycle.look(home) is None
        assert lifecycle.stop(home) is None
        assert memlite("stop").stdout.strip() == "no worker runs"
        assert bystander.poll() is None
        stranger.shutdown(socket.SHUT_RDWR)


def test_the_same_answer_with_the_right_proof_is_believed(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the test above: it is the proof that decides."""
    told = {"pid": 1, "port": 1, "host": "127.0.0.1", "version": "0", "commit": "", "nonce": "secret"}
    os.makedirs(home)
    worker_file.write(home, told)
    right: Answer = lambda told, challenge: {"pid": 1, "proof": lifecycle.proof("secret", challenge)}  # noqa: E731
    monkeypatch.setattr(lifecycle, "_health", lambda home, told, challenge: right(told, challenge))
    assert lifecycle.look(home) is not None
    monkeypatch.setattr(lifecycle, "_health", lambda home, told, challenge: right(told, challenge + "x"))
    assert lifecycle.look(home) is None
    monkeypatch.undo()
    worker_file.remove(home, "secret")


def test_a_stranger_on_the_port_is_passed_over_and_told_of(home: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        taken = stranger.getsockname()[1]
        started = memlite("start", MEMLITE_PORT=str(taken))
    found = lifecycle.look(home)
    assert found is not None
    assert taken < found["port"] <= taken + 20
    assert f"port {taken} is taken by another program" in started.stderr
    assert f"port {taken} is taken by another program" in memlite("logs").stdout


def test_an_older_worker_is_replaced_and_a_newer_one_is_not(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = lifecycle.start(home)
    monkeypatch.setattr(build_info, "version", lambda: "0.0.1")
    assert lifecycle.start(home)["pid"] == first["pid"]
    monkeypatch.setattr(build_info, "version", lambda: "99.0.0")
    second = lifecycle.start(home)
    assert second["pid"] != first["pid"]
    assert not alive(first["pid"])


@pytest.mark.parametrize(("version", "commit", "mine", "my_commit", "replaced"), [
    ("0.1.0", "a", "0.1.0", "a", False),
    ("0.1.0", "a", "0.1.0", "b", True),
    ("0.1.0", "unknown", "0.1.0", "b", False),
    ("0.9.0", "a", "0.10.0", "b", True),
    ("0.10.0", "a", "0.9.0", "b", False),
    ("1.0.0rc1", "a", "1.0.0", "b", True),
    ("nonsense", "a", "0.1.0", "b", True),
])
def test_which_worker_is_outdated(monkeypatch: pytest.MonkeyPatch, version: str, commit: str, mine: str,
                                  my_commit: str, replaced: bool) -> None:
    monkeypatch.setattr(build_info, "version", lambda: mine)
    monkeypatch.setattr(build_info, "commit", lambda: my_commit)
    assert lifecycle.outdated(version, commit) is replaced


def test_a_worker_that_ignores_the_polite_way_is_killed(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "STOP_SECONDS", 0.3)
    found = lifecycle.start(home)
    real_kill = os.kill
    sent: list[int] = []

    def kill(pid: int, number: int) -> None:
        sent.append(number)
        if number == signal.SIGKILL:
            real_kill(pid, number)

    monkeypatch.setattr(os, "kill", kill)
    assert lifecycle.stop(home) is not None
    monkeypatch.undo()
    assert sent == [signal.SIGTERM, signal.SIGKILL]
    assert not alive(found["pid"])


def test_it_outlives_whoever_started_it(home: str) -> None:
    starter = subprocess.run([sys.executable, "-c", "from memlite.serve import lifecycle; import os\n"
                              f"print(lifecycle.start({home!r})['pid'], os.getsid(0))"],
                             capture_output=True, text=True, timeout=60, check=True)
    pid, session = map(int, starter.stdout.split())
    assert alive(pid)
    assert os.getsid(pid) != session


def test_start_unless_running_starts_one_and_only_one(home: str) -> None:
    os.makedirs(home)
    assert worker_file.start_unless_running(home)
    deadline = time.monotonic() + 20
    while lifecycle.look(home) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    found = lifecycle.look(home)
    assert found is not None
    assert not worker_file.start_unless_running(home)


def test_a_start_that_fails_says_where_to_look(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "START_SECONDS", 0.1)
    monkeypatch.setattr(processes, "command", lambda: [sys.executable, "-c", "import sys; sys.exit('broken')"])
    with pytest.raises(WorkerUnavailable) as failure:
        lifecycle.start(home)
    assert "memlite logs" in failure.value.hint
    deadline = time.monotonic() + 10
    while "broken" not in memlite("logs").stdout and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "broken" in memlite("logs").stdout


def test_a_worker_that_needs_the_token_for_reading_is_found_too(home: str) -> None:
    with WorkerProcess(home, MEMLITE_REQUIRE_TOKEN="1") as worker:
        assert worker.get("/health")["code"] == "token_required"
        found = lifecycle.look(home)
        assert found is not None
        assert found["pid"] == worker.process.pid


def test_the_log_is_bounded(home: str) -> None:
    from memlite.serve.log import BoundedLog, tail

    os.makedirs(home)
    path = os.path.join(home, "worker.log")
    log = BoundedLog(path, limit=1000)
    for number in range(200):
        log.write(f"line {number}\n")
    log.write("x" * 5000)
    log.close()
    assert os.path.getsize(path) <= 1000
    assert os.path.getsize(f"{path}.1") <= 1000
    assert sorted(os.listdir(home)) == ["worker.log", "worker.log.1"]
    assert all(stat.S_IMODE(os.stat(f"{home}/{name}").st_mode) == 0o600 for name in os.listdir(home))
    assert tail(path, 2)[0] == "line 199"
