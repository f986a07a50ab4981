"""The one gate through which a session becomes JSON: valid UTF-8, and nothing that acts where it is shown.

Controls and what cannot be seen are escapes, which mean the same. Half a character becomes U+FFFD, as many
readers refuse its escape. What is no number in JSON is null.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.format.json_pieces import pieces, whole
from clew.view.plain import json_safe

if TYPE_CHECKING:
    from collections.abc import Iterator

_HALVES: Final = re.compile("[\ud800-\udfff]")


def json_pieces(document: object) -> Iterator[bytes]:
    """Give a document on one line, with its end; lists that are iterators are written as they come."""
    for piece in pieces(document):
        yield json_safe(piece).encode("utf-8")
    yield b"\n"


def json_text(value: object) -> str:
    """Return a value as JSON, for formats that have JSON in a string."""
    return _HALVES.sub("\ufffd", whole(value))
