"""A collector that takes everything: it counts what it gets and looks at nothing before it has answered.

Run by itself: it prints its port, answers until its input ends, and then prints how many spans there were in
each run, with their bytes before and after compression. A GET begins a new run.
"""

from __future__ import annotations

import gzip
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RUNS: list[list[bytes]] = [[]]


class Sink(BaseHTTPRequestHandler):
    """Takes all requests."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        RUNS[-1].append(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
        self._answer()

    def do_GET(self) -> None:
        RUNS.append([])
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def _answer(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()


def counted(bodies: list[bytes]) -> dict[str, int]:
    """Count what one run sent."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    spans, plain = 0, 0
    for body in bodies:
        data = gzip.decompress(body)
        plain += len(data)
        for resource in ExportTraceServiceRequest.FromString(data).resource_spans:
            spans += sum(len(scope.spans) for scope in resource.scope_spans)
    return {"spans": spans, "bytes": plain, "sent": sum(map(len, bodies))}


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    print(json.dumps([counted(bodies) for bodies in RUNS]))
