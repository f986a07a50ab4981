"""A collector on this machine that answers as it is told: well, late, wrongly or not at all.

It shares nothing with what sends: requests are read by the standard library's server and taken apart by the
protocol's own classes.
"""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Literal, cast

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

if TYPE_CHECKING:
    import ssl

Behaviour = Literal[
    "ok", "hang", "drip", "429", "500", "502", "503", "504", "401", "400", "partial", "413", "garbage",
    "lost", "hang_up", "half", "tls_error", "page",
]  # fmt: skip

Script = Callable[[int, bool], Behaviour]
"""What happens to a request: by its number among those of its kind, and whether it has spans in it."""


class Collector:
    """What a collector has taken, and how it behaves."""

    def __init__(self) -> None:
        self.script: Script = lambda _n, _has_spans: "ok"
        self.spans: Counter[tuple[str, str]] = Counter()
        """How often each span was committed, by the ids of its trace and its own."""
        self.requests: list[tuple[str, dict[str, str], ExportTraceServiceRequest]] = []
        """What was asked: path, headers, body; those with spans alone."""
        self.keeps = True
        """Whether the bodies are kept."""
        self.knocks = 0
        self.most_spans: int | None = None
        """More in one request are too large."""
        self.bad_span: str | None = None
        self.retry_after: str | None = "1"
        self.takes_ms = 0
        self.is_asked_about = 0
        self.lock = threading.Lock()
        self.port = 0
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/traces"

    def commit(self, body: ExportTraceServiceRequest) -> None:
        with self.lock:
            for resource in body.resource_spans:
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        self.spans[span.trace_id.hex(), span.span_id.hex()] += 1

    @property
    def traces(self) -> set[str]:
        return {trace for trace, _ in self.spans}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    collector: Collector

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def setup(self) -> None:
        super().setup()
        self.connection.settimeout(30)

    def do_GET(self) -> None:
        collector = self.collector
        if "/api/public/v2/observations" not in self.path:
            self._answer(404)
            return
        collector.is_asked_about += 1
        trace = self.path.partition("traceId=")[2].partition("&")[0]
        found = [{"id": span} for of, span in collector.spans if of == trace]
        self._json({"data": found, "meta": {}})

    def do_POST(self) -> None:
        collector = self.collector
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.path.endswith("/graphql"):
            collector.is_asked_about += 1
            trace = json.loads(raw)["variables"]["trace"]
            edges = [{"node": {"spanId": span}} for of, span in collector.spans if of == trace]
            page = {"hasNextPage": False, "endCursor": None}
            told = {"spans": {"edges": edges, "pageInfo": page}} if edges else None
            self._json({"data": {"getTraceByOtelId": told}})
            return
        assert self.headers["Content-Encoding"] == "gzip"
        body = ExportTraceServiceRequest.FromString(gzip.decompress(raw))
        spans = [span for one in body.resource_spans for scope in one.scope_spans for span in scope.spans]
        with collector.lock:
            if spans:
                kept = body if collector.keeps else ExportTraceServiceRequest()
                collector.requests.append((self.path, dict(self.headers.items()), kept))
            else:
                collector.knocks += 1
            number = len(collector.requests) if spans else collector.knocks
        if collector.takes_ms:
            time.sleep(collector.takes_ms / 1000)
        self._behave(collector.script(number, bool(spans)), body, len(spans))

    def _behave(self, behaviour: Behaviour, body: ExportTraceServiceRequest, spans: int) -> None:
        collector = self.collector
        if behaviour == "ok" and collector.most_spans is not None and spans > collector.most_spans:
            behaviour = "413"
        if behaviour == "ok" and collector.bad_span is not None and collector.bad_span in str(body):
            behaviour = "400"
        match behaviour:
            case "ok":
                collector.commit(body)
                self._answer(200, ExportTraceServiceResponse().SerializeToString())
            case "partial":
                collector.commit(body)
                answer = ExportTraceServiceResponse()
                answer.partial_success.rejected_spans = min(1, spans)
                self._answer(200, answer.SerializeToString())
            case "lost":
                collector.commit(body)
                self._hang_up()
            case "hang_up":
                self._hang_up()
            case "half":
                collector.commit(body)
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
                self._hang_up()
            case "hang":
                collector.over.wait(30)
                self._hang_up()
            case "drip":
                for byte in b"HTTP/1.1 200 OK\r\n" + b"X-Slow: 1\r\n" * 200:
                    if collector.over.wait(0.05):
                        break
                    self.wfile.write(bytes([byte]))
                self._hang_up()
            case "page":
                self._answer(200, b"<html>Welcome", {"Content-Type": "text/html; charset=utf-8"})
            case "garbage" | "tls_error":
                self.wfile.write(b"\x00\xffthis is no HTTP\r\n\r\n")
                self._hang_up()
            case _:
                headers = {"Retry-After": collector.retry_after} if collector.retry_after else {}
                self._answer(int(behaviour), b"no, said Bearer sk-secret-123456", headers)

    def _json(self, value: object) -> None:
        self._answer(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        kind = "application/x-protobuf" if status == 200 else "text/plain"
        for name, value in {"Content-Type": kind, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _hang_up(self) -> None:
        self.close_connection = True
        # The socket of a hung-up connection must not say goodbye politely.
        self.connection.shutdown(socket.SHUT_RDWR)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def collecting(
    collector: Collector | None = None, *, port: int = 0, tls: ssl.SSLContext | None = None
) -> Generator[Collector]:
    """Run a collector; with one that was there before, it is the same after a restart."""
    found = collector or Collector()
    found.over = threading.Event()
    handler = cast("type[_Handler]", type("Handler", (_Handler,), {"collector": found}))
    server = _Server(("127.0.0.1", port or found.port), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    found.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def free_port() -> int:
    """Return a port at which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
