"""One connection: whoever is too slow to ask, or to take the answer, is cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

TO_ASK: Final = 10.0
"""Seconds for a whole request, its body too."""

TO_TAKE: Final = 30.0
"""Seconds without room for more of an answer."""


class Connection(H11Protocol):
    """A connection that ends where its other side only keeps it open."""

    to_ask = TO_ASK
    to_take = TO_TAKE

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._asking: asyncio.TimerHandle | None = None
        self._taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # as the class above has it
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what came, and see whether the request is whole."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        super().connection_lost(exc)
        self._asking = _stopped(self._asking)
        self._taking = _stopped(self._taking)

    def pause_writing(self) -> None:
        """Begin to wait for room."""
        super().pause_writing()
        if self._taking is None:
            self._taking = self.loop.call_later(self.to_take, self._cut)

    def resume_writing(self) -> None:
        """Go on writing."""
        super().resume_writing()
        self._taking = _stopped(self._taking)

    def _watch(self) -> None:
        if self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}:
            self._asking = _stopped(self._asking)
        elif self._asking is None:
            self._asking = self.loop.call_later(self.to_ask, self._cut)

    def _cut(self) -> None:
        if self.transport is not None and not self.transport.is_closing():  # pyright: ignore[reportUnnecessaryComparison]  # None until it is made
            self.transport.abort()


def _stopped(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
