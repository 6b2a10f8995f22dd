"""Serves a folder of bare git repositories over smart HTTP on loopback, through git's own http-backend.

The client clones a marketplace with depth 1, which git's "dumb" protocol (a plain file server) can't do.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@contextmanager
def git_server(folder: Path) -> Iterator[str]:
    """Yields the base URL under which the repositories in folder can be cloned (not pushed to)."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            length = self.headers.get("content-length") or "0"
            # The CGI variables of git-http-backend(1).
            answer = subprocess.run(
                ["git", "http-backend"],
                input=self.rfile.read(int(length)),
                stdout=subprocess.PIPE,
                check=True,
                env={
                    "PATH": os.environ["PATH"],
                    "GIT_PROJECT_ROOT": str(folder),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    # The test's user may not be the folder's owner as git sees it (containers).
                    "GIT_CONFIG_COUNT": "1",
                    "GIT_CONFIG_KEY_0": "safe.directory",
                    "GIT_CONFIG_VALUE_0": "*",
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("content-type", ""),
                    "CONTENT_LENGTH": length,
                    "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
                    "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
                },
            ).stdout
            head, _, body = answer.partition(b"\r\n\r\n")
            fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
            status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
            self.send_response(status)
            for name, value in fields:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
