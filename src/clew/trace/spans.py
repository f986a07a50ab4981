"""A session as traces, one for each turn, made one span at a time.

A turn is a trace: its root is the agent, under it an answer of the model each time the model was asked, under
that the tools it called, and under a call the sub-agent it started, with answers and tools of its own. What
is known before any content is read (ids, whether the turn is complete, whose it is) is told by `TurnTrace`;
its spans are made when asked for, so that a long session takes no more memory than its lines' table.

Nothing here knows the time: a trace read today and one read next year are the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from clew.session import pricing
from clew.session.prompts import read
from clew.session.session import TOOL_RESULT
from clew.session.spending import Spent
from clew.trace import ids
from clew.trace.content import LIMIT, Scribe
from clew.trace.making import Making
from clew.trace.walk import Segment, Walk, is_counted, key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from clew.session.messages import Message
    from clew.session.session import Session
    from clew.session.subagents import Agent
    from clew.session.turns import Turn
    from clew.trace.span import Span
    from clew.trace.walk import Conversation

Unfinished = Literal[
    "running", "no_answer", "interrupted", "unanswered_call", "agent_unfinished", "news_awaited"
]
"""Why a turn is not complete. News are awaited of a sub-agent that is done in the background: they will wake
the model in the same turn, unless a prompt comes before them."""

LeftOut = Literal["agent_without_call", "copy", "no_turn"]
"""Why a message is in no turn: a sub-agent that no call started, the session has it a second time, or it is
before any prompt and none of the model's own."""

TAG: Final = "claude-code"
_NEWS: Final = frozenset({"user", "queue-operation/enqueue", "attachment/queued_command"})


@dataclass(frozen=True, slots=True)
class Options:
    """How spans are to be made."""

    content: bool = True
    """Whether what was said and done is sent, or only that and when."""

    redact: Callable[[str], str] | None = None
    """Takes the secrets out of a text."""

    redact_named: Callable[[str, str], str] | None = None
    """Takes them out of a text that stands under a name, given first, which may tell that it is one."""

    limit: int = LIMIT
    """How many bytes one attribute may have."""

    tags: tuple[str, ...] = (TAG,)


@dataclass(frozen=True, slots=True)
class Generation:
    """What one answer of the model used, without what it said."""

    message_id: str | None
    agent_id: str | None
    span_id: str
    spent: Spent
    owner: str | None
    """The session it belongs to, when it is another's."""


@dataclass(frozen=True, slots=True)
class Left:
    """A message that is in no turn."""

    reason: LeftOut
    message_id: str | None
    agent_id: str | None
    spent: Spent


@dataclass(frozen=True, slots=True)
class TurnTrace:
    """One turn as a trace."""

    trace_id: str
    root_id: str
    n: int
    """The number of the turn in its file; 0 for answers before any prompt."""

    prompt_uuid: str | None
    is_complete: bool
    reason: Unfinished | None
    """Why it is not complete."""

    is_last: bool
    """Whether no prompt comes after it, so that more may follow."""

    owner: str | None
    """The session the turn was copied from; None for a turn of this session's own."""

    started_ms: int | None
    ended_ms: int | None
    _traces: SessionTraces = field(repr=False)
    _turn: Turn = field(repr=False)

    @property
    def is_history(self) -> bool:
        """Whether the turn was another session's before it was this one's."""
        return self.owner is not None

    @property
    def is_settled(self) -> bool:
        """Whether nothing will be added, complete or not: a prompt followed, and no sub-agent is at work."""
        return self.is_complete or (not self.is_last and self.reason != "agent_unfinished")

    def spans(self) -> Iterator[Span]:
        """Give the spans, the root first, each after its parent. They can be asked for again."""
        return self._traces.spans_of(self, self._turn)

    def outline(self) -> Iterator[tuple[str, bool]]:
        """Give the ids of the spans in the same order, each with whether it is another session's.

        Much quicker than to make them.
        """
        return self._traces.outline_of(self, self._turn)

    def generations(self) -> Iterator[Generation]:
        """Give what each answer used; they add up to what the turn cost."""
        return self._traces.generations_of(self, self._turn)


class SessionTraces:
    """The traces of one session with its sub-agents."""

    def __init__(
        self,
        session: Session,
        agents: Iterable[Agent] = (),
        *,
        session_id: str | None = None,
        owner_of: Callable[[str], str | None] | None = None,
        options: Options | None = None,
    ) -> None:
        """`owner_of` tells by its id the session that a message belongs to, None where it is not known."""
        self.session = session
        self.session_id = session_id or session.name or _first_id(session) or ""
        self.options = options or Options()
        secrets = (self.options.redact, self.options.redact_named)
        self.scribe = Scribe(secrets[0], self.options.limit, redact_named=secrets[1])
        self.brief = Scribe(secrets[0], self.options.limit // 16, redact_named=secrets[1])
        """For the results among an answer's input: the spans of their calls have them whole."""
        self.walk = Walk(session, agents)
        self._owner_of = owner_of
        self._places: dict[str, int] = {}
        self._best: dict[str, tuple[Conversation, Message]] = {}
        self._last: tuple[TurnTrace, Making] | None = None
        self._has_own = _has_own(session, self.session_id)
        for segment in self._segments():
            self._claim(segment.conversation, segment.messages())
        for conversation in self.walk.conversations():
            self._claim(conversation, conversation.before)

    def turns(self) -> Iterator[TurnTrace]:
        """Give the turns in the order of the file."""
        listed = self.walk.main.turns
        for turn in listed:
            yield self._trace(turn, is_last=turn is listed[-1])

    def rest(self) -> Iterator[Left]:
        """Give the messages that are in no turn. With those of all turns they are what the session used."""
        for segment in self._segments():
            is_loose = segment.call is None and segment.conversation is not self.walk.main
            for message in segment.messages():
                if is_loose or not self.is_here(segment.conversation, message):
                    yield from self._left(segment.conversation, message, "agent_without_call")
        for conversation in self.walk.conversations():
            for message in conversation.before:
                yield from self._left(conversation, message, "no_turn")

    def _left(self, conversation: Conversation, message: Message, reason: LeftOut) -> Iterator[Left]:
        if not is_counted(message):
            return
        agent = conversation.agent
        agent_id = None if agent is None else agent.agent_id
        if self.is_here(conversation, message):
            yield Left(reason, message.id, agent_id, self.spent(conversation, message))
        else:
            yield Left("copy", message.id, agent_id, Spent())

    def spans_of(self, trace: TurnTrace, turn: Turn) -> Iterator[Span]:
        """Give the spans of a turn."""
        return self._making(trace, turn).spans()

    def outline_of(self, trace: TurnTrace, turn: Turn) -> Iterator[tuple[str, bool]]:
        """Give the ids of the spans of a turn."""
        return self._making(trace, turn).outline()

    def generations_of(self, trace: TurnTrace, turn: Turn) -> Iterator[Generation]:
        """Give what the answers of a turn used."""
        making = self._making(trace, turn)
        for segment in making.segments:
            agent = segment.conversation.agent
            for message in segment.messages():
                if is_counted(message) and self.is_here(segment.conversation, message):
                    yield Generation(
                        message.id,
                        None if agent is None else agent.agent_id,
                        making.message_span(segment, message),
                        self.spent(segment.conversation, message),
                        self.owner(message, trace.owner),
                    )

    def _making(self, trace: TurnTrace, turn: Turn) -> Making:
        """Return what makes the spans of a turn; of the last one it is kept, as it is asked for twice."""
        if self._last is None or self._last[0] is not trace:
            self._last = trace, Making(self, trace, turn)
        return self._last[1]

    def owner(self, message: Message, otherwise: str | None) -> str | None:
        """Return the session a message belongs to, if that is another than this one."""
        if self._owner_of is not None and message.id:
            found = self._owner_of(message.id)
            if found is not None:
                return None if found == self.session_id else found
        return otherwise

    def is_here(self, conversation: Conversation, message: Message) -> bool:
        """Say whether a message counts where it stands; some stand in two files of one session."""
        key = key_of(message)
        return key is None or self._places.get(key) == id(conversation)

    def spent(self, conversation: Conversation, message: Message) -> Spent:
        """Return what a message used, with the models it asked on the way; of several copies the greatest."""
        key = key_of(message)
        at, best = self._best.get(key, (conversation, message)) if key else (conversation, message)
        return _spent(at.session, best, message.started)

    def _segments(self) -> Iterator[Segment]:
        """Give all there is, what belongs to turns first."""
        for turn in self.walk.main.turns:
            yield Segment(self.walk.main, [turn])
        for turn in self.walk.main.turns:
            yield from self.walk.below(turn)
        yield from self.walk.unattached()

    def _claim(self, conversation: Conversation, messages: Iterable[Message]) -> None:
        """Let each message count in one place alone: the first that has it."""
        here = id(conversation)
        for message in messages:
            key = key_of(message)
            if key is None or not is_counted(message):
                continue
            if self._places.setdefault(key, here) == here:
                self._best.setdefault(key, (conversation, message))
                continue
            at, before = self._best[key]
            if _order(conversation.session, message) > _order(at.session, before):
                self._best[key] = (conversation, message)

    def _trace(self, turn: Turn, *, is_last: bool) -> TurnTrace:
        session = self.session
        prompt = None if turn.prompt_row is None else session.entry(turn.prompt_row)
        key = None if prompt is None else ids.prompt_key(prompt, self.session_id)
        trace_id = ids.trace_id(*(key or self._loose_key(turn)))
        copied = None
        if prompt is not None:
            copied = ids.copied_from(prompt, self.session_id, is_mixed=self._has_own)
        first = next((message for message in turn.messages if is_counted(message)), None)
        reason = self._unfinished(turn, is_last=is_last)
        return TurnTrace(
            trace_id,
            ids.span_id(trace_id, "turn"),
            turn.n,
            None if prompt is None else prompt.uuid,
            reason is None,
            reason,
            is_last,
            copied if first is None else self.owner(first, copied),
            turn.started,
            turn.ended,
            self,
            turn,
        )

    def _loose_key(self, turn: Turn) -> tuple[str, ...]:
        """Return what names a turn without a prompt, or with one that has no uuid."""
        first = next((message for message in turn.messages if is_counted(message)), None)
        named = None if first is None else key_of(first)
        if named is None:
            row = turn.prompt_row if turn.prompt_row is not None else turn.rows[0] if turn.rows else None
            entry = None if row is None else self.session.entry(row)
            # The line itself: it is the same in every copy of the file, wherever in it it stands.
            named = "" if entry is None else ids.line_key(entry)
        return ("loose", self.session_id, named)

    def _unfinished(self, turn: Turn, *, is_last: bool) -> Unfinished | None:
        if turn.status == "interrupted":
            return "interrupted"
        main = self.walk.main
        if not any(is_counted(message) or message.is_api_error for message in turn.messages):
            return "no_answer"
        if any(call.result_row is None for message in turn.messages for call in main.calls_of(message)):
            return "unanswered_call"
        if turn.status == "incomplete":
            return "running"
        if any(segment.is_unfinished for segment in self.walk.below(turn)):
            return "agent_unfinished"
        return "news_awaited" if is_last and self._awaits_news(turn) else None

    def _awaits_news(self, turn: Turn) -> bool:
        """Say whether a sub-agent was sent to the background and the turn has not heard of it since."""
        launched = sum(segment.is_launched for segment in self.walk.below(turn))
        if not launched:
            return False
        # News stand in the queue, then in a line of their own or beside the results of a tool.
        table, heard = self.session.table, Counter[str]()
        for row in turn.rows:
            kind = table.kind_of(row)
            if kind in _NEWS and not table.flags[row] & TOOL_RESULT:
                heard[kind] += read(self.session.entry(row)).kind == "task_notification"
        return max(heard.values(), default=0) < launched


def turn_spans(
    session: Session,
    agents: Iterable[Agent] = (),
    *,
    session_id: str | None = None,
    owner_of: Callable[[str], str | None] | None = None,
    options: Options | None = None,
) -> Iterator[TurnTrace]:
    """Give the turns of a session as traces, one at a time; see `SessionTraces`."""
    made = SessionTraces(session, agents, session_id=session_id, owner_of=owner_of, options=options)
    return made.turns()


def _spent(session: Session, message: Message, time_ms: int | None) -> Spent:
    if message.usage_row is None:
        return Spent()
    usage = pricing.read_usage(session.entry(message.usage_row).usage)
    cost = pricing.cost_of(message.model, usage, time_ms=time_ms)
    tokens = sum((used for _, used in usage.advisors), usage.tokens)
    return Spent(tokens, 0.0 if cost is None and not tokens.total else cost)


def _order(session: Session, message: Message) -> tuple[int, int, int, int, int]:
    if message.usage_row is None:
        return (-1, 0, 0, 0, 0)
    used = pricing.read_usage(session.entry(message.usage_row).usage).tokens
    return (used.output, used.input, used.cache_read, used.cache_write_5m, used.cache_write_1h)


def _first_id(session: Session) -> str | None:
    for row in range(min(len(session), 100)):
        found = session.entry(row).session_id
        if found:
            return found
    return None


def _has_own(session: Session, session_id: str) -> bool:
    """Say whether any line calls itself one of this session: then those that name another are copies."""
    # A file that was given another name has none, and nothing in it is a copy.
    for row in range(len(session) - 1, max(-1, len(session) - 200), -1):
        if session.entry(row).session_id == session_id:
            return True
    return False
