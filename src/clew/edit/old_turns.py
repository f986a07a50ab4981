"""The turns of a conversation, oldest first, and letting the old ones go.

What counts is the conversation that a client would go on with: its lines in the order they are sent, and
before them those that compactions took out. Lines on other branches are as old as their place in the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.edit.changes import content_of
from clew.edit.paths import sent_rows
from clew.session.chain import chain
from clew.session.eras import rules
from clew.session.graph import BOUNDARY, Graph
from clew.session.session import COMPACT_SUMMARY, HUMAN, SALVAGED, SIDECHAIN, TOOL_RESULT, TOOL_USE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew.edit.changes import Changes
    from clew.session.session import Session

OLD: Final = "a turn before those that are kept"
ANSWERED: Final = "the result of a call that is gone"
_BESIDE: Final = ("attachment", "system/")


class Order:
    """The lines of the conversation, oldest first."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.graph = Graph(session)
        era = rules()
        path = chain(session, era)
        self.is_known = path.refused is None and bool(path.rows)
        """Whether a client would go on with it; else all lines follow one another as in the file."""
        if self.is_known:
            sent = sent_rows(session, path, era)
            now = set(sent)
            older = (row for row in self._above(path.rows[0]) if row not in now)
            self.rows = [*reversed([*older]), *sent]
        else:
            self.rows = [*range(len(session))]
        self.place = {row: at for at, row in enumerate(self.rows)}
        flags = session.table.flags
        self.prompts = [row for row in self.rows if flags[row] & HUMAN and not self._is_copied(row)]

    def _above(self, row: int) -> Iterator[int]:
        """Give what lies above a row, compactions included, nearest first; only what lines say themselves."""
        session, graph = self._session, self.graph
        while row >= 0 and not graph.is_inferred(row):
            if row in graph.joins and session.row(session.entry(row).logical_parent_uuid or "") is None:
                return
            row = graph.above[row]
            if row >= 0:
                yield row

    def _is_copied(self, row: int) -> bool:
        """Say whether a later line has the same uuid: then that one counts."""
        key = self._session.table.uuid[row]
        return bool(key) and self._session.table.last_of(key) != row

    def first_of_last(self, turns: int) -> int | None:
        """Return the prompt that the last so many turns begin with; None if there are no more than those."""
        return self.prompts[-turns] if 0 < turns < len(self.prompts) else None

    def is_before(self, row: int, other: int) -> bool:
        """Say whether a row comes before another one, which is of the conversation."""
        at = self.place.get(row)
        return row < other if at is None else at < self.place[other]


def drop_old_turns(changes: Changes, keep: int) -> None:
    """Let all go that came before the last `keep` turns, but for the compaction right before them.

    A branch that a person took elsewhere stays, and hangs then on what is left above it.
    """
    if keep < 1:
        raise ValueError("at least one turn is to be kept")
    order = Order(changes.session)
    first = order.first_of_last(keep)
    if first is None or not order.is_known:
        return
    cut = order.place[first]
    kept = _compaction(changes.session, order.rows[:cut])
    gone = [row for row in order.rows[:cut] if row not in kept]
    for row in _with_all_of_them(changes.session, order, gone):
        changes.drop(row, OLD)
    _drop_left_results(changes, order.rows[cut:])


def _compaction(session: Session, rows: list[int]) -> set[int]:
    """Return the last compaction among rows, with its summary and what the client attached to that."""
    table = session.table
    at = next((at for at in range(len(rows) - 1, -1, -1) if table.kind_of(rows[at]) == BOUNDARY), None)
    if at is None:
        return set()
    kept = {rows[at]}
    for row in rows[at + 1 :]:
        kind = table.kind_of(row)
        is_beside = kind.startswith(_BESIDE) and kind != "system/local_command"
        # What the compaction kept of the turns before it stands behind it, but not in the file.
        if row < rows[at] or not (is_beside or table.flags[row] & COMPACT_SUMMARY):
            break
        kept.add(row)
    return kept


def _with_all_of_them(session: Session, order: Order, gone: Iterable[int]) -> Iterator[int]:
    """Give lines with all copies, what hangs on them and is no other turn, and sub-agents between them."""
    table = session.table
    ids, flags = table.ids(), table.flags
    found: set[int] = set()
    todo = [*gone]
    while todo:
        row = todo.pop()
        if row in found:
            continue
        found.add(row)
        for child in order.graph.children(row):
            is_prompt = flags[child] & HUMAN and not flags[child] & SIDECHAIN
            is_cut = table.kind_of(child) == BOUNDARY
            if child not in order.place and not is_prompt and not is_cut:
                todo.append(child)
        if ids.earlier[row] >= 0:
            todo.append(ids.earlier[row])
    is_within = False
    for row in range(len(table)):
        if not table.uuid[row]:
            continue
        if not flags[row] & SIDECHAIN:
            is_within = row in found
        elif is_within and row not in order.place:
            found.add(row)
    return (row for row in sorted(found) if not flags[row] & SALVAGED)


def _drop_left_results(changes: Changes, rows: Iterable[int]) -> None:
    """Take out results that stand among the turns that are kept while their calls do not."""
    session = changes.session
    flags = session.table.flags
    lost = {
        block.get("id")
        for row in changes.dropped
        if flags[row] & TOOL_USE
        for block in content_of(session, row)
        if block.get("type") == "tool_use"
    }
    kept = [row for row in rows if row not in changes.dropped]
    for row in kept:
        if flags[row] & TOOL_USE:
            lost -= {block.get("id") for block in content_of(session, row) if block.get("type") == "tool_use"}
    for row in kept:
        if lost and flags[row] & TOOL_RESULT:
            content = content_of(session, row)
            is_lost = [
                at
                for at, block in enumerate(content)
                if block.get("type") == "tool_result" and block.get("tool_use_id") in lost
            ]
            changes.drop_blocks(row, is_lost, ANSWERED)
