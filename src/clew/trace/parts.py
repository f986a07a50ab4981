"""Messages as the GenAI conventions write them: a role and parts, each part of a known type.

The parts are plain values, clean and ready to be written as JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from clew.format.blocks import (
    Document,
    Image,
    RedactedThinking,
    ServerToolResult,
    ServerToolUse,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    block,
    blocks,
)
from clew.format.fields import as_items, string

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew.format.blocks import Block
    from clew.format.entry import Entry
    from clew.trace.content import Scribe

Part = dict[str, object]
Message = dict[str, object]

_REASONS: Final[Mapping[str, str]] = {
    "end_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
    "stop_sequence": "stop",
    "tool_use": "tool_call",
}


def input_messages(scribe: Scribe, entries: Iterable[Entry]) -> list[Message]:
    """Return what was put in: the words of each line as a message, and each result of a tool as another."""
    found: list[Message] = []
    for entry in entries:
        listed = blocks(entry.content)
        words: list[Part] = []
        for one in listed:
            made = part_of(scribe, one)
            if made is None:
                continue
            if made["type"] == "tool_call_response":
                found.append({"role": "tool", "parts": [made]})
            else:
                words.append(made)
        if words:
            found.append({"role": "user", "parts": words})
    return found


def output_messages(
    scribe: Scribe, content: Iterable[Block], stop_reason: str | None, *, has_calls: bool
) -> list[Message]:
    """Return an answer of the model as the one message it is."""
    parts = [made for one in content if (made := part_of(scribe, one)) is not None]
    why = scribe.short(stop_reason) if stop_reason else "tool_use" if has_calls else None
    return [{"role": "assistant", "parts": parts, "finish_reason": reason(why)}]


def reason(stop_reason: str | None) -> str:
    """Return why the model stopped, in the word of the conventions where they have one."""
    return _REASONS.get(stop_reason or "end_turn") or stop_reason or "stop"


def text_message(role: str, text: str) -> Message:
    """Return a message of words alone, which are clean."""
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def part_of(scribe: Scribe, one: Block) -> Part | None:
    """Return a block as a part; None for one that says nothing."""
    match one:
        case Text():
            return {"type": "text", "content": scribe.text(one.text)} if one.text else None
        case Thinking():
            return {"type": "reasoning", "content": scribe.text(one.text)} if one.text else None
        case RedactedThinking():
            return None
        case ServerToolUse():
            inner = {"type": scribe.short(one.name or "unknown"), "arguments": scribe.clean(one.input)}
            return {"type": "server_tool_call", **_named(scribe, one), "server_tool_call": inner}
        case ToolUse():
            arguments = scribe.clean(one.data.get("input"))
            return {"type": "tool_call", **_named(scribe, one), "arguments": arguments}
        case ServerToolResult():
            inner = {"type": scribe.short(one.type or "unknown"), "content": _response(scribe, one)}
            response = {"id": _id(scribe, one.tool_use_id), "server_tool_call_response": inner}
            return {"type": "server_tool_call_response", **response}
        case ToolResult():
            response = {"id": _id(scribe, one.tool_use_id), "response": _response(scribe, one)}
            return {"type": "tool_call_response", **response}
        case Document():
            return _file(scribe, one)
        case _:
            # A type of tomorrow keeps its name, but must not pass for one of those above.
            return {"type": f"unknown:{scribe.short(one.type or '?', 64)}", "content": scribe.clean(one.raw)}


def result_value(scribe: Scribe, one: ToolResult) -> object:
    """Return the content of a result as it stands: a text, or a list of blocks."""
    content = one.data.get("content")
    return scribe.text(content) if isinstance(content, str) else scribe.clean(content)


def words_of(message: Message) -> str:
    """Return the words of a message: its texts, and those that tools gave back."""
    found: list[str] = []
    for part in cast("list[Part]", message["parts"]):
        text = part.get("content") if part["type"] == "text" else part.get("response")
        if isinstance(text, str):
            found.append(text)
        elif isinstance(text, list):
            found += [str(one.get("content")) for one in cast("list[Part]", text) if one["type"] == "text"]
    return "\n".join(found)


def plain(message: Message) -> Message:
    """Return a message in the plain form of chat APIs, its words alone."""
    found: Message = {"role": message["role"], "content": words_of(message)}
    call = answered_call(message)
    return found if call is None else {**found, "tool_call_id": call}


def texts_of(entry: Entry) -> list[str]:
    """Return the texts of a line as they stand."""
    return [one.text for one in blocks(entry.content) if isinstance(one, Text)]


def calls_of(message: Message) -> list[Part]:
    """Return the calls that a message makes."""
    return [part for part in cast("list[Part]", message["parts"]) if part["type"] == "tool_call"]


def answered_call(message: Message) -> object:
    """Return the id of the call whose result a message brings."""
    first = cast("list[Part]", message["parts"])[0] if message["role"] == "tool" else {}
    return first.get("id")


def _response(scribe: Scribe, one: ToolResult) -> object:
    content = one.data.get("content")
    if isinstance(content, str):
        return scribe.text(content)
    listed = [block(item) for item in as_items(content) or ()]
    if not listed or any(isinstance(item, ToolResult | ToolUse) for item in listed):
        return scribe.clean(content)
    return [made for item in listed if (made := part_of(scribe, item)) is not None]


def _file(scribe: Scribe, one: Document) -> Part:
    kind = "image" if isinstance(one, Image) else "document"
    about: Part = {"modality": kind, "mime_type": scribe.text(one.media_type) if one.media_type else None}
    uri, file_id = string(one.source, "url"), string(one.source, "file_id")
    if uri is not None:
        return {"type": "uri", **about, "uri": scribe.text(uri)}
    if file_id is not None:
        return {"type": "file", **about, "file_id": scribe.text(file_id)}
    if one.base64 is None:
        return {"type": f"unknown:{kind}", "content": scribe.clean(one.source)}
    return {"type": "blob", **about, "content": scribe.picture(one.base64), "byte_size": one.byte_size}


def _named(scribe: Scribe, one: ToolUse) -> Part:
    return {"id": _id(scribe, one.id), "name": scribe.short(one.name or "unknown")}


def _id(scribe: Scribe, name: str | None) -> str | None:
    return None if name is None else scribe.short(name)
