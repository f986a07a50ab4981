"""Server-sent events, cut out of bytes as they come.

A piece may end anywhere: in a character, between the two signs of a line's end, in a name. What is cut is an
event only when the empty line behind it has come. Nothing here knows what the events say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST: Final = 64 << 20
"""Bytes an event may have: twice the greatest request the API takes."""

_BOM: Final = b"\xef\xbb\xbf"


class EventTooLongError(Exception):
    """An event that does not end."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event as it was sent."""

    name: str
    data: str


class EventCutter:
    """Is fed pieces, and gives back the events that are whole by then."""

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._rest = bytearray()
        self._searched = 0
        self._after_return = False
        self._is_first = True
        self._name = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """Take the next piece. Go through all that is returned before the next is fed."""
        self._rest += piece
        for line in self._lines():
            if line:
                self._field(line)
                continue
            if self._data:
                yield ServerEvent(self._name, "\n".join(self._data))
            self._name, self._data, self._size = "", [], 0
        if self._size + len(self._rest) > self._most:
            raise EventTooLongError(f"an event of more than {self._most:,} bytes")

    def _lines(self) -> Iterator[bytes]:
        """Cut the lines that are whole; they end with either sign or with both."""
        rest = self._rest
        at = 0
        if self._after_return and rest:
            self._after_return = False
            at = int(rest[0] == 0x0A)
        while (end := _end_of_line(rest, max(at, self._searched))) is not None:
            line = bytes(rest[at:end])
            at = end + 1
            if rest[end] == 0x0D:
                if at == len(rest):
                    self._after_return = True  # whether a newline belongs to it, the next piece tells
                elif rest[at] == 0x0A:
                    at += 1
            if self._is_first:
                line = line.removeprefix(_BOM)
                self._is_first = False
            yield line
        del rest[:at]
        self._searched = len(rest)  # a long line in small pieces is not searched from its start each time

    def _field(self, line: bytes) -> None:
        self._size += len(line)
        name, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        match name:
            case b"data":
                self._data.append(text)
            case b"event":
                self._name = text
            case _:
                return  # a comment, an id, a time to wait, or something that nobody knows


def _end_of_line(data: bytearray, start: int) -> int | None:
    newline = data.find(b"\n", start)
    bare = data.find(b"\r", start, None if newline < 0 else newline)
    return bare if bare >= 0 else newline if newline >= 0 else None
