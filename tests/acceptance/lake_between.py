"""Stands between clew and an object store, and fails as it is told to.

A process of its own: a library that waits for an answer while it holds Python's lock would wait for ever on
a server in the same process.

    python -m tests.acceptance.lake_between PORT RULES
"""

from __future__ import annotations

import json
import sys
import threading
import time
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Rules:
    """How it fails."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.every: int = told.get("every", 0)
        """Every so manieth request is answered with 503."""
        self.delay: float = told.get("delay", 0.0)
        """Seconds that each answer takes longer."""
        self.endings: tuple[str, ...] = tuple(told.get("endings", ()))
        """Objects whose names end so cannot be read."""
        self.puts: int | None = told.get("puts")
        """After so many files of tables nothing is taken any more."""
        self.requests = 0
        self.refused = 0
        self._lock = threading.Lock()

    def status(self, method: str, path: str) -> int | None:
        """Return the status to refuse a request with, or None."""
        with self._lock:
            self.requests += 1
            found = self._status(method, path)
            self.refused += found is not None
            return found

    def _status(self, method: str, path: str) -> int | None:
        if self.every and self.requests % self.every == 0:
            return 503
        if method == "GET" and self.endings and path.endswith(self.endings):
            return 403
        if self.puts is not None:
            self.puts -= method == "PUT" and "/tables/" in path
            return 403 if self.puts < 0 else None
        return None


def serve(port: int, rules: Rules) -> None:
    """Say on standard output which port is listened on, and serve until it is ended."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path == "/refused":
                self._answer(200, {}, str(rules.refused).encode())
                return
            status = rules.status(self.command, self.path)
            time.sleep(rules.delay)
            if status is not None:
                self._answer(status, {}, b"<Error><Code>Refused</Code></Error>")
                return
            line = HTTPConnection("127.0.0.1", port, timeout=60)
            try:
                line.request(self.command, self.path, body, dict(self.headers.items()))
                answer = line.getresponse()
                self._answer(answer.status, dict(answer.getheaders()), answer.read())
            finally:
                line.close()

        def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            length = str(len(body))
            for name, value in headers.items():
                if name.lower() == "content-length":
                    length = value if self.command == "HEAD" else length
                elif name.lower() not in {"transfer-encoding", "connection", "date", "server"}:
                    self.send_header(name, value)
            self.send_header("Content-Length", length)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _pass  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        sys.stdout.write(f"{server.server_address[1]}\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), Rules(json.loads(sys.argv[2])))
