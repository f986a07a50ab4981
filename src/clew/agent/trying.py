"""How often a request is tried, and how long one waits in between.

What the API says about waiting counts more than any rule of ours; when that is longer than anybody would
wait, the request has failed at once, and the error says when to come back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.agent.api_errors import ConnectionLostError
from clew.agent.cancel import CancelledError

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.agent.api_errors import Refusal
    from clew.agent.cancel import Cancel


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for what."""

    tries: int = 10
    """How often a request is sent before an answer begins."""

    total: float = 300.0
    """Seconds after which no new try is begun."""

    first_wait: float = 0.5
    longest_wait: float = 32.0
    """Seconds before a try; it doubles in between. What the API says itself counts more."""

    idle: float = 300.0
    """Seconds without a byte after which an answer is given up; the API sends something every few seconds."""

    answer: float = 3600.0
    """Seconds an answer may take in all."""

    whole: float = 600.0
    """Seconds an answer may take of which nothing is seen until all of it is there."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why nothing happens for a while; for the person."""

    seconds: float
    attempt: int
    """How many tries there were."""

    tries: int
    """How many there will be at most."""

    reason: str


def tell_nobody(_: Waiting) -> None:
    """Wait without a word."""


class PassingError(Exception):
    """An answer came to nothing for a reason that may pass."""

    def __init__(self, reason: str, refusal: Refusal | None = None, *, is_final: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.refusal = refusal
        self.is_final = is_final


class Attempts:
    """Counts the tries of one request, and waits between them."""

    def __init__(
        self,
        patience: Patience,
        cancel: Cancel,
        waiting: Callable[[Waiting], None],
        draw: Callable[[], float],
    ) -> None:
        self._patience = patience
        self._cancel = cancel
        self._waiting = waiting
        self._draw = draw
        self._count = 0
        self._until = time.monotonic() + patience.total

    def failed(self, trouble: PassingError) -> None:
        """Wait for the next try; raise if there is none."""
        self._cancel.check()
        refusal = trouble.refusal
        self._count += 1
        patience = self._patience
        wait = min(patience.first_wait * 2 ** (self._count - 1), patience.longest_wait)
        wait *= 0.75 + self._draw() / 2  # so that many who failed together do not come back together
        told = refusal.retry_after if refusal is not None else None
        if told is not None:
            wait = told + min(wait, 1.0)
        if trouble.is_final or self._count >= patience.tries or time.monotonic() + wait > self._until:
            if refusal is not None:
                raise refusal.error(tries=self._count)
            often = f" after {self._count} tries" if self._count > 1 else ""
            raise ConnectionLostError(
                f"no answer from the API{often}: {trouble.reason}",
                hint="is there a connection, and is ANTHROPIC_BASE_URL right?",
            )
        self._waiting(Waiting(wait, self._count, patience.tries, trouble.reason))
        if self._cancel.wait(wait):
            raise CancelledError
