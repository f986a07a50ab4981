"""An answer that is handed over as it comes, piece by piece, and can be broken off at any moment."""

from __future__ import annotations

import time
from contextlib import suppress
from http.client import HTTPException, IncompleteRead
from typing import TYPE_CHECKING, Final, Protocol, Self

from clew.net.failing import BrokenOffError, StreamLostError, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from http.client import HTTPResponse
    from types import TracebackType

    from clew.net.wire import Breaker, Wire

_PIECE: Final = 1 << 16


class Stop(Protocol):
    """A wish to stop that somebody may come to have, as `agent.cancel.Cancel` is one."""

    def on_ask(self, callback: Callable[[], None], /) -> Callable[[], None]:
        """Call back when somebody asks (at once, if that was before); return how to take that back."""
        ...


class Streamed:
    """The head of an answer, and its body as it comes. Close it, or read it to the end."""

    def __init__(
        self,
        status: int,
        headers: Mapping[str, str],
        response: HTTPResponse,
        wire: Wire,
        breaker: Breaker,
        release: Callable[[bool], None],
    ) -> None:
        self.status = status
        self.headers = headers
        """By their names in lower case."""
        self._response = response
        self._wire = wire
        self._breaker = breaker
        self._release: Callable[[bool], None] | None = release

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        while piece := self.next_piece():
            yield piece

    def next_piece(self) -> bytes:
        """Wait for something to come and return it; nothing at the end of the answer.

        `StreamLostError` if the end never comes, `BrokenOffError` if somebody broke it off.
        """
        if self._release is None:
            self._breaker.check()
            return b""
        try:
            piece = self._response.read1(_PIECE)
        except (OSError, HTTPException, ValueError) as error:
            self._over(is_whole=False)
            self._breaker.check()
            # `read1` of a body in chunks says so when the other side hangs up, which is no bad HTTP.
            words = "the connection broke off" if isinstance(error, IncompleteRead) else reason_of(error)
            if isinstance(error, TimeoutError):
                words = "nothing more came in time"
            raise StreamLostError(words, is_late=isinstance(error, TimeoutError)) from None
        if piece:
            return piece
        left = self._response.length
        is_whole = not left
        self._over(is_whole=is_whole and not self._response.will_close)
        self._breaker.check()  # a broken connection looks like an end where the end has no sign of its own
        if not is_whole:
            raise StreamLostError("the connection broke off")
        return b""

    def read(self, most: int) -> bytes:
        """Return the rest of the answer, so much at most and as far as it comes, and close it."""
        data = bytearray()
        try:
            while len(data) < most and (piece := self.next_piece()):
                data += piece
        except StreamLostError:
            pass
        self.close()
        return bytes(data[:most])

    def finish(self, *, within: float = 0.2) -> None:
        """Read to the end, if that comes soon, so that the line is free for the next request."""
        self._wire.start(time.monotonic() + within)
        with suppress(StreamLostError, BrokenOffError):
            while self.next_piece():
                pass

    def break_off(self) -> None:
        """End it, from whatever thread: whoever waits for a piece gets `BrokenOffError`."""
        self._breaker.break_off()

    def close(self) -> None:
        """Let go of what has not come yet."""
        self._over(is_whole=False)

    def _over(self, *, is_whole: bool) -> None:
        if self._release is not None:
            release, self._release = self._release, None
            self._breaker.hold(None)
            self._response.close()
            release(is_whole)
