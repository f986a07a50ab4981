"""What was done: in a turn, by a sub-agent, in a session. What was spent is told by `session.spending`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew.session.spending import Spent, spent
from clew.view.calls import Lines, asked_of
from clew.view.changes import CHANGING, change
from clew.view.parts import Work

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew.session.session import Session
    from clew.session.turns import Turn


@dataclass(slots=True)
class _Sum:
    """Work while it is added up."""

    spent: Spent = field(default_factory=Spent)
    calls: int = 0
    failed: int = 0
    paths: set[str] = field(default_factory=set[str])
    added: int = 0
    removed: int = 0
    context_tokens: int | None = None
    unpriced: set[str] = field(default_factory=set[str])

    def add(self, session: Session, turn: Turn) -> None:
        """Add a turn."""
        self.calls += len(turn.calls)
        for message in turn.messages:
            cost = spent(session, message)
            self.spent += cost
            if cost.tokens.total:
                self.context_tokens = cost.tokens.prompt
            if cost.cost_usd is None and message.model:
                self.unpriced.add(message.model)
        lines = Lines(session)
        for call in turn.calls:
            self.failed += call.is_error
            if call.name in CHANGING and call.result_row is not None and not call.is_error:
                found = change(asked_of(lines, call))
                if found is not None:
                    self.paths.add(found.path)
                    self.added += found.added
                    self.removed += found.removed


def turn_work(session: Session, turn: Turn, *, before: Turn | None = None) -> Work:
    """Return what was done in a turn; `before` is the turn before it."""
    total = _Sum()
    total.add(session, turn)
    return _turn(total, turn, before)


def _turn(total: _Sum, turn: Turn, before: Turn | None) -> Work:
    waited = None
    if before is not None and before.ended is not None and turn.started is not None:
        waited = max(0, turn.started - before.ended)
    return _work(total, turn.duration_ms, is_estimated=turn.is_estimated, waited_ms=waited)


def agent_work(session: Session, turns: Sequence[Turn]) -> Work:
    """Return what a sub-agent did, from its first line to its last."""
    total = _Sum()
    for turn in turns:
        total.add(session, turn)
    started = [turn.started for turn in turns if turn.started is not None]
    ended = [turn.ended for turn in turns if turn.ended is not None]
    duration = max(0, max(ended) - min(started)) if started and ended else None
    return _work(total, duration)


@dataclass(frozen=True, slots=True)
class Whole:
    """The work of a session, its turns each and together."""

    turns: tuple[Work, ...]
    total: Work
    unpriced: tuple[str, ...]
    """The models without a price."""


def session_work(session: Session, turns: Sequence[Turn]) -> Whole:
    """Return what was done in each turn and in all; a session took as long as its turns together."""
    each: list[Work] = []
    whole = _Sum()
    for at, turn in enumerate(turns):
        one = _Sum()
        one.add(session, turn)
        each.append(_turn(one, turn, turns[at - 1] if at else None))
        _join(whole, one)
    known = [turn.duration_ms for turn in turns if turn.duration_ms is not None]
    is_estimated = any(turn.is_estimated for turn in turns)
    total = _work(whole, sum(known) if known else None, is_estimated=is_estimated)
    return Whole(tuple(each), total, tuple(sorted(whole.unpriced)))


def _join(whole: _Sum, one: _Sum) -> None:
    whole.spent += one.spent
    whole.calls += one.calls
    whole.failed += one.failed
    whole.paths |= one.paths
    whole.added += one.added
    whole.removed += one.removed
    whole.unpriced |= one.unpriced
    if one.context_tokens is not None:
        whole.context_tokens = one.context_tokens


def _work(
    total: _Sum, duration_ms: int | None, *, is_estimated: bool = False, waited_ms: int | None = None
) -> Work:
    return Work(
        calls=total.calls,
        failed=total.failed,
        files=len(total.paths),
        added=total.added,
        removed=total.removed,
        duration_ms=duration_ms,
        is_estimated=is_estimated,
        waited_ms=waited_ms,
        context_tokens=total.context_tokens,
        output_tokens=total.spent.tokens.output,
        total_tokens=total.spent.tokens.total,
        cost_usd=total.spent.cost_usd,
    )


def models(turns: Iterable[Turn]) -> tuple[str, ...]:
    """Return the models that answered, in the order they came."""
    found: dict[str, None] = {}
    for turn in turns:
        for message in turn.messages:
            if message.model and not message.is_synthetic:
                found.setdefault(message.model)
    return tuple(found)
