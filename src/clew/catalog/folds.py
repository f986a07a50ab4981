"""Where the reading of one file stands: its facts and its usage so far, put away between two readings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from clew.errors import ChangedOnDiskError
from clew.format.records import Record
from clew.session.fold import Summary
from clew.session.states import StateError
from clew.session.usage import Folder, may_tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clew.format.records import Fragment
    from clew.session.fold import Extent, Facts
    from clew.session.growth import Growth, Held


class _Kept(msgspec.Struct, array_like=True):
    summary: bytes
    usage: bytes | None
    undo: bytes | None
    damaged: int


_DECODER: Final = msgspec.msgpack.Decoder(_Kept)
_FOLDER: Final = Folder("calls")
_MOST: Final = 1 << 20
_TAIL: Final = 1 << 10


class Folds:
    """The folds of one file, fed with what is new in it."""

    def __init__(self, path: str, agent: str | None) -> None:
        self._path = path
        self._agent = agent
        self._summary = Summary()
        self._usage: bytes | None = None
        self._pieces: list[bytes] = []
        self.undo: bytes | None = None
        """What takes back what the unfinished line told that was at the end of the file."""
        self.told: dict[str, Held] = {}
        """The messages that the new lines touch."""
        self.client_cost: float | None = None
        self.damaged = 0
        """Lines that are more or less than one record, among those that may tell of usage."""
        self._broken: list[tuple[int, int, int]] = []
        """Such lines of which it is to be seen whether they may: number, offset, end."""

    @classmethod
    def restore(cls, path: str, agent: str | None, state: bytes) -> Folds:
        """Take the folds of a file up again; a `StateError` says that it must be read from its beginning."""
        folds = cls(path, agent)
        try:
            kept = _DECODER.decode(state)
        except ValueError as error:  # msgspec's errors are ValueErrors
            raise StateError("the state is damaged") from error
        folds._summary = Summary.restore(kept.summary)
        folds._usage, folds.undo, folds.damaged = kept.usage, kept.undo, kept.damaged
        folds.flush()
        return folds

    def add(self, item: Record | Fragment) -> None:
        """Take in the next record or fragment."""
        self._summary.add(item)
        if not isinstance(item, Record) or not item.is_whole:
            self._break(item)
        if isinstance(item, Record):
            # A record cut out of a damaged line has no ending of its own.
            self._pieces.append(item.raw if item.raw.endswith(b"\n") else item.raw + b"\n")

    def _break(self, item: Record | Fragment) -> None:
        offset, end = item.offset, item.offset + item.length
        if self._broken and self._broken[-1][0] == item.number:
            offset = self._broken.pop()[1]
        self._broken.append((item.number, offset, end))

    def count_broken(self, read: Callable[[int, int], bytes]) -> None:
        """Count the damaged lines that a reading of the whole file for its usage would see.

        `read` reads from the file again: a fragment does not keep its bytes.
        """
        for _, offset, end in self._broken:
            try:
                self.damaged += may_tell(_both_ends(read, offset, end))
            except ChangedOnDiskError:  # it was cut just now: the next update reads it again
                self.damaged += 1
        self._broken = []

    def flush(self) -> None:
        """Count what the lines since the last time used."""
        grown = self._more(self._pieces)
        self._pieces = []
        self._usage = grown.state
        self.client_cost = grown.client_cost
        for key, held in grown.messages.items():
            before = self.told.get(key)
            self.told[key] = held if before is None else before.joined(held)

    def _more(self, pieces: Iterable[bytes]) -> Growth:
        return _FOLDER.more(self._path, pieces, agent=self._agent, state=self._usage)

    def state(self, undo: bytes | None) -> bytes:
        """Put the folds away."""
        return msgspec.msgpack.encode(_Kept(self._summary.state(), self._usage, undo, self.damaged))

    def facts(self, extent: Extent, unfinished: Iterable[Record | Fragment]) -> tuple[Facts, Growth | None]:
        """Return the facts of the file, with its unfinished line as what it would be if it stayed so."""
        pieces: list[bytes] = []
        summary = self._summary
        for item in unfinished:
            if summary is self._summary:
                summary = Summary.restore(summary.state())
            summary.add(item)
            if isinstance(item, Record):
                pieces.append(item.raw.rstrip(b"\n") + b"\n")
        return summary.result(extent), self._more(pieces) if pieces else None


def _both_ends(read: Callable[[int, int], bytes], offset: int, end: int) -> bytes:
    """Return a line, or of a long one its beginning and its end: there is what tells of what type it is."""
    if end - offset <= _MOST:
        return read(offset, end - offset)
    return read(offset, _MOST) + read(end - _TAIL, _TAIL)
