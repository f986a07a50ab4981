"""Parallel calls: the lines of one answer that hang beside the path, and the results of their calls.

From 2.1.29 on each result hangs on its own call, so a path through the tree meets one call of several.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from clew.format.entry import as_mapping
from clew.session.session import SALVAGED, TOOL_RESULT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.session.chain import Chain
    from clew.session.session import Session


def with_parallel(session: Session, path: Chain) -> tuple[int, ...]:
    """Return the rows of a path with the lines put back that belong to its answers."""
    table = session.table
    last_of: dict[int, int] = {}
    for row in path.rows:
        if table.message[row] and table.kind_of(row) == "assistant":
            last_of[table.message[row]] = row
    if not last_of:
        return path.rows
    on_path = set(path.rows)
    candidates = _candidates(session, path)
    beside: dict[int, list[int]] = {}
    place_of: dict[str, int] = {}
    for row in candidates:
        place = last_of.get(table.message[row])
        if place is None or table.kind_of(row) != "assistant":
            continue
        if row not in on_path:
            beside.setdefault(place, []).append(row)
        for call in _ids(session, row, "tool_use", "id"):
            place_of.setdefault(call, place)
    results: dict[int, list[int]] = {}
    for row in candidates:
        if row in on_path or not table.flags[row] & TOOL_RESULT:
            continue
        answered = [place_of[call] for call in _ids(session, row, "tool_result", "tool_use_id") if call in place_of]
        if answered:
            results.setdefault(answered[0], []).append(row)
    return _placed(session, path, beside, results) if beside or results else path.rows


def _candidates(session: Session, path: Chain) -> list[int]:
    """Return the rows that may be put back: read by the client, the last of their uuid, not cut away."""
    table = session.table
    gone = set(path.before_cut)
    latest = {key: row for row, key in enumerate(table.uuid) if key and not table.flags[row] & SALVAGED}
    return sorted(row for row in latest.values() if row not in gone)


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
    """Put the lines behind the last line of their answer: first the answer's, then results in file order."""
    flags = session.table.flags
    rows: list[int] = []
    at = 0
    while at < len(path.rows):
        row = path.rows[at]
        at += 1
        rows.append(row)
        rows.extend(beside.get(row, ()))
        if row in results:
            together = list(results[row])
            while at < len(path.rows) and flags[path.rows[at]] & TOOL_RESULT:
                together.append(path.rows[at])
                at += 1
            rows.extend(sorted(together))
    return tuple(rows)
