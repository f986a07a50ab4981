"""A stand-in for the Messages API on loopback: scripted replies, streaming, and a log of requests.

It answers `POST /v1/messages` (as server-sent events when the request asks for a stream) and
`POST /v1/messages/count_tokens`, with replies given beforehand. What it can say is in `standin_answers`, how
that is sent in `standin_server`.

    with StandIn([Reply((text("Hello."),))], strict=True) as api:
        ...  # point a client at api.url
        assert api.requests[0].body["messages"]
        assert not api.refusals

Unless it is strict it checks nothing about the messages it is sent: that they were sent is then not to say
that the real API would accept them. A strict one refuses what the API refuses (`api_checks`), with its status
and in its words, and thinking that does not come back as it was given out (`thinking_memory`).
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias, cast

from clew.agent.api_checks import Refusal, refusal
from clew.agent.standin_answers import (
    Answer,
    Block,
    Failure,
    Pace,
    Raw,
    Reply,
    Request,
    Silence,
    text,
    thinking,
    tool_use,
)
from clew.agent.standin_server import Server
from clew.agent.thinking_memory import ThinkingMemory

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "Answer",
    "Block",
    "Failure",
    "Pace",
    "Raw",
    "Reply",
    "Request",
    "Scripted",
    "Silence",
    "StandIn",
    "text",
    "thinking",
    "tool_use",
]

Scripted: TypeAlias = Answer | Callable[[Request], Answer]
"""A step of the script: an answer, or a function that makes one from the request."""

_HELLO = Reply((text("ok"),))
_NOTHING: Mapping[str, object] = MappingProxyType({})


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
        needs_tools: bool = True,
        port: int = 0,
        heard: Callable[[Request, Answer], None] | None = None,
    ) -> None:
        """Answer message requests from `script`, in order, then with `default` for ever.

        A request that `takes_script` turns down (a client also asks for titles and the like) gets the
        default and leaves the script alone. With `log` each request is appended there as a JSON line; of its
        headers, which hold a key, nothing is. `heard` is told of each request and its answer.

        A `strict` stand-in refuses what the API refuses; that uses up nothing of the script. The models
        behind it check what was said before a thinking block (`binds_thinking`) and write signed thinking
        without words (`takes_empty_thinking`), as the newer ones do. That calls need tools (`needs_tools`)
        holds for older ones and for gateways: what heeds it is taken by all.
        """
        self._script = iter(tuple(script))
        self._default = default
        self._takes_script = takes_script
        self._log = log
        self._strict = strict
        self._binds_thinking = binds_thinking
        self._takes_empty_thinking = takes_empty_thinking
        self._needs_tools = needs_tools
        self._port = port
        self._heard = heard
        self._memory = ThinkingMemory()
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self._server: Server | None = None

    def __enter__(self) -> Self:
        self._server = Server(self, self._port)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        self._server = None

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
                with open(self._log, "a", encoding="utf-8", opener=_privately) as out:
                    out.write(json.dumps(_entry(request)) + "\n")
        if request.refusal is not None:
            answer = Failure(request.refusal.status, request.refusal.kind, request.refusal.message)
        else:
            answer = step(request) if callable(step) else step
        if self._heard is not None:
            self._heard(request, answer)
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
            needs_tools=self._needs_tools,
        )
        binds = self._binds_thinking and not _drops_blocks(request.body)
        return found or self._memory.refusal(_messages(request), binds=binds)


def _privately(path: str, flags: int) -> int:
    """Open a file that only its owner can read: a conversation goes into it."""
    return os.open(path, flags, 0o600)


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
