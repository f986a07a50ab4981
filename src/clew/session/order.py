"""The order in which the lines of a sub-agent's own file were said, where the file has another one.

Clients write to such a file from several places at once, and 2.1.45 was seen to write its end before its
beginning; the parents tell. What was written at one go is still together: a *run* is a stretch of lines each
of which hangs on one before it in the stretch. A run goes, as a whole, behind the run that its first line
hangs on; all else stays where it is. So results of parallel calls, on which nothing hangs, stay with their
calls. A line whose parent is not in the file hangs on nothing, and where it belongs is not told.

The same runs are made of a whole `Session` and line by line in a fold.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from clew.session.ids import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew.session.session import Table

_NEAR: Final = 64
"""So many lines up a parent is looked for at once; for one further up a run begins, which costs little."""


class Runs:
    """The runs of a file, put together line by line. A line without a uuid belongs to the one before it."""

    __slots__ = ("deps", "starts")

    def __init__(self, starts: Iterable[int] = (0,), deps: Iterable[int] = (0,)) -> None:
        self.starts = array("q", starts)
        """How many lines with a uuid stand before each run."""
        self.deps = array("q", deps)
        """The parent that the first line of each names; 0 for none."""

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, uuids: array[int], parent: int) -> bool:
        """Take the next line, `uuids` being those before it; say whether it begins a run."""
        count = len(uuids)
        if not count:
            self.deps[0] = parent
            return False
        if parent and parent in uuids[max(self.starts[-1], count - _NEAR) : count]:
            return False
        self.starts.append(count)
        self.deps.append(parent)
        return True

    def order(self, uuids: Sequence[int]) -> Sequence[int]:
        """Return the numbers of the runs in the order they were said; a range where that is the file's."""
        over = self._over(uuids)
        if all(above < run for run, above in enumerate(over)):
            return range(len(over))
        # Runs that follow each other, the later ones hanging on the earlier, go together.
        heads: list[int] = []
        groups: dict[int, list[int]] = {}
        head = 0
        for run, above in enumerate(over):
            head = head if head <= above <= run else run
            heads.append(head)
            groups.setdefault(head, []).append(run)
        found: list[int] = []
        done: set[int] = set()
        for head in groups:
            waiting: list[int] = []
            while head >= 0 and head not in done:
                done.add(head)
                waiting.append(head)
                head = heads[over[head]] if over[head] >= 0 else NONE  # the way up
            for one in reversed(waiting):
                found += groups[one]
        return found

    def _over(self, uuids: Sequence[int]) -> list[int]:
        """Return for each run the one that its first line hangs on, -1 for none."""
        wanted = {dep for dep in self.deps if dep}
        first: dict[int, int] = {}
        for at, uuid in enumerate(uuids) if wanted else ():
            if uuid in wanted:
                # The first of several copies: in a file that is in order it stands before what hangs on it.
                first.setdefault(uuid, bisect_right(self.starts, at) - 1)
        return [first.get(dep, NONE) for dep in self.deps]


def in_order(table: Table) -> Sequence[int]:
    """Return all rows of a sub-agent's own file in the order they were said: a range if it is the file's."""
    if _is_in_order(table):
        return range(len(table))
    uuids, rows, runs = array("q"), array("q"), Runs()
    for row, (uuid, parent) in enumerate(zip(table.uuid, table.parent, strict=True)):
        if uuid:
            runs.add(uuids, parent)
            uuids.append(uuid)
            rows.append(row)
    starts = [0, *(rows[start] for start in runs.starts[1:]), len(table)]
    return array("i", (row for run in runs.order(uuids) for row in range(starts[run], starts[run + 1])))


def _is_in_order(table: Table) -> bool:
    """Say whether no line names a parent that stands behind it only."""
    before = 0
    seen: dict[int, int] = {}
    for row, (uuid, parent) in enumerate(zip(table.uuid, table.parent, strict=True)):
        # Nearly every line hangs on the one before it.
        if parent and parent != before and uuid:
            over = table.last_of(parent)
            if over > row and _first(table, parent, over, seen) > row:
                return False
        before = uuid or before
    return True


def _first(table: Table, key: int, row: int, known: dict[int, int]) -> int:
    """Return the first row of a uuid, of which `row` is the last."""
    if key not in known:
        earlier = table.ids().earlier
        while earlier[row] >= 0:
            row = earlier[row]
        known[key] = row
    return known[key]
