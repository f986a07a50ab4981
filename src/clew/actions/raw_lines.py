"""The lines of session files that hold certain bytes, found without cutting or decoding the others.

The search itself is the C library's where that is quick (glibc: 4 GB/s for a word of thirteen letters, where
`bytes.find` does 2), on a buffer that stays in the processor's cache.
"""

from __future__ import annotations

import json
import os
import re
import sys
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.store.source import FileSource, open_regular, read_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clew.catalog.needles import Needle

HOLD: Final = 32 << 20
"""Lines longer than this are never held whole."""

_PIECE: Final = 1 << 18
"""How much is read at a time: what fits the processor's cache."""

_STEP: Final = 1 << 20


class RawLine(NamedTuple):
    """One line of a file."""

    offset: int
    length: int
    raw: bytes | None
    """With its ending; None for a line too long to hold."""


class LineFinder:
    """Finds the lines of one file after another that hold one of a needle's spellings; without one, all."""

    def __init__(self, needle: Needle | None, *, piece: int = _PIECE) -> None:
        self._needle = needle
        self._spellings = () if needle is None else needle.spellings
        self._overlap = 0 if needle is None else needle.longest - 1
        self._piece = piece
        self._buffer = bytearray(self._overlap + piece)
        self._view = memoryview(self._buffer)
        self._find = _searcher(self._buffer)
        self._ahead: list[int] = []

    def lines(self, path: str) -> Iterator[RawLine]:
        """Give the lines of a file as it is now, in order. A file that is cut meanwhile just ends there."""
        if self._needle is None:
            yield from _all_lines(path)
            return
        descriptor, status = open_regular(path, is_listed=True)
        try:
            yield from self._lines(descriptor, status.st_size)
        finally:
            os.close(descriptor)

    def _lines(self, descriptor: int, size: int) -> Iterator[RawLine]:
        buffer, overlap = self._buffer, self._overlap
        at = 0
        """Where in the file the buffer begins."""
        held = 0
        begun = 0
        """Where in the file the line begins that the buffer begins in."""
        done = 0
        while at + held < size:
            got = self._fill(descriptor, at + held, held, size)
            if not got:
                return
            filled = held + got
            self._look(filled)
            # A short spelling may be found again in what was held.
            position, after = max(0, done - at), -1
            while after < 0 and (hit := self._next(position, filled)) < filled:
                begin = buffer.rfind(b"\n", 0, hit) + 1
                end = buffer.find(b"\n", hit, filled) + 1
                if end and (begin or begun == at):
                    yield RawLine(at + begin, end - begin, bytes(buffer[begin:end]))
                    position = end
                    continue
                first = at + begin if begin else begun
                line = _line(descriptor, first, at + end if end else _end(descriptor, at + filled, size))
                yield line
                if end:
                    position = end
                else:
                    after = line.offset + line.length
            done = at + position
            if after >= 0:
                at = begun = done = after
                held = 0
                continue
            held = min(overlap, filled)
            newline = buffer.rfind(b"\n", 0, filled - held)
            if newline >= 0:
                begun = at + newline + 1
            buffer[:held] = buffer[filled - held : filled]
            at += filled - held

    def _fill(self, descriptor: int, offset: int, held: int, size: int) -> int:
        wanted = min(self._piece, size - offset)
        if _READ_INTO is not None:
            return _READ_INTO(descriptor, [self._view[held : held + wanted]], offset)
        data = read_at(descriptor, wanted, offset)
        self._view[held : held + len(data)] = data
        return len(data)

    def _look(self, filled: int) -> None:
        """Prepare to look into a buffer just filled."""
        if self._needle is not None and self._needle.ignores_case:
            self._find = bytes(self._view[:filled]).lower().find
        self._ahead = [-1] * len(self._spellings)

    def _next(self, position: int, filled: int) -> int:
        """Return where the next spelling is; `filled` if there is none."""
        ahead = self._ahead
        for number, spelling in enumerate(self._spellings):
            if ahead[number] < position:
                hit = self._find(spelling, position, filled)
                ahead[number] = filled if hit < 0 else hit
        return min(ahead)


_READ_INTO: Final[Callable[[int, list[memoryview], int], int] | None] = getattr(os, "preadv", None)


def _searcher(buffer: bytearray) -> Callable[[bytes, int, int], int]:
    """Return a `find(bytes, start, end)` over the buffer."""
    if sys.platform != "linux":
        return buffer.find
    import ctypes

    try:
        memmem = ctypes.CDLL(None).memmem
    except (OSError, AttributeError):  # another C library
        return buffer.find
    memmem.restype = ctypes.c_void_p
    memmem.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
    base = ctypes.addressof((ctypes.c_char * len(buffer)).from_buffer(buffer))

    def find(wanted: bytes, start: int, end: int) -> int:
        found: int | None = memmem(base + start, end - start, wanted, len(wanted))
        return -1 if found is None else found - base

    return find


def _all_lines(path: str) -> Iterator[RawLine]:
    at = 0
    with FileSource(path) as source:
        readline = source.readline()
        while raw := readline(HOLD + 1):
            length = len(raw)
            if length > HOLD and not raw.endswith(b"\n"):
                while (more := readline(_STEP)) and not more.endswith(b"\n"):
                    length += len(more)
                length += len(more)
            yield RawLine(at, length, raw if length <= HOLD + 1 else None)
            at += length


def _end(descriptor: int, at: int, size: int) -> int:
    """Return where the line ends that byte `at` is in or that ends before it."""
    while at < size:
        data = read_at(descriptor, min(_PIECE, size - at), at)
        newline = data.find(b"\n")
        if newline >= 0:
            return at + newline + 1
        if not data:
            break
        at += len(data)
    return at


def _line(descriptor: int, start: int, end: int) -> RawLine:
    length = end - start
    if length > HOLD:
        return RawLine(start, length, None)
    parts: list[bytes] = []
    while start < end and (data := read_at(descriptor, end - start, start)):
        parts.append(data)
        start += len(data)
    raw = b"".join(parts)
    return RawLine(end - length, length, raw)


# --- lines too long to hold ---------------------------------------------------------------------------------

_BODY: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_HIGH: Final = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_HEAD: Final = 500
"""Characters at the start of a string by which it is known again; escaped, six times as many bytes."""


class LongString(NamedTuple):
    """A long string of a long line; its text comes in pieces, to be gone through before the next string."""

    head: str
    pieces: Iterator[str]


def long_strings(
    source: FileSource, line: RawLine, *, longer_than: int, step: int = _STEP
) -> Iterator[LongString]:
    """Give the strings of a line that are longer than some bytes, never holding more than a piece of one."""
    at, end = line.offset, line.offset + line.length
    while at < end:
        data = source.read(at, min(step, end - at))
        quote = data.find(b'"')
        if quote < 0:
            at += len(data)
            continue
        begin = at + quote + 1
        stop = _string_end(source, begin, end, step)
        if stop - begin > longer_than:
            pieces = _pieces(source, begin, stop, step)
            first = next(pieces, "")
            yield LongString(first[:_HEAD], chain((first,), pieces))
        at = stop + 1


def _string_end(source: FileSource, at: int, end: int, step: int) -> int:
    while at < end:
        data = source.read(at, min(step, end - at))
        found = _BODY.match(data)
        length = found.end() if found else 0
        at += length
        if length < len(data):
            if data[length] == 0x22:
                return at
            at += 0 if length else 1  # a backslash whose other half comes next, alone in a piece of one byte
    return end


def _pieces(source: FileSource, at: int, end: int, step: int) -> Iterator[str]:
    held = b""
    while at < end:
        data = held + source.read(at, min(step, end - at))
        at += len(data) - len(held)
        held = b""
        if at < end:
            cut = _whole(data)
            data, held = data[:cut], data[cut:]
        text = _decoded(data)
        if text:
            yield text


def _whole(data: bytes) -> int:
    """Return the length of data without what goes on after it: half of an escape, a pair or a character."""
    cut = len(data)
    last = data.rfind(b"\\", max(0, cut - 6))
    if last >= 0 and _is_escape(data, last):
        length = 6 if data.startswith(b"u", last + 1) else 2
        cut = last if last + length > cut else cut
    high = _HIGH.search(data, max(0, cut - 6), cut)
    if high is not None and _is_escape(data, high.start()):
        return high.start()
    for back in range(1, min(4, cut) + 1):
        byte = data[cut - back]
        if byte >= 0xC0:
            return cut - back
        if byte < 0x80:
            break
    return cut


def _is_escape(data: bytes, at: int) -> bool:
    """Say whether the backslash at `at` begins an escape rather than being escaped."""
    before = at
    while before > 0 and data[before - 1] == 0x5C:
        before -= 1
    return (at - before) % 2 == 0


def _decoded(data: bytes) -> str:
    try:
        value: object = json.loads(b'"' + data + b'"', strict=False)
    except ValueError:  # no JSON; then no one else takes the line for a record either
        return ""
    return value if isinstance(value, str) else ""
