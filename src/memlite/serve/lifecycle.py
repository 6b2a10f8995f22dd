"""The one worker of a user: found, started, stopped, replaced.

A process counts as the worker of a data directory only if it proves that it is: the worker wrote a secret into its
file there, which is private, and answers a challenge with a hash that takes that secret. So neither a stranger on the
port nor a stranger under a recycled process id is ever taken for it.
"""

from __future__ import annotations

import hmac
import os
import signal
import socket
import time
from hashlib import blake2b

from memlite import build_info, jsoncodec, paths, processes, worker_file
from memlite.errors import WorkerUnavailable
from memlite.serve import access_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

START_SECONDS = 15.0
STOP_SECONDS = 2.0     # then it is killed
_ASK_SECONDS = 2.0
_STEP_SECONDS = 0.02


def proof(nonce: str, challenge: str) -> str:
    """What only a process that knows the worker's `nonce` can answer to `challenge`."""
    return blake2b(challenge.encode("utf-8", "replace"), key=nonce.encode()[:64], digest_size=16).hexdigest()


def look(home: str) -> dict[str, Any] | None:
    """What the running worker says of itself (the answer of /health, and its `url`); None when there is none."""
    told = worker_file.read(home)
    return None if told is None else _ask(home, told)


def _ask(home: str, told: dict[str, Any]) -> dict[str, Any] | None:
    challenge = os.urandom(16).hex()
    health = _health(home, told, challenge)
    if health is None or health.get("pid") != told["pid"]:
        return None
    if not hmac.compare_digest(str(health.get("proof")).encode(), proof(told["nonce"], challenge).encode()):
        return None
    return {**health, "url": worker_file.base_url(told), "port": told["port"], "wanted_port": told.get("wanted_port")}


def _health(home: str, told: dict[str, Any], challenge: str) -> dict[str, Any] | None:
    """The JSON object that /health answers at that address; None when nobody does so in time."""
    url = worker_file.base_url(told)
    host = url.removeprefix("http://")
    token = access_token.read(home)
    authorization = f"Authorization: Bearer {token}\r\n" if token and _needs_token(told) else ""
    deadline = time.monotonic() + _ASK_SECONDS
    try:
        address = (host.rpartition(":")[0].strip("[]"), told["port"])
        with socket.create_connection(address, timeout=_ASK_SECONDS) as client:
            client.sendall(f"GET /health?challenge={challenge} HTTP/1.0\r\n"
                           f"Host: {host}\r\n{authorization}\r\n".encode())
            answer = b""
            while part := client.recv(65536):
                answer += part
                client.settimeout(max(0.01, deadline - time.monotonic()))
                if len(answer) > 100_000 or time.monotonic() > deadline:
                    return None
        value = jsoncodec.loads(answer.partition(b"\r\n\r\n")[2].decode("utf-8", "replace"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _needs_token(told: dict[str, Any]) -> bool:
    return bool(told.get("token_required"))   # else a stranger on the port would be handed the token


def start(home: str) -> dict[str, Any]:
    """The running worker, started in the background if there is none, in place of an older one if there is that.

    Raises WorkerUnavailable, HomeUnusable.
    """
    paths.ensure_home(home)
    running = look(home)
    if running is not None:
        if not outdated(running["version"], running["commit"]):
            return running
        stop(home)
    log = os.path.join(home, worker_file.LOG)
    paths.create_private(log)
    processes.start_detached(["serve", "--background"], home, errors=log)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        running = look(home)
        if running is not None:
            return running
        time.sleep(_STEP_SECONDS)
    raise WorkerUnavailable("the worker does not start", f"`memlite logs` shows what it says; its log is {log}")


def outdated(version: str, commit: str) -> bool:
    """Whether a worker of that version is to be replaced by this one: it is older, or another build of the same."""
    def parts(text: str) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isdigit() else (-1, part) for part in text.split(".")]

    if version == build_info.version():
        return build_info.UNKNOWN not in (commit, build_info.commit()) and commit != build_info.commit()
    return parts(version) < parts(build_info.version())


def stop(home: str) -> dict[str, Any] | None:
    """End the running worker, by force when it does not go within two seconds. Returns what it was; None when there
    was none. Only a process that has proved to be the worker is ever sent a signal. Raises WorkerUnavailable."""
    running = look(home)
    if running is None:
        return None
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        try:
            os.kill(running["pid"], number)
        except ProcessLookupError:
            pass
        except OSError as failure:
            raise WorkerUnavailable(f"the worker (process {running['pid']}) can't be stopped: "
                                    f"{failure.strerror}") from None
        if _gone(home, STOP_SECONDS):
            return running
    raise WorkerUnavailable(f"the worker (process {running['pid']}) does not end", "end it by hand")


def _gone(home: str, seconds: float) -> bool:
    """Whether the lock that the worker holds while it lives is free within that time."""
    deadline = time.monotonic() + seconds
    lock = processes.Lock(os.path.join(home, worker_file.LOCK))
    while True:
        if lock.take():
            lock.release()
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(_STEP_SECONDS)
