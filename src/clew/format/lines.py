"""Cut a session file into lines, and put it back together byte for byte.

Nothing here decodes JSON; that is `format.decode`. A line too long to hold is read in
passing and handed on as a `LongLine`: where it is, how long, and an abridgement.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

LONG: Final = 8 << 20
"""Lines longer than this are never held whole while a file is gone through."""

_KEEP: Final = 4 << 10
_CHUNK: Final = 1 << 20


class Source(Protocol):
    """Where the bytes of a session are: a file (given by `store`) or plain bytes."""

    @property
    def size(self) -> int:
        """How many bytes there are."""
        ...

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset`; fewer at the end."""
        ...


class BytesSource(Struct, frozen=True):
    """A source over bytes that are already in memory."""

    data: bytes

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return len(self.data)

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset`."""
        return self.data[offset : offset + length]


class Line(Struct, frozen=True):
    """One line of a session file, exactly as it was read."""

    offset: int
    """Where the line starts in its file, in bytes."""

    raw: bytes
    """The line with its ending. A torn last line has none."""

    @property
    def length(self) -> int:
        """The line's length in bytes, ending included."""
        return len(self.raw)

    @property
    def is_terminated(self) -> bool:
        """Whether the line ends in a newline."""
        return self.raw.endswith(b"\n")


class LongLine(Struct, frozen=True):
    """A line longer than `LONG`: read in passing, never held."""

    offset: int
    length: int
    brief: bytes | None
    """The same JSON with every long string cut short; None when even that grew too long."""

    is_terminated: bool


def split(data: bytes, *, start: int = 0) -> Iterator[Line]:
    """Cut `data`, which begins at byte `start` of its file, after each newline."""
    # Not str.splitlines(): a string may hold a bare U+2028 or U+0085, which
    # JSON leaves unescaped, and splitlines() would cut the entry in two.
    at = 0
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        yield Line(start + at, data[at:end])
        at = end


def join(lines: Iterable[Line]) -> bytes:
    """Put lines back together."""
    return b"".join(line.raw for line in lines)


def stream(readline: Callable[[int], bytes], *, start: int = 0) -> Iterator[bytes | LongLine]:
    """Cut what `readline(limit)` gives, which begins at byte `start`, into lines of bounded size.

    A line comes as its bytes: an object for each would take as long as its facts do.
    """
    at = start
    while raw := readline(LONG):
        if len(raw) < LONG or raw.endswith(b"\n"):
            at += len(raw)
            yield raw
            continue
        long = _pass_over(raw, readline, at)
        at += long.length
        yield long


def stretches(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, int, int]]:
    """Cut a file that comes in pieces of any size into stretches of whole lines: bytes, from, to.

    Nothing is copied but lines that lie across two pieces. A line too long to hold comes abridged, or not at
    all where even that grew too long. The last line may lack its newline.
    """
    held: list[bytes] = []
    size = 0
    abridge: Abridger | None = None
    for piece in pieces:
        start = 0
        if held:
            start = piece.find(b"\n") + 1
            held.append(piece[:start] if start else piece)
            size += len(held[-1])
            if abridge is None and size > LONG:
                abridge = Abridger()
                for part in held[:-1]:
                    abridge.feed(part)
            if abridge is not None:
                abridge.feed(held.pop())
            if not start:
                continue
            line = b"".join(held) if abridge is None else abridge.finish()
            if line is not None:
                yield line, 0, len(line)
            held, size, abridge = [], 0, None
        end = piece.rfind(b"\n", start) + 1
        if end:
            yield piece, start, end
            start = end
        if start < len(piece):
            held, size = [piece[start:]], len(piece) - start
    if held:
        line = b"".join(held) if abridge is None else abridge.finish()
        if line is not None:
            yield line, 0, len(line)


def _pass_over(first: bytes, readline: Callable[[int], bytes], offset: int) -> LongLine:
    abridge = Abridger()
    abridge.feed(first)
    length = len(first)
    last = first
    while not last.endswith(b"\n"):
        piece = readline(_CHUNK)
        if not piece:
            break
        abridge.feed(piece)
        length += len(piece)
        last = piece
    return LongLine(offset, length, abridge.finish(), last.endswith(b"\n"))


# A run of whole characters and whole escapes. What JSON does not allow in a string ends the run.
_BODY = re.compile(rb'(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+')
_HALF_PAIR = re.compile(rb"(?<!\\)(?:\\\\)*(\\u[dD][89abAB][0-9a-fA-F]{2})\Z")


class Abridger:
    """Cuts the long strings of one JSON line, fed piece by piece; the rest is kept as it is.

    The structure, the keys and every short value stay, so what is kept decodes like the line
    itself. 200 MB of one tool's output become a few kilobytes.
    """

    def __init__(self, *, keep: int = _KEEP, most: int = LONG) -> None:
        self._keep = keep
        self._most = most
        self._kept: list[bytes] = []
        self._size = 0
        self._in_string = False
        self._head = bytearray()
        """The start of the string being read, as much of it as is kept."""
        self._is_cut = False
        self._is_broken = False
        self._carry = b""

    def feed(self, piece: bytes) -> None:
        """Take the next piece of the line."""
        data = self._carry + piece
        self._carry = b""
        at = 0
        while at < len(data) and not self._is_broken:
            at = self._string(data, at) if self._in_string else self._outside(data, at)

    def finish(self) -> bytes | None:
        """Return the abridged line, or None if it is still too long."""
        self._keep_bytes(bytes(self._head) + self._carry)
        self._head.clear()
        self._carry = b""
        return None if self._size > self._most else b"".join(self._kept)

    def _outside(self, data: bytes, at: int) -> int:
        end = data.find(b'"', at) + 1
        self._in_string = end > 0
        self._keep_bytes(data[at : end or len(data)])
        return end or len(data)

    def _string(self, data: bytes, at: int) -> int:
        end = _run(data, at, len(data))
        if not self._is_cut:
            kept = _run(data, at, min(end, at + self._keep - len(self._head)))
            self._head += data[at:kept]
            self._is_cut = kept < end
        if end == len(data):
            return end
        if data[end] == 0x22:
            self._keep_bytes((_whole_characters(self._head) if self._is_cut else bytes(self._head)) + b'"')
            self._in_string = self._is_cut = False
            self._head.clear()
            return end + 1
        if data[end] == 0x5C and len(data) - end < 6:  # an escape that may go on in the next piece
            self._carry = data[end:]
            return len(data)
        # No JSON from here on. What is kept ends in the byte at fault, so that decoding fails on it too.
        self._is_broken = True
        self._head += data[end : end + 1]
        return end

    def _keep_bytes(self, data: bytes) -> None:
        self._size += len(data)
        if self._size <= self._most:
            self._kept.append(data)
        else:
            self._kept.clear()


def _run(data: bytes, start: int, end: int) -> int:
    found = _BODY.match(data, start, end)
    return found.end() if found else start


def _whole_characters(text: bytearray) -> bytes:
    """Return the start of a string without half a character, or half a pair of escapes, at its end."""
    for back in range(1, min(4, len(text) + 1)):
        byte = text[-back]
        if byte >= 0xC0:  # the first byte of a character of two to four
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return bytes(text[:-back] if back < length else text)
        if byte < 0x80:
            break
    half = _HALF_PAIR.search(text)
    return bytes(text[: half.start(1)] if half else text)


def readline_from(source: Source, *, start: int = 0, end: int | None = None) -> Callable[[int], bytes]:
    """Return a `readline(limit)` over `source` from `start` to `end`, reading ahead in large steps."""
    stop = source.size if end is None else min(end, source.size)
    at = start
    held = b""
    used = 0

    def readline(limit: int) -> bytes:
        nonlocal at, held, used
        parts: list[bytes] = []
        room = limit
        while room > 0:
            if used >= len(held):
                held = source.read(at, min(_CHUNK, stop - at)) if at < stop else b""
                used = 0
                if not held:
                    break
                at += len(held)
            end_of_line = held.find(b"\n", used, used + room) + 1
            cut = end_of_line or min(len(held), used + room)
            parts.append(held[used:cut])
            room -= cut - used
            used = cut
            if end_of_line:
                break
        return parts[0] if len(parts) == 1 else b"".join(parts)

    return readline
