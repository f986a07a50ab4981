"""A sub-agent on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.faces.cli import cells, words
from clew.faces.cli.terminal import Part, Span, one_line

if TYPE_CHECKING:
    from clew.actions.trees import Work
    from clew.session.subagents import Agent

_ID: Final = 8
_LEAST: Final = 24
"""The cells that what it was for gets at least, where there are facts to leave out."""


def agent_line(agent: Agent, done: Work | None, *, room: int | None) -> list[Part]:
    """Return a sub-agent on one line: what it was for and what it did."""
    facts: list[str] = []
    failed = 0
    if done is not None:
        failed = done.failed
        if done.calls:
            facts.append(words.count(done.calls, "call") + (f", {failed} failed" if failed else ""))
        if done.duration_ms:
            facts.append(words.duration(done.duration_ms))
        if done.spent.tokens.total:
            facts += [f"{words.tokens(done.spent.tokens.total)} tokens", words.money(done.spent.cost_usd)]
    said = one_line(": ".join(part for part in (agent.type, agent.description) if part) or "sub-agent")
    name = one_line(agent.agent_id)[:_ID]
    if room is not None:
        # What it cost goes first where there is little room, what failed last.
        while facts and room - cells.width(" · ".join(facts)) - len(name) - 8 < _LEAST:
            facts.pop()
        after = cells.width(" · ".join(facts)) + 3 if facts else 0
        said = cells.cut_end(said, max(8, room - 5 - len(name) - after))
    parts: list[Part] = [Span("  └ ", ("dim",)), said, " ", Span(name, ("cyan",))]
    if facts:
        parts += [Span(" · ", ("dim",)), Span(" · ".join(facts), ("red",) if failed else ("dim",))]
    return parts
