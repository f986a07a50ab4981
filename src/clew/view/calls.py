"""A call of a tool as a part: its one line, what it was given, what came back, the sub-agents it started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.session.calls import call_block, result_block, structured
from clew.view import parts
from clew.view.tools.display import Asked, nothing_earlier
from clew.view.tools.plainly import is_refusal
from clew.view.tools.registry import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from clew.format.blocks import ServerToolResult, ServerToolUse, ToolResult, ToolUse
    from clew.session.calls import Call
    from clew.session.session import Session
    from clew.session.turns import Turn

_MOST_EARLIER: Final = 200
"""Calls that are looked back through for what one refers to."""


def asked_of(
    session: Session,
    call: Call,
    *,
    is_live: bool = False,
    earlier: Callable[[Collection[str]], Iterator[Asked]] | None = None,
) -> Asked:
    """Read a call and its result."""
    block = call_block(session, call)
    result = result_block(session, call)
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
    session: Session,
    call: Call,
    *,
    agents: Sequence[parts.Agent] = (),
    is_live: bool = False,
    earlier: Callable[[Collection[str]], Iterator[Asked]] | None = None,
) -> parts.Call:
    """Return the part for a call."""
    asked = asked_of(session, call, is_live=is_live, earlier=earlier)
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
    session: Session, turns: Sequence[Turn], place: int, call: Call, names: Collection[str]
) -> Iterator[Asked]:
    """Give the calls of some tools before one call, the latest first, as far back as is worth looking."""
    left = _MOST_EARLIER
    is_before = False
    for at in range(place, -1, -1):
        for one in reversed(turns[at].calls):
            if not is_before:
                is_before = one is call
            elif one.name in names:
                yield asked_of(session, one)
                left -= 1
                if not left:
                    return
