"""Cut a file into chunks at line ends that its content chooses.

A line is looked at alone to say whether a chunk ends after it. So a session that grew, was forked or lost
some lines has nearly all its chunks in common with what it was before, and each needs to be kept only once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LEAST: Final = 16 << 10
"""No chunk but the last of a file is smaller."""

MOST: Final = 512 << 10
"""No chunk is larger, though a line is cut for it."""

_USUAL: Final = 48 << 10
"""About how much comes after the least. The smaller, the more is shared, and the longer the lists."""


def cut(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Give the chunks of a file that comes in pieces; how the pieces were cut does not matter."""
    rest = b""
    for piece in pieces:
        rest = rest + piece if rest else piece
        start = 0
        while end := _end(rest, start):
            yield rest[start:end]
            start = end
        if start:
            rest = rest[start:]
    if rest:
        yield rest


def _end(data: bytes, start: int) -> int:
    """Return where the chunk that begins at `start` ends; 0 when that is not to be told yet."""
    limit = start + MOST
    at = start + LEAST - 1
    begin = data.rfind(b"\n", start, at) + 1 or start
    while end := data.find(b"\n", at, limit) + 1:
        # The longer the line, the likelier a cut after it: then chunks are of one size for lines of any.
        if crc32(data[begin:end]) * _USUAL < (end - begin) << 32:
            return end
        begin = at = end
    if len(data) < limit:
        return 0
    return data.rfind(b"\n", start + LEAST - 1, limit) + 1 or limit
