"""Small sessions that several tests tell, and their traces in few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew.session import subagents
from clew.trace.spans import turn_spans
from tests.builder import Builder, call, text

if TYPE_CHECKING:
    from clew.session.session import Session
    from clew.trace.span import Span
    from clew.trace.spans import TurnTrace

NS = 1_000_000


def only(builder: Builder, **options: Any) -> TurnTrace:
    (turn,) = turn_spans(builder.session("s1"), **options)
    return turn


def tree(spans: list[Span]) -> list[str]:
    """Each span by its depth and label."""
    depth: dict[str | None, int] = {None: -1}
    told: list[str] = []
    for span in spans:
        depth[span.span_id] = depth[span.parent_id] + 1
        told.append(f"{'  ' * depth[span.span_id]}{span.type} {span.label}")
    return told


def agent_file(agent_id: str, *, ends: bool = True, calls: str | None = None) -> Session:
    side: dict[str, Any] = {"isSidechain": True, "agentId": agent_id}
    builder = Builder().prompt(f"Work, {agent_id}.", **side)
    builder.answer(
        call(calls or f"{agent_id}-1", "Task" if calls else "Read"),
        stop="tool_use",
        message_id=f"{agent_id}-m1",
        **side,
    )
    builder.result(calls or f"{agent_id}-1", **side)
    if ends:
        builder.answer("Counted.", message_id=f"{agent_id}-m2", **side)
    return builder.session()


def with_agents(builder: Builder, **files: Session) -> TurnTrace:
    session = builder.session("s1")
    sources = [subagents.Source(name, file) for name, file in files.items()]
    return next(turn_spans(session, subagents.agents(session, sources)))


def started() -> Builder:
    return Builder().prompt("Go.").answer(text("I look."), call("t1"), stop="tool_use")
