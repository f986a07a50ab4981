"""What a session may still cost: money and requests. Asked before each request, told after each answer."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from clew.errors import ClewError
from clew.session.pricing import cost_of, read_usage

if TYPE_CHECKING:
    from collections.abc import Mapping


class BudgetSpentError(ClewError):
    """What was allowed is spent; what there is of the session is kept."""

    code = "budget-spent"


class Budget:
    """The limits of one run, shared by a session and its sub-agents."""

    def __init__(self, *, max_cost: float | None = None, max_turns: int | None = None) -> None:
        """`max_cost` in dollars, `max_turns` as the number of requests for one prompt."""
        self._max_cost = max_cost
        self._max_turns = max_turns
        self._lock = threading.Lock()
        self.cost_usd = 0.0
        """What was spent, as far as it has a price."""
        self.unpriced = 0
        """How many answers came from models without a price."""
        self.requests = 0
        self._asked = 0

    def begin_turn(self) -> None:
        """Count the requests of a prompt from here."""
        self._asked = 0

    def ask(self, *, counts: bool = True) -> None:
        """Raise `BudgetSpentError` if there is nothing left for another request.

        One that does not count is none of the prompt's own: those of sub-agents, and summaries.
        """
        with self._lock:
            if counts and self._max_turns is not None and self._asked >= self._max_turns:
                raise BudgetSpentError(
                    f"the limit of {self._max_turns} requests for a prompt is reached",
                    hint="--max-turns sets another; --resume goes on",
                )
            if self._max_cost is not None and self.cost_usd >= self._max_cost:
                raise BudgetSpentError(
                    f"${self.cost_usd:.4f} of ${self._max_cost:.4f} are spent",
                    hint="--max-cost sets another limit; --resume goes on",
                )
            if self._max_cost is not None and self.unpriced:
                raise BudgetSpentError(
                    "the model has no price, so nobody can say when the limit is reached",
                    hint="leave --max-cost away, or name a model that is in the price list",
                )
            self.requests += 1
            self._asked += counts

    def spend(self, model: str, usage: Mapping[str, Any], *, time_ms: int | None = None) -> float | None:
        """Take note of what an answer cost; return it, None where the model has no price."""
        cost = cost_of(model, read_usage(usage), time_ms=time_ms)
        with self._lock:
            if cost is None:
                self.unpriced += 1
            else:
                self.cost_usd += cost
        return cost
