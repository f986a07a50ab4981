"""Read the kind and the size of an image from its first bytes: PNG, JPEG, GIF and WebP.

Nothing is decoded, so a header that lies is believed. What the API refuses by size is judged with this, apart
from the reader the rest of the package has: two that agree are worth more than one used twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_LENGTH: Final = frozenset({0x01, *range(0xD0, 0xDA)})
"""JPEG markers that stand alone."""

_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers that begin a frame, and with it tell the size."""


class ImageSize(NamedTuple):
    """What an image says of itself."""

    media_type: str
    width: int
    height: int


def image_size(data: bytes) -> ImageSize | None:
    """Read the header, or return nothing when it is none of the four kinds or breaks off."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return _made("image/png", data[16:20], data[20:24]) if data[12:16] == b"IHDR" else None
    if data.startswith((b"GIF87a", b"GIF89a")):
        return _made("image/gif", data[6:8][::-1], data[8:10][::-1])
    if data.startswith(b"\xff\xd8\xff"):
        return _jpeg(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp(data)
    return None


def _made(kind: str, width: bytes, height: bytes) -> ImageSize | None:
    """Make a size of two big-endian numbers; one that was cut off is none."""
    if len(height) < 2 or len(width) != len(height):
        return None
    return ImageSize(kind, int.from_bytes(width), int.from_bytes(height))


def _jpeg(data: bytes) -> ImageSize | None:
    for marker, at in _segments(data):
        if marker in _FRAMES:
            return _made("image/jpeg", data[at + 5 : at + 7], data[at + 3 : at + 5])
    return None


def _segments(data: bytes) -> Iterator[tuple[int, int]]:
    """Give each marker with where its length stands."""
    at = 2
    while at + 3 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # a fill byte before the marker
            at += 1
        elif marker in _NO_LENGTH:
            at += 2
        else:
            yield marker, at + 2
            at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4]))


def _webp(data: bytes) -> ImageSize | None:
    kind, body = data[12:16], data[20:30]
    if len(body) < 10:
        return None
    if kind == b"VP8X":
        width, height = (int.from_bytes(body[n : n + 3], "little") + 1 for n in (4, 7))
    elif kind == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    elif kind == b"VP8 ":
        width, height = (int.from_bytes(body[n : n + 2], "little") & 0x3FFF for n in (6, 8))
    else:
        return None
    return ImageSize("image/webp", width, height)
