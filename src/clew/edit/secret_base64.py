"""Runs of base64 in a text, and what can be read in them."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_LETTERS: Final = ALPHABET + b"-_"
IN_RUN: Final = bytes(ord("a" if byte in _LETTERS else " ") for byte in range(256))
RUN: Final = b"a" * 20
"""So many letters of base64 are a run of it."""

# The mark first and what stands before it then: so the rest is passed over fast.
WRAPPED: Final = re.compile(r"[\r\n](?<=[A-Za-z0-9+/]{56}[\r\n])\n?[ \t]*(?=[A-Za-z0-9+/]{4})")
_BROKEN: Final = re.compile(
    r"[\\%](?<=[A-Za-z0-9+/]{16}[\\%])(?:\\{0,3}(?:/|(?:r\\{1,4})?n|u00)|(?<=%)(?:2[BFbf]|3[Dd]|0[AaDd]))"
)
"""A run of base64 that escapes break into pieces."""

TO_ESCAPES: Final = bytes(
    ord("a" if byte in ALPHABET else "b" if byte in b"\\%" else " ") for byte in range(256)
)
RUN_TO_ESCAPE: Final = b"a" * 16 + b"b"

_PLAIN_ALPHABET: Final = str.maketrans("-_", "+/")
_PICTURES: Final = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "JVBERi0", "AAAAIGZ0eXA", "AAAAHGZ0eXA", "Qk0")
"""How the bytes of pictures and documents begin; what is in them is no text."""

_PICTURE: Final = 512
_READABLE: Final = bytes(ord("a" if 32 <= byte < 127 or byte in b"\t\r\n" else " ") for byte in range(256))
_READ: Final = b"a" * 12
"""So many characters one after the other can be read."""


def runs(text: str) -> Iterator[tuple[int, str]]:
    """Give the runs of letters of base64 in a text: where one begins, and what it is."""
    # One byte for each character, which says only whether it is such a letter: five times as quick as a
    # pattern over the text.
    marks = text.encode("latin-1", "replace").translate(IN_RUN)
    start = marks.find(RUN)
    while start >= 0:
        end = marks.find(b" ", start)
        end = len(marks) if end < 0 else end
        yield start, text[start:end]
        start = marks.find(RUN, end)


def is_broken(text: str) -> bool:
    """Say whether a run of base64 in a text is broken by escapes."""
    # A run before an escape is quicker seen than which escape it is.
    marks = text.encode("latin-1", "replace").translate(TO_ESCAPES)
    return RUN_TO_ESCAPE in marks and _BROKEN.search(text) is not None


def unpacked(packed: str) -> Iterator[tuple[str, int, int]]:
    """Give the readable texts in a run of base64, each with its shift and its first byte."""
    if len(packed) > _PICTURE and packed.startswith(_PICTURES):
        return
    packed = packed.translate(_PLAIN_ALPHABET)
    for shift in range(4):
        size = (len(packed) - shift) // 4 * 4
        rest = packed[shift + size :]
        body = packed[shift : shift + size] + (rest + "=" * (4 - len(rest)) if len(rest) > 1 else "")
        try:
            data = a2b_base64(body)
        except (Error, ValueError):
            continue
        marks = data.translate(_READABLE)
        start = marks.find(_READ)
        while start >= 0:
            end = marks.find(b" ", start)
            end = len(marks) if end < 0 else end
            yield data[start:end].decode("ascii"), shift, start
            start = marks.find(_READ, end)
