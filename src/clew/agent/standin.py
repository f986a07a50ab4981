"""A stand-in for the Messages API on loopback: scripted replies, streaming, and a log of requests.

It answers `POST /v1/messages` (as server-sent events when the request asks for a stream) and
`POST /v1/messages/count_tokens`, with replies given beforehand.

    with StandIn([Reply((text("Hello."),))], strict=True) as api:
        ...  # point a client at api.url
        assert api.requests[0].body["messages"]
        assert not api.refusals

Unless it is strict it checks nothing about the messages it is sent: that they were sent is then not to say
that the real API would accept them. A strict one refuses what the API refuses (`api_checks`), with its status
and in its words, and thinking that does not come back as it was given out (`thinking_memory`).
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Literal, Self, TypeAlias, cast

from clew.agent.api_checks import Refusal, refusal
from clew.agent.thinking_memory import ThinkingMemory
from clew.agent.token_count import count_tokens

if TYPE_CHECKING:
    from pathlib import Path

Block: TypeAlias = Mapping[str, object]
"""One content block of a reply, in the shape the API gives it."""

_NOTHING: Mapping[str, object] = MappingProxyType({})


def text(words: str) -> Block:
    """Make a text block."""
    return {"type": "text", "text": words}


def thinking(words: str, *, signature: str | None = None) -> Block:
    """Make a thinking block. Left out, the signature follows from the words."""
    if signature is None:
        signature = hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=24).hexdigest()
    return {"type": "thinking", "thinking": words, "signature": signature}


def tool_use(name: str, arguments: Mapping[str, object], *, call_id: str) -> Block:
    """Make a block that calls a tool."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": dict(arguments)}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the stand-in says to one request."""

    content: tuple[Block, ...] = ()

    stop_reason: str | None = None
    """Why the turn ended. Left out, it follows from the content: `tool_use` or `end_turn`."""

    usage: Mapping[str, int] = field(default_factory=lambda: {"input_tokens": 10, "output_tokens": 5})

    message_id: str | None = None
    """The id of the message. Left out, the number of the request makes one."""

    @property
    def reason(self) -> str:
        """The stop reason as it is sent."""
        if self.stop_reason is not None:
            return self.stop_reason
        return "tool_use" if any(b.get("type") == "tool_use" for b in self.content) else "end_turn"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error the stand-in answers with."""

    status: int
    kind: str = "api_error"
    message: str = "scripted failure"


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came in."""

    number: int
    """Counts from 0 over all requests of this stand-in."""

    method: str
    path: str
    """The path without its query."""

    headers: Mapping[str, str]
    """The headers, their names in lower case."""

    raw: bytes
    body: Mapping[str, object]
    """The decoded body; empty when there is none or it is not a JSON object."""

    refusal: Refusal | None = None
    """What a strict stand-in answered instead of a reply."""

    @property
    def is_messages(self) -> bool:
        """Whether the request asks for a message."""
        return self.method == "POST" and self.path == "/v1/messages"

    @property
    def is_count(self) -> bool:
        """Whether the request asks how many tokens it would be."""
        return self.method == "POST" and self.path == "/v1/messages/count_tokens"


Answer: TypeAlias = Reply | Failure
Scripted: TypeAlias = Answer | Callable[[Request], Answer]
"""A step of the script: an answer, or a function that makes one from the request."""

_HELLO = Reply((text("ok"),))


def _always(request: Request) -> bool:
    return request.is_messages


class StandIn:
    """A Messages API on a free port of 127.0.0.1, running while the context is open."""

    def __init__(
        self,
        script: Sequence[Scripted] = (),
        *,
        default: Scripted = _HELLO,
        takes_script: Callable[[Request], bool] = _always,
        log: Path | None = None,
        strict: bool = False,
        binds_thinking: bool = True,
        takes_empty_thinking: bool = True,
    ) -> None:
        """Answer message requests from `script`, in order, then with `default` for ever.

        A request that `takes_script` turns down (a client also asks for titles and the like) gets the
        default and leaves the script alone. With `log` each request is appended there as a JSON line.

        A `strict` stand-in refuses what the API refuses; that uses up nothing of the script. The models
        behind it check what was said before a thinking block (`binds_thinking`) and write signed thinking
        without words (`takes_empty_thinking`), as the newer ones do.
        """
        self._script = iter(tuple(script))
        self._default = default
        self._takes_script = takes_script
        self._log = log
        self._strict = strict
        self._binds_thinking = binds_thinking
        self._takes_empty_thinking = takes_empty_thinking
        self._memory = ThinkingMemory()
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
        self._server = self._thread = None

    @property
    def url(self) -> str:
        """Where the stand-in listens, without a trailing slash."""
        if self._server is None:
            raise RuntimeError("the stand-in is not running")
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request so far, in the order of arrival."""
        with self._lock:
            return tuple(self._requests)

    @property
    def refusals(self) -> tuple[Request, ...]:
        """The requests that were refused, in the order of arrival."""
        return tuple(request for request in self.requests if request.refusal is not None)

    def trust(self, messages: Sequence[Mapping[str, object]]) -> None:
        """Take the thinking in these messages for genuine, in its place behind just these messages.

        Give it what a client sent of a session before the session was changed: thinking that is then sent
        with anything else before it, or with other words, is refused. Thinking never heard of is accepted.
        """
        with self._lock:
            self._memory.learn(messages)

    def receive(
        self, method: str, path: str, headers: Mapping[str, str], raw: bytes
    ) -> tuple[Request, Answer]:
        """Record a request and choose what to say to it."""
        with self._lock:
            request = Request(len(self._requests), method, path, headers, raw, _decode(raw))
            if self._strict:
                request = replace(request, refusal=self._judge(request))
            self._requests.append(request)
            step: Scripted = self._default
            if request.is_messages and request.refusal is None and self._takes_script(request):
                step = next(self._script, self._default)
            if self._log is not None:
                with self._log.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(_entry(request)) + "\n")
        if request.refusal is not None:
            return request, Failure(request.refusal.status, request.refusal.kind, request.refusal.message)
        answer = step(request) if callable(step) else step
        if self._strict and request.is_messages and isinstance(answer, Reply):
            # Only what is given out now: what came with the request is no more genuine for having been sent.
            said = _messages(request)
            with self._lock:
                reply = {"role": "assistant", "content": list(answer.content)}
                self._memory.learn([*said, reply], since=len(said))
        return request, answer

    def _judge(self, request: Request) -> Refusal | None:
        """Say what the API would refuse, be it in the request or in the thinking that comes back with it."""
        if not (request.is_messages or request.is_count):
            return None
        found = refusal(
            request.body,
            raw=request.raw,
            counting=request.is_count,
            takes_empty_thinking=self._takes_empty_thinking,
        )
        binds = self._binds_thinking and not _drops_blocks(request.body)
        return found or self._memory.refusal(_messages(request), binds=binds)


def _entry(request: Request) -> dict[str, object]:
    """Write a request as the log tells it."""
    entry: dict[str, object] = {
        "number": request.number,
        "method": request.method,
        "path": request.path,
        "body": request.body,
    }
    if request.refusal is not None:
        entry["refusal"] = asdict(request.refusal)
    return entry


def _messages(request: Request) -> Sequence[Mapping[str, object]]:
    """Return the messages of a request that was not refused for their form."""
    return cast("Sequence[Mapping[str, object]]", request.body.get("messages", ()))


def _drops_blocks(body: Mapping[str, object]) -> bool:
    """Whether the client chose to lose thinking that no longer holds rather than to be refused."""
    options = body.get("thinking")
    binding = cast("dict[str, object]", options).get("block_binding") if isinstance(options, dict) else None
    if not isinstance(binding, dict):
        return False
    return cast("dict[str, object]", binding).get("prefix_mismatch_behavior") == "drop_block"


def _decode(raw: bytes) -> Mapping[str, object]:
    try:
        body: object = json.loads(raw)
    except (ValueError, RecursionError):
        return _NOTHING
    return cast("dict[str, object]", body) if isinstance(body, dict) else _NOTHING


def message(reply: Reply, request: Request) -> dict[str, object]:
    """Write a reply as the message object of the API."""
    return {
        "id": reply.message_id or f"msg_standin_{request.number:06d}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", "stand-in"),
        "content": [dict(block) for block in reply.content],
        "stop_reason": reply.reason,
        "stop_sequence": None,
        "usage": dict(reply.usage),
    }


def events(reply: Reply, request: Request) -> Iterator[tuple[str, dict[str, object]]]:
    """Tell a reply as the events of a stream, name and data."""
    whole = message(reply, request)
    yield (
        "message_start",
        {
            "type": "message_start",
            "message": {
                **whole,
                "content": [],
                "stop_reason": None,
                "usage": {**reply.usage, "output_tokens": 1},
            },
        },
    )
    for index, block in enumerate(reply.content):
        empty, deltas = _pieces(block)
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    yield (
        "message_delta",
        {
            "type": "message_delta",
            "delta": {"stop_reason": reply.reason, "stop_sequence": None},
            "usage": dict(reply.usage),
        },
    )
    yield "message_stop", {"type": "message_stop"}


def _pieces(block: Block) -> tuple[dict[str, object], list[dict[str, object]]]:
    """Take a block apart into what its start event carries and the deltas that follow."""
    match block.get("type"):
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": block.get("text", "")}]
        case "thinking":
            return {**block, "thinking": "", "signature": ""}, [
                {"type": "thinking_delta", "thinking": block.get("thinking", "")},
                {"type": "signature_delta", "signature": block.get("signature", "")},
            ]
        case "tool_use":
            arguments = json.dumps(block.get("input", {}))
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": arguments}]
        case _:
            return dict(block), []


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api: StandIn) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api = api

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

    def _handle(self, method: Literal["POST", "GET", "HEAD"]) -> None:
        size = self.headers.get("content-length", "0")
        raw = self.rfile.read(int(size)) if size.isdecimal() else b""
        path = self.path.partition("?")[0]
        headers = {name.lower(): value for name, value in self.headers.items()}
        request, answer = cast(_Server, self.server).api.receive(method, path, headers, raw)
        if request.refusal is not None:
            words = _error(request.refusal.kind, request.refusal.message)
            self._send_json(
                request.refusal.status, {**words, "request_id": f"req_standin_{request.number:06d}"}
            )
        elif request.is_count:
            self._send_json(200, {"input_tokens": count_tokens(request.body)})
        elif not request.is_messages:
            self._send_json(404, _error("not_found_error", "not found"))
        elif "messages" not in request.body:
            self._send_json(400, _error("invalid_request_error", "messages: field required"))
        elif isinstance(answer, Failure):
            self._send_json(answer.status, _error(answer.kind, answer.message))
        elif request.body.get("stream") is True:
            self._send_stream(events(answer, request))
        else:
            self._send_json(200, message(answer, request))

    def _send_json(self, status: int, body: Mapping[str, object]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_stream(self, stream: Iterator[tuple[str, dict[str, object]]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, data in stream:
            self.wfile.write(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
            self.wfile.flush()


def _error(kind: str, words: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": words}}
