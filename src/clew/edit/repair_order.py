"""Results on the path to the end of a conversation that stand at the wrong place, or come a second time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from clew.edit.ids import derive
from clew.edit.repair_blocks import content_path, with_blocks
from clew.edit.repair_pairs import below, drop_results, ids_of
from clew.edit.repair_records import following, user_line
from clew.edit.repair_state import data_of, with_field
from clew.format.entry import as_mapping
from clew.format.patch import remove, replace_bytes, value_at
from clew.session.session import TOOL_RESULT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clew.edit.repair_state import Repaired, View
    from clew.format.patch import Path
    from clew.session.graph import Graph

TWICE: Final = "a second result for the same call"
USED: Final = "a second call under the same id"
MOVED: Final = "a call and its result that did not stand together"


def mend_repeated(view: View, state: Repaired, *, seed: bytes) -> None:
    """Give a call under a used id a new one, and its result too; take second results out."""
    session = view.session
    rows = view.said
    graph = view.graph
    first_call: dict[str, int] = {}
    first_result: dict[str, int] = {}
    renamed: dict[str, str] = {}
    for row in rows:
        kind = session.table.kind_of(row)
        if kind == "assistant":
            names: dict[str, str] = {}
            for call in ids_of(session, row, "tool_use", "id"):
                if call in first_call:
                    entry = session.entry(row)
                    names[call] = renamed[call] = f"toolu_{derive(seed, f'{call} in {entry.uuid}')[:23]}"
                    first_result.pop(call, None)
                first_call.setdefault(call, row)
            if names:
                _rename(view, state, row, "id", names)
            continue
        again: set[str] = set()
        others: dict[str, str] = {}
        for call in ids_of(session, row, "tool_result", "tool_use_id"):
            if call in first_result:
                again.add(call)
            elif call in renamed:
                others[call] = renamed[call]
            first_result.setdefault(call, row)
        again -= others.keys()
        if others:
            _rename(view, state, row, "tool_use_id", others)
        elif again:
            _drop_again(view, state, graph, row, again, first_result)


def _rename(view: View, state: Repaired, row: int, field: str, names: Mapping[str, str]) -> None:
    path = content_path(view.session.entry(row).data)
    kind = "tool_use" if field == "id" else "tool_result"

    def rule(block: Mapping[str, Any]) -> Mapping[str, Any] | None:
        name = block.get(field)
        is_meant = block.get("type") == kind and isinstance(name, str) and name in names
        return {**block, field: names[name]} if is_meant and isinstance(name, str) else block

    state.patch(view.origins[row], lambda raw: with_blocks(raw, path, rule), USED)


def _drop_again(
    view: View, state: Repaired, graph: Graph, row: int, calls: set[str], first: Mapping[str, int]
) -> None:
    session = view.session
    kept = max(first[call] for call in calls)
    if kept == row:  # twice in one line: the later ones go
        path = content_path(session.entry(row).data)
        state.patch(view.origins[row], lambda raw: with_blocks_once(raw, path), TWICE)
        return
    # What followed the second result follows the first, unless that lies above anyway, or below.
    is_apart = kept not in graph.path(row) and row not in graph.path(kept)
    heir = session.entry(kept).uuid if is_apart else None
    drop_results(view, state, row, frozenset(calls), TWICE, heir=heir)


def with_blocks_once(raw: bytes, path: Path) -> bytes:
    """Leave of several results of one call in a line the first."""
    content: object = data_of(raw)
    for key in path:
        content = as_mapping(content).get(str(key))
    items = [as_mapping(one) for one in cast("list[object]", content)] if isinstance(content, list) else []
    seen: set[str] = set()
    doubled: list[int] = []
    for index, block in enumerate(items):
        name = block.get("tool_use_id")
        if block.get("type") == "tool_result" and isinstance(name, str):
            if name in seen:
                doubled.append(index)
            seen.add(name)
    for index in reversed(doubled):
        raw = remove(raw, (*path, index))
    return raw


def mend_order(view: View, state: Repaired, *, seed: bytes) -> None:
    """Put the parts of each answer on the path together, and the results of its calls behind them."""
    path = _Path(view)
    moves = dict(path.parts_apart()) or dict(path.results_apart())
    graph = view.graph
    touched: set[int] = set()
    for row, (last, calls) in moves.items():
        involved = {row, last, graph.parent[row], *graph.children(last), *graph.children(row)}
        if not touched & involved:  # else it is for the next round
            touched |= involved
            _move(view, state, graph, row, last, calls, seed)


class _Path:
    """What is said on the path to the end, and which answer each line of it belongs to."""

    def __init__(self, view: View) -> None:
        self._session = session = view.session
        self._rows = view.said
        self._place_of: dict[str, int] = {}
        """Of each call the place on the path."""
        self._last_of: dict[int, int] = {}
        """Of each answer the place of its last line before anything else."""
        for at, row in enumerate(self._rows):
            if self._is_answer(row):
                own = self._answer(at)
                if own not in self._last_of or at == self._last_of[own] + 1:
                    self._last_of[own] = at
                for call in ids_of(session, row, "tool_use", "id"):
                    self._place_of.setdefault(call, at)

    def _is_answer(self, row: int) -> bool:
        return self._session.table.kind_of(row) == "assistant"

    def _answer(self, place: int) -> int:
        """Return what the lines of one answer have in common."""
        row = self._rows[place]
        return self._session.table.message[row] or -1 - row

    def parts_apart(self) -> Iterator[tuple[int, tuple[int, frozenset[str]]]]:
        """Give lines with calls that another answer parts from the rest of theirs, and where to put them."""
        met: set[int] = set()
        before: int | None = None
        for at, row in enumerate(self._rows):
            if self._is_answer(row):
                own = self._answer(at)
                calls = frozenset(ids_of(self._session, row, "tool_use", "id"))
                if own in met and own != before and calls:
                    yield row, (self._rows[self._last_of[own]], calls)
                met.add(own)
                before = own
            elif not self._session.table.flags[row] & TOOL_RESULT:
                met.clear()  # what is said in between ends every answer

    def results_apart(self) -> Iterator[tuple[int, tuple[int, frozenset[str]]]]:
        """Give results that do not come right behind the answer of their call, and where to put them."""
        place_of = self._place_of
        answer: int | None = None
        for at, row in enumerate(self._rows):
            if self._is_answer(row):
                answer = self._answer(at)
                continue
            calls = [
                call for call in ids_of(self._session, row, "tool_result", "tool_use_id") if call in place_of
            ]
            wrong = [call for call in calls if self._answer(place_of[call]) != answer]
            if wrong:
                place = place_of[wrong[0]]
                own = self._answer(place)
                last = self._rows[max(self._last_of[own], place)]
                yield row, (last, frozenset(call for call in wrong if self._answer(place_of[call]) == own))


def _move(
    view: View, state: Repaired, graph: Graph, row: int, last: int, calls: frozenset[str], seed: bytes
) -> None:
    """Move a line behind another, or the results of some calls where it holds more than those."""
    session = view.session
    entry, over = session.entry(row), session.entry(last).uuid
    content = entry.content
    items = [as_mapping(one) for one in cast("list[object]", content)] if isinstance(content, list) else []
    moved = [one for one in items if one.get("type") == "tool_result" and one.get("tool_use_id") in calls]
    children = [child for child in below(session, graph, last) if child != row]
    if len(moved) == len(items) or entry.type == "assistant":
        uuid = entry.uuid or ""
        above = graph.parent[row]
        parent = session.entry(above).uuid if above >= 0 else None
        data = with_field(session.whole(row).raw, "parentUuid", over)
        for child in graph.children(row):
            state.set(view.origins[child], "parentUuid", parent, MOVED)
        state.remove(view.origins[row], MOVED)
    else:
        uuid = derive(seed, f"moved {' '.join(sorted(calls))} from {entry.uuid}")
        time = session.table.time_of(last)
        data = user_line(view, row, moved, parent=over, uuid=uuid, time=time)
        drop_results(view, state, row, calls, MOVED)
    state.put(data, MOVED, before=following(view, last))
    for child in children:
        state.set(view.origins[child], "parentUuid", uuid, MOVED)


def mend_blocks_order(view: View, state: Repaired) -> None:
    """Put results before anything else in lines where the API would ask for it."""
    found = view.context
    wrong = {problem.message for problem in found.api_problems if problem.code == "result-order"}
    for message in sorted(wrong):
        for row in found.rows[message]:
            path = content_path(view.session.entry(row).data)
            raw = view.session.whole(row).raw
            if _results_first(raw, path) != raw:
                state.patch(view.origins[row], lambda raw, path=path: _results_first(raw, path), MOVED)


def _results_first(raw: bytes, path: Path) -> bytes:
    content: object = data_of(raw)
    for key in path:
        content = as_mapping(content).get(str(key))
    items = [as_mapping(one) for one in cast("list[object]", content)] if isinstance(content, list) else []
    is_result = [one.get("type") == "tool_result" for one in items]
    order = sorted(range(len(items)), key=lambda index: not is_result[index])
    if order == list(range(len(items))):
        return raw
    values = [value_at(raw, (*path, index)) for index in order]
    return replace_bytes(raw, path, b"[" + b",".join(values) + b"]")
