"""The lines the client takes for lines when it resumes, by uuid, with the parents it gives them.

Of several lines with one uuid the last counts, though it keeps the first one's place in the order.
What a compaction preserved is hung behind its summary here, before anything is walked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from clew.format.entry import as_mapping
from clew.session.session import SALVAGED, SIDECHAIN, id_hash

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clew.session.eras import Rules
    from clew.session.session import Session

BOUNDARY: Final = "system/compact_boundary"
_LINES: Final = frozenset({"user", "assistant", "system", "attachment"})
_MESSAGES: Final = frozenset({"user", "assistant"})


@dataclass(slots=True)
class Nodes:
    """The lines of a session as one version of the client sees them."""

    session: Session
    rules: Rules
    row_of: dict[int, int] = field(default_factory=dict[int, int])
    """The row of a uuid's hash: lines, and progress, which is walked through."""

    rows: list[int] = field(default_factory=list[int])
    """The rows that may be a leaf's or a path's, in file order."""

    first_place: dict[int, int] = field(default_factory=dict[int, int])
    """For rows written several times, where they stood first."""

    preserved: tuple[int, ...] = ()
    anchor: int | None = None
    """The row that what was preserved hangs behind."""

    forgotten: frozenset[int] = frozenset()
    """Rows that a compaction with preserved messages took out altogether."""

    _parents: dict[int, int] = field(default_factory=dict[int, int])
    """Parents that a compaction changed, as hashes."""

    _behind: dict[int, int] = field(default_factory=dict[int, int])
    """How far behind the anchor a preserved row stands."""

    _children: dict[int, list[int]] | None = None

    @classmethod
    def of(cls, session: Session, rules: Rules) -> Nodes:
        """Find the lines of a session."""
        nodes = cls(session, rules)
        table = session.table
        is_line = [kind.partition("/")[0] in _LINES for kind in table.kinds]
        is_walked = [
            line or kind.startswith("progress") for line, kind in zip(is_line, table.kinds, strict=True)
        ]
        uuid, kind, flags = table.uuid, table.kind, table.flags
        row_of = nodes.row_of
        for row in range(len(table)):
            key = uuid[row]
            if key and not flags[row] & SALVAGED and is_walked[kind[row]]:
                before = row_of.get(key)
                if before is not None:
                    nodes.first_place[row] = nodes.first_place.pop(before, before)
                row_of[key] = row
        nodes.rows = sorted(row for row in row_of.values() if is_line[kind[row]])
        if rules.keeps_preserved:
            _relink(nodes)
        return nodes

    def parent_key(self, row: int) -> int:
        """Return the hash of the parent a row names; 0 for none."""
        changed = self._parents.get(row)
        return self.session.table.parent[row] if changed is None else changed

    def parent(self, row: int) -> int | None:
        """Return the row of the parent of `row`, if there is one."""
        return self.row_of.get(self.parent_key(row))

    def is_root(self, row: int) -> bool:
        """Say whether a row names no parent."""
        return not self.parent_key(row)

    def children(self, row: int) -> list[int]:
        """Return the rows that hang on `row`, in file order."""
        if self._children is None:
            self._children = {}
            for child in sorted(self.row_of.values()):
                parent = self.parent(child)
                if parent is not None:
                    self._children.setdefault(parent, []).append(child)
        return self._children.get(row, [])

    def named(self, uuid: object) -> int | None:
        """Return the row of the line with that uuid."""
        return self.row_of.get(id_hash(uuid)) if isinstance(uuid, str) else None

    def is_progress(self, row: int) -> bool:
        """Say whether a row is a progress line: walked through, never sent."""
        return self.session.table.kind_of(row).startswith("progress")

    def is_message(self, row: int) -> bool:
        """Say whether a row is a user's or an assistant's line."""
        return self.session.table.kind_of(row) in _MESSAGES

    def is_boundary(self, row: int) -> bool:
        """Say whether a row is a compaction."""
        return self.session.table.kind_of(row) == BOUNDARY

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

    def place(self, row: int) -> tuple[int, int]:
        """Return where a row counts as standing: what was preserved stands behind its anchor."""
        behind = self._behind.get(row)
        return (row, 0) if behind is None or self.anchor is None else (self.anchor, behind)

    def preserve(self, rows: tuple[int, ...], anchor: int | None) -> None:
        """Note which rows a compaction kept, and behind which they stand."""
        self.preserved = rows
        self.anchor = anchor
        self._behind = {row: 1 + at for at, row in enumerate(rows)}

    def hang(self, row: int, key: int) -> None:
        """Give a row another parent."""
        self._parents[row] = key

    def forget(self, gone: set[int]) -> None:
        """Take rows out."""
        self.row_of = {key: row for key, row in self.row_of.items() if row not in gone}
        self.rows = [row for row in self.rows if row not in gone]
        self.forgotten = frozenset(gone)


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
    followers = [row for row in nodes.row_of.values() if nodes.parent_key(row) == key and row not in ours]
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
    first = nodes.first_place
    gone = {row for row in nodes.row_of.values() if first.get(row, row) < boundary and row not in kept}
    for row in nodes.row_of.values():
        if row not in gone and row not in kept and nodes.parent(row) in gone:
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
