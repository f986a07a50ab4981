"""What a streamed answer tells, event by event, with each content block put together as it ends.

Whatever the API may come to send survives: blocks and events of kinds unknown here are handed on whole, and
fields of known ones are kept. What a block's deltas are is for `stream_blocks`; what is on the wire is `sse`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from clew.agent.stream_blocks import Building, Piece, is_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.agent.tool import Block

__all__ = ["BlockEnded", "BlockStarted", "Ended", "Event", "Folding", "OtherEvent", "Piece", "Started"]


@dataclass(frozen=True, slots=True)
class Started:
    """The answer begins. From here on nothing is sent a second time."""

    message_id: str
    model: str
    usage: Mapping[str, Any]
    request_id: str | None
    message: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """The message as far as it is known: its fields, and mostly no content."""


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """A content block begins."""

    index: int
    block: Block
    """As it was announced: its type, the name of a tool, and nothing in it yet."""


@dataclass(frozen=True, slots=True)
class BlockEnded:
    """A content block is whole."""

    index: int
    block: Block

    broken_input: str | None = None
    """What the model wrote as the input of a call, if that is no JSON object; then `input` is empty."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The answer is whole."""

    stop_reason: str | None
    stop_sequence: str | None
    usage: Mapping[str, Any]
    """All of it: what was told at the start, and what replaced it at the end."""

    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What else the end of the message says, a container or what was cleared for example."""


@dataclass(frozen=True, slots=True)
class OtherEvent:
    """An event, or a kind of delta, that is not known here; told whole."""

    kind: str
    data: Mapping[str, Any]


Event: TypeAlias = Started | BlockStarted | Piece | BlockEnded | Ended | OtherEvent


class BadStreamError(Exception):
    """What came is no stream of a message."""


class StreamFailedError(Exception):
    """The API says in the middle of a stream that it failed."""

    def __init__(self, kind: str, words: str) -> None:
        super().__init__(words)
        self.kind = kind
        self.words = words


class Folding:
    """Is fed the data of events in order, and gives back what they tell."""

    def __init__(self, request_id: str | None = None) -> None:
        self._request_id = request_id
        self._blocks: dict[int, Building] = {}
        self._usage: dict[str, Any] = {}
        self._stop_reason: str | None = None
        self._stop_sequence: str | None = None
        self._more: dict[str, Any] = {}
        self.is_started = False
        self.is_ended = False

    def feed(self, data: Mapping[str, Any]) -> Iterator[Event]:
        """Take the next event."""
        kind = data.get("type")
        if self.is_ended:
            return
        match kind:
            case "ping":
                return
            case "error":
                raise _failure(data)
            case "message_start":
                yield self._start(_mapping(data.get("message")))
            case "content_block_start":
                yield self._begin(_index(data), _mapping(data.get("content_block")))
            case "content_block_delta":
                yield from self._add(_index(data), _mapping(data.get("delta")))
            case "content_block_stop":
                yield from self._finish(_index(data))
            case "message_delta":
                self._change(data)
            case "message_stop":
                self._need_start()
                yield from self._end()
            case _:
                yield OtherEvent(kind if isinstance(kind, str) else "", data)

    def end(self) -> Iterator[Event]:
        """Say that no more events come. What has not even a stop reason by then is not whole."""
        if self.is_ended:
            return
        if self._stop_reason is None:
            raise BadStreamError("it ended before its end")
        yield from self._end()

    def _end(self) -> Iterator[Event]:
        for index in sorted(self._blocks):
            yield from self._finish(index)
        self.is_ended = True
        yield Ended(self._stop_reason, self._stop_sequence, self._usage, self._more)

    def _start(self, message: Mapping[str, Any]) -> Event:
        if self.is_started:
            raise BadStreamError("a second message began in it")
        self.is_started = True
        self._usage = dict(_mapping(message.get("usage")))
        return Started(
            str(message.get("id") or ""),
            str(message.get("model") or ""),
            dict(self._usage),
            self._request_id,
            message,
        )

    def _begin(self, index: int, block: Mapping[str, Any]) -> Event:
        self._need_start()
        if index in self._blocks:
            raise BadStreamError("a block began twice")
        building = Building(index, block)
        self._blocks[index] = building
        return BlockStarted(index, building.announced)

    def _add(self, index: int, delta: Mapping[str, Any]) -> Iterator[Event]:
        building = self._blocks.get(index)
        if building is None:
            raise BadStreamError("something was added to a block that had not begun")
        if not is_known(delta):
            yield OtherEvent(str(delta.get("type") or ""), {"index": index, "delta": dict(delta)})
        piece = building.add(delta)
        if piece is not None and piece.text:
            yield piece

    def _finish(self, index: int) -> Iterator[Event]:
        building = self._blocks.pop(index, None)
        if building is None:
            return  # it has ended before
        rest = building.rest()
        if rest is not None:
            yield rest
        block, broken = building.whole()
        yield BlockEnded(index, block, broken)

    def _change(self, data: Mapping[str, Any]) -> None:
        self._need_start()
        delta = dict(_mapping(data.get("delta")))
        # A message may change several times before it stops; what is null then says nothing.
        self._stop_reason = _text(delta.pop("stop_reason", None)) or self._stop_reason
        self._stop_sequence = _text(delta.pop("stop_sequence", None)) or self._stop_sequence
        self._more.update(delta)
        self._more.update((k, v) for k, v in data.items() if k not in {"type", "delta", "usage"})
        usage = _mapping(data.get("usage"))
        self._usage.update((name, count) for name, count in usage.items() if count is not None)

    def _need_start(self) -> None:
        if not self.is_started:
            raise BadStreamError("a message began in its middle")


def told_by(message: Mapping[str, Any], request_id: str | None) -> Iterator[Event]:
    """Tell a message that came whole as a stream would have told it."""
    folding = Folding(request_id)
    content = cast("object", message.get("content"))
    yield from folding.feed({"type": "message_start", "message": {**message, "content": []}})
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    for index, block in enumerate(blocks):
        yield from folding.feed(
            {"type": "content_block_start", "index": index, "content_block": _mapping(block)}
        )
        yield from folding.feed({"type": "content_block_stop", "index": index})
    known = {"id", "type", "role", "model", "content", "usage"}
    delta = {name: value for name, value in message.items() if name not in known}
    yield from folding.feed({"type": "message_delta", "delta": delta, "usage": message.get("usage")})
    yield from folding.feed({"type": "message_stop"})


def _failure(data: Mapping[str, Any]) -> StreamFailedError:
    error = _mapping(data.get("error"))
    return StreamFailedError(str(error.get("type") or "api_error"), str(error.get("message") or ""))


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _index(data: Mapping[str, Any]) -> int:
    index = cast("object", data.get("index"))
    if not isinstance(index, int) or isinstance(index, bool):
        raise BadStreamError("a block without its place")
    return index


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
