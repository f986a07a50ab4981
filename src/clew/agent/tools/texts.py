"""A text file: its bytes taken apart into an encoding, a mark at its start, line ends and a text.

The model sees plain line ends and no mark. What it changes is put back the way the file was written; what it
does not change keeps every byte, line ends that are mixed too. Only UTF-8, and UTF-16 behind its mark, are
written: of anything else nobody knows what a new character should look like.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from clew.errors import ClewError

Encoding = Literal["utf-8", "utf-16-le", "utf-16-be"]

_MARKS: Final[tuple[tuple[bytes, Encoding], ...]] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class NotTextError(ClewError):
    """The bytes are no text that could be put back: binary, or of an old encoding."""

    code = "not-text"

    def __init__(self, *, is_binary: bool) -> None:
        super().__init__("the file is binary" if is_binary else "the file is not valid UTF-8")
        self.is_binary = is_binary


class HalfCharacterError(ClewError):
    """A text holds a lone surrogate, which no file can hold."""

    code = "half-character"


@dataclass(frozen=True)
class Text:
    """What a text file holds."""

    whole: str
    """The text with the line ends it has, without the mark."""

    encoding: Encoding = "utf-8"
    is_marked: bool = False
    """Whether the file begins with a byte order mark."""

    @cached_property
    def plain(self) -> str:
        """The text with plain line ends, as the model sees it."""
        return self.whole.replace("\r\n", "\n")

    @property
    def recorded(self) -> str:
        """The text as results keep it: with plain line ends and with the mark, if there is one."""
        return ("\ufeff" if self.is_marked else "") + self.plain

    @cached_property
    def line_end(self) -> str:
        """How most lines end."""
        returned = self.whole.count("\r\n")
        return "\r\n" if returned > self.whole.count("\n") - returned else "\n"

    def with_whole(self, whole: str) -> Text:
        """Return another text written the same way."""
        return Text(whole, self.encoding, self.is_marked)

    def encode(self) -> bytes:
        """Return the bytes of the file."""
        try:
            mark = next(mark for mark, name in _MARKS if name == self.encoding) if self.is_marked else b""
            return mark + self.whole.encode(self.encoding)
        except UnicodeEncodeError:
            raise HalfCharacterError("the text holds half a character (a lone surrogate)") from None


def decode(data: bytes) -> Text:
    """Take the bytes of a text file apart; raise `NotTextError` for what could not be put back."""
    none: tuple[bytes, Encoding] = (b"", "utf-8")
    mark, encoding = next((known for known in _MARKS if data.startswith(known[0])), none)
    if encoding == "utf-8" and b"\0" in data:
        raise NotTextError(is_binary=True)
    try:
        return Text(data[len(mark) :].decode(encoding), encoding, is_marked=bool(mark))
    except UnicodeDecodeError:
        raise NotTextError(is_binary=False) from None


def decode_roughly(data: bytes) -> Text:
    """Take bytes apart that are no clean text; what cannot be read becomes U+FFFD."""
    return Text(data.decode("utf-8", "replace"))
