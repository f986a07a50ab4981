"""Where in the reader a line of a session is shown: the address of its item, `t3.7` or `a-ID.t1.2`.

An item is one part of a turn, counted from 1; `t3` is the turn itself, for what is shown in no part of its
own. The page and the exported page know items by these addresses.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.format.blocks import ServerToolUse, ToolResult, ToolUse, blocks
from clew.session.graph import BOUNDARY
from clew.session.session import COMPACT_SUMMARY
from clew.view import parts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from clew.session.session import Session
    from clew.session.turns import Turn
    from clew.view.timeline import Timeline

_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "prompt": (parts.Prompt,),
    "text": (parts.Answer, parts.Note),
    "thinking": (parts.Thinking,),
    "tool_input": (parts.Call,),
    "tool_result": (parts.Call, parts.Note),
    "summary": (parts.Rule, parts.Note),
}
"""The parts that the fields of a search are shown in."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for: a line by its number or its uuid, a call by its id."""

    line: int | None = None
    uuid: str | None = None
    call: str | None = None
    field: str | None = None
    """The field of a search that was hit: tells apart the parts of one line."""


@dataclass(frozen=True, slots=True)
class Item:
    """A place in the reader."""

    turn: int
    item: int
    """From 1; 0 for the turn itself."""

    agent: str | None = None

    @property
    def key(self) -> str:
        """The address."""
        whose = f"a-{self.agent}." if self.agent else ""
        return f"{whose}t{self.turn}" + (f".{self.item}" if self.item else "")


def find_item(
    timeline: Timeline, turns: Sequence[Turn], sought: Sought, *, agent: str | None = None
) -> Item | None:
    """Return where something is shown; None where no turn has it. `turns` are those of the timeline."""
    session = timeline.session
    row = _row(session, sought)
    place = _place(session, turns, row, sought.call)
    if place is None:
        # What stands before the first turn is shown as its beginning.
        if row is None or not turns or not turns[0].rows or row > turns[0].rows[0]:
            return None
        place = 0
    uuids, calls = _names(session, row, sought.call)
    if row is not None and session.table.flags[row] & COMPACT_SUMMARY:
        # It is shown under the line of its compaction.
        uuids |= _boundary(session, row)
    wanted = _KINDS.get(sought.field or "", ())
    first = 0
    view = next(timeline.turns([place]), None)
    for at, part in enumerate(view.flow() if view is not None else (), 1):
        if not _is_it(part, uuids, calls):
            continue
        if not wanted or isinstance(part, wanted):
            first = at
            break
        first = first or at
    return Item(turns[place].n, first, agent)


def agent_of(timeline: Timeline, sought: Sought) -> str | None:
    """Return the sub-agent whose line it is, of those that stand in the session's own file."""
    row = _row(timeline.session, sought)
    if row is None:
        return None
    agents = timeline.known_agents.by_id
    return next((name for name, agent in agents.items() if row in agent.rows), None)


def _row(session: Session, sought: Sought) -> int | None:
    if sought.line is not None:
        numbers = session.table.number
        row = bisect_left(numbers, sought.line)
        return row if row < len(numbers) and numbers[row] == sought.line else None
    return None if sought.uuid is None else session.row(sought.uuid)


def _place(session: Session, turns: Sequence[Turn], row: int | None, call: str | None) -> int | None:
    if call is not None:
        # A result stands where its call is shown.
        for place, turn in enumerate(turns):
            if any(one.id == call for one in turn.calls):
                return place
    if row is None:
        return None
    calls = _called(session, row)
    for place, turn in enumerate(turns):
        if calls and any(one.id in calls for one in turn.calls):
            return place
    return next((place for place, turn in enumerate(turns) if row in turn.rows), None)


def _called(session: Session, row: int) -> set[str]:
    """Return the calls that a line makes or answers."""
    found: set[str] = set()
    for block in blocks(session.entry(row).content):
        if isinstance(block, ToolResult) and block.tool_use_id:
            found.add(block.tool_use_id)
        elif isinstance(block, ToolUse | ServerToolUse) and block.id:
            found.add(block.id)
    return found


def _boundary(session: Session, row: int) -> set[str]:
    """Return the uuid of the compaction that a summary follows."""
    above = session.table.last_of(session.table.parent[row])
    if above < 0 or session.table.kind_of(above) != BOUNDARY:
        return set()
    uuid = session.entry(above).uuid
    return {uuid} if uuid else set()


def _names(session: Session, row: int | None, call: str | None) -> tuple[set[str], set[str]]:
    """Return the uuids and the calls by which a part is known."""
    calls = {call} if call is not None else set[str]()
    if row is None:
        return set(), calls
    entry = session.entry(row)
    return {entry.uuid} if entry.uuid else set(), calls or _called(session, row)


def _is_it(part: parts.Flow, uuids: AbstractSet[str], calls: AbstractSet[str]) -> bool:
    match part:
        case parts.Call():
            return part.id in calls if part.id else part.uuid in uuids
        case parts.Notice():
            return False
        case _:
            return part.uuid in uuids
