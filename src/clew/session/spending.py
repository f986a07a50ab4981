"""What a message and a turn used and cost. Sums over files are `session.ledger`'s and `session.accounts`'."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from clew.session import pricing
from clew.session.pricing import Tokens

if TYPE_CHECKING:
    from clew.session.messages import Message
    from clew.session.session import Session
    from clew.session.turns import Turn

_NO_TOKENS: Final = Tokens()


class Spent(Struct, frozen=True):
    """Tokens and money; None for money when a price is not known."""

    tokens: Tokens = _NO_TOKENS
    cost_usd: float | None = 0.0

    def __add__(self, other: Spent) -> Spent:
        known = self.cost_usd is not None and other.cost_usd is not None
        cost = (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None
        return Spent(self.tokens + other.tokens, cost)


def spent(session: Session, message: Message) -> Spent:
    """Return what one message cost. What the client wrote itself cost nothing."""
    if message.is_synthetic or message.is_api_error or message.usage_row is None:
        return Spent()
    usage = pricing.read_usage(session.entry(message.usage_row).usage)
    cost = pricing.cost_of(message.model, usage, time_ms=message.started)
    return Spent(usage.tokens, 0.0 if cost is None and not usage.tokens.total else cost)


def turn_spent(session: Session, turn: Turn) -> Spent:
    """Return what a turn cost, without its sub-agents."""
    total = Spent()
    for message in turn.messages:
        total += spent(session, message)
    return total
