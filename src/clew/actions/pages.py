"""The end of a conversation, without reading the whole file: what a reader opens a long session at.

The file is read from its last compaction on, and further back only where that is not enough: where the page
reaches over the compaction, or something that decides what the page is lies before it. A file that was never
compacted is read whole.

The page is that of the whole file wherever what was not read has no say in what was: no line before the part
that was read has the uuid or the message id of a line in it, or hangs on one. Clients write lines in that
order; a part in which they do not stand so is not trusted, and all is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.actions.reading import way_to
from clew.format.entry import as_mapping
from clew.format.fields import as_items
from clew.session.chain import find_leaf
from clew.session.eras import rules
from clew.session.graph import BOUNDARY, Graph
from clew.session.ids import id_hash
from clew.session.nodes import Nodes
from clew.session.session import SALVAGED
from clew.session.turns import main_rows
from clew.store.reader import last_line_with, line_start, open_end
from clew.store.source import FileSource

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from clew.format.entry import Entry
    from clew.session.session import Session

COUNT: Final = 50
_MARK: Final = BOUNDARY.partition("/")[2].encode()
_STEP: Final = 1 << 20
_MESSAGES: Final = frozenset({"user", "assistant"})


@dataclass(frozen=True, slots=True)
class Page:
    """The last lines of a conversation, on the way to where the client would go on."""

    session: Session
    """The part of the file that was read. Its lines are numbered from there."""

    rows: Sequence[int]
    """The rows of the page, oldest first: `count` lines of the user and the model, and what is between."""

    start: int
    """The byte of the file that was read from."""

    is_all: bool
    """Whether the conversation begins on this page."""

    def entries(self) -> Iterator[Entry]:
        """Give the lines of the page."""
        return self.session.entries(self.rows)

    def messages(self) -> Iterator[Entry]:
        """Give the lines of the user and the model alone."""
        return self.session.entries(row for row in self.rows if _is_message(self.session, row))


def last_page(path: str | os.PathLike[str], *, count: int = COUNT) -> Page:
    """Return the last `count` lines that the user and the model said in a session file, or all there are."""
    source = FileSource(path)
    start = _compaction(source, source.size)
    while True:
        session = open_end(source, start)
        page = _page(session, start, max(0, count))
        if page is not None:
            return page
        # Twice as much each time, so that reading again costs no more than reading on.
        further = line_start(source, max(0, start - max(_STEP, source.size - start)))
        has_compaction = BOUNDARY in session.table.kinds
        start = further if has_compaction else min(further, _compaction(source, start))


def _compaction(source: FileSource, before: int) -> int:
    """Return where the last line begins that may be a compaction, of those before a byte; 0 for none."""
    return last_line_with(source, _MARK, before=before) or 0


def _page(session: Session, start: int, count: int) -> Page | None:
    """Return the page if what was read settles what it is."""
    nodes = Nodes(session, rules())
    graph = Graph(session)
    if start == 0:
        leaf = find_leaf(nodes)
        way = main_rows(session) if leaf is None else way_to(session, graph, leaf)
        return _cut(session, way, start, count)
    if not _is_ordered(graph) or not _is_settled(nodes):
        return None
    leaf = find_leaf(nodes)
    if leaf is None:
        return None
    page = _cut(session, way_to(session, graph, leaf), start, count)
    return page if _is_certain(session, graph, page, leaf) else None


def _cut(session: Session, way: Sequence[int], start: int, count: int) -> Page:
    left, at = count, len(way)
    while at and left:
        at -= 1
        left -= _is_message(session, way[at])
    return Page(session, way[at:], start, at == 0)


def _is_message(session: Session, row: int) -> bool:
    return session.table.kind_of(row) in _MESSAGES


# Whether the rest of the file can have a say --------------------------------------------------------------


def _is_ordered(graph: Graph) -> bool:
    """Say whether every line stands behind the one it hangs on."""
    return not graph.cycles and all(over < row for row, over in enumerate(graph.above))


def _is_settled(nodes: Nodes) -> bool:
    """Say whether all that decides where the conversation goes on is in the part that was read.

    That is the last compaction, what it says it preserved, and the line the last hint after it names.
    """
    session, table = nodes.session, nodes.session.table
    boundary = next((row for row in reversed(nodes.rows) if nodes.is_boundary(row)), None)
    if boundary is None:
        return False
    metadata = session.entry(boundary).mapping("compactMetadata")
    listed = as_mapping(metadata.get("preservedMessages"))
    segment = as_mapping(metadata.get("preservedSegment"))
    kept = [*(as_items(listed.get("uuids")) or ()), segment.get("headUuid"), segment.get("tailUuid")]
    named = [name for name in kept if isinstance(name, str)]
    if named and not nodes.preserved:
        return False
    anchors = (listed.get("anchorUuid"), segment.get("anchorUuid"))
    named += [name for name in anchors if isinstance(name, str)]
    hint = _hint(session, boundary)
    if hint is not None and not _is_told(nodes, nodes.named(hint)):
        return False
    return all(table.last_of(id_hash(name)) >= 0 for name in named)


def _is_told(nodes: Nodes, named: int | None) -> bool:
    """Say whether the way from the last line shows if the line that a hint names lies on it."""
    rows = nodes.placed()
    if named is None or not rows:
        return False
    seen = bytearray(len(nodes.session))
    row, above = rows[-1], nodes.parent(rows[-1])
    while row != named and above is not None and not seen[above]:
        seen[above] = 1
        row, above = above, nodes.parent(above)
    return row == named or above is not None or nodes.is_root(row)


def _hint(session: Session, boundary: int) -> str | None:
    """Return the uuid that the last hint behind a compaction names."""
    table = session.table
    for row in range(len(table) - 1, boundary, -1):
        if table.kind_of(row).partition("/")[0] == "last-prompt" and not table.flags[row] & SALVAGED:
            name = session.entry(row).text("leafUuid")
            if name:
                return name
    return None


def _is_certain(session: Session, graph: Graph, page: Page, leaf: int) -> bool:
    """Say whether the way is the same, as far as the page goes, with the rest of the file before it."""
    table = session.table
    hangs = bytearray(len(table))
    answers: set[int] = set()
    top, is_open = leaf, False
    for row in graph.upwards(leaf):
        top, hangs[row] = row, 1
        answers.add(table.message[row])
        is_open = graph.is_parent_missing(row) or row in graph.loose_joins
        if is_open:
            break
    answers.discard(0)
    if page.is_all and (is_open or table.kind_of(top) == BOUNDARY):
        return False
    on_way = bytes(hangs)
    for row in page.rows:
        passed: list[int] = []
        over = row
        while over >= 0 and not hangs[over] and not graph.is_parent_missing(over):
            passed.append(over)
            over = graph.parent[over]
        if over < 0 or not hangs[over]:
            return False
        for step in passed:  # so that none is climbed twice
            hangs[step] = 1
        if not on_way[row] and answers.isdisjoint((table.message[row], table.message[graph.parent[row]])):
            return False
    return True
