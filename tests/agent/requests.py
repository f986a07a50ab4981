"""Requests to the Messages API in the making: small good ones, for tests to break in one place."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]


def text(words: str = "words") -> Json:
    return {"type": "text", "text": words}


def call(name: str = "t1") -> Json:
    return {"type": "tool_use", "id": name, "name": "Read", "input": {"file_path": "/a"}}


def result(name: str = "t1", content: object = "ok") -> Json:
    return {"type": "tool_result", "tool_use_id": name, "content": content}


def thinking(words: str = "hm", signature: str = "c2ln") -> Json:
    return {"type": "thinking", "thinking": words, "signature": signature}


def image(data: bytes, media_type: str = "image/png") -> Json:
    source = {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


def user(*content: Json | str) -> Json:
    return {"role": "user", "content": [text(c) if isinstance(c, str) else c for c in content]}


def answer(*content: Json | str) -> Json:
    return {"role": "assistant", "content": [text(c) if isinstance(c, str) else c for c in content]}


def body(*messages: Json, model: str = "claude-sonnet-4-5-20250929", **more: object) -> Json:
    return {"model": model, "max_tokens": 100, "messages": list(messages), **more}


def png(width: int = 10, height: int = 10) -> bytes:
    """The first bytes of a PNG of this size."""
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4) + height.to_bytes(4) + b"\x08\x02\0\0\0"


def gif(width: int = 10, height: int = 10) -> bytes:
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\0\0\0;"


def jpeg(width: int = 10, height: int = 10, *, before: bytes = b"") -> bytes:
    """A JPEG whose frame comes after an application segment with these bytes."""
    segment = b"\xff\xe1" + (len(before) + 2).to_bytes(2) + before
    frame = b"\xff\xc2\x00\x11\x08" + height.to_bytes(2) + width.to_bytes(2) + b"\x03"
    return b"\xff\xd8" + segment + b"\xff" + frame + b"\xff\xda"


def webp(width: int = 10, height: int = 10, *, kind: bytes = b"VP8X") -> bytes:
    match kind:
        case b"VP8X":
            head = b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
        case b"VP8L":
            head = b"\x2f" + ((height - 1) << 14 | (width - 1)).to_bytes(4, "little") + b"\0" * 5
        case _:
            head = b"\0\0\0\x9d\x01\x2a" + width.to_bytes(2, "little") + height.to_bytes(2, "little")
    return b"RIFF\0\0\0\0WEBP" + kind + b"\x0a\0\0\0" + head


def without(value: Mapping[str, Any], name: str) -> Json:
    """A copy of an object without one field."""
    return {key: each for key, each in value.items() if key != name}
