"""What was read of a session as a timeline, for a screen to draw. To export it: `export_stories`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.session.branches import count_branches
from clew.view.agents import Agents
from clew.view.timeline import Timeline, Ways

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.reading import Reading
    from clew.session.subagents import Agent


def timeline_of(
    reading: Reading, agents: Sequence[Agent] = (), *, counted: Sequence[Agent] | None = None
) -> Timeline:
    """Return what was read as a timeline; `counted` are the sub-agents, where those are not to be shown.

    The head of the whole history tells what all of them did, that of one way only what its calls started.
    """
    session = reading.session
    turns = () if reading.is_whole else reading.turns
    calls = {call.id for turn in turns for call in turn.calls}

    def branches() -> int:
        return 1 + count_branches(session, reading.graph, active=reading.active)

    return Timeline(
        session,
        reading.turns,
        agents=agents,
        before=reading.before,
        damage=reading.damage,
        ways=Ways(reading.goes_back_to, lambda place: reading.is_off(reading.turns[place]), branches),
        is_live=reading.opened.is_being_written,
        counted=None if counted is None else Agents(session, counted),
        is_counted=lambda agent: reading.is_whole or agent.started_by in calls,
    )
