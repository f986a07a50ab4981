"""The turns before a compaction come back: the compaction and its summary go.

What followed them hangs again on what the compaction followed. Messages that it had preserved are then sent
once, where they were said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.edit.changes import Changes
from clew.edit.ways import copies, ending, is_boundary
from clew.edit.woven import Result
from clew.errors import UsageError
from clew.session.chain import chain
from clew.session.eras import rules
from clew.session.graph import Graph
from clew.session.session import COMPACT_SUMMARY, SALVAGED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.session.chain import Chain
    from clew.session.session import Session

REASON: Final = "the turns before it come back"


def uncompact(session: Session, *, boundary: str | None = None, every: bool = False) -> Changes:
    """Take back a compaction: the one with that uuid, else the last on the way to where the session ends.

    With `every` all of them are taken back that lie on that way. Without any there is nothing to do.
    """
    if every and boundary is not None:
        raise UsageError("either one compaction or every one")
    graph = Graph(session)
    path = chain(session, rules())
    chosen = _chosen(session, graph, path, boundary, every=every)
    if not chosen:
        return Changes(session)
    changes = _ended(_without(session, graph, chosen), path)
    while every and (more := [row for row in _remaining(changes) if row not in chosen]):
        chosen = [*chosen, *more]
        changes = _ended(_without(session, graph, chosen), path)
    return changes


def _ended(changes: Changes, path: Chain) -> Changes:
    """Return changes after which the session ends where it did, if need be with a line that says so."""
    session = changes.session
    if path.refused is not None or path.leaf is None or _is_right(session, changes, path):
        return changes
    # What is named as its end may be the compaction itself.
    end = next((row for row in (path.leaf, *reversed(path.rows)) if row not in changes.dropped), None)
    leaf = None if end is None else session.entry(end).uuid
    if leaf is not None:
        # An old word on where it ends, which the compaction had made void, would count again.
        changes.add(ending(session, leaf), "the line it ends in")
    return changes


def _chosen(
    session: Session, graph: Graph, path: Chain, boundary: str | None, *, every: bool
) -> Sequence[int]:
    if boundary is not None:
        row = graph.find(boundary)
        if row is None or not is_boundary(session, row):
            raise UsageError(f"{boundary} is no compaction of this session", hint="clew tree lists them")
        return [row]
    if not path.rows:
        return []
    flags = session.table.flags
    # What stands on a damaged line is no compaction to any client.
    above = (row for row in graph.upwards(path.rows[0]) if not flags[row] & SALVAGED)
    found = [row for row in above if is_boundary(session, row)]
    return found if every else found[:1]


def _remaining(changes: Changes) -> list[int]:
    """Return the compactions that are on the way once others are gone."""
    result = Result(changes.plan(""))
    path = chain(result.session, rules())
    if not path.rows:
        return []
    found = _chosen(result.session, Graph(result.session), path, None, every=True)
    return [source for row in found if (source := result.source_row(row)) is not None]


def _without(session: Session, graph: Graph, chosen: Sequence[int]) -> Changes:
    """Let compactions and their summaries go, and what hung on them hang on what they followed."""
    changes = Changes(session)
    table = session.table
    for row in chosen:
        summaries = [one for one in graph.children(row) if table.flags[one] & COMPACT_SUMMARY]
        for one in (row, *summaries):
            for copy in copies(session, one):
                changes.drop(copy, REASON)
        if row not in graph.loose_joins and session.entry(row).logical_parent_uuid is not None:
            continue
        # It names no line that is there: it followed the one before it in the file.
        followed = graph.joins.get(row)
        if followed is None:
            continue
        for over in (row, *summaries):
            for child in graph.children(over):
                if child not in summaries:
                    for copy in copies(session, child):
                        changes.hang(copy, session.entry(followed).uuid)
    return changes


def _is_right(session: Session, changes: Changes, path: Chain) -> bool:
    """Say whether all that was sent from lines that stay is still on the way, and it ends where it did."""
    result = Result(changes.plan(""))
    after = chain(result.session, rules())
    if after.refused is not None or after.leaf is None:
        return False
    now = {result.source_row(row) for row in after.rows}
    kinds = session.table.kind_of
    wanted = (row for row in path.rows if row not in changes.dropped and kinds(row) in {"user", "assistant"})
    is_whole = all(row in now for row in wanted)
    return is_whole and (path.leaf in changes.dropped or result.source_row(after.leaf) == path.leaf)
