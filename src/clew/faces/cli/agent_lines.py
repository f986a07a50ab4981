"""A sub-agent on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.faces.cli import cells, words
from clew.faces.cli.terminal import Part, Span, one_line

if TYPE_CHECKING:
    from clew.view.parts import Agent

_ID: Final = 8
_LEAST: Final = 24
"""The cells that what it was for gets at least, where there are facts to leave out."""


def agent_line(agent: Agent, *, room: int | None) -> list[Part]:
    """Return a sub-agent on one line: what it was for and what it did."""
    facts: list[str] = []
    done = agent.work
    failed = done.failed
    if done.calls:
        facts.append(words.count(done.calls, "call") + (f", {failed} failed" if failed else ""))
    if done.duration_ms:
        facts.append(words.duration(done.duration_ms))
    if done.total_tokens:
        facts += [f"{words.tokens(done.total_tokens)} tokens", words.money(done.cost_usd)]
    said = one_line(": ".join(part for part in (agent.type, agent.description) if part) or "sub-agent")
    name = one_line(agent.agent_id)[:_ID]
    if room is not None:
        # What it cost goes first where there is little room, what failed last.
        while facts and room - cells.width(" · ".join(facts)) - len(name) - 8 < _LEAST:
            facts.pop()
        after = cells.width(" · ".join(facts)) + 3 if facts else 0
        said = cells.cut_end(said, max(8, room - 5 - len(name) - after))
    row: list[Part] = [Span("  └ ", ("dim",)), said, " ", Span(name, ("cyan",))]
    if facts:
        row += [Span(" · ", ("dim",)), Span(" · ".join(facts), ("red",) if failed else ("dim",))]
    return row
