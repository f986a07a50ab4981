"""The ends of a session's tree: its leaves, where each left the active path, and the compactions.

Which leaf is the active one is the client's rule (`clew.session.context`); its row comes in as an argument.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from clew.format import fields
from clew.session.graph import BOUNDARY, NONE, Graph
from clew.session.session import COMPACT_SUMMARY, HUMAN, SIDECHAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clew.session.session import Session

Why = Literal["active", "branch", "parallel", "sidechain", "apart"]
"""Why nothing hangs on a line: the conversation goes on there; it was left for another try; it is one of
several results of one message, or beside the conversation; it ends a sub-agent; it is a tree of its own."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A line nothing hangs on, or the active one."""

    row: int
    uuid: str | None
    number: int
    """Its line, from 1."""

    why: Why
    turns: int
    """How many prompts of a person lead to it, from the very beginning."""

    ended: int | None
    """Its time in milliseconds."""

    leaves_at: int | None
    """The last row it shares with the active path; None for the active leaf and for a tree of its own."""

    @property
    def is_active(self) -> bool:
        """Whether the client would go on from here."""
        return self.why == "active"


@dataclass(frozen=True, slots=True)
class Branch:
    """A way the conversation did not go on."""

    row: int
    """The row on the active path where it leaves."""

    uuid: str | None
    leaf: Leaf


@dataclass(frozen=True, slots=True)
class Compaction:
    """Where the client cut what the model sees and put a summary in its place."""

    row: int
    uuid: str | None
    number: int
    trigger: str | None
    pre_tokens: int | None
    summary_row: int | None
    summary_uuid: str | None
    follows: int | None
    """The row of the line before it in the whole history."""


def leaves(
    session: Session,
    graph: Graph,
    *,
    active: int | None,
    is_turn: Callable[[int], bool] | None = None,
) -> tuple[Leaf, ...]:
    """Return every leaf in file order. Turns start where `is_turn` says so, else at each person's prompt."""
    table = session.table
    turns = _turns(session, graph, is_turn)
    return tuple(
        Leaf(
            row,
            session.entry(row).uuid,
            table.number[row],
            why,
            turns[row],
            table.time_of(row),
            None if at < 0 or row == active else at,
        )
        for row, at, why in _left(session, graph, active)
    )


def count_branches(session: Session, graph: Graph, *, active: int | None) -> int:
    """Return how many ways the conversation did not go on; no line is decoded for that."""
    return sum(why == "branch" for _, _, why in _left(session, graph, active))


def branches(session: Session, found: tuple[Leaf, ...]) -> tuple[Branch, ...]:
    """Return the ways the conversation did not go on, from the leaves of the session."""
    return tuple(
        Branch(leaf.leaves_at, session.entry(leaf.leaves_at).uuid, leaf)
        for leaf in found
        if leaf.why == "branch" and leaf.leaves_at is not None
    )


def compactions(session: Session, graph: Graph) -> tuple[Compaction, ...]:
    """Return the compactions in file order."""
    table = session.table
    codes = {code for code, kind in enumerate(table.kinds) if kind == BOUNDARY}
    found: list[Compaction] = []
    for row in graph.nodes() if codes else ():
        if table.kind[row] not in codes:
            continue
        entry = session.entry(row)
        metadata = entry.mapping("compactMetadata")
        summary = next((one for one in graph.children(row) if table.flags[one] & COMPACT_SUMMARY), None)
        over = graph.above[row]
        found.append(
            Compaction(
                row,
                entry.uuid,
                table.number[row],
                fields.string(metadata, "trigger"),
                fields.integer(metadata, "preTokens"),
                summary,
                None if summary is None else session.entry(summary).uuid,
                None if over < 0 else over,
            )
        )
    return tuple(found)


def _ends(graph: Graph) -> list[int]:
    joined = set(graph.joins.values())
    return [row for row in graph.nodes() if not graph.has_children(row) and row not in joined]


def _left(session: Session, graph: Graph, active: int | None) -> Iterator[tuple[int, int, Why]]:
    """Give every leaf in file order, the last row it shares with the active path, and why it is one."""
    ends = _ends(graph)
    if active is not None and active not in ends:
        ends = sorted((*ends, active))
    shared, talks = _off_path(session, graph, active)
    for row in ends:
        yield row, shared[row], _why(session, row, active, shared[row], is_talk=bool(talks[row]))


def _why(session: Session, row: int, active: int | None, shared: int, *, is_talk: bool) -> Why:
    if row == active:
        return "active"
    flags = session.table.flags
    if flags[row] & SIDECHAIN and (active is None or not flags[active] & SIDECHAIN):
        return "sidechain"
    if shared < 0:
        return "apart"
    return "branch" if is_talk else "parallel"


def _downwards(graph: Graph) -> Iterator[int]:
    """Give the nodes so that each comes after what it hangs on, through the compactions."""
    above = graph.above
    done = bytearray(len(above))
    for start in graph.nodes():
        way = array("i")
        row = start
        while row >= 0 and not done[row]:
            done[row] = 1
            way.append(row)
            row = above[row]
        yield from reversed(way)


def _off_path(session: Session, graph: Graph, active: int | None) -> tuple[array[int], bytearray]:
    """Return for each row the last row it shares with the active path, and whether it left it to talk.

    Results of parallel calls hang on their own calls: they leave the path, but nobody went another way there.
    A person's prompt does, and so does a message of the model that is not the one it hangs on.
    """
    table = session.table
    above, flags, message = graph.above, table.flags, table.message
    is_model = [kind == "assistant" for kind in table.kinds]
    shared = array("i", [NONE]) * len(table)
    talks = bytearray(len(table))
    spoken = array("q", [0]) * len(table)
    for row in graph.upwards(active) if active is not None else ():
        shared[row] = row
    for row in _downwards(graph):
        over = above[row]
        before = spoken[over] if over >= 0 else 0
        speaks = is_model[table.kind[row]] and (not message[row] or message[row] != before)
        spoken[row] = message[row] if is_model[table.kind[row]] else before
        if shared[row] != row and over >= 0:
            shared[row] = shared[over]
            talks[row] = talks[over] or speaks or bool(flags[row] & HUMAN)
    return shared, talks


def _turns(session: Session, graph: Graph, is_turn: Callable[[int], bool] | None) -> array[int]:
    """Return for each row how many turns lead to it."""
    above, flags = graph.above, session.table.flags
    turns = array("i", [0]) * len(above)
    for row in _downwards(graph):
        over = above[row]
        starts = bool(flags[row] & HUMAN) if is_turn is None else is_turn(row)
        turns[row] = (turns[over] if over != NONE else 0) + starts
    return turns
