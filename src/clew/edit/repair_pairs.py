"""Calls without results and results without calls, wherever in the file they are.

A call gets a result that says there was none, right behind the answer it is in. A result that answers nothing
goes. What has its counterpart somewhere, but not where it should be, is for `clew.edit.repair_order`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from clew.edit.ids import derive
from clew.edit.repair_blocks import content_path, with_blocks
from clew.edit.repair_records import following, user_line
from clew.format.entry import as_mapping
from clew.session.reach import SAID
from clew.session.session import NO_TIME, SIDECHAIN, TOOL_RESULT, TOOL_USE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clew.edit.repair_state import Repaired, View
    from clew.session.graph import Graph
    from clew.session.session import Session

WORDS: Final = "[no result was recorded; added by clew repair]"
NO_RESULT: Final = "a call without a result"
NO_CALL: Final = "a result without a call"


class Tools:
    """The calls and results of a session by their ids, those of lines that count."""

    def __init__(self, session: Session, graph: Graph) -> None:
        self.calls: dict[str, list[int]] = {}
        self.results: dict[str, list[int]] = {}
        table = session.table
        for row in graph.nodes():
            if table.kind_of(row) not in SAID:
                continue
            if table.flags[row] & TOOL_USE:
                for call in ids_of(session, row, "tool_use", "id"):
                    self.calls.setdefault(call, []).append(row)
            if table.flags[row] & TOOL_RESULT:
                for call in ids_of(session, row, "tool_result", "tool_use_id"):
                    self.results.setdefault(call, []).append(row)


def ids_of(session: Session, row: int, kind: str, name: str) -> Iterator[str]:
    """Give the ids of the blocks of a kind in a line."""
    content = session.entry(row).content
    for item in cast("list[object]", content) if isinstance(content, list) else ():
        block = as_mapping(item)
        if block.get("type") == kind and isinstance(block.get(name), str):
            yield block[name]


def mend_missing(view: View, state: Repaired, *, seed: bytes) -> None:
    """Add the results that are nowhere in the file, and take out those whose calls are nowhere."""
    session = view.session
    graph = view.graph
    tools = Tools(session, graph)
    loose: dict[int, set[str]] = {}
    for call, rows in tools.results.items():
        if call not in tools.calls:
            for row in rows:
                loose.setdefault(row, set()).add(call)
    for row, calls in loose.items():
        drop_results(view, state, row, frozenset(calls), NO_CALL)
    behind: dict[int, list[tuple[str, int]]] = {}
    for call, rows in tools.calls.items():
        if call not in tools.results:
            for row in dict.fromkeys(rows):
                behind.setdefault(last_line(session, graph, row), []).append((call, row))
    for last, calls in behind.items():
        _add_results(view, state, graph, last, calls, seed)


def drop_results(
    view: View, state: Repaired, row: int, calls: frozenset[str], reason: str, *, heir: str | None = None
) -> None:
    """Take the results of some calls out of a line; one without anything else goes."""
    content = view.session.entry(row).content
    items = [as_mapping(one) for one in cast("list[object]", content)] if isinstance(content, list) else []
    if all(_is_result(one, calls) for one in items):
        state.remove(view.origins[row], reason, heir=heir)
        return
    path = content_path(view.session.entry(row).data)
    rule = _Without(calls)
    state.patch(view.origins[row], lambda raw: with_blocks(raw, path, rule), reason)


class _Without:
    def __init__(self, calls: frozenset[str]) -> None:
        self._calls = calls

    def __call__(self, block: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return None if _is_result(block, self._calls) else block


def _is_result(block: Mapping[str, Any], calls: frozenset[str]) -> bool:
    name = block.get("tool_use_id")
    return block.get("type") == "tool_result" and isinstance(name, str) and name in calls


def last_line(session: Session, graph: Graph, row: int) -> int:
    """Return the last line of the answer a line belongs to, as far as one hangs on the other."""
    table = session.table
    message = table.message[row]
    seen = {row}
    while message:
        parts = [
            child
            for child in graph.children(row)
            if table.message[child] == message and table.kind_of(child) == "assistant" and child not in seen
        ]
        if not parts:
            break
        row = parts[-1]
        seen.add(row)
    return row


def _add_results(
    view: View, state: Repaired, graph: Graph, last: int, calls: list[tuple[str, int]], seed: bytes
) -> None:
    session = view.session
    uuid = derive(seed, f"result of {' '.join(call for call, _ in calls)} behind {session.entry(last).uuid}")
    blocks = [
        {"type": "tool_result", "content": WORDS, "is_error": True, "tool_use_id": call}
        for call in dict.fromkeys(call for call, _ in calls)
    ]
    children = below(session, graph, last)
    # Of the lines with the greatest time old clients take the first for the end.
    time = session.table.time[last]
    line = user_line(
        view,
        last,
        blocks,
        parent=session.entry(last).uuid,
        uuid=uuid,
        time=None if time == NO_TIME else time + (not children),
        toolUseResult=f"Error: {WORDS}",
        sourceToolAssistantUUID=session.entry(calls[0][1]).uuid,
    )
    state.put(line, NO_RESULT, before=following(view, last))
    for child in children:
        state.set(view.origins[child], "parentUuid", uuid, "it follows the result that was added")


def below(session: Session, graph: Graph, row: int) -> list[int]:
    """Return the lines that hang on a row, but for those of sub-agents."""
    flags = session.table.flags
    return [child for child in graph.children(row) if not (flags[child] ^ flags[row]) & SIDECHAIN]
