"""Read a session file: whole, only its end, or only what is new since last time.

The files are mostly but not only appended to: the client may cut and rewrite the end, and others replace
files. A `Cursor` remembers enough of what was read to notice, and when in doubt reading starts over.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from msgspec import Struct, structs

from clew.errors import ChangedOnDiskError
from clew.format.lines import readline_from
from clew.format.records import Fragment, Record, read
from clew.session.session import Session, TableBuilder
from clew.store.source import FileSource

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from clew.store.files import SessionFile

WINDOW: Final = 4096
"""How many bytes at the start of the file, and how many before the cursor, are remembered by their digest."""

_STEP: Final = 1 << 20
_AHEAD: Final = 256 << 10
"""How much of a file is read at a time when all of it is: it stays in the processor's cache meanwhile."""

Why = Literal["first", "same", "grown", "cut", "rewritten", "replaced"]


def open_session(path: str | os.PathLike[str], *, whole_lines: bool = False) -> Session:
    """Read a session file. The session keeps the file open and holds what was there when it was opened.

    A file that is cut meanwhile is read as far as it goes; `session.source.was_cut` says so. `whole_lines`
    leaves out a last line that has no end yet.
    """
    source = FileSource(path)
    if whole_lines:
        source.leave_unfinished()
    return read_session(source)


def read_session(source: FileSource) -> Session:
    """Read a session file that is open."""
    builder = TableBuilder()
    fragments = builder.read(source.readline(buffer=_AHEAD))
    name = Path(source.path).name.removesuffix(".jsonl")
    return Session(source, builder.table, fragments, name=name)


def open_end(source: FileSource, start: int) -> Session:
    """Read the lines of a session file from byte `start` on, where one begins.

    Offsets are those of the file; the lines are numbered from there, for nobody has counted those before.
    """
    builder = TableBuilder()
    fragments = builder.read(readline_from(source, start=start), start=start)
    return Session(source, builder.table, fragments, name=Path(source.path).name.removesuffix(".jsonl"))


def line_start(source: FileSource, offset: int) -> int:
    """Return where the line begins that byte `offset` is in."""
    return _end_of_lines(source, 0, offset)


def last_line_with(source: FileSource, mark: bytes, *, before: int) -> int | None:
    """Return where the last line begins that holds `mark` before byte `before`; read from there backwards."""
    end = before
    while end > 0:
        at = max(0, end - _STEP)
        # The mark may lie across the place where two steps meet.
        found = source.read(at, min(end + len(mark) - 1, before) - at).rfind(mark)
        if found >= 0:
            return line_start(source, at + found)
        end = at
    return None


class Cursor(Struct, frozen=True):
    """How far a file was read, and what it looked like. Plain numbers and strings, so that it can be kept."""

    device: int
    inode: int
    size: int
    """The size of the file when it was last looked at; beyond `offset` lies an unfinished line."""

    mtime_ns: int
    offset: int
    """Where the first line that was not read begins."""

    number: int
    """The number of that line."""

    head: str
    """The digest of the file's first bytes, those before the offset."""

    tail: str
    """The digest of the bytes before the offset."""

    def as_json(self) -> dict[str, int | str]:
        """Return the cursor as a mapping for JSON."""
        return structs.asdict(self)

    @classmethod
    def from_json(cls, value: object) -> Cursor | None:
        """Return the cursor that `as_json` described; None for anything else."""
        if not isinstance(value, dict):
            return None
        fields = cast("Mapping[object, object]", value)
        numbers = [fields.get(name) for name in ("device", "inode", "size", "mtime_ns", "offset", "number")]
        digests = [fields.get(name) for name in ("head", "tail")]
        whole = [number for number in numbers if isinstance(number, int) and not isinstance(number, bool)]
        texts = [text for text in digests if isinstance(text, str)]
        if len(whole) < len(numbers) or len(texts) < len(digests):
            return None
        device, inode, size, mtime_ns, offset, number = whole
        return cls(device, inode, size, mtime_ns, offset, number, *texts) if 0 <= offset <= size else None

    def is_of(self, file: SessionFile) -> bool:
        """Say from the listing alone whether `file` is just as it was when this cursor was made."""
        return (self.device, self.inode, self.size, self.mtime_ns) == (
            file.device,
            file.inode,
            file.size,
            file.mtime_ns,
        )

    def mismatch(self, source: FileSource, memory: _Memory | None = None) -> Why | None:
        """Say why what was read before this cursor is no longer what `source` begins with; None if it is."""
        if (self.device, self.inode) != (source.device, source.inode):
            return "replaced"
        if source.size < self.offset:
            return "cut"
        now = (memory or _Memory(source, self.offset, self.number)).cursor()
        return None if (now.head, now.tail) == (self.head, self.tail) else "rewritten"


def cursor_at(source: FileSource, offset: int, *, number: int) -> Cursor:
    """Return the cursor for a file of which all before `offset`, where line `number` begins, was read."""
    return _Memory(source, offset, number).cursor()


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


class Growth:
    """What is new in a file, to be gone through once; then `cursor` says where to go on."""

    __slots__ = ("_end", "_items", "_memory", "_source", "_start", "restarted", "was_cut", "why")

    def __init__(self, source: FileSource, memory: _Memory, why: Why) -> None:
        self._source = source
        self._memory = memory
        self._start = memory.offset
        self._end = _end_of_lines(source, memory.offset, source.size)
        self.why: Why = "same" if why == "grown" and not self.has_new else why
        """What has become of the file since last time."""
        self.restarted = why in {"cut", "rewritten", "replaced"}
        """What was read before no longer counts: the items begin at the start of the file."""
        self.was_cut = False
        """The file was cut while these items were read; the next reading starts over."""
        self._items = self._read()

    def __iter__(self) -> Iterator[Record | Fragment]:
        """Give the records and fragments of the finished lines; the unfinished last line is held back."""
        return self._items

    @property
    def cursor(self) -> Cursor:
        """Where to go on: after the lines gone through. The last one counts when the next is asked for."""
        return self._memory.cursor()

    @property
    def source(self) -> FileSource:
        """The file, open until `close`."""
        return self._source

    @property
    def held_back(self) -> int:
        """How many bytes at the end are no finished line yet."""
        return self._source.size - self._memory.offset

    @property
    def has_new(self) -> bool:
        """Whether there were finished lines to give."""
        return self._end > self._start

    def unfinished(self) -> list[Record | Fragment]:
        """Return what the unfinished last line is if no one goes on writing it; it stays unread."""
        offset, number = self._memory.offset, self._memory.number
        return list(read(readline_from(self._source, start=offset), start=offset, number=number))

    def close(self) -> None:
        """Let go of the file; the cursor stays."""
        self._source.close()

    def _read(self) -> Iterator[Record | Fragment]:
        memory = self._memory
        pull = readline_from(memory, start=memory.offset, end=self._end)
        at, number = memory.offset, memory.number
        is_between = True

        def readline(limit: int) -> bytes:
            nonlocal at, number, is_between
            if is_between:
                memory.offset, memory.number = at, number
            raw = pull(limit)
            at += len(raw)
            is_between = raw.endswith(b"\n")
            number += is_between
            return raw

        try:
            yield from read(readline, start=at, number=number)
        except ChangedOnDiskError:
            self.was_cut = True


class _Memory:
    """The bytes of a file in passing, with what a cursor has to remember of them.

    The digests are made of the very bytes that were handed out, so a change between reading and
    remembering is noticed the next time.
    """

    __slots__ = ("_before", "_chunk", "_chunk_at", "_head", "_source", "_tail", "number", "offset")

    def __init__(self, source: FileSource, offset: int, number: int) -> None:
        self._source = source
        self.offset = offset
        self.number = number
        self._head = source.read(0, WINDOW)
        self._before = source.read(max(0, offset - WINDOW), min(WINDOW, offset))
        self._chunk = b""
        self._chunk_at = offset
        self._tail = self._before

    @property
    def size(self) -> int:
        return self._source.size

    def read(self, offset: int, length: int) -> bytes:
        self._tail = self._bytes_before()
        data = self._source.read(offset, length)
        self._before = (self._before + self._chunk[-WINDOW:])[-WINDOW:]
        self._chunk = data
        self._chunk_at = offset
        return data

    def cursor(self) -> Cursor:
        source = self._source
        head, tail = _digest(self._head[: self.offset]), _digest(self._bytes_before())
        return Cursor(
            source.device, source.inode, source.size, source.mtime_ns, self.offset, self.number, head, tail
        )

    def _bytes_before(self) -> bytes:
        if self.offset < self._chunk_at:  # the line began before this chunk and goes on
            return self._tail
        inside = self._chunk[max(0, self.offset - self._chunk_at - WINDOW) : self.offset - self._chunk_at]
        return (self._before + inside)[-WINDOW:] if len(inside) < WINDOW else inside


def read_new(path: str | os.PathLike[str], cursor: Cursor | None = None) -> Growth:
    """Return what is new in the file since `cursor`; all of it where there is none or it no longer fits."""
    source = FileSource(path)
    if cursor is None:
        return Growth(source, _Memory(source, 0, 1), "first")
    # What is compared is what the next cursor remembers: a change in between must not slip through.
    memory = _Memory(source, cursor.offset, cursor.number)
    why = cursor.mismatch(source, memory)
    return Growth(source, memory if why is None else _Memory(source, 0, 1), why or "grown")


def _end_of_lines(source: FileSource, start: int, end: int) -> int:
    """Return where the last line that is finished between `start` and `end` ends; `start` for none."""
    while end > start:
        at = max(start, end - _STEP)
        found = source.read(at, end - at).rfind(b"\n")
        if found >= 0:
            return at + found + 1
        end = at
    return start
