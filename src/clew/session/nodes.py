"""The lines the client takes for lines when it resumes, by uuid, with the parents it gives them.

Of several lines with one uuid the last counts, though it keeps the first one's place in the order.
What a compaction preserved is hung behind its summary here, before anything is walked.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final, cast

from clew.format.entry import as_mapping
from clew.session.graph import BOUNDARY
from clew.session.ids import NONE, id_hash
from clew.session.session import SALVAGED, SIDECHAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from clew.session.eras import Rules
    from clew.session.session import Session

_LINES: Final = frozenset({"user", "assistant", "system", "attachment"})
_MESSAGES: Final = frozenset({"user", "assistant"})


class Nodes:
    """The lines of a session as one version of the client sees them."""

    def __init__(self, session: Session, rules: Rules) -> None:
        table = session.table
        self.session = session
        self.rules = rules
        self._is_line = [kind.partition("/")[0] in _LINES for kind in table.kinds]
        self._is_progress = [kind.startswith("progress") for kind in table.kinds]
        self._is_message = [kind in _MESSAGES for kind in table.kinds]
        self._is_boundary = [kind == BOUNDARY for kind in table.kinds]
        self._is_walked = [
            is_line or is_progress
            for is_line, is_progress in zip(self._is_line, self._is_progress, strict=True)
        ]
        self._ids = table.ids()
        self._is_node = bytearray(map(self._is_read, range(len(table))))
        self._instead = self._take_last()
        self._parents: dict[int, int] = {}
        self._first: array[int] | None = None
        self._next: array[int] | None = None
        self.preserved: tuple[int, ...] = ()
        self.anchor: int | None = None
        """The row that what was preserved hangs behind."""

        self.forgotten: Sequence[int] = ()
        """Rows that a compaction with preserved messages took out altogether."""

        self.rows = array("i", (row for row in self.walked() if self._is_line[table.kind[row]]))
        """The rows that may be a leaf's or a path's, in file order."""

        if rules.keeps_preserved:
            _relink(self)

    def _is_read(self, row: int) -> bool:
        """Say whether the client takes a row for a line that a path may lead through."""
        table = self.session.table
        return self._is_walked[table.kind[row]] and table.uuid[row] != 0 and not table.flags[row] & SALVAGED

    def _take_last(self) -> array[int] | None:
        """Leave of several lines with one uuid only the last a node.

        Returns for each row the one that counts of its uuid up to there; nothing where it is always the row.
        """
        earlier, is_node = self._ids.earlier, self._is_node
        instead: array[int] | None = None
        for row, before in enumerate(earlier):
            if before < 0:
                continue
            if instead is not None:
                before = instead[before]
            if is_node[row]:
                is_node[before] = 0
                continue
            # A copy that is no line to the client does not take the place of one that is.
            if instead is None:
                instead = array("i", range(len(earlier)))
            instead[row] = before
        return instead

    def walked(self) -> Iterator[int]:
        """Give the rows a path may lead through, progress too: the last of each uuid, in file order."""
        return (row for row, is_node in enumerate(self._is_node) if is_node)

    def row(self, key: int) -> int | None:
        """Return the row of a uuid's hash, if the client knows it."""
        row = self._ids.last(key)
        if row >= 0 and self._instead is not None:
            row = self._instead[row]
        return row if row >= 0 and self._is_node[row] else None

    def named(self, uuid: object) -> int | None:
        """Return the row of the line with that uuid."""
        return self.row(id_hash(uuid)) if isinstance(uuid, str) else None

    def first_place(self, row: int) -> int:
        """Return where a row stands in the order: one that was written again keeps its first place."""
        earlier, first = self._ids.earlier, row
        while (row := earlier[row]) >= 0:
            if self._is_read(row):
                first = row
        return first

    def parent_key(self, row: int) -> int:
        """Return the hash of the parent a row names; 0 for none."""
        changed = self._parents.get(row)
        return self.session.table.parent[row] if changed is None else changed

    def parent(self, row: int) -> int | None:
        """Return the row of the parent of `row`, if there is one."""
        return self.row(self.parent_key(row))

    def is_root(self, row: int) -> bool:
        """Say whether a row names no parent."""
        return not self.parent_key(row)

    def children(self, row: int) -> list[int]:
        """Return the rows that hang on `row`, in file order."""
        if self._first is None or self._next is None:
            count = len(self._is_node)
            self._first, self._next = array("i", [NONE]) * count, array("i", [NONE]) * count
            for child in range(count - 1, -1, -1):
                parent = self.parent(child) if self._is_node[child] else None
                if parent is not None:
                    self._next[child] = self._first[parent]
                    self._first[parent] = child
        found: list[int] = []
        child = self._first[row]
        while child >= 0:
            found.append(child)
            child = self._next[child]
        return found

    def is_progress(self, row: int) -> bool:
        """Say whether a row is a progress line: walked through, never sent."""
        return self._is_progress[self.session.table.kind[row]]

    def is_message(self, row: int) -> bool:
        """Say whether a row is a user's or an assistant's line."""
        return self._is_message[self.session.table.kind[row]]

    def is_boundary(self, row: int) -> bool:
        """Say whether a row is a compaction."""
        return self._is_boundary[self.session.table.kind[row]]

    def is_sidechain(self, row: int) -> bool:
        """Say whether a row belongs to a sub-agent."""
        return bool(self.session.table.flags[row] & SIDECHAIN)

    def eligible(self) -> Iterator[int]:
        """Give the rows a conversation may end in, in file order."""
        if self.rules.leaf_may_be_sidechain:
            yield from self.rows
            return
        for row in self.rows:
            # A compaction is not the end of anything, even when nothing follows it.
            if not self.is_sidechain(row) and not self.is_boundary(row):
                yield row

    def placed(self) -> array[int]:
        """Return the rows a conversation may end in, what was preserved behind its anchor."""
        rows = array("i", self.eligible())
        if self.anchor is None:
            return rows
        behind = {row: at for at, row in enumerate(self.preserved)}
        kept = sorted((row for row in rows if row in behind), key=behind.__getitem__)
        others = array("i", (row for row in rows if row not in behind))
        at = bisect_right(others, self.anchor)
        return others[:at] + array("i", kept) + others[at:]

    def preserve(self, rows: tuple[int, ...], anchor: int | None) -> None:
        """Note which rows a compaction kept, and behind which they stand."""
        self.preserved = rows
        self.anchor = anchor

    def hang(self, row: int, key: int) -> None:
        """Give a row another parent."""
        self._parents[row] = key

    def forget(self, rows: Iterable[int]) -> None:
        """Take rows out."""
        for row in rows:
            self._is_node[row] = 0
        self.forgotten = array("i", (row for row in self.rows if not self._is_node[row]))
        self.rows = array("i", (row for row in self.rows if self._is_node[row]))


def _relink(nodes: Nodes) -> None:
    """Hang what the last compaction preserved behind its anchor, and what followed the anchor behind that."""
    boundary = next((row for row in reversed(nodes.rows) if nodes.is_boundary(row)), None)
    if boundary is None:
        return
    metadata = nodes.session.entry(boundary).mapping("compactMetadata")
    kept, anchor = _listed(nodes, metadata) or _segment(nodes, metadata) or ((), None)
    if not kept or not isinstance(anchor, str):
        return
    uuid = nodes.session.table.uuid
    key = id_hash(anchor)
    ours = set(kept)
    followers = [row for row in nodes.walked() if nodes.parent_key(row) == key and row not in ours]
    for row in kept:
        nodes.hang(row, key)
        key = uuid[row]
    for row in followers:
        nodes.hang(row, key)
    nodes.preserve(kept, nodes.named(anchor))
    _forget(nodes, boundary, key)


def _forget(nodes: Nodes, boundary: int, tail: int) -> None:
    """Take out what came before the compaction and was not kept; what hung on it now hangs on the tail."""
    kept = set(nodes.preserved)
    gone = array(
        "I", (row for row in nodes.walked() if row not in kept and nodes.first_place(row) < boundary)
    )
    is_gone = bytearray(len(nodes.session))
    for row in gone:
        is_gone[row] = 1
    for row in nodes.walked():
        if is_gone[row] or row in kept:
            continue
        parent = nodes.parent(row)
        if parent is not None and is_gone[parent]:
            nodes.hang(row, tail)
    nodes.forget(gone)


def _listed(nodes: Nodes, metadata: Mapping[str, Any]) -> tuple[tuple[int, ...], object] | None:
    """Return the rows `preservedMessages` lists and their anchor; none where one of them is unknown."""
    listed = as_mapping(metadata.get("preservedMessages"))
    uuids = listed.get("uuids")
    if not isinstance(uuids, list):
        return None
    rows = [nodes.named(uuid) for uuid in cast("list[object]", uuids)]
    known = tuple(row for row in rows if row is not None)
    return (known if len(known) == len(rows) else ()), listed.get("anchorUuid")


def _segment(nodes: Nodes, metadata: Mapping[str, Any]) -> tuple[tuple[int, ...], object] | None:
    """Return the rows from the head to the tail of `preservedSegment` and their anchor."""
    segment = as_mapping(metadata.get("preservedSegment"))
    head, row = nodes.named(segment.get("headUuid")), nodes.named(segment.get("tailUuid"))
    found: list[int] = []
    seen: set[int] = set()
    while row is not None and row not in seen:
        seen.add(row)
        found.append(row)
        if row == head:
            return tuple(reversed(found)), segment.get("anchorUuid")
        row = nodes.parent(row)
    return None
