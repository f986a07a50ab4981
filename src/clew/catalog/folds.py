"""Where the reading of one file stands: its facts and its usage so far, put away between two readings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from clew.format.records import Record
from clew.session.fold import Summary
from clew.session.states import StateError
from clew.session.usage import Folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew.format.records import Fragment
    from clew.session.fold import Extent, Facts
    from clew.session.growth import Growth, Held


class _Kept(msgspec.Struct, array_like=True):
    summary: bytes
    usage: bytes | None
    undo: bytes | None


_DECODER: Final = msgspec.msgpack.Decoder(_Kept)
_FOLDER: Final = Folder("calls")


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

    @classmethod
    def restore(cls, path: str, agent: str | None, state: bytes) -> Folds:
        """Take the folds of a file up again; a `StateError` says that it must be read from its beginning."""
        folds = cls(path, agent)
        try:
            kept = _DECODER.decode(state)
        except ValueError as error:  # msgspec's errors are ValueErrors
            raise StateError("the state is damaged") from error
        folds._summary = Summary.restore(kept.summary)
        folds._usage, folds.undo = kept.usage, kept.undo
        folds.flush()
        return folds

    def add(self, item: Record | Fragment) -> None:
        """Take in the next record or fragment."""
        self._summary.add(item)
        if isinstance(item, Record):
            # A record cut out of a damaged line has no ending of its own.
            self._pieces.append(item.raw if item.raw.endswith(b"\n") else item.raw + b"\n")

    def flush(self) -> None:
        """Count what the lines since the last time used."""
        grown = self._more(self._pieces)
        self._pieces = []
        self._usage = grown.state
        self.client_cost, self.damaged = grown.client_cost, grown.damaged
        for key, held in grown.messages.items():
            before = self.told.get(key)
            self.told[key] = held if before is None else before.joined(held)

    def _more(self, pieces: Iterable[bytes]) -> Growth:
        return _FOLDER.more(self._path, pieces, agent=self._agent, state=self._usage)

    def state(self, undo: bytes | None) -> bytes:
        """Put the folds away."""
        return msgspec.msgpack.encode(_Kept(self._summary.state(), self._usage, undo))

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
