"""The tree of a session: which line follows which, all of it, whatever the file did to it.

Built from the line table in linear time and without recursion, in a few bytes a line. Damage is bridged and
marked, never repaired. Which leaf the client would go on from is told by `clew.session.context`.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

from clew.session.ids import NONE, id_hash
from clew.session.session import SIDECHAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew.session.ids import IdIndex
    from clew.session.session import Session, Table

BOUNDARY: Final = "system/compact_boundary"

NODE: Final = 1
MISSING: Final = 2
INFERRED: Final = 4
CUT: Final = 8
HAS_CHILDREN: Final = 16


class Links:
    """The parents of the rows of a table, by their columns alone."""

    __slots__ = ("cycles", "ids", "marks", "parent")

    def __init__(self, table: Table) -> None:
        self.ids = table.ids()
        self.marks = bytearray(len(table))
        """For each row NODE, MISSING, INFERRED, CUT and HAS_CHILDREN, as they apply."""
        self.parent = _parents(table, self.ids, self.marks)
        found = _cut_cycles(self.parent, self.marks, INFERRED)
        self.cycles = tuple(cycle for cycle in found if self.marks[cycle[0]] & CUT)
        for over in self.parent:
            if over >= 0:
                self.marks[over] |= HAS_CHILDREN


class Graph:
    """What follows what. Rows are those of the session's table; a node is the last row of a uuid.

    `links` are those of the table, where they were made already.
    """

    __slots__ = ("_first", "_ids", "_marks", "_next", "above", "cycles", "joins", "loose_joins", "parent")

    def __init__(self, session: Session, *, links: Links | None = None) -> None:
        links = links or Links(session.table)
        self._ids = links.ids
        self._marks = links.marks
        self.parent = links.parent
        """For each row the row it hangs on, -1 for none: `parentUuid`, mended where it led nowhere."""
        self.cycles = links.cycles
        """The rows of each cycle of parents, the one it was cut at first."""

        self.joins: Mapping[int, int]
        """For each compaction the row it follows, by `logicalParentUuid` or, without one, by order."""
        self.loose_joins: frozenset[int]
        """The compactions whose `logicalParentUuid` names no line of the file."""
        self.above: array[int]
        """As `parent`, with each compaction joined to what it follows: the way through the whole history."""
        self.above, self.joins, self.loose_joins = _join(session, links)

        self._first: array[int] | None = None
        self._next: array[int] | None = None

    def __len__(self) -> int:
        return len(self._marks)

    def is_node(self, row: int) -> bool:
        """Say whether a row is a node: it has a uuid, and no later row has the same."""
        return bool(self._marks[row] & NODE)

    def is_parent_missing(self, row: int) -> bool:
        """Say whether the parent a row names is not in the file."""
        return bool(self._marks[row] & MISSING)

    def is_inferred(self, row: int) -> bool:
        """Say whether a row hangs on the line before it because its parent is missing."""
        return bool(self._marks[row] & INFERRED)

    def is_cut(self, row: int) -> bool:
        """Say whether a cycle of parents was cut at this row."""
        return bool(self._marks[row] & CUT)

    def find(self, uuid: str) -> int | None:
        """Return the node with that uuid."""
        row = self._ids.last(id_hash(uuid))
        return None if row < 0 else row

    def nodes(self) -> Iterator[int]:
        """Give the nodes in file order."""
        return (row for row, marks in enumerate(self._marks) if marks & NODE)

    def roots(self) -> Iterator[int]:
        """Give the nodes that hang on nothing."""
        return (row for row in self.nodes() if self.parent[row] < 0)

    def children(self, row: int) -> Iterator[int]:
        """Give the nodes that hang on a row, in file order."""
        if not self.has_children(row):
            return
        first, following = self._siblings()
        child = first[row]
        while child >= 0:
            yield child
            child = following[child]

    def _siblings(self) -> tuple[array[int], array[int]]:
        """Return the first child of each row, and for each child the next one; made when first asked for."""
        if self._first is None or self._next is None:
            self._first = array("i", [NONE]) * len(self.parent)
            self._next = array("i", [NONE]) * len(self.parent)
            for row in range(len(self.parent) - 1, -1, -1):
                over = self.parent[row]
                if over >= 0:
                    self._next[row] = self._first[over]
                    self._first[over] = row
        return self._first, self._next

    def has_children(self, row: int) -> bool:
        """Say whether anything hangs on a row."""
        return bool(self._marks[row] & HAS_CHILDREN)

    def copies(self, row: int) -> tuple[int, ...]:
        """Return every row with the uuid of the node `row`, in file order, the node itself last."""
        found: list[int] = []
        while row >= 0:
            found.append(row)
            row = self._ids.earlier[row]
        return tuple(reversed(found))

    def duplicates(self) -> Iterator[int]:
        """Give the nodes whose uuid occurs more than once."""
        return (row for row in self.nodes() if self._ids.earlier[row] >= 0)

    def path(self, row: int) -> list[int]:
        """Return the rows from a root, or from a compaction, to `row`."""
        return _up(self.parent, row)

    def history(self, row: int) -> list[int]:
        """Return the rows from the very beginning to `row`, through the compactions."""
        return _up(self.above, row)

    def upwards(self, row: int) -> Iterator[int]:
        """Give the rows of the history of `row`, itself first; nothing is held for it."""
        while row >= 0:
            yield row
            row = self.above[row]


def is_same_content(session: Session, rows: Sequence[int]) -> bool:
    """Say whether some rows are the same bytes, but for blanks around them."""
    table, source = session.table, session.source
    seen: set[int] = set()
    for row in rows:
        # Hashes, and not the bytes: there may be thousands of copies, each of megabytes.
        seen.add(hash(source.read(table.offset[row], table.length[row]).strip(b"\xef\xbb\xbf \t\r\n")))
        if len(seen) > 1:
            return False
    return True


def _parents(table: Table, ids: IdIndex, marks: bytearray) -> array[int]:
    """Return the parent of each node, inferring those that are missing."""
    named, flags = table.parent, table.flags
    parent = array("i", [NONE]) * len(table)
    # The line before: on the same side of the conversation, so that a sub-agent's line that lost its
    # parent does not end up in the middle of its caller.
    before = [NONE, NONE]
    for row, key in enumerate(table.uuid):
        if not key:
            continue
        side = 1 if flags[row] & SIDECHAIN else 0
        last = ids.last(key)
        if last == row:
            marks[row] = NODE
            if named[row]:
                over = ids.last(named[row])
                if over < 0:
                    marks[row] |= MISSING
                    over = before[side] if before[side] >= 0 else before[0]
                    if over >= 0:
                        marks[row] |= INFERRED
                parent[row] = over
        before[side] = last
    # A node stands for the earlier rows of its uuid too, so the line before a row may be the row itself.
    for row, over in enumerate(parent):
        if over == row and marks[row] & INFERRED:
            parent[row] = NONE
            marks[row] &= ~INFERRED
    return parent


def _cut_cycles(above: array[int], marks: bytearray, guessed: int) -> Iterator[tuple[int, ...]]:
    """Cut every cycle: at a guessed edge if it has one, else at its last row, which is marked."""
    state = bytearray(len(above))
    for start in range(len(above)):
        path = array("i")
        row = start
        while row >= 0 and not state[row]:
            state[row] = 1
            path.append(row)
            row = above[row]
        if row >= 0 and state[row] == 1:
            cycle = path[path.index(row) :]
            guesses = [one for one in cycle if marks[one] & guessed]
            cut = max(guesses or cycle)
            above[cut] = NONE
            if guesses:
                marks[cut] &= ~guessed
            else:
                marks[cut] |= CUT
            at = cycle.index(cut)
            yield (*cycle[at:], *cycle[:at])
        for row in path:
            state[row] = 2


def _join(session: Session, links: Links) -> tuple[array[int], dict[int, int], frozenset[int]]:
    """Join each compaction to what it follows; a join that would close a cycle is left out.

    Returns the parents with the joins among them, the joins, and the compactions that name no line.
    """
    table, ids, marks = session.table, links.ids, links.marks
    codes = {code for code, kind in enumerate(table.kinds) if kind == BOUNDARY}
    joins: dict[int, int] = {}
    loose: set[int] = set()
    if not codes:
        return links.parent, joins, frozenset()
    before = NONE
    for row, code in enumerate(table.kind):
        if not marks[row] & NODE:
            continue
        if code in codes and links.parent[row] < 0:
            named = session.entry(row).logical_parent_uuid
            target = ids.last(id_hash(named))
            if named is not None and target < 0:
                loose.add(row)
            if target < 0:
                target = before
            if target >= 0 and target != row:
                joins[row] = target
        if not table.flags[row] & SIDECHAIN:
            before = row
    above = array("i", links.parent)
    joined = bytearray(len(above))
    for row, target in joins.items():
        above[row] = target
        joined[row] = 1
    for cycle in _cut_cycles(above, joined, 1):
        del joins[cycle[0]]
    return above, joins, frozenset(loose)


def _up(above: array[int], row: int) -> list[int]:
    path: list[int] = []
    while row >= 0:
        path.append(row)
        row = above[row]
    path.reverse()
    return path
