"""A request to the Messages API, made of a conversation that is not touched.

What a model takes was measured on the client, 2.1.325: models of the third generation are not told to think,
those up to 4.5 are given a budget, newer ones think as they see fit. So it is with the room for an answer.

Marks for the cache stand behind what comes again: the instructions (with the tools, which come before them),
and the ends of the last two messages of the person, so that the next request finds what this one left. Four
are allowed, and marks that are there already count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, cast

import orjson

Json = dict[str, Any]
Thinking = Literal["auto", "off"] | Mapping[str, object]

INTERLEAVED: Final = "interleaved-thinking-2025-05-14"
"""Lets models that are given a budget think between calls too."""

_MARKS: Final = 4
_MARK: Final = {"type": "ephemeral"}
_UNMARKED: Final = frozenset({"thinking", "redacted_thinking"})
_LEAST_BUDGET: Final = 1024

_TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")

_NAME: Final = re.compile(
    r"claude-(?:(?P<early>[123])(?:-(?P<minor>\d))?-)?(?P<family>[a-z]+)"
    r"(?:-(?P<major>\d{1,2})(?!\d))?(?:-(?P<part>\d{1,2})(?!\d))?"
)


def build(
    *,
    model: str,
    messages: Sequence[Mapping[str, Any]],
    system: str | Sequence[Mapping[str, Any]] = (),
    tools: Sequence[Mapping[str, Any]] = (),
    max_tokens: int | None = None,
    thinking: Thinking = "auto",
    betas: Sequence[str] = (),
    cache: bool = True,
    more: Mapping[str, Any] | None = None,
) -> Json:
    """Make a request; `more` is whatever else goes into it, `stop_sequences` for example."""
    room = max_tokens if max_tokens is not None else room_of(model)
    request: Json = {
        "model": model,
        "max_tokens": room,
        "messages": [dict(message) for message in messages],
        **(more or {}),
    }
    if system:
        is_text = isinstance(system, str)
        request["system"] = (
            [{"type": "text", "text": system}] if is_text else [dict(block) for block in system]
        )
    if tools:
        request["tools"] = [dict(tool) for tool in tools]
    wanted = thinking_of(model, room) if thinking == "auto" else None if thinking == "off" else dict(thinking)
    if wanted is not None:
        request["thinking"] = wanted
    named = list(dict.fromkeys(betas))
    if wanted is not None and wanted.get("type") == "enabled" and tools and INTERLEAVED not in named:
        named.append(INTERLEAVED)
    if named:
        request["betas"] = named
    if cache:
        _mark(request)
    return request


def stand_in_tools(messages: Sequence[Mapping[str, Any]]) -> list[Json]:
    """Make tools for messages with calls in them, which older models and gateways take only with tools.

    Nothing but the names counts, and these only for the model: any tool will do. A model may have called
    what no tool can be named.
    """
    blocks = [block for message in messages for block in cast("Sequence[Json]", message["content"])]
    called = {str(block.get("name")): None for block in blocks if block.get("type") == "tool_use"}
    names = [name for name in called if _TOOL_NAME.fullmatch(name)] or (["tool"] if called else [])
    return [{"name": name, "description": name, "input_schema": {"type": "object"}} for name in names]


def room_of(model: str) -> int:
    """Return the tokens an answer of a model may have, as the client asks for them."""
    family, generation = _generation(model)
    if generation is None:
        return 32_000
    if generation < (3, 5):
        return 4_096
    if generation < (3, 7):
        return 8_192
    if generation >= (5, 5):
        return 128_000
    if generation >= (5, 0) or (family == "opus" and generation >= (4, 6)):
        return 64_000
    return 32_000


def thinking_of(model: str, room: int) -> Json | None:
    """Return how a model is told to think; None if it is told nothing."""
    _, generation = _generation(model)
    if generation is None or generation < (4, 0):
        return None
    if generation >= (4, 6):
        return {"type": "adaptive"}
    budget = room - 1
    return {"type": "enabled", "budget_tokens": budget} if budget >= _LEAST_BUDGET else None


def encoded(request: Mapping[str, Any]) -> bytes:
    """Write a request as JSON that the API takes: half characters, which it refuses, become U+FFFD."""
    try:
        return orjson.dumps(request)
    except TypeError:
        # Half a character, a whole number beyond 64 bits, or a mapping of another kind.
        text = json.dumps(request, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=dict)
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _generation(model: str) -> tuple[str, tuple[int, int] | None]:
    """Read family and generation from a model's name, wherever a gateway put it."""
    found = _NAME.search(model.lower())
    if found is None:
        return "", None
    if found["early"]:
        return found["family"], (int(found["early"]), int(found["minor"] or 0))
    if not found["major"]:
        return found["family"], None
    return found["family"], (int(found["major"]), int(found["part"] or 0))


def _mark(request: Json) -> None:
    """Put the marks for the cache into a request whose outermost values are its own."""
    left = _MARKS - _marks_in(request)
    system = cast("list[Json]", request.get("system", []))
    tools = cast("list[Json]", request.get("tools", []))
    first = system or tools
    if left > 0 and first and _can_bear(first[-1]):
        first[-1] = {**first[-1], "cache_control": dict(_MARK)}
        left -= 1
    messages = cast("list[Json]", request["messages"])
    theirs = [at for at, message in enumerate(messages) if message.get("role") == "user"]
    ends = dict.fromkeys([len(messages) - 1, *reversed(theirs[-2:])] if messages else [])
    for at in list(ends)[: min(left, 2)]:
        messages[at] = _marked(messages[at])


def _marked(message: Json) -> Json:
    content = cast("object", message.get("content"))
    if isinstance(content, str):
        blocks: list[object] = [{"type": "text", "text": content}]
    elif isinstance(content, list):
        blocks = list(cast("list[object]", content))
    else:
        return message
    for at in range(len(blocks) - 1, -1, -1):
        if _can_bear(blocks[at]):
            blocks[at] = {**cast("Json", blocks[at]), "cache_control": dict(_MARK)}
            return {**message, "content": blocks}
    return message


def _can_bear(block: object) -> bool:
    """Say whether the API takes a mark here, and none is there yet."""
    if not isinstance(block, Mapping):
        return False
    found = cast("Mapping[str, object]", block)
    if "cache_control" in found or found.get("type") in _UNMARKED:
        return False
    return found.get("type") != "text" or bool(found.get("text"))


def _marks_in(request: Json) -> int:
    places: list[object] = [*request.get("system", []), *request.get("tools", [])]
    for message in cast("list[Json]", request["messages"]):
        content = cast("object", message.get("content"))
        places += cast("list[object]", content) if isinstance(content, list) else []
    return sum(isinstance(one, Mapping) and "cache_control" in one for one in places)
