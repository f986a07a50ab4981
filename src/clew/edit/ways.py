"""The way a conversation goes through the lines of a session, and where it can be cut in two.

A turn begins at its prompt, or above it at the lines that the client put in for that prompt. Between two
turns the way can be cut only where no call and no answer lies on both sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew.format.blocks import ServerToolUse, ToolResult, ToolUse, blocks
from clew.session.graph import BOUNDARY
from clew.session.session import COMPACT_SUMMARY, HUMAN, META, SALVAGED, TOOL_RESULT, TOOL_USE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clew.session.session import Session


def copies(session: Session, row: int) -> list[int]:
    """Return every row with the uuid of a row, but for those on damaged lines, which nobody reads."""
    table = session.table
    if not table.uuid[row]:
        return [row]
    earlier = table.ids().earlier
    found: list[int] = []
    row = table.last_of(table.uuid[row])
    while row >= 0:
        if not table.flags[row] & SALVAGED:
            found.append(row)
        row = earlier[row]
    return found[::-1]


def prompts(session: Session, way: Sequence[int]) -> list[int]:
    """Return the places on a way where a person said something."""
    flags = session.table.flags
    return [at for at, row in enumerate(way) if flags[row] & HUMAN]


def beginning(session: Session, way: Sequence[int], at: int) -> int:
    """Return where the turn begins whose prompt is at a place: what was put in for it stands above it."""
    table = session.table
    start = at
    while start and _is_put_in(session, way[start - 1]):
        start -= 1
    if not start:
        return start
    above = way[start - 1]
    # Behind what somebody said, or a tool gave, they belong to that.
    is_input = table.kind_of(above) == "user" and not table.flags[above] & COMPACT_SUMMARY
    return at if is_input else start


def _is_put_in(session: Session, row: int) -> bool:
    table = session.table
    kind, flags = table.kind_of(row), table.flags[row]
    return kind.startswith("attachment") or (
        kind == "user" and bool(flags & META) and not flags & TOOL_RESULT
    )


def has_talk(session: Session, rows: Iterable[int]) -> bool:
    """Say whether somebody speaks on some rows: a person or the model, and no summary of theirs."""
    table = session.table
    return any(table.flags[row] & HUMAN or table.kind_of(row) == "assistant" for row in rows)


def is_clean(session: Session, before: Iterable[int], after: Iterable[int]) -> bool:
    """Say whether no answer and no call with its result has lines among both."""
    table = session.table
    one, other = set(before), set(after)
    answers = {table.message[row] for row in one if table.message[row]}
    if any(table.message[row] in answers for row in other):
        return False
    return _calls(session, one).isdisjoint(_calls(session, other))


def _calls(session: Session, rows: Iterable[int]) -> set[str]:
    flags = session.table.flags
    return {call for row in rows if flags[row] & (TOOL_USE | TOOL_RESULT) for call in _calls_on(session, row)}


def _calls_on(session: Session, row: int) -> Iterator[str]:
    for block in blocks(session.entry(row).content):
        if isinstance(block, ToolUse) and not isinstance(block, ServerToolUse):
            name = block.id
        elif isinstance(block, ToolResult):
            name = block.tool_use_id
        else:
            continue
        if name:
            yield name


def follows(session: Session, row: int, above: int) -> bool:
    """Say whether a row names another one as what it hangs on, perhaps over lines of progress."""
    table = session.table
    seen: set[int] = set()
    while True:
        key = table.parent[row]
        if not key or key in seen:
            return False
        if key == table.uuid[above]:
            return True
        seen.add(key)
        row = table.last_of(key)
        if row < 0 or not table.kind_of(row).startswith("progress"):
            return False


def last_message(session: Session, way: Sequence[int]) -> int:
    """Return the place on a way where the last line of the user or the model is; -1 for none."""
    kinds = {"user", "assistant"}
    return max((at for at, row in enumerate(way) if session.table.kind_of(row) in kinds), default=-1)


def ending(session: Session, leaf: str) -> dict[str, Any]:
    """Return the line by which the client says that a conversation ends in just that line."""
    named = {} if session.name is None else {"sessionId": session.name}
    return {"type": "last-prompt", "leafUuid": leaf, "explicit": True, **named}


def is_boundary(session: Session, row: int) -> bool:
    """Say whether a row is a compaction."""
    return session.table.kind_of(row) == BOUNDARY
