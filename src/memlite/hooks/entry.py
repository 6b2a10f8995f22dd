"""`memlite hook EVENT`: the client's JSON on standard input, JSON or nothing on standard output, always exit 0.

Fail open: exit code 2 would block the person's prompt and any other would be shown as a failed hook, so every fault
ends in the log and in silence. Nothing here or below imports click, bottle, json, re or datetime: the process lives
for a few hundredths of a second and each of them would double that.
"""

from __future__ import annotations

import os

from memlite import jsoncodec, paths
from memlite.hooks.log import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# Real payloads reach 2 MB (a 1 MB Write); what is larger is not read to its end.
PAYLOAD_LIMIT = 16 * 1024 * 1024


def main(arguments: list[str]) -> NoReturn:
    """Handle the event named in `arguments` and end the process with code 0, whatever happens."""
    event = arguments[0] if arguments else ""
    home = ""
    try:
        home = paths.home()
        answer = run(event, _payload(), home)
        if answer is not None:
            os.write(1, jsoncodec.dumps(answer).encode("utf-8", "replace"))
    except BaseException as failure:  # KeyboardInterrupt and SystemExit too: nothing may reach the client
        log(home, event, failure)
    finally:
        os._exit(0)  # skips the interpreter's tear-down; SQLite has committed


def run(event: str, payload: object, home: str) -> dict[str, object] | None:
    """What the event's handler answers: the JSON object to print, or None. Raises what the handler raises."""
    if not isinstance(payload, dict):
        raise ValueError("the hook's standard input is not a JSON object")
    from memlite.hooks import events

    handler = events.HANDLERS.get(event)
    if handler is None:
        raise ValueError(f"unknown hook event {event!r}; known: {', '.join(events.HANDLERS)}")
    return handler(payload, home)


def _payload() -> object:
    chunks = []
    left = PAYLOAD_LIMIT
    while left > 0 and (chunk := os.read(0, min(left, 1 << 20))):
        chunks.append(chunk)
        left -= len(chunk)
    return jsoncodec.loads(b"".join(chunks).decode("utf-8", "replace"))
