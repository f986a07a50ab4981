"""A wish to stop, made once by whoever may make it and heard by everyone who waits."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class CancelledError(Exception):
    """The person asked to stop."""


class Cancel:
    """Asked for at most once. What runs under it looks now and then, or is called back at once."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def is_asked(self) -> bool:
        """Whether somebody asked to stop."""
        return self._event.is_set()

    def ask(self) -> None:
        """Ask everyone to stop. A second time does nothing."""
        with self._lock:
            if self._event.is_set():
                return
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def check(self) -> None:
        """Raise `CancelledError` if somebody asked."""
        if self.is_asked:
            raise CancelledError

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until somebody asks; say whether somebody did."""
        return self._event.wait(seconds)

    def on_ask(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back when somebody asks (at once, if that was before); return how to take that back."""
        with self._lock:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def _forget(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)
