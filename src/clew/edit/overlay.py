"""The new file of a plan that only changes lines, read and never written.

As `woven`, but made to be kept while a long session is read: of a changed line only the stretch that is
different is held, and where even that is long it is made again when it is read.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.edit.plan import Keep, Patch
from clew.format.patch import same_start

if TYPE_CHECKING:
    from clew.edit.plan import FilePlan, Item, Step

_HELD: Final = 1 << 14
"""The most that is held of one line, in bytes."""


class _New(NamedTuple):
    """Bytes in the place of others."""

    data: bytes | None
    """None where they are too many to be held."""

    item: Item
    start: int
    """Where in the new line they begin."""

    length: int


class Overlay:
    """A source over a file in which some lines are others."""

    def __init__(self, plan: FilePlan) -> None:
        """`plan` keeps lines and changes lines; it drops none and adds none."""
        self._plan = plan
        self._old = plan.session.source
        self._starts = array("Q", [0])
        """Where each part begins in the new file."""
        self._places = array("q", [0])
        """Where a part begins in the old file; below 0, which of the new ones it is."""
        self._new: list[_New] = []
        self._last: tuple[Item, bytes] | None = None
        self._size = self._old.size
        for item, step in plan.steps():
            if item is None or not isinstance(step, Keep | Patch):
                raise ValueError("this plan does more than change lines")
            if isinstance(step, Patch):
                self._put(item, step.data)

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return self._size

    def _put(self, item: Item, line: bytes) -> None:
        old = self._old.read(item.offset, item.length)
        if line == old:
            return
        before = same_start(old, line)
        after = same_start(old[before:][::-1], line[before:][::-1])
        length = len(line) - before - after
        data = line[before : before + length] if length <= _HELD else None
        self._new.append(_New(data, item, before, length))
        shift = self._size - self._old.size
        start = item.offset + before + shift
        # An empty part stands for nothing: the next one begins where it does, and is found instead of it.
        for place, at in ((-len(self._new), start), (item.offset + len(old) - after, start + length)):
            self._starts.append(at)
            self._places.append(place)
        self._size += len(line) - len(old)

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset`; fewer at the end."""
        end = min(self._size, offset + length)
        at = bisect_right(self._starts, offset) - 1
        found: list[bytes] = []
        while offset < end:
            stop = self._starts[at + 1] if at + 1 < len(self._starts) else self._size
            stop, inside, place = min(stop, end), offset - self._starts[at], self._places[at]
            if stop > offset:
                if place < 0:
                    found.append(self._made(self._new[-1 - place], inside, stop - offset))
                else:
                    found.append(self._old.read(place + inside, stop - offset))
            offset, at = max(stop, offset), at + 1
        return b"".join(found)

    def _made(self, new: _New, inside: int, length: int) -> bytes:
        if new.data is not None:
            return new.data[inside : inside + length]
        if self._last is None or self._last[0] is not new.item:
            self._last = new.item, self._line(new.item)
        start = new.start + inside
        return self._last[1][start : start + length]

    def _line(self, item: Item) -> bytes:
        step: Step
        if item.row is not None:
            step = self._plan.decide(item.row)
        else:
            assert item.fragment is not None
            step = self._plan.damage(item.fragment)
        assert isinstance(step, Patch)
        return step.data
