"""The new file of a plan, read before it is written: what stays is read from the old one."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING

from clew.edit.plan import Drop, Patch
from clew.session.session import Session

if TYPE_CHECKING:
    from clew.edit.plan import FilePlan


class Woven:
    """A source over what a file will be. Only what is new in it is held."""

    def __init__(self, plan: FilePlan) -> None:
        self._old = plan.session.source
        self._starts = array("Q")
        """Where each part begins in the new file."""
        self._places = array("q")
        """Where a part begins in the old file; below 0, which of the new bytes it is."""
        self._new: list[bytes] = []
        size = 0
        for part in plan.parts():
            self._starts.append(size)
            if isinstance(part, bytes):
                self._new.append(part)
                self._places.append(-len(self._new))
                size += len(part)
            else:
                self._places.append(part.start)
                size += part.end - part.start
        self._size = size

    @property
    def size(self) -> int:
        """How many bytes there will be."""
        return self._size

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset`; fewer at the end."""
        end = min(self._size, offset + length)
        at = bisect_right(self._starts, offset) - 1
        found: list[bytes] = []
        while offset < end:
            stop = self._starts[at + 1] if at + 1 < len(self._starts) else self._size
            stop, inside, place = min(stop, end), offset - self._starts[at], self._places[at]
            if place < 0:
                found.append(self._new[-1 - place][inside : inside + stop - offset])
            else:
                found.append(self._old.read(place + inside, stop - offset))
            offset, at = stop, at + 1
        return b"".join(found)


class Result:
    """The session that a plan makes, and where its rows come from."""

    def __init__(self, plan: FilePlan, *, name: str | None = None) -> None:
        self.session = Session.read(Woven(plan), name=name or plan.session.name)
        self._rows = array("i")
        """By the rows of the new file those of the old one; -1 for a new line."""
        for item, step in plan.steps():
            is_fragment = item is not None and item.row is None
            # A fragment that was mended is a row of its own.
            if isinstance(step, Drop) or (is_fragment and not isinstance(step, Patch)):
                continue
            self._rows.append(-1 if item is None or item.row is None else item.row)
        if len(self._rows) != len(self.session):
            self._rows = self._by_bytes(plan)

    def source_row(self, row: int) -> int | None:
        """Return the row of the old file that a row of the new one was; None for a new line."""
        return found if (found := self._rows[row]) >= 0 else None

    def _by_bytes(self, plan: FilePlan) -> array[int]:
        """Tell rows by their bytes: where lines were cut or joined, their number says nothing."""
        rows = array("i", [-1]) * len(self.session)
        old, new = plan.session, self.session
        waiting: dict[bytes, list[int]] = {}
        for item, step in plan.steps():
            if item is None or item.row is None or isinstance(step, Drop):
                continue  # a line that goes may have a copy that stays
            raw = step.data if isinstance(step, Patch) else old.source.read(item.offset, item.length)
            waiting.setdefault(raw, []).append(item.row)
        for row in range(len(new)):
            raw = new.source.read(new.table.offset[row], new.table.length[row])
            if found := waiting.get(raw):
                rows[row] = found.pop(0)
        return rows
