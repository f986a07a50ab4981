"""Streams of the Messages API in the making: whole ones, and odd ones that were met or may be."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]


def start(**more: Any) -> Json:
    usage = {"input_tokens": 7, "output_tokens": 1, "cache_read_input_tokens": 3}
    message: Json = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage, **more,
    }  # fmt: skip
    return {"type": "message_start", "message": message}


def begin(index: int, **block: Any) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **more: Any) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


def stop(index: int) -> Json:
    return {"type": "content_block_stop", "index": index}


def end(reason: str | None = "end_turn", **usage: Any) -> list[Json]:
    return [
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 9, **usage},
        },
        {"type": "message_stop"},
    ]


def words(text: str, index: int = 0) -> list[Json]:
    return [begin(index, type="text", text=""), delta(index, "text_delta", text=text), stop(index)]


NAMES = {"tool_use": "Read", "server_tool_use": "web_search"}


def call(written: str, index: int = 0, kind: str = "tool_use") -> list[Json]:
    return [
        begin(index, type=kind, id=f"toolu_{index}", name=NAMES[kind], input={}),
        *(delta(index, "input_json_delta", partial_json=part) for part in (written[:3], written[3:])),
        stop(index),
    ]


def sent(*events: Json, escaped: bool = True) -> bytes:
    """As it is on the wire."""
    out = b""
    for event in events:
        data = json.dumps(event, ensure_ascii=escaped)
        out += f"event: {event['type']}\ndata: {data}\n\n".encode()
    return out


SEARCH = {
    "type": "web_search_result",
    "url": "https://e.x",
    "title": "t",
    "encrypted_content": "e",
    "page_age": None,
}
CITATION = {
    "type": "char_location", "cited_text": "c", "document_index": 0, "document_title": "d",
    "start_char_index": 0, "end_char_index": 1, "file_id": None,
}  # fmt: skip

PING: Json = {"type": "ping"}
HIDDEN = begin(0, type="redacted_thinking", data="abc")

ODD: dict[str, list[Json]] = {
    "one text": [start(), *words("Hello."), *end()],
    "text in many pieces": [
        start(), begin(0, type="text", text=""),
        *(delta(0, "text_delta", text=each) for each in "Hello, world."), stop(0), *end(),
    ],
    "a ping now and then": [PING, start(), PING, *words("a"), PING, *end()],
    "thinking that is signed": [
        start(), begin(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="hm "), delta(0, "thinking_delta", thinking="yes"),
        delta(0, "signature_delta", signature="c2ln"), stop(0), *words("a", 1), *end(),
    ],
    "thinking without words": [
        start(), begin(0, type="thinking", thinking="", signature=""),
        delta(0, "signature_delta", signature="c2ln"), stop(0), *words("a", 1), *end(),
    ],
    "thinking nobody may read": [start(), HIDDEN, stop(0), *words("a", 1), *end()],
    "calls beside each other": [
        start(), *words("a"), *call('{"a": 1}', 1), *call('{"b": [2]}', 2), *end("tool_use"),
    ],
    "blocks that grow at once": [
        start(), begin(0, type="text", text=""), begin(1, type="text", text=""),
        delta(1, "text_delta", text="b"), delta(0, "text_delta", text="a"), stop(1), stop(0), *end(),
    ],
    "a call without input": [
        start(), begin(0, type="tool_use", id="t", name="List", input={}), stop(0), *end("tool_use"),
    ],
    "a call with an empty delta": [
        start(), begin(0, type="tool_use", id="t", name="List", input={}),
        delta(0, "input_json_delta", partial_json=""), stop(0), *end("tool_use"),
    ],
    "an emoji in a call": [start(), *call('{"a": "\\ud83d\\ude00 \u00e9"}'), *end("tool_use")],
    "what the server searched": [
        start(), *call('{"query": "x"}', 0, "server_tool_use"),
        begin(1, type="web_search_tool_result", tool_use_id="toolu_0", content=[SEARCH]), stop(1),
        *words("a", 2), *end("end_turn", server_tool_use={"web_search_requests": 1, "web_fetch_requests": 0}),
    ],
    "text with citations": [
        start(), begin(0, type="text", text="", citations=[]), delta(0, "text_delta", text="a"),
        delta(0, "citations_delta", citation=CITATION), delta(0, "citations_delta", citation=CITATION),
        stop(0), *end(),
    ],
    "nothing at all": [start(), *end()],
    "an empty text": [start(), begin(0, type="text", text=""), stop(0), *end()],
    "text at the start of a block": [
        start(), begin(0, type="text", text="a"), delta(0, "text_delta", text="b"), stop(0), *end(),
    ],
    "a stop for want of room": [start(), *words("a"), *end("max_tokens")],
    "a stop nobody knows": [start(), *words("a"), *end("model_context_window_exceeded")],
    "usage that is told at the end": [
        start(), *words("a"), *end("end_turn", input_tokens=70, cache_read_input_tokens=5),
    ],
}  # fmt: skip
"""Every one of them is read by the vendor's own library as well, and both must come to the same message."""
