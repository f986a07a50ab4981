"""As much of a socket as `http.client` uses, with one end for all waits, that another thread can break off.

A thread that waits in a socket hears nothing else. What wakes it is that the socket is shut down under it,
which ends the wait at once; `Breaker` does that, and never to a socket that was closed meanwhile: its number
may be another's by then.
"""

from __future__ import annotations

import io
import select
import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from clew.net.failing import BrokenOffError

if TYPE_CHECKING:
    from collections.abc import Callable


class Breaker:
    """Breaks a request off from any thread, at any moment of it. A second time does nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._wakes: list[Callable[[], None]] = []
        self._is_broken = False

    @property
    def is_broken(self) -> bool:
        """Whether somebody broke the request off."""
        return self._is_broken

    def break_off(self) -> None:
        """End whatever the request waits for."""
        with self._lock:
            self._is_broken = True
            if self._socket is not None:
                # Not the method of a TLS socket, which takes the encryption off under whoever reads.
                with suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            wakes, self._wakes = self._wakes, []
        for wake in wakes:
            wake()

    def hold(self, connected: socket.socket | None) -> None:
        """From now on this is the socket to shut down; None before it is closed."""
        with self._lock:
            self._socket = connected
        if connected is not None:
            self.check()

    def on_break(self, wake: Callable[[], None]) -> None:
        """Call back when the request is broken off, at once if it was."""
        with self._lock:
            if not self._is_broken:
                self._wakes.append(wake)
                return
        wake()

    def check(self) -> None:
        """Raise `BrokenOffError` if somebody broke the request off."""
        if self._is_broken:
            raise BrokenOffError


class Wire:
    """A connected socket. Every wait is over at the deadline, or when nothing moved for `idle` seconds."""

    def __init__(self, connected: socket.socket, deadline: float, idle: float | None = None) -> None:
        self._socket = connected
        self._deadline = deadline
        self._idle = idle
        self._readers = 0
        self._is_closed = False

    @property
    def socket(self) -> socket.socket:
        """The socket itself."""
        return self._socket

    def start(self, deadline: float, idle: float | None = None) -> None:
        """Set the end of the waits that come."""
        self._deadline = deadline
        self._idle = idle

    def sendall(self, data: bytes) -> None:
        """Send all of it."""
        view = memoryview(data)
        while view:
            self._socket.settimeout(self._wait())
            view = view[self._socket.send(view) :]

    def recv_into(self, buffer: bytearray | memoryview) -> int:
        """Read as much as is there, and wait only while there is nothing."""
        self._socket.settimeout(self._wait())
        return self._socket.recv_into(buffer)

    def makefile(self, mode: str, *_: object) -> io.BufferedReader:
        """Return what `http.client` reads from."""
        assert mode == "rb"
        self._readers += 1
        return io.BufferedReader(_Reading(self))

    def is_ended(self) -> bool:
        """Say whether the other side hung up, or says something that nobody asked for."""
        try:
            return bool(select.select([self._socket], [], [], 0)[0])
        except (OSError, ValueError):
            return True

    def close(self) -> None:
        """Hang up, when the answer has been read: `http.client` lets go of the socket before that."""
        self._is_closed = True
        if not self._readers:
            self._socket.close()

    def reader_closed(self) -> None:
        """Take note that an answer was read, or given up."""
        self._readers -= 1
        if self._is_closed and not self._readers:
            self._socket.close()

    def _wait(self) -> float:
        wait = left(self._deadline)
        return wait if self._idle is None else min(wait, self._idle)


class _Reading(io.RawIOBase):
    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]  # any buffer that can be written
        return self._wire.recv_into(buffer)

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._wire.reader_closed()


def left(deadline: float) -> float:
    """Return the seconds until a moment of `time.monotonic()`, which must be some."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("the time was up")
    return seconds
