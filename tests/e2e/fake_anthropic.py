"""A scripted stand-in for the Anthropic Messages API, on loopback, for tests with the real client.

A test says what the model will answer to a prompt, turn by turn, and reads afterwards what the client sent::

    with FakeAnthropic() as api:
        api.script("PROMPT-ONE", say("I'll look.", call("Bash", command="ls")), say("Done."))
        ...  # run the client with ANTHROPIC_BASE_URL=api.url
        api.requests[0].text

The server keeps no conversation: which script is meant, and how far it has got, is read from each request.
So the client's retries, subagents and parallel sessions can't put it out of step.
"""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMPACTION_ORDER = "create a detailed summary of the conversation"
REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)


class Reply:
    """One turn of the model: its content blocks, and how many seconds it thinks before sending them."""

    def __init__(self, blocks: list[dict[str, Any]], delay: float) -> None:
        self.blocks = blocks
        self.delay = delay

    @property
    def stop_reason(self) -> str:
        """What the API says the turn ended for."""
        return "tool_use" if any(block["type"] == "tool_use" for block in self.blocks) else "end_turn"


def say(*parts: str | dict[str, Any], delay: float = 0.0) -> Reply:
    """A turn made of texts (str) and tool calls (from call), in this order."""
    return Reply([{"type": "text", "text": p} if isinstance(p, str) else p for p in parts], delay)


def call(tool: str, **tool_input: Any) -> dict[str, Any]:
    """A tool_use block, for say. Its id is made when it is sent."""
    return {"type": "tool_use", "name": tool, "input": tool_input}


class Request:
    """One request of the client: path, and body as parsed JSON (None when it had none)."""

    def __init__(self, path: str, body: dict[str, Any] | None) -> None:
        self.path = path
        self.body = body or {}

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation so far, as the client sent it."""
        found: list[dict[str, Any]] = self.body.get("messages", [])
        return found

    @property
    def text(self) -> str:
        """Every text of the system prompt and the conversation, tool results included, in order."""
        parts = [text_of(self.body.get("system"))]
        parts += [text_of(message["content"], results=True) for message in self.messages]
        return "\n".join(parts)

    @property
    def tool_results(self) -> list[str]:
        """The text of each tool result in the conversation, in order."""
        return [
            text_of([block], results=True)
            for message in self.messages
            if isinstance(message["content"], list)
            for block in message["content"]
            if block.get("type") == "tool_result"
        ]

    @property
    def session(self) -> str:
        """The session id that the client puts into its metadata, "" when there is none."""
        found = re.search(r'"session_id":"([^"]+)"', self.body.get("metadata", {}).get("user_id", ""))
        return found.group(1) if found else ""

    @property
    def offers_tools(self) -> bool:
        """Whether this is a conversation that can act, not a side question (a title, a topic)."""
        return bool(self.body.get("tools"))


Turn = Reply | str | Callable[[Request], "Reply | str"]


def text_of(content: Any, *, results: bool = False) -> str:
    """The texts in a message's content, a string or a list of blocks; with tool results if asked."""
    if isinstance(content, str):
        return content
    parts = []
    for block in content or []:
        if block.get("type") == "text":
            parts.append(block.get("text", ""))
        elif results and block.get("type") == "tool_result":
            parts.append(text_of(block.get("content"), results=True))
    return "\n".join(parts)


class FakeAnthropic:
    """The server: started on entering, stopped on leaving. Safe to use from several clients at once."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.summary = "<analysis>looked back</analysis><summary>a summary</summary>"
        self._scripts: dict[str, tuple[Turn, ...]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.api = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> FakeAnthropic:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The value for ANTHROPIC_BASE_URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, mark: str, *turns: Turn) -> None:
        """From now on a prompt that contains mark is answered with these replies, one per turn.

        A turn that depends on what the tools have answered is a function of the request.
        """
        self._scripts[mark] = turns

    def reply_to(self, request: Request) -> Reply:
        """The next turn of the script whose mark was typed last, counted from that prompt on.

        Only what a person typed counts: reminders (injected memory among them) and tool results may quote
        the marks of earlier sessions.
        """
        typed = [
            REMINDER.sub("", text_of(message["content"])) if message["role"] == "user" else ""
            for message in request.messages
        ]
        answered = [i for i, message in enumerate(request.messages) if message["role"] == "assistant"]
        if any(COMPACTION_ORDER in text for text in typed[answered[-1] + 1 if answered else 0 :]):
            return say(self.summary)
        last, mark = max(
            ((i, mark) for i, text in enumerate(typed) for mark in self._scripts if mark in text),
            default=(0, ""),
        )
        if not mark or not request.offers_tools:
            return say("ok")
        turns = self._scripts[mark]
        turn = turns[min(sum(i > last for i in answered), len(turns) - 1)]
        reply = turn(request) if callable(turn) else turn
        return say(reply) if isinstance(reply, str) else reply


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: pytest's output belongs to the tests."""

    def do_HEAD(self) -> None:
        self._send(200, b"")

    def do_GET(self) -> None:
        self._receive()
        self._send(404, b'{"type": "error", "error": {"type": "not_found_error", "message": "not here"}}')

    def do_POST(self) -> None:
        request = self._receive()
        path = self.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            self._send(200, json.dumps({"input_tokens": _tokens(request)}).encode())
        elif path != "/v1/messages":
            self._send(404, b'{"type": "error", "error": {"type": "not_found_error", "message": "not here"}}')
        else:
            reply = self._api.reply_to(request)
            time.sleep(reply.delay)
            self._answer(request, reply)

    @property
    def _api(self) -> FakeAnthropic:
        api: FakeAnthropic = self.server.api  # type: ignore[attr-defined]
        return api

    def _receive(self) -> Request:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        request = Request(self.path, json.loads(raw) if raw else None)
        self._api.requests.append(request)
        return request

    def _send(self, status: int, data: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _answer(self, request: Request, reply: Reply) -> None:
        blocks = [
            {**block, "id": "toolu_" + uuid.uuid4().hex[:22]} if block["type"] == "tool_use" else block
            for block in reply.blocks
        ]
        message = {
            "id": "msg_" + uuid.uuid4().hex[:22],
            "type": "message",
            "role": "assistant",
            "model": request.body.get("model"),
            "content": blocks,
            "stop_reason": reply.stop_reason,
            "stop_sequence": None,
            "usage": {"input_tokens": _tokens(request), "output_tokens": 10},
        }
        if request.body.get("stream"):
            self._send(200, b"".join(_events(message)), "text/event-stream; charset=utf-8")
        else:
            self._send(200, json.dumps(message).encode())


def _tokens(request: Request) -> int:
    return len(json.dumps(request.body)) // 4


def _events(message: dict[str, Any]) -> list[bytes]:
    """The server-sent events that carry a message, as the API streams one."""

    def event(kind: str, **data: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()

    events = [event("message_start", message={**message, "content": [], "stop_reason": None})]
    for i, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append(event("content_block_start", index=i, content_block=empty))
        events.append(event("content_block_delta", index=i, delta=delta))
        events.append(event("content_block_stop", index=i))
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append(event("message_delta", delta=ended, usage={"output_tokens": 10}))
    events.append(event("message_stop"))
    return events
