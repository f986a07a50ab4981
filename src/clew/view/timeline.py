"""A session in time: its turns with what was said and done in each, read when they are looked at."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from clew.session.calls import pairs
from clew.session.messages import messages
from clew.session.turns import Turn, main_rows
from clew.view import parts, words
from clew.view.agents import Agents
from clew.view.calls import Lines, call_part, earlier_calls
from clew.view.flow import Flows, Passing
from clew.view.heads import Names, count_agents, session_head, turn_head
from clew.view.parts import Head, TurnHead, Work
from clew.view.placing import damage_by_turn, rows_before
from clew.view.work import Tally, session_work, turn_work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from clew.format.records import Fragment
    from clew.session.calls import Call
    from clew.session.session import Session
    from clew.session.subagents import Agent
    from clew.view.parts import Flow


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn to be drawn."""

    head: TurnHead
    flow: Callable[[], Iterator[Flow]]
    """What was said and done in it, read anew each time it is called."""

    passing: Callable[[Passing], Iterator[Flow]] | None = None
    """The same, the first parts of it without what nobody looks at."""

    def behind(self, first: int) -> Iterator[Flow]:
        """Give what is left without so many parts; to pass them over is quicker than to read them."""
        passing = Passing(first)
        return passing.over(self.flow() if self.passing is None else self.passing(passing))


@dataclass(frozen=True, slots=True)
class Ways:
    """How the turns of a session hang together, told by whoever knows its tree."""

    goes_back_to: Callable[[int], int | None] = lambda _place: None
    """The number of the turn that the one in a place goes on from, where it is not the one before; 0 for the
    very beginning."""

    is_off: Callable[[int], bool] = lambda _place: False
    """Whether the turn in a place is not on the way to where the client would go on."""

    branches: Callable[[], int] = lambda: 1
    """How many ways the conversation has."""


_ONE_WAY = Ways()


@dataclass(slots=True)
class Memory:
    """What was worked out of a session's turns, for a timeline that has more of them."""

    tallies: dict[int, Tally] = field(default_factory=dict[int, Tally])
    """What was done in a turn, by its place."""

    names: Names = field(default_factory=Names)

    def until(self, place: int) -> Memory:
        """Return what holds of a session whose turns before a place are the same."""
        return Memory({at: one for at, one in self.tallies.items() if at < place}, self.names.copy())


class Timeline:
    """The turns of a session, or of one way through it, to be drawn."""

    def __init__(
        self,
        session: Session,
        turns: Sequence[Turn],
        *,
        agents: Sequence[Agent] = (),
        before: Sequence[int] | None = None,
        damage: Mapping[int, Sequence[Fragment]] | None = None,
        ways: Ways = _ONE_WAY,
        is_live: bool = False,
        known_agents: Agents | None = None,
        counted: Agents | None = None,
        is_counted: Callable[[Agent], bool] = lambda _agent: True,
        memory: Memory | None = None,
    ) -> None:
        """`before` are the rows before the first turn, `damage` the fragments by the place of their turn.

        Without them both are worked out from the whole session. In a live session a call of the last turn
        that has no result is still running. `counted` are the sub-agents that the head tells of, where those
        are not shown; `is_counted` says of each that the session started whether it is among them. `memory`
        is what is known of the turns already, and takes up what is worked out here.
        """
        self.session = session
        self._turns = turns
        self._agents = known_agents or Agents(session, agents)
        self._own_agents = tuple(agents)
        self._before = rows_before(main_rows(session), turns) if before is None else before
        self._damage = damage_by_turn(session, turns, session.fragments) if damage is None else damage
        self._ways = ways
        self._is_live = is_live
        # Not by its own name, as each would hold the other: many are made of a session that grows.
        me = weakref.ref(self)

        def called(place: int, call: Call) -> parts.Call:
            timeline = me()
            assert timeline is not None  # whoever reads its parts holds it
            return timeline.call(place, call)

        self._flows = Flows(session, turns, call_part=called)
        self._lines = Lines(session)
        self._memory = memory or Memory()
        self._counted = counted or self._agents
        self._is_counted = is_counted

    @property
    def known_agents(self) -> Agents:
        """The sub-agents, with what was worked out of them."""
        return self._agents

    @property
    def own_turns(self) -> Sequence[Turn]:
        """The turns themselves, in their places."""
        return self._turns

    # In a few facts ---------------------------------------------------------------------------------

    def head(self) -> Head:
        """Return the session in a few facts."""
        return session_head(
            self.session,
            self._turns,
            self.sums(),
            damaged=sum(map(len, self._damage.values())),
            branches=self._ways.branches(),
            names=self._memory.names,
        )

    def sums(self) -> Head:
        """Return of the facts those that are added up: what was done here, and what by sub-agents."""
        front = Tally()
        front.add(self.session, self._front)
        tallies = (front, *map(self._tally, range(len(self._turns))))
        work, tally = session_work(tallies, self._turns)
        agents = [agent for agent in self._counted.top if self._is_counted(agent)]
        together = self._counted.together((self._front, *self._turns), agents)
        return Head(
            self.session.name or "",
            "",
            len(self._turns),
            work,
            agents=count_agents(agents),
            agents_work=together.work,
            inside_calls=together.inside.calls,
            inside_failed=together.inside.failed,
            unpriced=tuple(sorted(tally.unpriced | together.tally.unpriced)),
        )

    def heads(self) -> Sequence[TurnHead]:
        """Return all turns in a few facts each."""
        return tuple(map(self.turn_head, range(len(self._turns))))

    def turn_head(self, place: int) -> TurnHead:
        """Return the turn in a place in a few facts."""
        before = self._turns[place - 1] if place else None
        return self._head(place, turn_work(self._tally(place), self._turns[place], before=before))

    def _tally(self, place: int) -> Tally:
        """What was done in the turn in a place; it is read once for that."""
        tallies = self._memory.tallies
        found = tallies.get(place)
        if found is None:
            found = Tally()
            found.add(self.session, self._turns[place])
            tallies[place] = found  # only now: what could not be read whole is no sum
        return found

    def _head(self, place: int, work: Work) -> TurnHead:
        turn = self._turns[place]
        is_off = self._ways.is_off(place)
        return turn_head(
            self.session, turn, work, marks=tuple(self._marks(place, is_off=is_off)), is_off=is_off
        )

    def _marks(self, place: int, *, is_off: bool) -> Iterator[str]:
        back = self._ways.goes_back_to(place)
        if back is not None:
            yield _goes_back(back)
        if is_off:
            yield "off the active path"

    # Turn by turn -----------------------------------------------------------------------------------

    def turns(self, places: Iterable[int] | None = None) -> Iterator[TurnView]:
        """Give the turns, all of them or those in some places; what a turn holds is read when it is drawn.

        What stands before the first prompt is part of the first turn, what belongs to no turn of the last.
        Where there is no turn at all but something stands in the file, that is a turn with the number 0.
        """
        if not self._turns:
            if next(self.front(), None) is not None or next(self.rest(), None) is not None:
                yield TurnView(TurnHead(0, "", "incomplete", Work()), self._all, self._all)
            return
        for place in range(len(self._turns)) if places is None else places:
            yield self._view(place)

    def _view(self, place: int) -> TurnView:
        flow = partial(self._with_ends, place)
        return TurnView(self.turn_head(place), flow, flow)

    def _with_ends(self, place: int, passing: Passing | None = None) -> Iterator[Flow]:
        if not place:
            yield from self.front(passing)
        yield from self.flow(place, passing)
        if place == len(self._turns) - 1:
            yield from self.rest()

    def _all(self, passing: Passing | None = None) -> Iterator[Flow]:
        yield from self.front(passing)
        yield from self.rest()

    def flow(self, place: int, passing: Passing | None = None) -> Iterator[Flow]:
        """Give what was said and done in the turn in a place, and where it came from and others left it."""
        turn = self._turns[place]
        back = self._ways.goes_back_to(place)
        if back is not None:
            uuid = None if turn.prompt_row is None else self.session.entry(turn.prompt_row).uuid
            yield parts.Rule(_goes_back(back), "rewind", uuid=uuid)
        yield from self._flows.of(place, self._damage.get(place, ()), passing)
        others = self._forks.get(turn.n, ())
        if others:
            yield parts.Rule(_others(others), "fork")

    def front(self, passing: Passing | None = None) -> Iterator[Flow]:
        """Give what stands before the first turn."""
        damage = self._damage.get(-1, ())
        if self._before or damage:
            yield from self._flows.of_front(self._front, damage, passing)

    @cached_property
    def _front(self) -> Turn:
        rows = self._before
        found, called = messages(self.session, rows), pairs(self.session, rows).calls
        return Turn(0, None, None, None, rows, found, called, None, None, None, True, "incomplete")

    def rest(self) -> Iterator[Flow]:
        """Give what belongs to no turn: the sub-agents that no call is known to have started."""
        loose = [self._agents.part(one) for one in self._own_agents if one.started_by is None]
        if loose:
            text = f"{words.count(len(loose), 'sub-agent')} that no call here started"
            yield parts.Note(text, agents=tuple(loose))

    @cached_property
    def _forks(self) -> Mapping[int, Sequence[int]]:
        """The turns that go on from an earlier one, by the number of that."""
        found: dict[int, list[int]] = {}
        for place, turn in enumerate(self._turns):
            back = self._ways.goes_back_to(place)
            if back:
                found.setdefault(back, []).append(turn.n)
        return found

    # Calls and sub-agents ---------------------------------------------------------------------------

    def call(self, place: int, call: Call) -> parts.Call:
        """Return the part for a call of the turn in a place."""
        started = () if call.id is None else self._by_call.get(call.id, ())
        return call_part(
            self._lines,
            call,
            agents=[self._agents.part(one) for one in started],
            is_live=self._is_live and place == len(self._turns) - 1,
            earlier=lambda names: earlier_calls(Lines(self.session), self._turns, place, call, names),
        )

    @cached_property
    def _by_call(self) -> Mapping[str, Sequence[Agent]]:
        found: dict[str, list[Agent]] = {}
        for agent in self._own_agents:
            if agent.started_by is not None:
                found.setdefault(agent.started_by, []).append(agent)
        return found

    def agent(self, agent_id: str) -> Timeline | None:
        """Return the timeline of a sub-agent, of whatever depth; None when there is none with that id."""
        agent = self._agents.by_id.get(agent_id)
        if agent is None:
            return None
        home, turns = self._agents.turns(agent)
        if agent.source is not None:
            return Timeline(home, turns, agents=agent.children, known_agents=self._agents)
        before = rows_before(agent.rows, turns)
        return Timeline(
            home, turns, agents=agent.children, before=before, damage={}, known_agents=self._agents
        )

    def agent_turns(self, agent_id: str) -> Iterator[TurnView]:
        """Give the turns of a sub-agent; none for an id that is not there."""
        found = self.agent(agent_id)
        if found is not None:
            yield from found.turns()


def _goes_back(number: int) -> str:
    return f"goes back to turn {number}" if number else "begins anew"


def _others(numbers: Sequence[int]) -> str:
    listed = ", ".join(map(str, numbers[:20])) + (" and more" if len(numbers) > 20 else "")
    if len(numbers) == 1:
        return f"turn {listed} goes on from here too"
    return f"turns {listed} go on from here too"
