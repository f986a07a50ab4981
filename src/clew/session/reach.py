"""How much of a conversation hangs on the path to its end, which is what a client goes on from."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

from clew.session.eras import rules
from clew.session.graph import BOUNDARY, NONE
from clew.session.parallel import with_parallel
from clew.session.session import SIDECHAIN

if TYPE_CHECKING:
    from clew.session.chain import Chain
    from clew.session.graph import Graph
    from clew.session.session import Session

SAID: Final = frozenset({"user", "assistant"})
"""The kinds of lines in which something is said."""


def is_said(session: Session, row: int) -> bool:
    """Say whether a row is of the main conversation."""
    table = session.table
    return table.kind_of(row) in SAID and not table.flags[row] & SIDECHAIN


def has_conversation(session: Session) -> bool:
    """Say whether anything is said: else there is nothing to resume, which is no problem."""
    return any(is_said(session, row) for row in range(len(session)))


def reach_of(session: Session, path: Chain, graph: Graph) -> tuple[int, int]:
    """Return how many lines of the conversation hang on the path to its end, and how many there are.

    A branch that was left hangs on it, and so does what a compaction took out; a tree of its own does not.
    """
    unknown, yes, no = 0, 1, 2
    state = bytearray(len(session))
    for rows in (path.before_cut, with_parallel(session, path, rules())):
        for row in rows:
            state[row] = yes
    is_above = False
    for row in graph.upwards(path.leaf) if path.leaf is not None else ():
        # The client does not look above a compaction; what is there was read before.
        is_above = is_above or session.table.kind_of(row) == BOUNDARY
        if is_above:
            state[row] = yes
    for start in range(len(session)):
        way = array("i")
        row = start
        while row >= 0 and state[row] == unknown:
            way.append(row)
            row = NONE if graph.is_inferred(row) else graph.above[row]
        found = yes if row >= 0 and state[row] == yes else no
        for row in way:
            state[row] = found
    spoken = bytes(state[row] for row in graph.nodes() if is_said(session, row))
    return spoken.count(yes), len(spoken)
