"""What a text file held: its bytes, and the text of it as the client shows and keeps it.

The client reads a file as UTF-8 (UTF-16 behind its mark), shows plain line ends, and writes back those that
most lines had. So a session tells texts, and only a copy the client made of the file tells its bytes.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

Encoding = Literal["utf-8", "utf-16-le", "utf-16-be"]

MARK: Final = "\ufeff"
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_MARKS: Final[tuple[tuple[bytes, Encoding], ...]] = (
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class Content:
    """What a file held at one moment."""

    text: str
    """With the line ends and the mark it has; a byte that is no UTF-8 is a surrogate, as Python has it."""

    encoding: Encoding = "utf-8"

    @classmethod
    def of(cls, data: bytes) -> Content:
        """Take bytes as the content of a file. Any bytes come back as they were."""
        for mark, encoding in _MARKS:
            if data.startswith(mark):
                try:
                    return cls(data.decode(encoding), encoding)
                except UnicodeDecodeError:
                    break
        return cls(data.decode("utf-8", "surrogateescape"))

    @classmethod
    def told(cls, text: str) -> Content:
        """Take a text a session tells; half a character is written as the client does, as U+FFFD."""
        return cls(_SURROGATES.sub("\ufffd", text) if has_halves(text) else text)

    @property
    def data(self) -> bytes:
        """The bytes."""
        return self.text.encode(self.encoding, "surrogateescape" if self.encoding == "utf-8" else "strict")

    @cached_property
    def shown(self) -> str:
        """The text as the client takes it: plain line ends, U+FFFD for what is no UTF-8."""
        text = self.text
        if self.encoding == "utf-8" and has_halves(text):
            text = self.data.decode("utf-8", "replace")
        return plain(text)

    @cached_property
    def line_end(self) -> str:
        """How most lines end."""
        returned = self.text.count("\r\n")
        return "\r\n" if returned > self.text.count("\n") - returned else "\n"

    def holding(self, shown: str) -> Content:
        """Return the file with another text, written the way it is: encoding and line ends."""
        if shown == self.shown:
            return self
        return Content(Content.told(shown).text, self.encoding).ending(self.line_end)

    def ending(self, line_end: str) -> Content:
        """Return the same text with all lines ending the same way."""
        text = plain(self.text)
        return Content(text if line_end == "\n" else text.replace("\n", line_end), self.encoding)


def plain(text: str) -> str:
    """Return a text with plain line ends, as the client compares it."""
    return text.replace("\r\n", "\n") if "\r" in text else text


def has_halves(text: str) -> bool:
    """Say whether there are surrogates in a text; to encode it is quicker than to look for them."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def count_lines(text: str) -> int:
    """Count the lines of a text; a last one without an end counts."""
    return text.count("\n") + (not text.endswith("\n") and text != "")
