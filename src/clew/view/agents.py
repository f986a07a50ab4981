"""Sub-agents: which there are, by call and by id, and what each did."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from clew.errors import ClewError
from clew.session.rounds import Rounds
from clew.session.turns import turns
from clew.view import parts
from clew.view.work import agent_work

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        """Every sub-agent by its id; a second one with the same id has a number behind it.

        So whoever goes from a sub-agent to those it started comes to an end, whatever a file says.
        """
        found: dict[str, Agent] = {}
        waiting = list(reversed(self.top))
        while waiting:
            one = waiting.pop()
            name, number = one.agent_id, 1
            while name in found:
                number += 1
                name = f"{one.agent_id}~{number}"
            found[name] = one
            waiting += reversed(one.children)
        return found

    @cached_property
    def _names(self) -> Mapping[int, str]:
        return {id(agent): name for name, agent in self.by_id.items()}

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
        name = self._names.get(id(agent), agent.agent_id)
        found = self._parts.get(name)
        if found is None:
            try:
                home, made = self.turns(agent)
                work, count = agent_work(home, made), len(made)
            except ClewError:
                # Its file is gone or was cut meanwhile; the session can be read without it.
                work, count = parts.Work(), 0
            found = self._parts[name] = parts.Agent(name, agent.type, agent.description, work, count)
        return found
