"""Search texts for a pattern that a person gave, without letting a bad pattern run for ever.

Python's own matcher can take longer than anyone lives for a pattern such as `(a+)+$`. It does look for
signals while it works, so a timer stops it.
"""

from __future__ import annotations

import re
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from clew.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

LIMIT: Final = 1.0
"""Seconds one text may take."""


class _TooLongError(Exception):
    pass


class Pattern:
    """A pattern to look for in texts; capitals count only where the pattern has some."""

    def __init__(self, text: str) -> None:
        has_capitals = any(letter.isupper() for letter in text)
        try:
            self._pattern = re.compile(text, 0 if has_capitals else re.IGNORECASE)
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(f"{text!r} is not a pattern: {error}") from error
        self.text = text

    def is_in(self, text: str) -> bool:
        """Say whether the pattern occurs in a text; a pattern that takes too long is an error."""
        try:
            with _timer():
                return self._pattern.search(text) is not None
        except _TooLongError:
            raise UsageError(
                f"the pattern {self.text!r} took longer than {LIMIT:.0f} s on one text",
                hint="a pattern without nested repeats, such as (a+)+",
            ) from None


@contextmanager
def _timer() -> Generator[None]:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
