"""What holds for every file, however damaged; the laws share no code with what they judge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from clew.format.lines import BytesSource
from clew.format.records import Fragment, Record, scan
from clew.session.branches import branches, compactions, leaves
from clew.session.check import check
from clew.session.context import context
from clew.session.graph import Graph
from clew.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.session.problems import Code

CLIENTS = ("2.1.325", "1.0.35", "2.0.76", "2.1.45", "2.1.88", "2.1.150")
_DAMAGE: tuple[Code, ...] = (
    *("torn-line", "spliced", "nul-run", "garbage", "not-a-record", "too-deep", "too-long"),
)
_BOM = b"\xef\xbb\xbf"


def judge(data: bytes, *, client: str) -> int:
    """Put a file through reading, graph, check and context; return its number of lines, or raise."""
    found = list(scan(BytesSource(data)))
    conserved(data, found)
    every_good_line_is_read(data, found)
    session = Session.read(data, name="11111111-2222-4333-8444-555555555555")
    records = [item for item in found if isinstance(item, Record)]
    assert len(session) == len(records)
    for row, (record, entry) in enumerate(zip(records, session.entries(), strict=True)):
        assert session.entry(row).offset == record.offset == entry.offset
        assert session.entry(row).data is not None
    graph = Graph(session)
    sound(graph)
    nodes = list(graph.nodes())
    ended(session, graph, nodes[-1] if nodes else None)
    told(data, found)
    sent = context(session, client=client)
    ended(session, graph, session.row(sent.leaf) if sent.leaf is not None else None)
    return data.count(b"\n") + 1


def ended(session: Session, graph: Graph, active: int | None) -> None:
    """One leaf is the active one, if any, and each branch leaves the way to it."""
    ends = leaves(session, graph, active=active)
    assert sum(leaf.is_active for leaf in ends) == (active is not None)
    way = set(graph.history(active)) if active is not None else set[int]()
    assert {branch.row for branch in branches(session, ends)} <= way
    assert all(graph.is_node(one.row) for one in compactions(session, graph))


def told(data: bytes, found: Sequence[Record | Fragment]) -> None:
    """A check names each fragment, and what it names is there."""
    report = check(data, name="11111111-2222-4333-8444-555555555555")
    for problem in report.problems:
        if problem.offset is not None and problem.length is not None:
            assert 0 <= problem.offset <= problem.offset + problem.length <= len(data)
            assert problem.line == 1 + data.count(b"\n", 0, problem.offset)
    damaged = sum(isinstance(item, Fragment) for item in found)
    assert damaged == sum(report.counts.get(code, 0) for code in _DAMAGE)


def conserved(data: bytes, found: Sequence[Record | Fragment]) -> None:
    """Every byte is in one record, in one fragment, or blank; and each item knows its line."""
    at = 0
    for item in found:
        assert item.offset >= at, "items overlap"
        _blank(data, at, item.offset)
        assert item.number == 1 + data.count(b"\n", 0, item.offset)
        assert item.length > 0
        at = item.offset + item.length
        if isinstance(item, Record) and not item.is_abridged:
            assert data[item.offset : at] == item.raw
    _blank(data, at, len(data))


def _blank(data: bytes, start: int, end: int) -> None:
    between = data[start:end]
    if start == 0:
        between = between.removeprefix(_BOM)
    assert not between.strip(), f"bytes {start} to {end} belong to nothing"


def every_good_line_is_read(data: bytes, found: Sequence[Record | Fragment]) -> None:
    """A line that another decoder takes for an object is one whole record, and no other line is."""
    whole = {item.number for item in found if isinstance(item, Record) and item.is_whole}
    for number, line in enumerate(data.split(b"\n"), 1):
        if b"[" * 250 in line or b'{"a":' * 250 in line:
            continue  # how deep is too deep, each decoder has its own opinion
        text = line.removeprefix(_BOM) if number == 1 else line
        try:
            value: object = json.loads(text.decode("utf-8", "replace"), parse_int=float)
        except RecursionError:
            continue  # deep nesting is beyond this decoder, not beyond the one at trial
        except ValueError:
            assert number not in whole, number
            continue
        assert (number in whole) == isinstance(value, dict), number


def sound(graph: Graph) -> None:
    """From the roots every node is reached, once."""
    reached = 0
    todo = list(graph.roots())
    while todo:
        row = todo.pop()
        reached += 1
        todo.extend(graph.children(row))
    nodes = list(graph.nodes())
    assert reached == len(nodes)
    for row in nodes[:: max(1, len(nodes) // 10)]:
        assert graph.path(row)[-1] == graph.history(row)[-1] == row
        assert set(graph.path(row)) <= set(graph.history(row))
