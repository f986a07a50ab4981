"""Sub-agents: which there are, by call and by id, and what each did and all together."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from clew.errors import ClewError
from clew.session.rounds import Rounds
from clew.session.turns import turns
from clew.view import parts
from clew.view.work import Tally, agent_tally, agent_work, keys, work_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.session.session import Session
    from clew.session.subagents import Agent
    from clew.session.turns import Turn

_MOST_LINES: Final = 20_000
"""Lines of sub-agents whose turns are kept."""


@dataclass(slots=True)
class Together:
    """What all sub-agents did."""

    tally: Tally = field(default_factory=Tally)
    inside: Tally = field(default_factory=Tally)
    """Of it what stands in the session's own file."""

    @property
    def work(self) -> parts.Work:
        """What they did in a few facts; the cost is that of the answers whose price is known."""
        return replace(work_of(self.tally), cost_usd=self.tally.known_cost_usd, context_tokens=None)


@dataclass(frozen=True, slots=True)
class _Done:
    """What one did, and what it is known by elsewhere."""

    tally: Tally
    keys: frozenset[int]


class Agents:
    """The sub-agents of a session to any depth."""

    def __init__(self, session: Session, agents: Sequence[Agent]) -> None:
        self.session = session
        self.top = tuple(agents)
        self._parts: dict[str, parts.Agent] = {}
        self._done: dict[str, _Done] = {}
        self._turns: dict[int, tuple[Turn, ...]] = {}
        """Of the first ones, by what they are in memory: `top` keeps them there."""
        self._lines = 0

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
        home = self.session if agent.source is None else agent.source.session
        found = self._turns.get(id(agent))
        if found is None:
            is_inside = agent.source is None
            found = turns(home, agent.rows, rounds=self._rounds) if is_inside else turns(home)
            # They are asked for twice: for what they came to, and when they are drawn.
            self._lines += len(agent.rows) if is_inside else len(home)
            if self._lines <= _MOST_LINES:
                self._turns[id(agent)] = found
        return home, found

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
                tally = agent_tally(home, made)
                work, count = agent_work(tally, made), len(made)
                self._done[name] = _Done(tally, frozenset(keys(made)))
            except ClewError:
                # Its file is gone or was cut meanwhile; the session can be read without it.
                work, count = parts.Work(), 0
            found = self._parts[name] = parts.Agent(name, agent.type, agent.description, work, count)
        return found

    def together(self, own: Sequence[Turn], agents: Sequence[Agent]) -> Together:
        """Add up what some sub-agents did, and those they started, each answer and each call once.

        Those that stand in the session's `own` turns are the session's: a sub-agent may begin with a copy of
        what was said.
        """
        found = Together()
        waiting = list(reversed(agents))
        seen = set(keys(own)) if waiting else set[int]()
        while waiting:
            agent = waiting.pop()
            waiting += reversed(agent.children)
            done = self._done.get(self.part(agent).agent_id)
            if done is None:
                continue
            tally = done.tally
            if not seen.isdisjoint(done.keys):
                tally = agent_tally(*self.turns(agent), seen=seen)
            seen |= done.keys
            found.tally.join(tally)
            if agent.source is None:
                found.inside.join(tally)
        return found
