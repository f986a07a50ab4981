"""What a stand-in for the Messages API says: answers, the ways they go wrong in, and how fast they come.

    Reply((text("Hello."),), pace=Pace(between=0.1, piece=4))       slowly, four characters at a time
    Reply((text("Hello."),), pace=Pace(cut_after=3, then="drop"))   hangs up after three events
    Failure(529, "overloaded_error", "busy", retry_after=2)         with the header
    Silence()                                                       never a word

How they are sent is for `standin_server`, which one comes when for `standin`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

if TYPE_CHECKING:
    from clew.agent.api_checks import Refusal

Block: TypeAlias = Mapping[str, object]
"""One content block of a reply, in the shape the API gives it."""


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
class Pace:
    """How an answer comes: how fast, in how many pieces, and whether to its end."""

    before: float = 0.0
    """Seconds before the first byte."""

    between: float = 0.0
    """Seconds before each event of a stream."""

    piece: int | None = None
    """Characters in a delta. Left out, a block is one delta."""

    cut_after: int | None = None
    """After so many events of a stream it is over."""

    then: Literal["drop", "hang", "error"] = "drop"
    """How it is over: the connection breaks off, nothing more comes, or an event says that the API failed."""


_AT_ONCE = Pace()


@dataclass(frozen=True, slots=True)
class Reply:
    """What the stand-in says to one request."""

    content: tuple[Block, ...] = ()

    stop_reason: str | None = None
    """Why the turn ended. Left out, it follows from the content: `tool_use` or `end_turn`."""

    usage: Mapping[str, Any] = field(default_factory=lambda: {"input_tokens": 10, "output_tokens": 5})

    message_id: str | None = None
    """The id of the message. Left out, the number of the request makes one."""

    model: str | None = None
    """The model that says to have answered. Left out, the one that was asked."""

    stop_sequence: str | None = None
    pace: Pace = _AT_ONCE

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
    retry_after: float | None = None
    """Seconds, for the header."""

    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    pace: Pace = _AT_ONCE


@dataclass(frozen=True, slots=True)
class Silence:
    """No answer: the connection stays open without a word, or (`drops`) breaks off."""

    drops: bool = False
    pace: Pace = _AT_ONCE


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes in the place of an answer's body, one piece after the other."""

    pieces: tuple[bytes, ...]
    content_type: str = "text/event-stream"
    status: int = 200
    pace: Pace = _AT_ONCE


Answer: TypeAlias = Reply | Failure | Silence | Raw


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


def message(reply: Reply, request: Request) -> dict[str, object]:
    """Write a reply as the message object of the API."""
    return {
        "id": reply.message_id or f"msg_standin_{request.number:06d}",
        "type": "message",
        "role": "assistant",
        "model": reply.model or request.body.get("model", "stand-in"),
        "content": [dict(block) for block in reply.content],
        "stop_reason": reply.reason,
        "stop_sequence": reply.stop_sequence,
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
                "stop_sequence": None,
                "usage": {**reply.usage, "output_tokens": 1},
            },
        },
    )
    for index, block in enumerate(reply.content):
        empty, deltas = _pieces(block, reply.pace.piece)
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    yield (
        "message_delta",
        {
            "type": "message_delta",
            "delta": {"stop_reason": reply.reason, "stop_sequence": reply.stop_sequence},
            "usage": dict(reply.usage),
        },
    )
    yield "message_stop", {"type": "message_stop"}


def error_body(kind: str, words: str, request_id: str | None = None) -> dict[str, object]:
    """Write an error as the API does."""
    body: dict[str, object] = {"type": "error", "error": {"type": kind, "message": words}}
    return body if request_id is None else {**body, "request_id": request_id}


def _pieces(block: Block, size: int | None) -> tuple[dict[str, object], Sequence[Mapping[str, object]]]:
    """Take a block apart into what its start event carries and the deltas that follow."""
    match block.get("type"):
        case "text":
            told = [{"type": "text_delta", "text": part} for part in _cut(block.get("text"), size)]
            cited = block.get("citations")
            if not isinstance(cited, list):
                return {**block, "text": ""}, told
            named = [{"type": "citations_delta", "citation": one} for one in cast("list[object]", cited)]
            return {**block, "text": "", "citations": []}, [*told, *named]
        case "thinking":
            parts = [
                {"type": "thinking_delta", "thinking": part} for part in _cut(block.get("thinking"), size)
            ]
            signed = {"type": "signature_delta", "signature": block.get("signature", "")}
            return {**block, "thinking": "", "signature": ""}, [*parts, signed]
        case "tool_use" | "server_tool_use":
            arguments = json.dumps(block.get("input", {}))
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": part} for part in _cut(arguments, size)
            ]
        case _:
            return dict(block), []


def _cut(value: object, size: int | None) -> list[str]:
    words = value if isinstance(value, str) else ""
    if size is None or len(words) <= size:
        return [words]
    return [words[at : at + size] for at in range(0, len(words), size)]
