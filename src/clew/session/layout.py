"""Where in its session each line stands: in which turn, and whether the client would still go that way."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from clew.session.chain import chain
from clew.session.eras import rules
from clew.session.graph import Graph
from clew.session.session import HUMAN, SIDECHAIN
from clew.session.turns import main_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.session.session import Session

Place = Literal["active", "branch", "before-compaction", "sub-agent"]

PLACES: Final[tuple[Place, ...]] = ("active", "branch", "before-compaction", "sub-agent")

_ACTIVE, _BRANCH, _BEFORE, _AGENT = range(4)
_OFF: Final = 255


class Run(NamedTuple):
    """Lines in a row that stand alike."""

    rows: int
    place: int
    """Which of `PLACES`."""

    turn: int
    """Counted as `clew show` does; 0 before the first and beside them."""


class Layout:
    """How the lines of one session file hang together."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._graph = Graph(session)
        self._marks = bytearray([_OFF]) * len(session)
        self._spoken: dict[int, int] = {}
        """For lines off the way the message that was the last before, where the talk is still the same."""
        found = chain(session, rules())
        self._leaf = found.leaf
        if found.leaf is not None:
            for row in self._graph.upwards(found.leaf):
                self._marks[row] = _BEFORE
            for row in (*self._graph.path(found.leaf), *found.rows):
                self._marks[row] = _ACTIVE
        self._turns: array[int] | None = None
        self._is_all = len(main_rows(session)) == len(session)

    def row(self, offset: int) -> int | None:
        """Return the row of the record at an offset."""
        offsets = self.session.table.offset
        row = bisect_left(offsets, offset)
        return row if row < len(offsets) and offsets[row] == offset else None

    def role(self, row: int) -> str:
        """Return the type of a row, without its subtype."""
        return self.session.table.kind_of(row).partition("/")[0]

    def turn(self, row: int) -> int | None:
        """Return the turn of a row as `clew show` counts them; None before the first and beside them."""
        if self._turns is None:
            self._turns = self._counted()
        return self._turns[row] or None

    def _counted(self) -> array[int]:
        table = self.session.table
        found = array("i", [0]) * len(table)
        seen: set[int] = set()
        count = 0
        for row in main_rows(self.session):
            key = table.uuid[row]
            # A prompt that is written again begins no other turn.
            if table.flags[row] & HUMAN and key not in seen:
                count += 1
                if key:
                    seen.add(key)
            found[row] = count
        return found

    def where(self, row: int) -> Place:
        """Say whether the client would still go the way that a row is on."""
        return PLACES[self._place(row)]

    def _place(self, row: int) -> int:
        table = self.session.table
        if table.flags[row] & SIDECHAIN and not self._is_all:
            return _AGENT
        if not table.uuid[row] or self._leaf is None:
            return _ACTIVE
        node = table.last_of(table.uuid[row])
        if self._marks[node] == _OFF:
            self._settle(node)
        return self._marks[node]

    def _settle(self, node: int) -> None:
        """Mark a line off the way, and those between."""
        above, marks, table = self._graph.above, self._marks, self.session.table
        way: list[int] = []
        while node >= 0 and marks[node] == _OFF:
            way.append(node)
            node = above[node]
        mark = marks[node] if node >= 0 else _BRANCH
        spoken = self._said_at(node) if mark != _BRANCH else 0
        for row in reversed(way):
            # Results of parallel calls merely stand beside: there the talk went no other way.
            if mark != _BRANCH:
                if table.flags[row] & HUMAN:
                    mark = _BRANCH
                elif table.kind_of(row) == "assistant":
                    message = table.message[row]
                    if not message or message != spoken:
                        mark = _BRANCH
                    spoken = message
            marks[row] = mark
            if mark != _BRANCH:
                self._spoken[row] = spoken

    def _said_at(self, row: int) -> int:
        """Return the message that was said last at a row."""
        table = self.session.table
        for over in self._graph.upwards(row):
            if over in self._spoken:
                return self._spoken[over]
            if table.kind_of(over) == "assistant":
                return table.message[over]
        return 0

    def runs(self) -> list[Run]:
        """Return for all lines together where they stand."""
        found: list[Run] = []
        rows, place, turn = 0, _ACTIVE, 0
        if self._turns is None:
            self._turns = self._counted()
        for row, count in enumerate(self._turns):
            here = self._place(row)
            if here != place or count != turn:
                if rows:
                    found.append(Run(rows, place, turn))
                rows, place, turn = 0, here, count
            rows += 1
        if rows:
            found.append(Run(rows, place, turn))
        return found


class Runs:
    """Where the lines of a file stand, as `Layout.runs` told it."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        self._ends = [*accumulate(run[0] for run in runs)]

    def at(self, row: int) -> tuple[Place, int | None] | None:
        """Return the place and the turn of a row; None past the end."""
        index = bisect_right(self._ends, row)
        if row < 0 or index >= len(self._runs):
            return None
        _, place, turn = self._runs[index]
        return PLACES[place], turn or None
