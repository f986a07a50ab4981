"""The line a conversation ends in, and the path of lines that leads to it, by the client's own rules.

What is chosen here is what the model will see; `clew.session.graph` has the whole tree.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from clew.format.entry import as_mapping
from clew.session.session import NO_TIME, SALVAGED, SIDECHAIN, id_hash

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clew.session.eras import Rules
    from clew.session.session import Session

NOT_FOUND: Final = "No conversation found"
HANGS: Final = "The client does not come back: the parents form a cycle"

BOUNDARY: Final = "system/compact_boundary"
_LINES: Final = frozenset({"user", "assistant", "system", "attachment"})


@dataclass(frozen=True, slots=True)
class Chain:
    """The path from a root, or from a compaction, to the leaf."""

    rows: tuple[int, ...]
    leaf: int | None
    refused: str | None = None
    """Why the client would not resume, in its own words."""

    inferred: frozenset[int] = frozenset()
    """Rows whose parent is missing and was taken to be an earlier line of the file."""

    before_cut: tuple[int, ...] = ()
    """The rows of the path that a compaction took out."""

    preserved: tuple[int, ...] = ()
    """The rows from before the compaction that it kept."""


@dataclass(slots=True)
class Nodes:
    """The lines the client takes for lines, by uuid. Of several with one uuid the last counts."""

    session: Session
    rules: Rules
    row_of: dict[int, int] = field(default_factory=dict[int, int])
    rows: list[int] = field(default_factory=list[int])
    """The rows that may be a leaf's or a path's, in file order."""

    above: dict[int, int] = field(default_factory=dict[int, int])
    """Parents that a compaction changed: what it preserved hangs behind its anchor."""

    preserved: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        table = self.session.table
        is_line = [kind.partition("/")[0] in _LINES for kind in table.kinds]
        is_progress = [kind.startswith("progress") for kind in table.kinds]
        uuid, kind, flags = table.uuid, table.kind, table.flags
        row_of = self.row_of
        for row in range(len(table)):
            key = uuid[row]
            if key and not flags[row] & SALVAGED and (is_line[kind[row]] or is_progress[kind[row]]):
                row_of[key] = row
        self.rows = sorted(row for row in row_of.values() if is_line[kind[row]])
        if self.rules.keeps_preserved:
            _relink(self)

    def parent(self, row: int) -> int | None:
        """Return the row of the parent of `row`, if there is one."""
        changed = self.above.get(row)
        return changed if changed is not None else self.row_of.get(self.session.table.parent[row])

    def is_root(self, row: int) -> bool:
        """Say whether a row names no parent."""
        return row not in self.above and not self.session.table.parent[row]

    def named(self, uuid: object) -> int | None:
        """Return the row of the line with that uuid."""
        return self.row_of.get(id_hash(uuid)) if isinstance(uuid, str) else None

    def is_progress(self, row: int) -> bool:
        """Say whether a row is a progress line: walked through, never sent."""
        return self.session.table.kind_of(row).startswith("progress")

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

    def is_boundary(self, row: int) -> bool:
        """Say whether a row is a compaction."""
        return self.session.table.kind_of(row) == BOUNDARY


def chain(session: Session, rules: Rules, *, at: str | None = None) -> Chain:
    """Return the path the client would load, or the one that ends in the entry `at`."""
    nodes = Nodes(session, rules)
    if at is not None:
        leaf = nodes.row_of.get(id_hash(at))
    else:
        leaf = find_leaf(nodes)
    if leaf is None:
        return Chain((), None, None if rules.takes_empty_file and not session.source.size else NOT_FOUND)
    if rules.leaf_needs_time and (session.table.time[leaf] == NO_TIME or nodes.is_sidechain(leaf)):
        return Chain((), leaf, NOT_FOUND)
    path, inferred, cyclic = walk(nodes, leaf)
    if cyclic and not rules.survives_cycles:
        return Chain((), leaf, HANGS)
    return _cut(nodes, path, leaf, inferred)


# The leaf ---------------------------------------------------------------------------------------


def find_leaf(nodes: Nodes) -> int | None:
    """Return the row the conversation ends in."""
    rules = nodes.rules
    rows = list(nodes.eligible())
    if not rows:
        return None
    if rules.leaf == "time":
        return _newest(nodes, rows)
    start = rows[-1]
    if rules.leaf == "order-then-time":
        start = _newest_descendant(nodes, rows, start)
    return _hinted(nodes, rows, start) if rules.follows_last_prompt else start


def _newest(nodes: Nodes, rows: list[int]) -> int:
    """Return the row with the greatest time; the first on a tie. A row without a time never wins or loses."""
    time = nodes.session.table.time
    best = rows[0]
    for row in rows[1:]:
        if time[row] != NO_TIME and time[best] != NO_TIME and time[row] > time[best]:
            best = row
    return best


def _newest_descendant(nodes: Nodes, rows: list[int], start: int) -> int:
    """Return the newest of `start` and the lines below it; the last on a tie."""
    # A line that comes after all others has descendants only in a file whose lines were shuffled or written twice.
    table = nodes.session.table
    below = {start}
    children: dict[int, list[int]] = {}
    for row in nodes.row_of.values():
        parent = nodes.parent(row)
        if parent is not None:
            children.setdefault(parent, []).append(row)
    todo = [start]
    while todo:
        for child in children.get(todo.pop(), ()):
            if child not in below:
                below.add(child)
                todo.append(child)
    if len(below) == 1:
        return start
    candidates = [row for row in rows if row in below]
    return max(candidates, key=lambda row: (table.time[row], row), default=start)


def _hinted(nodes: Nodes, rows: list[int], start: int) -> int:
    """Return the line a `last-prompt` entry names, where the client would follow it."""
    hint = _last_prompt(nodes)
    if hint is None:
        return start
    row, explicit_after = hint
    named = nodes.row_of.get(row)
    if named is None or nodes.is_progress(named):
        return start
    if explicit_after is not None and not any(other > explicit_after for other in reversed(rows[-1:])):
        return named
    path, _, _ = walk(nodes, start)
    return start if named in set(path) else named


def _last_prompt(nodes: Nodes) -> tuple[int, int | None] | None:
    """Return the uuid the last hint names, and its row if it is explicit; a later compaction voids it."""
    table = nodes.session.table
    hints = {code for code, kind in enumerate(table.kinds) if kind.partition("/")[0] == "last-prompt"}
    cuts = {code for code, kind in enumerate(table.kinds) if kind == BOUNDARY}
    for row in range(len(table) - 1, -1, -1):
        if table.flags[row] & SALVAGED:
            continue
        if table.kind[row] in cuts:
            return None
        if table.kind[row] in hints:
            entry = nodes.session.entry(row)
            leaf = entry.text("leafUuid")
            if leaf:
                return id_hash(leaf), row if entry.flag("explicit") else None
    return None


# The path ---------------------------------------------------------------------------------------


def walk(nodes: Nodes, leaf: int) -> tuple[list[int], frozenset[int], bool]:
    """Return the rows from a root to `leaf`, those whose parent was inferred, and whether a cycle was met."""
    path: list[int] = []
    seen: set[int] = set()
    inferred: set[int] = set()
    cyclic = False
    row: int | None = leaf
    while row is not None:
        seen.add(row)
        path.append(row)
        if nodes.is_root(row):
            break
        above = nodes.parent(row)
        if above is not None and above in seen:
            cyclic = True
            above = None
        if above is None and nodes.rules.bridges:
            above = _bridge(nodes, row, seen)
            if above is not None:
                inferred.add(row)
        row = above
    path.reverse()
    return path, frozenset(inferred), cyclic


def _bridge(nodes: Nodes, row: int, seen: set[int]) -> int | None:
    """Return the nearest earlier line that may stand in for a missing parent."""
    time = nodes.session.table.time
    when = time[row]
    if when == NO_TIME:
        return None
    at = bisect_left(nodes.rows, row)
    for earlier in reversed(nodes.rows[:at]):
        if earlier in seen or time[earlier] == NO_TIME or time[earlier] > when:
            continue
        if nodes.is_sidechain(earlier) and not nodes.is_sidechain(row):
            continue
        return earlier
    return None


def _cut(nodes: Nodes, path: list[int], leaf: int, inferred: frozenset[int]) -> Chain:
    """Cut the path at its last compaction."""
    cut = 0
    for at in range(len(path) - 1, -1, -1):
        if nodes.is_boundary(path[at]):
            cut = at
            break
    before, kept = path[:cut], path[cut:]
    return Chain(tuple(kept), leaf, None, inferred, tuple(before), nodes.preserved)


# What a compaction preserved ---------------------------------------------------------------------


def _relink(nodes: Nodes) -> None:
    """Hang what the last compaction preserved behind its anchor, and what followed the anchor behind that."""
    boundary = next((row for row in reversed(nodes.rows) if nodes.is_boundary(row)), None)
    if boundary is None:
        return
    metadata = nodes.session.entry(boundary).mapping("compactMetadata")
    kept, anchor = _listed(nodes, metadata) or _segment(nodes, metadata) or ((), None)
    if not kept or anchor is None:
        return
    followers = [row for row in nodes.row_of.values() if nodes.parent(row) == anchor and row not in kept]
    above = anchor
    for row in kept:
        nodes.above[row] = above
        above = row
    for row in followers:
        nodes.above[row] = above
    nodes.preserved = kept


def _listed(nodes: Nodes, metadata: Mapping[str, Any]) -> tuple[tuple[int, ...], int | None] | None:
    """Return the rows `preservedMessages` lists and their anchor; nothing where it lists none."""
    listed = as_mapping(metadata.get("preservedMessages"))
    uuids = listed.get("uuids")
    if not isinstance(uuids, list):
        return None
    rows = [nodes.named(uuid) for uuid in cast("list[object]", uuids)]
    known = tuple(row for row in rows if row is not None)
    return (known if len(known) == len(rows) else ()), nodes.named(listed.get("anchorUuid"))


def _segment(nodes: Nodes, metadata: Mapping[str, Any]) -> tuple[tuple[int, ...], int | None] | None:
    """Return the rows from the head to the tail of `preservedSegment` and their anchor."""
    segment = as_mapping(metadata.get("preservedSegment"))
    head, row = nodes.named(segment.get("headUuid")), nodes.named(segment.get("tailUuid"))
    found: list[int] = []
    while row is not None and row not in found:
        found.append(row)
        if row == head:
            return tuple(reversed(found)), nodes.named(segment.get("anchorUuid"))
        row = nodes.parent(row)
    return None
