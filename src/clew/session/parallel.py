"""Parallel calls: the lines of one answer that hang beside the path, and the results of their calls.

From 2.1.29 on each result hangs on its own call, so a path through the tree meets one call of several.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from clew.format.entry import as_mapping
from clew.session.session import TOOL_RESULT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.session.chain import Chain
    from clew.session.eras import Rules
    from clew.session.session import Session


def with_parallel(session: Session, path: Chain, rules: Rules) -> tuple[int, ...]:
    """Return the rows of a path with the lines put back that belong to its answers."""
    table = session.table
    last_of: dict[int, int] = {}
    for row in path.rows:
        if table.message[row] and table.kind_of(row) == "assistant":
            last_of[table.message[row]] = row
    if not last_of:
        return path.rows
    lines = [row for row in path.known if table.message[row] in last_of and table.kind_of(row) == "assistant"]
    on_path = set(path.rows)
    beside: dict[int, list[int]] = {}
    for row in lines:
        if row not in on_path:
            beside.setdefault(last_of[table.message[row]], []).append(row)
    loose = [row for row in path.known if row not in on_path and table.flags[row] & TOOL_RESULT]
    if rules.recovers_results == "children":
        results = _hanging(session, lines, loose, last_of)
        return _behind(path, beside, results)
    return _placed(session, path, beside, _answering(session, lines, loose, last_of))


def _hanging(
    session: Session, lines: list[int], loose: list[int], last_of: dict[int, int]
) -> dict[int, list[int]]:
    """Return the results that hang on a line of an answer, by the place of the answer, in order of time."""
    table = session.table
    line_of = {table.uuid[row]: row for row in lines}
    found: dict[int, list[int]] = {}
    for row in loose:
        line = line_of.get(table.parent[row])
        if line is not None:
            found.setdefault(last_of[table.message[line]], []).append(row)
    for rows in found.values():
        rows.sort(key=lambda row: (table.time[row], line_of[table.parent[row]]))
    return found


def _answering(
    session: Session, lines: list[int], loose: list[int], last_of: dict[int, int]
) -> dict[int, list[int]]:
    """Return the results of the calls of an answer wherever they hang, by the place of the answer."""
    table = session.table
    place_of: dict[str, int] = {}
    for row in lines:
        for call in _ids(session, row, "tool_use", "id"):
            place_of.setdefault(call, last_of[table.message[row]])
    found: dict[int, list[int]] = {}
    for row in loose:
        answered = _ids(session, row, "tool_result", "tool_use_id")
        place = next((place_of[call] for call in answered if call in place_of), None)
        if place is not None:
            found.setdefault(place, []).append(row)
    return found


def _behind(path: Chain, beside: dict[int, list[int]], results: dict[int, list[int]]) -> tuple[int, ...]:
    """Put the lines behind the last line of their answer: the answer's own, then the results."""
    rows: list[int] = []
    for row in path.rows:
        rows.append(row)
        rows.extend(beside.get(row, ()))
        rows.extend(results.get(row, ()))
    return tuple(rows)


def _ids(session: Session, row: int, kind: str, name: str) -> Iterator[str]:
    content = session.entry(row).content
    if isinstance(content, list):
        for item in cast("list[object]", content):
            block = as_mapping(item)
            if block.get("type") == kind and isinstance(block.get(name), str):
                yield block[name]


def _placed(
    session: Session, path: Chain, beside: dict[int, list[int]], results: dict[int, list[int]]
) -> tuple[int, ...]:
    """Put the lines behind the last line of their answer, and the results among the others in file order."""
    table = session.table
    first_of: dict[int, int] = {}
    for row in path.rows:
        if table.message[row]:
            first_of.setdefault(table.message[row], row)

    def where(row: int) -> int:
        """Return the place of a row in the file; one that was written again keeps its first."""
        return path.places.get(row, row)

    begins = {first_of[table.message[place]]: place for place in results}
    rows: list[int] = []
    waiting: dict[int, list[int]] = {}
    passed: set[int] = set()
    for row in path.rows:
        # A result from beside the path stands before the lines that were written after it.
        for place in list(waiting):
            earlier = [one for one in waiting[place] if where(one) < where(row)]
            rows.extend(earlier)
            waiting[place] = waiting[place][len(earlier) :]
        if not table.flags[row] & TOOL_RESULT:
            for place in [place for place in waiting if place in passed]:
                rows.extend(waiting.pop(place))
        rows.append(row)
        rows.extend(beside.get(row, ()))
        if row in begins:
            waiting[begins[row]] = sorted(results[begins[row]], key=where)
        passed.add(row)
    for left in waiting.values():
        rows.extend(left)
    return tuple(rows)
