"""A call of a tool as a part: its one line, what it was given, what came back, the sub-agents it started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format.blocks import ServerToolResult, ToolResult, ToolUse, blocks
from clew.session.calls import structured
from clew.view import parts
from clew.view.tools.display import Asked, nothing_earlier
from clew.view.tools.plainly import is_refusal
from clew.view.tools.registry import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from clew.format.blocks import Block, ServerToolUse
    from clew.session.calls import Call
    from clew.session.session import Session
    from clew.session.turns import Turn

_MOST_EARLIER: Final = 200
"""Calls that are read for what one refers to."""

_MOST_LOOKED_AT: Final = 20_000
"""Calls that are passed on the way to those."""


class Lines:
    """The lines that calls and their results stand in, the last of each kept.

    A line may hold thousands of calls; it is taken apart once for all that are asked for in order.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._row = self._result_row = -1
        self._blocks: tuple[Block, ...] = ()
        self._results: dict[str | None, ToolResult] = {}

    def call(self, call: Call) -> ToolUse:
        """Return the block of a call."""
        if call.row != self._row:
            self._blocks, self._row = blocks(self.session.entry(call.row).content), call.row
        found = self._blocks[call.index]
        return found if isinstance(found, ToolUse) else ToolUse(found.raw)

    def result(self, call: Call) -> ToolResult | None:
        """Return the block of a call's result: what the model was told."""
        if call.result_row is None:
            return None
        if call.result_row != self._result_row:
            self._results, self._result_row = {}, call.result_row
            for block in blocks(self.session.entry(call.result_row).content):
                if isinstance(block, ToolResult) and not isinstance(block, ServerToolResult):
                    self._results.setdefault(block.tool_use_id, block)
        return self._results.get(call.id)


def asked_of(
    lines: Lines,
    call: Call,
    *,
    is_live: bool = False,
    earlier: Callable[[Collection[str]], Iterator[Asked]] | None = None,
) -> Asked:
    """Read a call and its result."""
    session = lines.session
    block, result = lines.call(call), lines.result(call)
    return Asked(
        call.name or "?",
        block.input,
        state_of(result, is_live=is_live),
        result,
        structured(session, call),
        session.entry(call.row).cwd,
        block.data.get("input"),
        earlier or nothing_earlier,
    )


def state_of(result: ToolResult | None, *, is_live: bool = False) -> parts.State:
    """Return how a call ended."""
    if result is None:
        return "running" if is_live else "missing"
    if not result.is_error:
        return "done"
    return "refused" if is_refusal(result.text()) else "failed"


def call_part(
    lines: Lines,
    call: Call,
    *,
    agents: Sequence[parts.Agent] = (),
    is_live: bool = False,
    earlier: Callable[[Collection[str]], Iterator[Asked]] | None = None,
) -> parts.Call:
    """Return the part for a call."""
    session = lines.session
    asked = asked_of(lines, call, is_live=is_live, earlier=earlier)
    made = shown(asked)
    return parts.Call(
        asked.name,
        made.argument,
        made.outcome,
        asked.state,
        id=call.id,
        uuid=session.entry(call.row).uuid,
        result_uuid=None if call.result_row is None else session.entry(call.result_row).uuid,
        time=session.table.time_of(call.row),
        duration_ms=call.duration_ms,
        given=made.given,
        result=made.result,
        agents=tuple(agents),
    )


def server_call(
    session: Session, row: int, block: ServerToolUse, result: ServerToolResult | None
) -> parts.Call:
    """Return the part for a call that the API's own servers carried out."""
    entry = session.entry(row)
    asked = Asked(
        block.name or "?",
        block.input,
        state_of(result),
        result,
        None,
        entry.cwd,
        block.data.get("input"),
    )
    made = shown(asked)
    return parts.Call(
        asked.name,
        made.argument,
        made.outcome,
        asked.state,
        id=block.id,
        uuid=entry.uuid,
        time=session.table.time_of(row),
        given=made.given,
        result=made.result,
    )


def stray_call(session: Session, row: int, block: ToolUse) -> parts.Call:
    """Return the part for a call that is a second one with the id of another; its result is the other's."""
    entry = session.entry(row)
    asked = Asked(block.name or "?", block.input, "missing", folder=entry.cwd, raw=block.data.get("input"))
    made = shown(asked)
    return parts.Call(
        asked.name,
        made.argument,
        "the same call again",
        asked.state,
        id=block.id,
        uuid=entry.uuid,
        time=session.table.time_of(row),
        given=made.given,
    )


def earlier_calls(
    lines: Lines, turns: Sequence[Turn], place: int, call: Call, names: Collection[str]
) -> Iterator[Asked]:
    """Give the calls of some tools before one call, the latest first, as far back as is worth looking."""
    left, looked = _MOST_EARLIER, 0
    is_before = False
    for at in range(place, -1, -1):
        for one in reversed(turns[at].calls):
            looked += 1
            if looked > _MOST_LOOKED_AT:
                return
            if not is_before:
                is_before = one is call
            elif one.name in names:
                yield asked_of(lines, one)
                left -= 1
                if not left:
                    return
