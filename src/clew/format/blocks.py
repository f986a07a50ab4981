"""Content blocks: what a message is made of, as typed views that keep the value they look at.

Nothing is dropped and nothing is mended: an empty text stays a block, a value that is no block at all is
`Unknown`. What a block means to a conversation is told in `clew.session`.
"""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from clew.format import fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_EMPTY: Final[Mapping[str, object]] = {}


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a message's content."""

    raw: object
    """The value as it was decoded: an object, or a bare string that stands for a text."""

    @property
    def data(self) -> Mapping[str, object]:
        """The object, or an empty one when the value is none."""
        raw = self.raw
        return cast("dict[str, object]", raw) if isinstance(raw, dict) else _EMPTY

    @property
    def type(self) -> str | None:
        """The block's own type, `text` for a bare string."""
        return "text" if isinstance(self.raw, str) else fields.string(self.data, "type")


class Text(Block):
    """Words, of the person or of the model."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The words; empty when there are none."""
        return self.raw if isinstance(self.raw, str) else fields.string(self.data, "text") or ""


class Thinking(Block):
    """What the model thought. The text may be empty while the signature is there."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The thoughts; empty when there are none."""
        return fields.string(self.data, "thinking") or ""

    @property
    def signature(self) -> str | None:
        """The API's seal over the block, which nobody may change."""
        return fields.string(self.data, "signature")


class RedactedThinking(Block):
    """Thinking that is only there encrypted."""

    __slots__ = ()


class ToolUse(Block):
    """A call of a tool by the model."""

    __slots__ = ()

    @property
    def id(self) -> str | None:
        """What the result refers to. It has no fixed prefix."""
        return fields.string(self.data, "id")

    @property
    def name(self) -> str | None:
        """The tool."""
        return fields.string(self.data, "name")

    @property
    def input(self) -> Mapping[str, object]:
        """The arguments; empty when there are none."""
        return fields.mapping(self.data, "input") or _EMPTY


class ServerToolUse(ToolUse):
    """A call that the API's own servers carry out, or an MCP server for them."""

    __slots__ = ()


class ToolResult(Block):
    """What a tool gave back."""

    __slots__ = ()

    @property
    def tool_use_id(self) -> str | None:
        """The call this answers."""
        return fields.string(self.data, "tool_use_id")

    @property
    def is_error(self) -> bool:
        """Whether the tool failed; it did not when nothing says so."""
        return fields.flag(self.data, "is_error") or False

    @property
    def content(self) -> tuple[Block, ...]:
        """The blocks inside; a string is one text."""
        return blocks(self.data.get("content"))

    def text(self) -> str:
        """The words of the result, its texts one to a line, pictures left out."""
        return text_of(self.content)


class ServerToolResult(ToolResult):
    """What a server's tool gave back, in the same message as its call."""

    __slots__ = ()


class Document(Block):
    """A file handed to the model, such as a PDF."""

    __slots__ = ()

    @property
    def source(self) -> Mapping[str, object]:
        """Where the bytes are."""
        return fields.mapping(self.data, "source") or _EMPTY

    @property
    def media_type(self) -> str | None:
        """For example `application/pdf`."""
        return fields.string(self.source, "media_type")

    @property
    def base64(self) -> str | None:
        """The bytes, where they are in the block itself."""
        kind = fields.string(self.source, "type")
        return fields.string(self.source, "data") if kind in ("base64", None) else None

    @property
    def byte_size(self) -> int | None:
        """How many bytes the base64 text stands for, told without decoding it."""
        text = self.base64
        return None if text is None else len(text) * 3 // 4 - text[-2:].count("=")

    @property
    def title(self) -> str | None:
        """The name it was given."""
        return fields.string(self.data, "title")


class Image(Document):
    """A picture."""

    __slots__ = ()

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height in pixels, read from the few header bytes of a PNG, JPEG, GIF or WebP."""
        text = self.base64
        return None if text is None else image_size(text)


class Unknown(Block):
    """A block of a type clew does not know, or a value that is no block."""

    __slots__ = ()


_TYPES: Final[Mapping[str, type[Block]]] = {
    "document": Document,
    "image": Image,
    "mcp_tool_result": ServerToolResult,
    "mcp_tool_use": ServerToolUse,
    "redacted_thinking": RedactedThinking,
    "server_tool_use": ServerToolUse,
    "text": Text,
    "thinking": Thinking,
    "tool_result": ToolResult,
    "tool_use": ToolUse,
}


def block(value: object) -> Block:
    """View one value as a block."""
    if isinstance(value, str):
        return Text(value)
    data = fields.as_mapping(value)
    kind = data.get("type") if data is not None else None
    if not isinstance(kind, str):
        return Unknown(value)
    # Servers have one result type for each of their tools: web_search_tool_result and so on.
    known = _TYPES.get(kind) or (ServerToolResult if kind.endswith("_tool_result") else Unknown)
    return known(value)


def blocks(content: object) -> tuple[Block, ...]:
    """View a message's content as blocks, whatever it is: a string, a list, one bare block, nothing."""
    if content is None:
        return ()
    if isinstance(content, list):
        return tuple(map(block, cast("list[object]", content)))
    return (block(content),)


def text_of(content: tuple[Block, ...]) -> str:
    """The words of the texts among some blocks, one text to a line."""
    return "\n".join(item.text for item in content if isinstance(item, Text))


def image_size(base64: str) -> tuple[int, int] | None:
    """Width and height of a picture given in base64, decoding only the bytes that hold them."""
    start = base64.find(",") + 1 if base64.startswith("data:") else 0

    def peek(offset: int, length: int) -> bytes:
        # Four characters stand for three bytes, so any stretch can be decoded alone.
        first = start + offset // 3 * 4
        last = start + (offset + length + 2) // 3 * 4
        try:
            got = binascii.a2b_base64(base64[first:last], strict_mode=True)
        except ValueError:  # binascii.Error, and characters outside ASCII
            return b""
        return got[offset % 3 : offset % 3 + length]

    head = peek(0, 30)
    if head[:8] == b"\x89PNG\r\n\x1a\n" and head[12:16] == b"IHDR":
        return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    if head[:6] in (b"GIF87a", b"GIF89a"):
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp_size(head)
    if head[:2] == b"\xff\xd8":
        return _jpeg_size(peek)
    return None


def _webp_size(head: bytes) -> tuple[int, int] | None:
    match head[12:16]:
        case b"VP8 " if len(head) == 30 and head[23:26] == b"\x9d\x01\x2a":
            width, height = int.from_bytes(head[26:28], "little"), int.from_bytes(head[28:30], "little")
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L" if len(head) >= 25 and head[20] == 0x2F:
            bits = int.from_bytes(head[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X" if len(head) == 30:
            return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
        case _:
            return None


_SEGMENTS: Final = 1000
"""More than any camera writes before the picture's frame; a crafted file must not keep us hopping."""


def _jpeg_size(peek: Callable[[int, int], bytes]) -> tuple[int, int] | None:
    """Hop from segment to segment until the frame header, which may lie behind large metadata."""
    at = 2
    for _ in range(_SEGMENTS):
        head = peek(at, 9)
        if len(head) < 4 or head[0] != 0xFF:
            return None
        marker = head[1]
        if marker == 0xFF:  # padding
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            if len(head) < 9:
                return None
            return int.from_bytes(head[7:9], "big"), int.from_bytes(head[5:7], "big")
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:  # markers that stand alone
            at += 2
        elif marker in (0xD9, 0xDA):  # the end, or the picture itself: no frame header will come
            return None
        else:
            at += 2 + int.from_bytes(head[2:4], "big")
    return None
