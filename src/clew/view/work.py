"""What was done: in a turn, by a sub-agent, in a session. What was spent is told by `session.spending`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew.session.ids import id_hash
from clew.session.pricing import PICODOLLARS, Tokens, dollars
from clew.session.spending import spent
from clew.view.calls import Lines, asked_of
from clew.view.changes import CHANGING, change
from clew.view.parts import Work

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from clew.session.calls import Call
    from clew.session.messages import Message
    from clew.session.session import Session
    from clew.session.turns import Turn


@dataclass(slots=True)
class Tally:
    """Work while it is added up; money in whole picodollars, so that its order does not matter."""

    tokens: Tokens = field(default_factory=Tokens)
    picodollars: int = 0
    is_priced: bool = False
    is_unpriced: bool = False
    calls: int = 0
    failed: int = 0
    paths: set[str] = field(default_factory=set[str])
    added: int = 0
    removed: int = 0
    context_tokens: int | None = None
    unpriced: set[str] = field(default_factory=set[str])

    def add(self, session: Session, turn: Turn, *, seen: AbstractSet[int] = frozenset()) -> None:
        """Add a turn, without the messages and calls that were `seen` elsewhere."""
        for message in turn.messages:
            if seen and message_key(message) in seen:
                continue
            cost = spent(session, message)
            self.tokens += cost.tokens
            if cost.cost_usd is not None:
                self.picodollars += round(cost.cost_usd * PICODOLLARS)
                self.is_priced |= bool(cost.tokens.total)
            else:
                self.is_unpriced = True
                if message.model:
                    self.unpriced.add(message.model)
            if cost.tokens.total:
                self.context_tokens = cost.tokens.prompt
        lines = Lines(session)
        for call in turn.calls:
            if seen and call_key(call) in seen:
                continue
            self.calls += 1
            self.failed += call.is_error
            if call.name in CHANGING and call.result_row is not None and not call.is_error:
                found = change(asked_of(lines, call))
                if found is not None:
                    self.paths.add(found.path)
                    self.added += found.added
                    self.removed += found.removed

    def join(self, other: Tally) -> None:
        """Add what another holds, which came later."""
        self.tokens += other.tokens
        self.picodollars += other.picodollars
        self.is_priced |= other.is_priced
        self.is_unpriced |= other.is_unpriced
        self.calls += other.calls
        self.failed += other.failed
        self.paths |= other.paths
        self.added += other.added
        self.removed += other.removed
        self.unpriced |= other.unpriced
        if other.context_tokens is not None:
            self.context_tokens = other.context_tokens

    @property
    def cost_usd(self) -> float | None:
        """What all cost; None when a price is not known."""
        return None if self.is_unpriced else dollars(self.picodollars)

    @property
    def known_cost_usd(self) -> float | None:
        """What those with a known price cost; None when none of them has one."""
        return None if self.is_unpriced and not self.is_priced else dollars(self.picodollars)


def message_key(message: Message) -> int | None:
    """Return what a message is known by in whatever file it stands; None when nothing tells."""
    name = message.id or message.request_id
    return None if name is None else id_hash(name)


def call_key(call: Call) -> int | None:
    """Return what a call is known by in whatever file it stands; None when nothing tells."""
    return None if call.id is None else id_hash(call.id)


def keys(turns: Iterable[Turn]) -> Iterator[int]:
    """Give what the messages and calls of some turns are known by."""
    for turn in turns:
        for key in (*map(message_key, turn.messages), *map(call_key, turn.calls)):
            if key is not None:
                yield key


def turn_work(tally: Tally, turn: Turn, *, before: Turn | None = None) -> Work:
    """Return what was done in a turn that was added up; `before` is the turn before it."""
    waited = None
    if before is not None and before.ended is not None and turn.started is not None:
        waited = max(0, turn.started - before.ended)
    work = work_of(tally, turn.duration_ms, is_estimated=turn.is_estimated)
    return replace(work, waited_ms=waited)


def agent_tally(session: Session, turns: Sequence[Turn], *, seen: AbstractSet[int] = frozenset()) -> Tally:
    """Add up what a sub-agent did."""
    total = Tally()
    for turn in turns:
        total.add(session, turn, seen=seen)
    return total


def agent_work(tally: Tally, turns: Sequence[Turn]) -> Work:
    """Return what a sub-agent did, from its first line to its last."""
    started = [turn.started for turn in turns if turn.started is not None]
    ended = [turn.ended for turn in turns if turn.ended is not None]
    return work_of(tally, max(0, max(ended) - min(started)) if started and ended else None)


def session_work(tallies: Iterable[Tally], turns: Sequence[Turn]) -> tuple[Work, Tally]:
    """Return what was done in all turns; a session took as long as its turns together."""
    whole = Tally()
    for one in tallies:
        whole.join(one)
    known = [turn.duration_ms for turn in turns if turn.duration_ms is not None]
    is_estimated = any(turn.is_estimated for turn in turns)
    work = work_of(whole, sum(known) if known else None, is_estimated=is_estimated)
    return replace(work, cost_usd=whole.known_cost_usd), whole


def work_of(tally: Tally, duration_ms: int | None = None, *, is_estimated: bool = False) -> Work:
    """Return what was added up."""
    return Work(
        calls=tally.calls,
        failed=tally.failed,
        files=len(tally.paths),
        added=tally.added,
        removed=tally.removed,
        duration_ms=duration_ms,
        is_estimated=is_estimated,
        context_tokens=tally.context_tokens,
        output_tokens=tally.tokens.output,
        total_tokens=tally.tokens.total,
        cost_usd=tally.cost_usd,
    )


def models(turns: Iterable[Turn]) -> tuple[str, ...]:
    """Return the models that answered, in the order they came."""
    found: dict[str, None] = {}
    for turn in turns:
        for message in turn.messages:
            if message.model and not message.is_synthetic:
                found.setdefault(message.model)
    return tuple(found)
