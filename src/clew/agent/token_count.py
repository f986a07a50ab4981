"""Estimate how many tokens a request is, for the stand-in's `count_tokens`.

There is no tokenizer here, and none is public for the newer models. Text is cut as tokenizers cut it before
they look anything up: a word with the space before it, a few digits, a run of signs, a line end. Each
such piece is one token, a long one more. English prose comes to about four characters a token, code to three
and a half, and scripts without spaces to one. Around the text there is what the API adds:

| what | tokens |
|---|---|
| a message | 4 |
| a call or a result, besides its name, input or content | 8 |
| an image | width × height / 750 of what is left after scaling to 1,568 pixels a side; 1,600 at most |
| a document that is not text | 1,500 |
| tools at all | 346, and each as its JSON |

The same request always gets the same number. It is an estimate, not what a bill would say.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, Final, cast

from clew.agent.image_size import image_size

if TYPE_CHECKING:
    from collections.abc import Mapping

_MESSAGE: Final = 4
_BLOCK: Final = 8
_TOOLS: Final = 346
_MOST_OF_IMAGE: Final = 1600
_DOCUMENT: Final = 1500
_LONG_EDGE: Final = 1568

_WIDE: Final = r"\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
"""Chinese, Japanese and Korean: a character is about a token."""

_PIECE: Final = re.compile(
    rf"""
    (?P<word>[ ]?[A-Za-z]+)
    | (?P<digits>[ ]?[0-9]+)
    | (?P<wide>[{_WIDE}])
    | (?P<letters>[ ]?(?:(?![{_WIDE}])[^\W\d_a-zA-Z])+)
    | (?P<lines>[ \t]*[\r\n]+)
    | (?P<sign>[ ]?[!-/:-@\[-`{{-~]+)
    | (?P<space>[^\S\r\n]+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_PER_TOKEN: Final = {"word": 8, "digits": 4, "letters": 3, "sign": 4, "lines": 8, "space": 8}
"""How many characters of a kind of piece make a token; of the others each is one."""


def count_tokens(body: Mapping[str, object]) -> int:
    """Estimate the input tokens of a request: its system prompt, tools and messages."""
    total = _content(body.get("system"))
    tools = body.get("tools")
    if isinstance(tools, list) and tools:
        total += _TOOLS + sum(_json(tool) for tool in cast("list[object]", tools))
    messages = body.get("messages")
    if isinstance(messages, list):
        for message in cast("list[object]", messages):
            if isinstance(message, dict):
                total += _MESSAGE + _content(cast("dict[str, object]", message).get("content"))
    return max(1, total)


def count_text(words: str) -> int:
    """Estimate the tokens of a text."""
    total = 0
    for piece in _PIECE.finditer(words):
        length = piece.end() - piece.start()
        total += -(-length // _PER_TOKEN.get(piece.lastgroup or "", 1))
    return total


def _content(content: object) -> int:
    if isinstance(content, str):
        return count_text(content)
    if isinstance(content, list):
        return sum(_block(block) for block in cast("list[object]", content))
    return 0


def _block(value: object) -> int:
    if not isinstance(value, dict):
        return 0
    block = cast("dict[str, object]", value)
    match block.get("type"):
        case "text":
            return _content(block.get("text"))
        case "thinking":
            return _content(block.get("thinking"))
        case "redacted_thinking":
            return len(str(block.get("data"))) // 4
        case "image":
            return _image(block.get("source"))
        case "document":
            return _document(block.get("source"))
        case "tool_result":
            return _BLOCK + _content(block.get("content"))
        case "tool_use":
            return _BLOCK + _content(block.get("name")) + _json(block.get("input"))
        case _:
            return _BLOCK + _json(block)


def _image(source: object) -> int:
    data = cast("dict[str, object]", source).get("data") if isinstance(source, dict) else None
    if not isinstance(data, str):
        return _MOST_OF_IMAGE
    try:
        size = image_size(base64.b64decode(data))
    except (binascii.Error, ValueError):
        size = None
    if size is None:
        return _MOST_OF_IMAGE
    scale = min(1.0, _LONG_EDGE / max(size.width, size.height, 1))
    return min(_MOST_OF_IMAGE, int(size.width * scale * size.height * scale / 750) + 1)


def _document(source: object) -> int:
    found = cast("dict[str, object]", source) if isinstance(source, dict) else {}
    return _content(found.get("data")) if found.get("type") == "text" else _DOCUMENT


def _json(value: object) -> int:
    try:
        return count_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except RecursionError:  # deeper than the interpreter goes; the API would not read it either
        return 0
