"""A session as a request of the Messages API: what the model is sent when the session is resumed.

The messages are those of `clew context`. The system prompt and what the tools take are the client's own and
in no session: the tools that are called are declared as taking anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from clew.export.json_bytes import json_pieces
from clew.format.entry import as_mapping
from clew.session.context import context

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from clew.export.options import Options
    from clew.export.story import Story

MAX_TOKENS: Final = 8192
"""What the request lets the answer have; the API insists on a number."""

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_THINKING: Final = frozenset({"thinking", "redacted_thinking"})


def write(story: Story, options: Options) -> Iterator[bytes]:
    """Give the request."""
    found = context(story.session, at=story.leaf)
    messages: tuple[Mapping[str, Any], ...] = found.messages
    # Thinking is sealed over what was said before it: the API refuses it where that is not what it was.
    if not options.with_thinking or story.redacted:
        messages = tuple(_without_thinking(messages))
    document: dict[str, object] = {"model": found.model, "max_tokens": MAX_TOKENS, "messages": iter(messages)}
    tools = sorted(set(_called(messages)))
    if tools:
        document["tools"] = [{"name": name, "input_schema": {"type": "object"}} for name in tools]
    return json_pieces(document)


def _blocks(message: Mapping[str, Any]) -> list[object]:
    content = message.get("content")
    return cast("list[object]", content) if isinstance(content, list) else []


def _called(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for message in messages:
        for block in map(as_mapping, _blocks(message)):
            name = block.get("name")
            if block.get("type") == "tool_use" and isinstance(name, str) and _NAME.fullmatch(name):
                yield name


def _without_thinking(messages: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for message in messages:
        blocks = [block for block in _blocks(message) if not _is_thinking(block)]
        if len(blocks) == len(_blocks(message)):
            yield message
        elif blocks:
            yield {**message, "content": blocks}


def _is_thinking(block: object) -> bool:
    kind = as_mapping(block).get("type")
    return isinstance(kind, str) and kind in _THINKING
