"""Sub-agents: which there are, by call and by id, and what each did."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from clew.session.rounds import Rounds
from clew.session.turns import turns
from clew.view import parts
from clew.view.work import agent_work

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew.session.session import Session
    from clew.session.subagents import Agent
    from clew.session.turns import Turn


class Agents:
    """The sub-agents of a session to any depth."""

    def __init__(self, session: Session, agents: Sequence[Agent]) -> None:
        self.session = session
        self.top = tuple(agents)
        self._parts: dict[str, parts.Agent] = {}

    @cached_property
    def by_id(self) -> Mapping[str, Agent]:
        """Every sub-agent by its id; of two with the same id the first."""
        found: dict[str, Agent] = {}
        waiting = list(reversed(self.top))
        while waiting:
            one = waiting.pop()
            found.setdefault(one.agent_id, one)
            waiting += reversed(one.children)
        return found

    @property
    def loose(self) -> Iterator[Agent]:
        """Those of the session itself that no call is known to have started."""
        return (one for one in self.top if one.started_by is None)

    def turns(self, agent: Agent) -> tuple[Session, tuple[Turn, ...]]:
        """Return where a sub-agent's lines are, and its turns."""
        if agent.source is not None:
            return agent.source.session, turns(agent.source.session)
        return self.session, turns(self.session, agent.rows, rounds=self._rounds)

    @cached_property
    def _rounds(self) -> Rounds:
        """The rounds of the session; made once for all the sub-agents that stand in it."""
        return Rounds(self.session)

    def part(self, agent: Agent) -> parts.Agent:
        """Return a sub-agent with what it did; it is read once for that."""
        found = self._parts.get(agent.agent_id)
        if found is None:
            home, made = self.turns(agent)
            found = self._parts[agent.agent_id] = parts.Agent(
                agent.agent_id, agent.type, agent.description, agent_work(home, made), len(made)
            )
        return found
