"""The one gate through which a session becomes JSON: valid UTF-8, and no control that a terminal could obey.

Half a character becomes U+FFFD, as many readers refuse its escape. What is no number in JSON is null.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.format.json_pieces import pieces, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

_HALVES: Final = re.compile("[\ud800-\udfff]")
_CONTROLS: Final = re.compile("[\x7f-\x9f\u2028\u2029]")
"""All others are escaped by every writer of JSON. The last two end a line in JavaScript of old."""


def json_pieces(document: object) -> Iterator[bytes]:
    """Give a document on one line, with its end; lists that are iterators are written as they come."""
    for piece in pieces(document):
        yield _gated(piece)
    yield b"\n"


def json_text(value: object) -> str:
    """Return a value as JSON, for formats that have JSON in a string."""
    return _HALVES.sub("\ufffd", whole(value))


def _gated(text: str) -> bytes:
    if not text.isascii():
        text = _HALVES.sub("\ufffd", text)
    # They stand in strings only, where their escapes mean the same.
    return _CONTROLS.sub(lambda found: f"\\u{ord(found.group()):04x}", text).encode("utf-8")
