"""Follow a session file as it is written: each record once, whatever becomes of the file.

The files are mostly but not only appended to: the client cuts and rewrites the end, others replace the file,
and lines are appended a second time. So what was given is remembered in two ways. A trail of digests, one for
each stretch of the file, tells how far the file is still what it was; reading goes on from there. The ids of
the records tell which of those that come again were given already: its uuid, or where a record has none, its
bytes.

What is given stood in the file, all of it at one moment: every stretch is read, then what comes before it,
then the stretch again, and only if nothing has changed are its records given. A line without its end is being
written and is held back. What was written and cut away again between two looks is seen by no one.
"""

from __future__ import annotations

import io
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from clew.errors import ChangedOnDiskError, NotARegularFileError, UnreadableError
from clew.format.lines import LONG, readline_from
from clew.format.records import Fragment, Record, read
from clew.session.ids import id_hash
from clew.store.files import Skipped
from clew.store.source import FileSource, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Why = Literal["cut", "rewritten", "replaced"]
Item = Record | Fragment

MEMORY: Final = 400_000
"""How many ids are remembered of one file at most, some 30 MB; never fewer than the last half of them."""

_STEP: Final = 256 << 10
"""How much is read at a time; a longer line is read whole."""

_SEGMENT: Final = 64 << 10
"""The least that gets a digest. What comes after the last one is remembered byte by byte."""

_PIECE: Final = 1 << 20
_KNOWN: Final = 32 << 20
_RECENT: Final = 16 << 20
"""Of a file larger than `_KNOWN` only the records of so much at its end are remembered from the start."""

_TRIES: Final = 50
_UNSURE: Final = 2.5
"""Seconds after a change in which a file is looked into even if nothing tells of another: two changes within
one tick of the file system's clock look like one (2 s on FAT)."""


@dataclass(frozen=True, slots=True)
class Restart:
    """The file is no longer what it was: cut, rewritten from some line on, or another file in its place."""

    why: Why
    number: int
    """The line it goes on from: the first that was not given before."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Some whole lines of a file."""

    start: int
    end: int
    lines: int
    digest: int
    data: bytes | None
    """None where a line is too long to hold."""


@dataclass(frozen=True, slots=True)
class _Segment:
    """A part of the trail. Segments follow one another and end with a line."""

    start: int
    end: int
    number: int
    """The number of the line that comes after it."""

    digest: int


def _digest(source: FileSource, start: int, end: int) -> tuple[int, int]:
    """Go over a part of a file; return its digest and how many lines end in it."""
    value = lines = 0
    for at in range(start, end, _PIECE):
        piece = source.read(at, min(_PIECE, end - at))
        value = hash((value, piece))
        lines += piece.count(b"\n")
    return value, lines


def _digest_of(data: bytes) -> int:
    # Python's own hash: 64 bits, keyed anew in each process, and five times as fast as a digest to be kept.
    value = 0
    for at in range(0, len(data), _PIECE):
        value = hash((value, data[at : at + _PIECE]))
    return value


class _Memory:
    """Which records were given, the last so many of them."""

    __slots__ = ("_half", "_new", "_new_from", "_old", "known_from")

    def __init__(self, most: int) -> None:
        self._half = max(1, most // 2)
        self._old: set[int] = set()
        self._new: set[int] = set()
        self._new_from = 0
        self.known_from = 0
        """All records from this byte on are remembered."""

    def __len__(self) -> int:
        return len(self._new) + len(self._old)

    def __contains__(self, key: int) -> bool:
        return key in self._new or key in self._old

    def add(self, key: int, offset: int) -> None:
        self._new.add(key)
        if len(self._new) >= self._half:
            self._old, self._new = self._new, set()
            self.known_from, self._new_from = self._new_from, offset

    def know_from(self, offset: int) -> None:
        self.known_from = self._new_from = offset


class Tail:
    """One session file as it grows. `look` gives what is new; it costs one `stat` when nothing is."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        memory: int = MEMORY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = os.fspath(path)
        self.held_back = 0
        """How many bytes at the end are no finished line yet: it is being written."""
        self._clock = clock
        self._seen = _Memory(memory)
        self._trail: list[_Segment] = []
        self._open = b""
        """What was read after the last segment."""
        self._offset = 0
        self._number = 1
        self._identity: tuple[int, int] | None = None
        self._signature: tuple[int, ...] | None = None
        self._unsure_until = 0.0
        self._searched = (0, b"")
        """Up to where no line ends, and the bytes before it: a long line is not gone through at each look."""
        self._pending: Why | None = None
        self._old_before = 0
        self._is_missing = False

    @property
    def number(self) -> int:
        """The number of the next line."""
        return self._number

    @property
    def offset(self) -> int:
        """Where the next line begins."""
        return self._offset

    @property
    def remembered(self) -> int:
        """How many records are known by their ids."""
        return len(self._seen)

    def start(self, *, upto: int | None = None) -> Iterator[Item]:
        """Give what is in the file already, up to a byte, and take it as known; `look` gives what is later.

        Of a large file only the records near its end are given.
        """
        for _ in range(_TRIES):
            with FileSource(self.path) as source:
                upto = source.size if upto is None else upto
                end = min(upto, source.size)
                try:
                    self._find_place(source)
                    if self._offset == 0 and end > _KNOWN:
                        self._pass_over(source, end - _RECENT)
                    yield from self._read(source, end)
                except ChangedOnDiskError:  # rewritten in this very moment: go on with what there is now
                    continue
            break
        self._pending = None

    def look(self) -> Iterator[Item | Restart | Skipped]:
        """Give what is new since last time: records and fragments, a `Restart` before those that follow one.

        A `Skipped` says, once, that the file cannot be read now; when it is back, following goes on.
        """
        try:
            status = os.stat(self.path)  # noqa: PTH116  # at every tick, for many files
        except (OSError, ValueError) as error:
            yield from self._missing(reason(error))
            return
        signature = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if signature != self._signature:
            self._unsure_until = self._clock() + _UNSURE
        elif self._clock() > self._unsure_until:
            return
        try:
            with FileSource(self.path) as source:
                self._is_missing = False
                self._signature = None
                yield from self._catch_up(source)
        except ChangedOnDiskError:  # cut in this very moment: look again
            return
        except (UnreadableError, NotARegularFileError) as error:
            yield from self._missing(error.message)
            return
        self._signature = signature

    def _missing(self, why: str) -> Iterator[Skipped]:
        if not self._is_missing:
            self._is_missing = True
            self._signature = None
            yield Skipped(self.path, why)

    # What is new -----------------------------------------------------------------------------------------

    def _catch_up(self, source: FileSource) -> Iterator[Item | Restart]:
        self._find_place(source)
        for item in self._read(source, source.size):
            if item.number < self._old_before:
                continue
            if self._pending is not None:
                yield self._restarted(item.number)
            yield item
        self.held_back = source.size - self._offset
        if self._pending is not None:
            yield self._restarted(self._number)

    def _read(self, source: FileSource, end: int) -> Iterator[Item]:
        """Give what has not been given yet of the whole lines before `end`."""
        while (stretch := self._stretch(source, end)) is not None:
            found = [(item, _key(source, item)) for item in _items(source, stretch, self._number)]
            # In this order: what was read, what stands before it, what was read again. If all is as it was,
            # then all of it was there at the moment in between.
            if not self._stands(source) or _digest(source, stretch.start, stretch.end)[0] != stretch.digest:
                raise ChangedOnDiskError(self.path)
            for item, key in found:
                if key not in self._seen:
                    self._seen.add(key, item.offset)
                    yield item
            self._keep(stretch)

    def _find_place(self, source: FileSource) -> None:
        """Go back to where the file is still what it was, if it is not."""
        identity = (source.device, source.inode)
        if self._identity not in (None, identity):
            self._go_back(source, "replaced")
        elif not self._stands(source):
            self._go_back(source, "cut" if source.size < self._offset else "rewritten")
        self._identity = identity

    def _restarted(self, number: int) -> Restart:
        why, self._pending = self._pending, None
        return Restart(why or "rewritten", number)

    def _stands(self, source: FileSource) -> bool:
        """Say whether the end of what was read is still there: the last segment and all that came after."""
        if source.size < self._offset:
            return False
        last = self._trail[-1] if self._trail else None
        if last is not None and _digest(source, last.start, last.end)[0] != last.digest:
            return False
        return source.read(self._offset - len(self._open), len(self._open)) == self._open

    def _go_back(self, source: FileSource, why: Why) -> None:
        """Go back to where the file is still what it was, compared from its start."""
        good = 0
        for segment in self._trail:
            if segment.end > source.size or _digest(source, segment.start, segment.end)[0] != segment.digest:
                break
            good += 1
        self._pending = why
        if good == len(self._trail) and self._stands(source):
            return  # another file that begins as this one did
        del self._trail[good:]
        self._open = b""
        self._searched = (0, b"")
        self._offset, self._number = (self._trail[-1].end, self._trail[-1].number) if good else (0, 1)
        self._old_before = 0
        if self._offset < self._seen.known_from:
            # Some of what comes is forgotten: what stands before the first that is remembered is old.
            self._old_before = self._first_remembered(source)
            self._seen.know_from(self._offset)

    def _first_remembered(self, source: FileSource) -> int:
        pull = readline_from(source, start=self._offset)
        for item in read(pull, start=self._offset, number=self._number):
            if _key(source, item) in self._seen:
                return item.number
        return 0

    # Reading ---------------------------------------------------------------------------------------------

    def _stretch(self, source: FileSource, end: int) -> _Stretch | None:
        """Read the next whole lines before `end`; None where no line ends any more."""
        start = self._offset
        data = source.read(start, min(_STEP, end - start))
        cut = data.rfind(b"\n") + 1
        if not cut:
            stop = self._end_of_line(source, start + len(data), end)
            if stop is None:
                return None
            if stop - start > LONG:
                digest, lines = _digest(source, start, stop)
                return _Stretch(start, stop, lines, digest, None)
            data, cut = source.read(start, stop - start), stop - start
        data = data[:cut]
        return _Stretch(start, start + cut, data.count(b"\n"), _digest_of(data), data)

    def _end_of_line(self, source: FileSource, at: int, end: int) -> int | None:
        searched, before = self._searched
        if at < searched <= end and source.read(searched - len(before), len(before)) == before:
            at = searched
        while at < end:
            piece = source.read(at, min(_PIECE, end - at))
            cut = piece.find(b"\n") + 1
            if cut:
                return at + cut
            at += len(piece)
            self._searched = (at, piece[-_SEGMENT:])
        return None

    def _keep(self, stretch: _Stretch) -> None:
        """Add what was read to the trail."""
        if stretch.data is None:
            self._close()
        self._offset = stretch.end
        self._number += stretch.lines
        if stretch.data is None:
            self._trail.append(_Segment(stretch.start, stretch.end, self._number, stretch.digest))
            return
        self._open += stretch.data
        if len(self._open) >= _SEGMENT:
            self._close()

    def _close(self) -> None:
        if self._open:
            start = self._offset - len(self._open)
            self._trail.append(_Segment(start, self._offset, self._number, _digest_of(self._open)))
            self._open = b""

    def _pass_over(self, source: FileSource, stop: int) -> None:
        """Go over the first lines without a look at what they say; of them only the trail is kept."""
        while self._offset < stop and (stretch := self._stretch(source, source.size)) is not None:
            self._keep(stretch)
        self._close()
        self._seen.know_from(self._offset)


def _items(source: FileSource, stretch: _Stretch, number: int) -> Iterator[Item]:
    if stretch.data is not None:
        return read(io.BytesIO(stretch.data).readline, start=stretch.start, number=number)
    pull = readline_from(source, start=stretch.start, end=stretch.end)
    return read(pull, start=stretch.start, number=number)


def _key(source: FileSource, item: Item) -> int:
    """Return what a record or a fragment is known again by."""
    if isinstance(item, Fragment):
        return hash((item.damage, item.length, source.read(item.offset, min(item.length, _STEP))))
    uuid = item.facts.uuid
    return id_hash(uuid) if uuid else hash((item.raw.rstrip(b" \t\r\n"), item.is_abridged and item.length))


def _never() -> bool:
    return False


def follow(
    path: str | os.PathLike[str],
    *,
    poll: float = 0.2,
    stop: Callable[[], bool] = _never,
    sleep: Callable[[float], object] = time.sleep,
) -> Iterator[Item | Restart | Skipped]:
    """Give every record of a file and then every new one, until `stop()` says so.

    With a `threading.Event`, hand in its `is_set` as `stop` and its `wait` as `sleep`.
    """
    tail = Tail(path)
    while not stop():
        yield from tail.look()
        sleep(poll)
