"""Which round each user entry belongs to: a new session, a new round, a return after a pause, or more of one.

Told by the chain of parents, not by the order of lines: after a rewind the prompt before is on another
branch.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from clew.session.calls import is_stand_in
from clew.session.graph import BOUNDARY, NONE, Graph
from clew.session.prompts import InputKind, read
from clew.session.session import COMPACT_SUMMARY, HUMAN, META, SIDECHAIN, SYNTHETIC, TOOL_RESULT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.session.session import Session, Table

Round = Literal["new_session", "continue", "new_round", "resume"]

PAUSE_MS: Final = 5 * 60 * 1000
"""A prompt that comes later than this after what was said before it is a return."""


@dataclass(frozen=True, slots=True)
class Input:
    """What a user entry is."""

    row: int
    round: Round
    kind: InputKind


def inputs(session: Session, *, rounds: Rounds | None = None, pause_ms: int = PAUSE_MS) -> Iterator[Input]:
    """Give the round and the kind of every user entry, in file order; `rounds` are its, if made."""
    table = session.table
    rounds = rounds or Rounds(session, pause_ms=pause_ms)
    for row in range(len(table)):
        if table.kind_of(row) == "user":
            is_result = table.flags[row] & TOOL_RESULT
            yield Input(row, rounds.of(row), "tool_result" if is_result else read(session.entry(row)).kind)


class Rounds:
    """The rounds of a session's user entries. Every chain is walked once, however the lines are ordered."""

    __slots__ = ("_above", "_pause", "_session", "_spoken", "_table")

    def __init__(self, session: Session, *, graph: Graph | None = None, pause_ms: int = PAUSE_MS) -> None:
        self._session = session
        self._table = session.table
        self._pause = pause_ms
        # For each row: whether a prompt is above it, and the last row above it in which somebody spoke.
        self._above = bytearray(len(self._table))
        parents = _parents(session, graph or Graph(session), self._above)
        self._spoken = array("i", [NONE]) * len(parents)
        self._walk(parents)

    def of(self, row: int) -> Round:
        """Return the round of the user entry in `row`."""
        if not self._table.flags[row] & HUMAN:
            return "continue"
        if not self._above[row]:
            return "new_session"
        return "resume" if self._is_return(row) else "new_round"

    def _is_return(self, row: int) -> bool:
        before = self._spoken[row]
        while before != NONE and self._is_stand_in(before):
            before = self._spoken[before]
        if before == NONE:
            return False
        now, then = self._table.time_of(row), self._table.time_of(before)
        return now is not None and then is not None and now - then > self._pause

    def _is_stand_in(self, row: int) -> bool:
        """Say whether the client wrote the results in `row` on resuming, in place of lost ones."""
        return bool(self._table.flags[row] & TOOL_RESULT) and is_stand_in(self._session.entry(row))

    def _walk(self, parents: array[int]) -> None:
        table, above, spoken = self._table, self._above, self._spoken
        state = bytearray(len(parents))  # 0 not seen, 1 on the way, 2 known
        for start in range(len(parents)):
            way = array("i")
            at = start
            while at >= 0 and state[at] == 0:
                state[at] = 1
                way.append(at)
                at = parents[at]
            for row in reversed(way):
                parent = parents[row]
                # A parent still on the way is the row's own descendant: the cycle is cut here.
                if parent >= 0 and state[parent] == 2:
                    above[row] |= above[parent] or bool(table.flags[parent] & HUMAN)
                    spoken[row] = parent if _speaks(table, parent) else spoken[parent]
                state[row] = 2


def _speaks(table: Table, row: int) -> bool:
    """Say whether a person, a tool or the model spoke in `row`; the client itself, on resuming, does not."""
    if table.kind_of(row) not in {"user", "assistant"}:
        return False
    return not table.flags[row] & (META | SYNTHETIC | COMPACT_SUMMARY)


def _parents(session: Session, graph: Graph, above: bytearray) -> array[int]:
    """Return the row each row follows: by the graph, and by order where a line is not in the graph.

    A compaction starts no session, even where nothing is left of what it followed: it is marked in `above`.
    """
    table = session.table
    parents = array("i", graph.above)
    previous = [NONE, NONE]
    for row in range(len(table)):
        side = 1 if table.flags[row] & SIDECHAIN else 0
        kind = table.kind_of(row)
        is_compaction = kind == BOUNDARY or bool(table.flags[row] & COMPACT_SUMMARY)
        above[row] |= is_compaction
        if not table.uuid[row]:
            parents[row] = previous[side]
        elif not graph.is_node(row):
            parents[row] = graph.above[table.last_of(table.uuid[row])]
        elif parents[row] == NONE and is_compaction:
            parents[row] = previous[side]
        if table.uuid[row] or kind in {"user", "assistant"}:
            previous[side] = row
    return parents
