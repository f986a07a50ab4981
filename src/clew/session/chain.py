"""The line a conversation ends in, and the path of lines that leads to it, by the client's own rules.

What is chosen here is what the model will see; `clew.session.graph` has the whole tree, and
`clew.session.nodes` the lines the client takes for lines.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from clew.session.graph import BOUNDARY
from clew.session.ids import id_hash
from clew.session.nodes import Nodes
from clew.session.parallel import with_parallel
from clew.session.session import NO_TIME, SALVAGED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.session.eras import Rules
    from clew.session.session import Session

NOT_FOUND: Final = "No conversation found"
HANGS: Final = "The client does not come back: the parents form a cycle"

_BRIDGED_MS: Final = 5000
"""A missing parent is looked for among the lines of the five seconds before."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The path from a root, or from a compaction, to the leaf."""

    rows: Sequence[int]
    leaf: int | None
    refused: str | None = None
    """Why the client would not resume, in its own words."""

    inferred: frozenset[int] = frozenset()
    """Rows whose parent is missing and was taken to be another line of about the same time."""

    before_cut: Sequence[int] = ()
    """The rows that a compaction took out."""

    preserved: tuple[int, ...] = ()
    """The rows from before the compaction that it kept."""

    known: Sequence[int] = ()
    """The rows the client has in hand when it looks for more of an answer."""

    places: Mapping[int, int] = field(default_factory=dict[int, int])
    """For rows written several times, where they stood first."""


def chain(session: Session, rules: Rules, *, at: str | None = None) -> Chain:
    """Return the path the client would load, or the one that ends in the entry `at`."""
    nodes = Nodes(session, rules)
    leaf = nodes.named(at) if at is not None else find_leaf(nodes)
    if leaf is None:
        return Chain((), None, None if rules.takes_empty_file and not session.source.size else NOT_FOUND)
    if rules.leaf_needs_time and (session.table.time[leaf] == NO_TIME or nodes.is_sidechain(leaf)):
        return Chain((), leaf, NOT_FOUND)
    path, inferred, cyclic = walk(nodes, leaf)
    if cyclic and not rules.survives_cycles:
        return Chain((), leaf, HANGS)
    if rules.leaf != "time":
        path, inferred = _to_message(nodes, path, inferred)
    return _cut(nodes, path, leaf, inferred)


# The leaf ---------------------------------------------------------------------------------------


def find_leaf(nodes: Nodes) -> int | None:
    """Return the row the conversation ends in."""
    rules = nodes.rules
    rows = nodes.placed()
    if not rows:
        return None
    if rules.leaf == "time":
        return _newest(nodes, rows)
    start = rows[-1]
    named = _hinted(nodes, rows) if rules.follows_last_prompt else None
    if named is not None:
        row, is_exact = named
        return row if is_exact or not _leads_to(nodes, row, start) else start
    if rules.leaf == "order-then-time" and not _has_hints(nodes):
        return _newest_descendant(nodes, rows, start)
    return start


def _newest(nodes: Nodes, rows: Sequence[int]) -> int:
    """Return the row with the greatest time; the first on a tie. Without a time none wins or loses."""
    time = nodes.session.table.time
    best = rows[0]
    for row in rows:
        if time[row] != NO_TIME and time[best] != NO_TIME and time[row] > time[best]:
            best = row
    return best


def _newest_descendant(nodes: Nodes, rows: Sequence[int], start: int) -> int:
    """Return the newest of `start` and the lines below it; the last on a tie."""
    # The last line has descendants only in a file whose lines were shuffled or written twice.
    table = nodes.session.table
    below = bytearray(len(table))
    below[start] = 1
    todo = [start]
    while todo:
        for child in nodes.children(todo.pop()):
            if not below[child]:
                below[child] = 1
                todo.append(child)
    candidates = (row for row in rows if below[row])
    return max(candidates, key=lambda row: (table.time[row], row), default=start)


def _hinted(nodes: Nodes, rows: Sequence[int]) -> tuple[int, bool] | None:
    """Return the line the last `last-prompt` entry names, and whether it is to be just that one."""
    hint = _last_prompt(nodes)
    if hint is None:
        return None
    key, explicit_at = hint
    named = nodes.row(key)
    if named is None or nodes.is_progress(named):
        return None
    return named, explicit_at is not None and rows[-1] < explicit_at


def _leads_to(nodes: Nodes, row: int, start: int) -> bool:
    """Say whether a line lies on the path to `start`, or beside it as part of an answer on that path."""
    seen = bytearray(len(nodes.session))
    found = array("i")
    above: int | None = start
    while above is not None and not seen[above]:
        seen[above] = 1
        if not nodes.is_progress(above):
            found.append(above)
        above = nodes.parent(above)
    if seen[row]:
        return True
    found.reverse()
    path = Chain(found, start, known=nodes.rows)
    return nodes.rules.recovers_parallel and row in with_parallel(nodes.session, path, nodes.rules)


def _has_hints(nodes: Nodes) -> bool:
    """Say whether any hint names a line, be it void; what was preserved takes the place of void ones."""
    table = nodes.session.table
    if nodes.preserved:
        return _last_prompt(nodes) is not None
    hints = {code for code, kind in enumerate(table.kinds) if kind.partition("/")[0] == "last-prompt"}
    rows = (row for row in range(len(table)) if table.kind[row] in hints and not table.flags[row] & SALVAGED)
    return any(nodes.session.entry(row).text("leafUuid") for row in rows)


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


def walk(nodes: Nodes, leaf: int) -> tuple[array[int], frozenset[int], bool]:
    """Return the rows from a root to `leaf`, those whose parent was inferred, and whether a cycle was met.

    Progress lines are walked through: what hangs on one hangs on what it hangs on.
    """
    path = array("i")
    seen = bytearray(len(nodes.session))
    inferred: set[int] = set()
    moments: _Moments | None = None
    cyclic = False
    row: int | None = leaf
    dangler = leaf
    while row is not None:
        seen[row] = 1
        if not nodes.is_progress(row):
            path.append(row)
            dangler = row
        if nodes.is_root(row):
            break
        above = nodes.parent(row)
        if above is not None and seen[above]:
            cyclic = True
            above = None
        if above is None and nodes.rules.bridges:
            moments = moments or _Moments(nodes)
            above = moments.nearest(dangler, seen, is_sidechain=nodes.is_sidechain(dangler))
            if above is not None:
                inferred.add(dangler)
        row = above
    path.reverse()
    return path, frozenset(inferred), cyclic


class _Moments:
    """The lines by time, each of which may stand in for a missing parent once."""

    def __init__(self, nodes: Nodes) -> None:
        self._time = nodes.session.table.time
        self._rows: dict[bool, list[int]] = {False: [], True: []}
        for row in nodes.rows:
            if self._time[row] != NO_TIME:
                self._rows[nodes.is_sidechain(row)].append(row)
        for rows in self._rows.values():
            rows.sort(key=lambda row: (self._time[row], -row))
        # Where a line is used up, the place to look on at: found again and again, the way gets shorter.
        self._below = {side: list(range(len(rows))) for side, rows in self._rows.items()}

    def nearest(self, row: int, seen: bytearray, *, is_sidechain: bool) -> int | None:
        """Return the newest line not newer than `row` and not seen; the first of the file on a tie."""
        when = self._time[row]
        if when == NO_TIME:
            return None
        rows, below = self._rows[is_sidechain], self._below[is_sidechain]
        at = bisect_right(rows, when, key=self._time.__getitem__) - 1
        passed: list[int] = []
        while at >= 0:
            if below[at] != at:
                passed.append(at)
                at = below[at]
            elif seen[rows[at]]:
                below[at] = at - 1
            else:
                break
        for step in passed:
            below[step] = at
        return rows[at] if at >= 0 and when - self._time[rows[at]] <= _BRIDGED_MS else None


def _to_message(
    nodes: Nodes, path: array[int], inferred: frozenset[int]
) -> tuple[array[int], frozenset[int]]:
    """End the path in a message, and add the client's own lines that hang behind it."""
    last = next((row for row in reversed(path) if nodes.is_message(row)), None)
    if last is None:
        # Nothing was said on this path: the last message of the file it is.
        for row in nodes.eligible():
            last = row if nodes.is_message(row) else last
        if last is None:
            return path, inferred
        path, inferred, _ = walk(nodes, last)
    path = path[: path.index(last) + 1]
    todo = list(reversed(nodes.children(last)))
    found = bytearray(len(nodes.session))
    for row in path:
        found[row] = 1
    while todo:
        row = todo.pop()
        if found[row] or nodes.is_message(row) or nodes.is_boundary(row) or nodes.is_sidechain(row):
            continue
        found[row] = 1
        path.append(row)
        todo.extend(reversed(nodes.children(row)))
    return path, inferred


def _cut(nodes: Nodes, path: array[int], leaf: int, inferred: frozenset[int]) -> Chain:
    """Cut the path at its last compaction."""
    cut = next((at for at in range(len(path) - 1, -1, -1) if nodes.is_boundary(path[at])), 0)
    is_gone = bytearray(len(nodes.session))
    for rows in (path[:cut], nodes.forgotten):
        for row in rows:
            is_gone[row] = 1
    gone = array("i", (row for row, one in enumerate(is_gone) if one))
    known = array("i", (row for row in nodes.rows if not is_gone[row]))
    places = {row: first for row in known if (first := nodes.first_place(row)) != row}
    return Chain(path[cut:], leaf, None, inferred, gone, nodes.preserved, known, places)
