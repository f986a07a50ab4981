"""Parallel calls: the lines of one answer that hang beside the path, and the results of their calls.

From 2.1.29 on each result hangs on its own call, so a path through the tree meets one call of several.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, cast

from clew.format.entry import as_mapping
from clew.session.ids import IdIndex
from clew.session.session import TOOL_RESULT, TOOL_USE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clew.session.chain import Chain
    from clew.session.eras import Rules
    from clew.session.session import Session


def with_parallel(session: Session, path: Chain, rules: Rules) -> Sequence[int]:
    """Return the rows of a path with the lines put back that belong to its answers."""
    table = session.table
    is_model = [kind == "assistant" for kind in table.kinds]
    answers = IdIndex(
        array("q", (table.message[row] if is_model[table.kind[row]] else 0 for row in path.rows))
    )

    def last_of(row: int) -> int:
        """Return the last row on the path of the answer a line belongs to: that is the answer's place."""
        return path.rows[answers.last(table.message[row])]

    lines = array(
        "i",
        (row for row in path.known if is_model[table.kind[row]] and answers.last(table.message[row]) >= 0),
    )
    on_path = bytearray(len(table))
    for row in path.rows:
        on_path[row] = 1
    beside: dict[int, list[int]] = {}
    for row in lines:
        if not on_path[row]:
            beside.setdefault(last_of(row), []).append(row)
    loose = [row for row in path.known if not on_path[row] and table.flags[row] & TOOL_RESULT]
    is_hanging = rules.recovers_results == "children"
    results = (_hanging if is_hanging else _answering)(session, lines, loose, last_of) if loose else {}
    if not beside and not results:
        return path.rows
    return _behind(path, beside, results) if is_hanging else _placed(session, path, beside, results)


def _hanging(
    session: Session, lines: Sequence[int], loose: list[int], last_of: Callable[[int], int]
) -> dict[int, list[int]]:
    """Return the results that hang on a line of an answer, by the place of the answer, in order of time."""
    table = session.table
    wanted = {table.parent[row] for row in loose}
    line_of = {table.uuid[row]: row for row in lines if table.uuid[row] in wanted}
    found: dict[int, list[int]] = {}
    for row in loose:
        line = line_of.get(table.parent[row])
        if line is not None:
            found.setdefault(last_of(line), []).append(row)
    for rows in found.values():
        rows.sort(key=lambda row: (table.time[row], line_of[table.parent[row]]))
    return found


def _answering(
    session: Session, lines: Sequence[int], loose: list[int], last_of: Callable[[int], int]
) -> dict[int, list[int]]:
    """Return the results of the calls of an answer wherever they hang, by the place of the answer."""
    flags = session.table.flags
    answered = {row: tuple(_ids(session, row, "tool_result", "tool_use_id")) for row in loose}
    wanted = {call for calls in answered.values() for call in calls}
    place_of: dict[str, int] = {}
    for row in lines:
        for call in _ids(session, row, "tool_use", "id") if flags[row] & TOOL_USE else ():
            if call in wanted:
                place_of.setdefault(call, last_of(row))
    found: dict[int, list[int]] = {}
    for row, calls in answered.items():
        place = next((place_of[call] for call in calls if call in place_of), None)
        if place is not None:
            found.setdefault(place, []).append(row)
    return found


def _behind(path: Chain, beside: dict[int, list[int]], results: dict[int, list[int]]) -> Sequence[int]:
    """Put the lines behind the last line of their answer: the answer's own, then the results."""
    rows = array("i")
    for row in path.rows:
        rows.append(row)
        rows.extend(beside.get(row, ()))
        rows.extend(results.get(row, ()))
    return rows


def _ids(session: Session, row: int, kind: str, name: str) -> Iterator[str]:
    content = session.entry(row).content
    if isinstance(content, list):
        for item in cast("list[object]", content):
            block = as_mapping(item)
            if block.get("type") == kind and isinstance(block.get(name), str):
                yield block[name]


def _placed(
    session: Session, path: Chain, beside: dict[int, list[int]], results: dict[int, list[int]]
) -> Sequence[int]:
    """Put the lines behind the last line of their answer, and the results among the others in file order."""
    table = session.table
    wanted = {table.message[place] for place in results}
    first_of: dict[int, int] = {}
    for row in path.rows:
        if table.message[row] in wanted:
            first_of.setdefault(table.message[row], row)

    def where(row: int) -> int:
        """Return the place of a row in the file; one that was written again keeps its first."""
        return path.places.get(row, row)

    begins = {first_of[table.message[place]]: place for place in results}
    rows = array("i")
    waiting: dict[int, list[int]] = {}
    passed = bytearray(len(table))
    for row in path.rows:
        # A result from beside the path stands before the lines that were written after it.
        for place in list(waiting):
            earlier = [one for one in waiting[place] if where(one) < where(row)]
            rows.extend(earlier)
            waiting[place] = waiting[place][len(earlier) :]
        if not table.flags[row] & TOOL_RESULT:
            for place in [place for place in waiting if passed[place]]:
                rows.extend(waiting.pop(place))
        rows.append(row)
        rows.extend(beside.get(row, ()))
        if row in begins:
            waiting[begins[row]] = sorted(results[begins[row]], key=where)
        passed[row] = 1
    for left in waiting.values():
        rows.extend(left)
    return rows
