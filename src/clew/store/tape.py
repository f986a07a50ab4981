"""Write and read a row of files as `tar` does: the plain form of POSIX, regular files and nothing else.

What is written, every `tar` reads. What is read is not believed: a link, a device, a folder or a header that
does not add up is refused before a byte of it is handed out, and no length in it makes us read more than a
header may have. Python's own reader is made to get along with whatever it meets, which is not wanted here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLOCK: Final = 512
END: Final = bytes(2 * BLOCK)
"""What a tape ends in."""

_STEP: Final = 1 << 20
_NAME: Final = 100
_PREFIX: Final = 155
_MOST: Final = 0o77777777777
"""The largest number that a header has room for."""

_LONGEST: Final = 64 << 10
"""No further header is longer: it holds a name and two numbers."""

_MAGIC: Final = b"ustar\x0000"
_FURTHER: Final = b"./further-header"
_KINDS: Final = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"5": "a folder",
    b"6": "a pipe",
    b"S": "a file with holes",
}


class BadTapeError(ClewError):
    """A tape is damaged, or holds what is not to be had from a tape."""

    code = "bad-tape"

    def __init__(self, cause: str, *, is_unsafe: bool = False) -> None:
        super().__init__(cause)
        self.cause = cause
        self.is_unsafe = is_unsafe
        """Whether it is something that nobody writes by mistake."""


class TapeFile(NamedTuple):
    """One file on a tape, as its header tells."""

    name: bytes
    size: int


# --- writing ------------------------------------------------------------------------------------------------


def header(name: str, size: int, *, mode: int, mtime_ns: int) -> bytes:
    """Return what stands before the bytes of a file."""
    raw = os.fsencode(name)
    seconds = min(max(mtime_ns // 1_000_000_000, 0), _MOST)
    prefix, short = _parted(raw)
    records = b""
    if short is None:
        records += _record(b"path", raw)
        prefix, short = b"", raw[-_NAME:].lstrip(b"/")
    if size > _MOST:
        records += _record(b"size", b"%d" % size)
    first = b""
    if records:
        first = _block(_FURTHER, b"", len(records), 0o600, seconds, b"x") + records + padding(len(records))
    return first + _block(short, prefix, min(size, _MOST), mode, seconds, b"0")


def padding(size: int) -> bytes:
    """Return what follows the bytes of a file, up to where the next header begins."""
    return bytes(-size % BLOCK)


def _parted(raw: bytes) -> tuple[bytes, bytes | None]:
    """Return a name in the two parts that a header has room for; no second part if it has not."""
    if len(raw) <= _NAME:
        return b"", raw
    at = raw.find(b"/", len(raw) - _NAME - 1)
    return (b"", None) if not 0 < at <= _PREFIX or at + 1 == len(raw) else (raw[:at], raw[at + 1 :])


def _record(key: bytes, value: bytes) -> bytes:
    """Return one line of a further header: it begins with its own length."""
    size = len(key) + len(value) + 3
    length = size + len(str(size))
    length = size + len(str(length))
    return b"%d %s=%s\n" % (length, key, value)


def _block(name: bytes, prefix: bytes, size: int, mode: int, seconds: int, kind: bytes) -> bytes:
    def number(value: int, width: int) -> bytes:
        return b"%0*o\0" % (width - 1, value)

    fields = b"".join(
        (
            name.ljust(_NAME, b"\0"),
            number(mode, 8) + number(0, 8) + number(0, 8),
            number(size, 12) + number(seconds, 12),
            b" " * 8,
            kind,
            bytes(100),
            _MAGIC,
            bytes(64),
            number(0, 8) + number(0, 8),
            prefix.ljust(_PREFIX, b"\0"),
        )
    ).ljust(BLOCK, b"\0")
    return fields[:148] + b"%06o\0 " % sum(fields) + fields[156:]


# --- reading ------------------------------------------------------------------------------------------------


class Tape:
    """Goes through the files of a tape, from the first to the last."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        """`read` gives just as many bytes as it is asked for, or raises."""
        self._read = read

    def next(self) -> TapeFile | None:
        """Return the next file, whose bytes are to be read then; None at the end."""
        block = self._read(BLOCK)
        if block == END[:BLOCK]:
            if self._read(BLOCK) != END[:BLOCK]:
                raise BadTapeError("it does not end as it should")
            return None
        kind = self._kind(block)
        if kind != b"x":
            return TapeFile(_name(block), _number(block[124:136]))
        size = _number(block[124:136])
        if size > _LONGEST:
            raise BadTapeError(f"a header has {size:,} bytes", is_unsafe=True)
        found = _records(self._read(size))
        self._skip(size)
        block = self._read(BLOCK)
        if self._kind(block) == b"x":
            raise BadTapeError("two further headers follow one another")
        return TapeFile(
            found.get(b"path") or _name(block),
            _size(found[b"size"]) if b"size" in found else _number(block[124:136]),
        )

    def pieces(self, file: TapeFile) -> Iterator[bytes]:
        """Give the bytes of the file that `next` told of last."""
        left = file.size
        while left:
            data = self._read(min(left, _STEP))
            left -= len(data)
            yield data
        self._skip(file.size)

    def _skip(self, size: int) -> None:
        if any(self._read(-size % BLOCK)):
            raise BadTapeError("there is something between two files")

    def _kind(self, block: bytes) -> bytes:
        """Return of which kind a header is, if it is one that may be."""
        if block[257:265] not in {_MAGIC, b"ustar  \0"}:
            raise BadTapeError("where a header should be there is none")
        if sum(block[:148]) + 32 * 8 + sum(block[156:]) != _number(block[148:156]):
            raise BadTapeError("the check sum of a header is wrong")
        kind = block[156:157]
        if kind in {b"0", b"\0", b"x"}:
            if any(block[157:257]):
                raise BadTapeError("a file is said to be a link", is_unsafe=True)
            return kind
        what = _KINDS.get(kind, f"of the unknown kind {kind!r}")
        raise BadTapeError(f"{_shown(_name(block))} is {what}, not a file", is_unsafe=kind in _KINDS)


def _shown(name: bytes) -> str:
    return repr(os.fsdecode(name)[:200])


def _name(block: bytes) -> bytes:
    name, prefix = block[:_NAME].split(b"\0")[0], block[345 : 345 + _PREFIX].split(b"\0")[0]
    # What the older form of GNU has in this place is no beginning of a name.
    return prefix + b"/" + name if prefix and block[257:265] == _MAGIC else name


def _number(field: bytes) -> int:
    """Return the number in a field: octal, with blanks or zeros around it."""
    text = field.rstrip(b"\0 ").lstrip(b" ")
    if not text or any(byte not in b"01234567" for byte in text):
        raise BadTapeError("a number in a header is none")
    return int(text, 8)


def _size(text: bytes) -> int:
    if not text.isdigit() or len(text) > 18:
        raise BadTapeError("a size in a header is none")
    return int(text)


def _records(data: bytes) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    at = 0
    while at < len(data):
        length, _, _ = data[at : at + 8].partition(b" ")
        end = at + int(length) if length.isdigit() else 0
        key, mark, value = data[at + len(length) + 1 : max(end - 1, 0)].partition(b"=")
        if not mark or end > len(data) or data[end - 1 : end] != b"\n" or key in found:
            raise BadTapeError("a further header is damaged")
        if key not in {b"path", b"size", b"mtime"}:
            raise BadTapeError(f"a further header tells of {_shown(key)}", is_unsafe=key == b"linkpath")
        if b"\0" in value:
            raise BadTapeError("there is a NUL in a name", is_unsafe=True)
        found[key] = value
        at = end
    return found
