"""The HTTP side of the stand-in: takes requests on loopback, and sends what it is told to, at its pace."""

from __future__ import annotations

import json
import select
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from clew.agent.standin_answers import Failure, Raw, Reply, Silence, error_body, events, message
from clew.agent.token_count import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from clew.agent.standin_answers import Answer, Pace, Request

_MOST: Final = 64 << 20
"""Bytes of a request that are read: twice what the API takes."""

_JOIN: Final = 5.0
_LOOK: Final = 0.05
_MODELS: Final[Mapping[str, object]] = {"data": [], "has_more": False, "first_id": None, "last_id": None}


class Answering(Protocol):
    """Whoever decides what is said."""

    def receive(
        self, method: str, path: str, headers: Mapping[str, str], raw: bytes
    ) -> tuple[Request, Answer]:
        """Record a request and choose what to say to it."""
        ...


class Server(ThreadingHTTPServer):
    """Listens on 127.0.0.1 from the moment it is made until it is closed, and leaves no thread behind."""

    daemon_threads = True

    def __init__(self, api: Answering, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.api = api
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._open: dict[threading.Thread, socket.socket] = {}
        self._serving = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._serving.start()

    def close(self) -> None:
        """Break off what is being sent, and end."""
        self._over.set()
        self.shutdown()
        self._serving.join()
        self.server_close()
        with self._lock:
            left = dict(self._open)
        for connected in left.values():
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)
        for thread in left:
            thread.join(_JOIN)

    def wait(self, seconds: float) -> bool:
        """Wait so long; say whether it is all over."""
        return self._over.wait(seconds) if seconds > 0 else self._over.is_set()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve one connection in a thread of its own."""
        with self._lock:
            self._open[threading.current_thread()] = request
        try:
            if not self._over.is_set():
                super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                del self._open[threading.current_thread()]

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that hangs up in the middle of a reply is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self._handle("POST")

    def do_GET(self) -> None:
        self._handle("GET")

    def do_HEAD(self) -> None:
        self._handle("HEAD")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is the base class's)
        """Say nothing: the requests are the log."""

    def _handle(self, method: str) -> None:
        self._id = ""
        size = self.headers.get("content-length", "0")
        if not size.isdecimal() or len(size) > 12 or int(size) > _MOST:
            self.close_connection = True
            self._send_json(413, error_body("request_too_large", "Request exceeds the maximum size"))
            return
        raw = self.rfile.read(int(size))
        path = self.path.partition("?")[0]
        headers = {name.lower(): value for name, value in self.headers.items()}
        request, answer = self._server.api.receive(method, path, headers, raw)
        self._id = f"req_standin_{request.number:06d}"
        if request.refusal is not None:
            refused = request.refusal
            self._send_json(refused.status, error_body(refused.kind, refused.message, self._id))
        elif request.is_count:
            self._send_json(200, {"input_tokens": count_tokens(request.body)})
        elif method == "GET" and path == "/v1/models":
            self._send_json(200, _MODELS)
        elif not request.is_messages:
            self._send_json(404, error_body("not_found_error", "not found"))
        elif "messages" not in request.body:
            self._send_json(400, error_body("invalid_request_error", "messages: field required"))
        elif not self._server.wait(answer.pace.before):
            self._say(request, answer)

    @property
    def _server(self) -> Server:
        return cast("Server", self.server)

    def _say(self, request: Request, answer: Answer) -> None:
        match answer:
            case Silence():
                if not answer.drops:
                    self._hang()
                self._drop()
            case Failure():
                waits = {} if answer.retry_after is None else {"retry-after": f"{answer.retry_after:g}"}
                body = error_body(answer.kind, answer.message)
                self._send_json(answer.status, body, {**waits, **answer.headers})
            case Raw():
                self._send_pieces(answer.pieces, answer.pace, answer.content_type, answer.status)
            case Reply() if request.body.get("stream") is True:
                told = (_event(name, data) for name, data in events(answer, request))
                self._send_pieces(told, answer.pace)
            case Reply():
                self._send_json(200, message(answer, request))

    def _send_json(
        self, status: int, body: Mapping[str, object], headers: Mapping[str, str] | None = None
    ) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self._send_names(headers or {})
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_pieces(
        self, pieces: Iterable[bytes], pace: Pace, kind: str = "text/event-stream", status: int = 200
    ) -> None:
        is_chunked = self.request_version != "HTTP/1.0"
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("cache-control", "no-cache")
        if is_chunked:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.close_connection = True
        self._send_names({})
        self.end_headers()
        for piece in _paced(pieces, pace):
            if self._server.wait(pace.between):
                return self._drop()
            self._send_piece(piece, is_chunked=is_chunked)
        if pace.cut_after is None:
            if is_chunked:
                self.wfile.write(b"0\r\n\r\n")
            return None
        if pace.then == "hang":
            self._hang()
        return self._drop()

    def _send_piece(self, piece: bytes, *, is_chunked: bool) -> None:
        if piece:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
            self.wfile.flush()

    def _send_names(self, headers: Mapping[str, str]) -> None:
        if self._id:
            self.send_header("request-id", self._id)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("connection", "close")

    def _hang(self) -> None:
        """Say nothing until the other side hangs up, or all is over."""
        while not self._server.wait(0):
            if select.select([self.connection], [], [], _LOOK)[0]:
                try:
                    if not self.connection.recv(1, socket.MSG_PEEK):
                        return
                except OSError:
                    return
                if self._server.wait(_LOOK):
                    return

    def _drop(self) -> None:
        """Break the connection off."""
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def _paced(pieces: Iterable[bytes], pace: Pace) -> Iterator[bytes]:
    for number, piece in enumerate(pieces):
        if number == pace.cut_after:
            if pace.then == "error":
                body = error_body("overloaded_error", "Overloaded")
                yield _event("error", body)
            return
        yield piece


def _event(name: str, data: Mapping[str, object]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
