"""Work that several ask for at once is done once: for all who asked before it began.

What takes long is good for a while after: twice as long as it took, so that it never takes more than a third
of the time, however many ask.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable

T = TypeVar("T")


_LONG: Final = 0.1
"""Seconds from which on work takes long."""

_OLDEST: Final = 3.0

_AT_FIRST: Final = 1.0
_SHARE: Final = 1 / 8
"""Seconds of work that an allowance has at most, and those that it gets each second."""


def good_for(took: float) -> float:
    """Return for how many seconds that is good enough which took so long."""
    return 0.0 if took < _LONG else min(_OLDEST, 2 * took)


class Shared(Generic[T]):
    """One piece of work at a time, and what came of the last."""

    def __init__(self, *, good_for: Callable[[float], float] = good_for) -> None:
        self._good_for = good_for
        self._working = threading.Lock()
        self._last: tuple[Hashable, float, T] | None = None
        self._good_until = 0.0

    def get(self, name: Hashable, work: Callable[[], T], *, is_spared: Callable[[], bool] | None = None) -> T:
        """Return what comes of some work, or came of it if it began after this was called, or took long.

        What is hardly old is given too where `is_spared` says that the work is better not done now.
        """
        asked = time.monotonic()
        if is_spared is not None and is_spared():
            last = self._last  # not waiting for whoever makes a new one
            if last is not None and last[0] == name and last[1] > asked - 2 * _OLDEST:
                return last[2]
        with self._working:
            last = self._last
            if last is not None and last[0] == name and (last[1] > asked or asked < self._good_until):
                return last[2]
            if is_spared is None:
                self._last = None
            began = time.monotonic()
            found = work()
            ended = time.monotonic()
            while_good = self._good_for(ended - began)
            # Who asked while it was done asked after it had begun.
            self._good_until = ended + while_good if while_good else 0.0
            self._last = (name, began, found)
            return found

    def forget(self) -> None:
        """Let go of it."""
        with self._working:
            self._last = None


class Allowance:
    """What may take a second of work at once, but in the long run only a small share of the time.

    It is put off for three seconds at most, until somebody does it.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._left = _AT_FIRST
        self._at_work = 0
        self._since = self._spent_at = clock()

    def is_spent(self) -> bool:
        """Say whether it is better put off; where much was spent, also while somebody else is at it."""
        with self._lock:
            self._refill()
            if self._at_work:
                return self._left <= _AT_FIRST / 2
            return self._left <= 0 and self._since - self._spent_at < _OLDEST

    @contextmanager
    def spending(self, is_work: Callable[[], bool]) -> Generator[None]:
        """Take note of how long something takes, if it was such work; that is asked at its end."""
        with self._lock:
            self._refill()
            self._at_work += 1
            began = self._since
        try:
            yield
        finally:
            is_counted = is_work()
            with self._lock:
                self._refill()
                self._at_work -= 1
                if is_counted:
                    self._left -= self._since - began
                    self._spent_at = self._since

    def renew(self) -> None:
        """Let it be done at once, as somebody waits for just that."""
        with self._lock:
            self._left = _AT_FIRST

    def _refill(self) -> None:
        now = self._clock()
        self._left = min(_AT_FIRST, self._left + _SHARE * (now - self._since))
        self._since = now
