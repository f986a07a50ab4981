"""Who did what in a session: the conversations of it and of its sub-agents, and what hangs under which call.

Only rows and times, no content: this much is held of a whole session while its spans are made one by one.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from clew.format.entry import as_mapping
from clew.session.calls import structured
from clew.session.messages import messages
from clew.session.session import NO_TIME, TOOL_USE
from clew.session.turns import main_rows, turns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clew.session.calls import Call
    from clew.session.messages import Message
    from clew.session.session import Session
    from clew.session.subagents import Agent
    from clew.session.turns import Turn

_LATEST: Final = (1 << 63) // 1_000_000
"""Milliseconds that no longer fit a 64-bit number of nanoseconds: the year 2262."""


def is_counted(message: Message) -> bool:
    """Say whether the model itself answered: what the client wrote in its place is no generation."""
    return not message.is_synthetic and not message.is_api_error


def key_of(message: Message) -> str | None:
    """Return what a message is called by in every file that has it; None for one without any id."""
    return message.id or (f"request {message.request_id}" if message.request_id else None)


class Conversation:
    """The turns of a session, or of one of its sub-agents."""

    def __init__(self, session: Session, agent: Agent | None = None) -> None:
        source = None if agent is None else agent.source
        self.session = session if source is None else source.session
        self.agent = agent
        rows = None if agent is None or source is not None else agent.rows
        self.turns: tuple[Turn, ...] = turns(self.session, rows)
        self.before = self._before(rows)
        """The messages before any prompt, where they make up no turn."""
        self._calls: dict[int, list[Call]] = {}
        self._earlier: array[int] | None = None
        self._hang()

    def calls_of(self, message: Message) -> Sequence[Call]:
        """Return the calls that a message makes, wherever their lines stand."""
        return self._calls.get(message.row, ())

    def calls(self) -> Iterator[Call]:
        """Give all calls."""
        for turn in self.turns:
            yield from turn.calls

    def is_copy(self, row: int) -> bool:
        """Say whether a line was there before, as after a second compaction."""
        return self.session.table.ids().earlier[row] >= 0

    def time(self, row: int) -> tuple[int | None, bool]:
        """Return when a line was written, and whether that is known.

        Of a line without a time, or with one that no clock shows, it is the time of the nearest before it.
        """
        own = self.session.table.time[row]
        if 0 <= own < _LATEST:
            return own, True
        if self._earlier is None:
            self._earlier = _nearest(self.session.table.time)
        found = self._earlier[row]
        return (None if found == NO_TIME else found), False

    def _before(self, rows: Sequence[int] | None) -> tuple[Message, ...]:
        listed = main_rows(self.session) if rows is None else rows
        if self.turns and (self.turns[0].n == 0 or not self.turns[0].rows):
            return ()
        first = self.turns[0].rows[0] if self.turns else None
        return messages(self.session, takewhile(lambda row: row != first, listed))

    def _hang(self) -> None:
        """Hang each call under the message that makes it; its line may stand in a later turn."""
        table = self.session.table
        message_of: dict[int, int] = {}
        for turn in self.turns:
            for message in turn.messages:
                for row in (message.row, *message.rows):
                    if table.flags[row] & TOOL_USE:
                        # Of several copies of a line the calls name the first, the message has the last.
                        message_of.setdefault(table.uuid[row] or -1 - row, message.row)
        for call in self.calls():
            owner = message_of.get(table.uuid[call.row] or -1 - call.row)
            if owner is not None:
                self._calls.setdefault(owner, []).append(call)


def _nearest(times: Sequence[int]) -> array[int]:
    found = array("q")
    last = NO_TIME
    for time in times:
        if 0 <= time < _LATEST:
            last = time
        found.append(last)
    return found


@dataclass(slots=True)
class Segment:
    """What one call had a sub-agent do; or, without a call, a turn of the session itself."""

    conversation: Conversation
    turns: list[Turn]
    call: Call | None = None
    is_launched: bool = False
    """Whether the call came back at once and the sub-agent went on by itself."""

    @property
    def is_unfinished(self) -> bool:
        """Whether the sub-agent may still be at work."""
        call = self.call
        is_open = call is not None and (call.result_row is None or self.is_launched)
        return is_open and (not self.turns or self.turns[-1].status == "incomplete")

    def messages(self) -> Iterator[Message]:
        """Give the messages."""
        for turn in self.turns:
            yield from turn.messages


class Walk:
    """All conversations of a session, and the way from a turn down to the last sub-agent's sub-agent."""

    def __init__(self, session: Session, agents: Iterable[Agent] = ()) -> None:
        self.main = Conversation(session)
        # In an order that does not depend on how the files were found.
        listed = sorted(_all(agents), key=lambda agent: agent.agent_id)
        self._others = [Conversation(session, agent) for agent in listed]
        self._segments: dict[str, list[Segment]] = {}
        starters = _Starters((self.main, *self._others))
        for conversation in self._others:
            for segment in _cut(conversation, starters.of(conversation)):
                if segment.call is not None and segment.call.id:
                    self._segments.setdefault(segment.call.id, []).append(segment)
        self._done: set[int] = set()
        self._below: dict[int, list[Segment]] = {}
        for turn in self.main.turns:
            self._below[turn.n] = self._reach(turn)

    def conversations(self) -> Iterator[Conversation]:
        """Give all conversations, the session's own first."""
        yield self.main
        yield from self._others

    def below(self, turn: Turn) -> Sequence[Segment]:
        """Return what the sub-agents did for a turn, those nearest to it first."""
        return self._below[turn.n]

    def started_by(self, call: Call) -> Sequence[Segment]:
        """Return what a call had sub-agents do."""
        return self._segments.get(call.id, ()) if call.id else ()

    def unattached(self) -> Iterator[Segment]:
        """Give what sub-agents did for no call of the session, such as warm-ups."""
        for conversation in self._others:
            rest = [turn for turn in conversation.turns if id(turn) not in self._done]
            if rest:
                yield Segment(conversation, rest)

    def _reach(self, turn: Turn) -> list[Segment]:
        """Find all segments below a turn. Each is found once, however strangely they call each other."""
        found: list[Segment] = []
        ways: list[tuple[Conversation, Message]] = [(self.main, message) for message in turn.messages]
        while ways:
            nearer: list[tuple[Conversation, Message]] = []
            for conversation, message in ways:
                for call in conversation.calls_of(message):
                    for segment in self.started_by(call):
                        if not segment.turns or id(segment.turns[0]) in self._done:
                            continue
                        self._done.update(map(id, segment.turns))
                        found.append(segment)
                        nearer += [(segment.conversation, one) for one in segment.messages()]
            ways = nearer
        return found


class _Starters:
    """Finds the calls that set a sub-agent to work; it may be woken several times."""

    def __init__(self, conversations: Iterable[Conversation]) -> None:
        self._by_id: dict[str, tuple[Conversation, Call]] = {}
        self._by_agent: dict[str, list[tuple[Conversation, Call]]] = {}
        for conversation in conversations:
            for call in conversation.calls():
                if call.id:
                    self._by_id.setdefault(call.id, (conversation, call))
                    if call.agent_id:
                        self._by_agent.setdefault(call.agent_id, []).append((conversation, call))

    def of(self, conversation: Conversation) -> list[tuple[Conversation, Call]]:
        """Return the calls in order of time."""
        agent = conversation.agent
        if agent is None:
            return []
        named = self._by_id.get(agent.started_by or "")
        found = {call.id: (of, call) for of, call in self._by_agent.get(agent.agent_id, ())}
        if named is not None:
            found.setdefault(named[1].id, named)
        others = [one for one in found.values() if one[0] is not conversation]
        return sorted(others, key=lambda one: (one[0].time(one[1].row)[0] or 0, one[1].row))


def _all(agents: Iterable[Agent]) -> Iterator[Agent]:
    waiting = list(agents)
    while waiting:
        agent = waiting.pop()
        yield agent
        waiting += agent.children


def _cut(conversation: Conversation, starters: Sequence[tuple[Conversation, Call]]) -> list[Segment]:
    """Share the turns of a sub-agent out among the calls that set it to work."""
    found = [Segment(conversation, [], call, _is_launched(of, call)) for of, call in starters]
    if not found:
        return []
    times = [of.time(call.row)[0] for of, call in starters]
    for n, turn in enumerate(conversation.turns):
        at = min(n, len(found) - 1)
        if turn.started is not None and None not in times:
            # The last call before it; clocks of two files may differ by the moment of writing.
            at = max(
                (i for i, time in enumerate(times) if time is not None and time <= turn.started), default=0
            )
        found[at].turns.append(turn)
    return found


def _is_launched(conversation: Conversation, call: Call) -> bool:
    result = as_mapping(structured(conversation.session, call))
    return result.get("isAsync") is True or result.get("status") == "async_launched"
