"""A second process that does a share of what this one does: it is forked off, and knows what this one knows.

That is done only where it is safe, on Linux and while this process has no other thread. A process may be
killed: whoever begins one must be ready to do its share as well.
"""

from __future__ import annotations

import mmap
import os
import signal
import struct
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

_WATCH: Final = 1.0
"""Seconds after which a process looks again whether the one that started it is there."""

_PIECE: Final = 1 << 16
_NUMBER: Final = struct.Struct("=q")


def can_fork() -> bool:
    """Say whether a second process can be had here."""
    return sys.platform == "linux" and threading.active_count() == 1


def end_with(parent: int | None) -> None:
    """End this process when the one that started it is gone: nobody would tell it to."""
    while parent is None or os.getppid() == parent:
        time.sleep(_WATCH)
    os._exit(1)


class Second:
    """Work that another process does, and what comes of it; to be closed."""

    def __init__(self, work: Callable[[], bytes]) -> None:
        """Begin it; what `work` returns is sent here."""
        parent = os.getpid()
        self._descriptor, descriptor = os.pipe()
        try:
            self._process = os.fork()
        except OSError:  # there may be no more processes
            self._process = -1
        if self._process == 0:
            _be_second(work, descriptor, parent)
        os.close(descriptor)

    def result(self) -> bytes | None:
        """Wait for it, and return what came of it; None if it failed or was killed."""
        found: list[bytes] = []
        while piece := os.read(self._descriptor, _PIECE):
            found.append(piece)
        return b"".join(found) if self._end() == 0 else None

    def _end(self) -> int:
        process, self._process = self._process, -1
        if process < 0:
            return -1
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def close(self) -> None:
        """Stop it if it is not done."""
        if self._process > 0:
            with suppress(ProcessLookupError):
                os.kill(self._process, signal.SIGKILL)
            self._end()
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _be_second(work: Callable[[], bytes], descriptor: int, parent: int) -> None:
    """Do the work in the process that was just begun, and end it. Nothing of the first one is let go of."""
    code = 1
    try:
        # Ctrl-C reaches every process of a terminal; whether to stop is said by the one that started this.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=end_with, args=(parent,), daemon=True).start()
        left = memoryview(work())
        while left:
            left = left[os.write(descriptor, left) :]
        code = 0
    finally:
        os._exit(code)


class Meeting:
    """Two processes take the units of a work from its two ends until they meet.

    There is no lock, which a killed process could keep: a unit that both take is done twice, with no harm.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._ends = mmap.mmap(-1, 2 * _NUMBER.size)
        self._put(0, -1)
        self._put(1, count)

    def forwards(self) -> Iterator[int]:
        """Give the units from the first on."""
        for number in range(self._count):
            if number >= self._at(1):
                return
            self._put(0, number)
            yield number

    def backwards(self) -> Iterator[int]:
        """Give the units from the last on, for the other process."""
        for number in range(self._count - 1, -1, -1):
            if number <= self._at(0):
                return
            self._put(1, number)
            yield number

    def left(self) -> int:
        """Return how many units nobody has taken yet."""
        return max(0, self._at(1) - self._at(0) - 1)

    def _at(self, end: int) -> int:
        return _NUMBER.unpack_from(self._ends, end * _NUMBER.size)[0]

    def _put(self, end: int, number: int) -> None:
        _NUMBER.pack_into(self._ends, end * _NUMBER.size, number)
