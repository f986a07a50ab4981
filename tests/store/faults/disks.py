"""Disks that fail, refuse or stop in the middle, for the tests of everything that writes."""

from __future__ import annotations

import errno
import os
import signal
from itertools import count
from typing import TYPE_CHECKING

from clew.store.carrying import Patience
from clew.store.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Callable

AT_ONCE = Patience(quiet=0)
"""To wait for nobody: tests in which nobody else writes."""


def ticking(sleep: Callable[[float], None]) -> Patience:
    """Wait by a clock that goes on by a tenth of a second each time it is looked at; `sleep` may write."""
    tenths = count()
    return Patience(sleep=sleep, clock=lambda: next(tenths) / 10)


ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EINTR)


class Killed(BaseException):
    """The process ends here: nothing that comes after it reaches the disk."""


class CountingDisk(Disk):
    """Counts what is asked of it, and does not wait for the real disk."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def met(self, name: str, path: str) -> None:  # noqa: ARG002  # the others look at it
        """Be told of a call before it is done; a test raises here."""
        self.calls.append(name)

    def failed(self, descriptor: int, data: bytes) -> None:
        """Be told of a writing that failed."""

    def create(self, path: str, *, mode: int = 0o600) -> int:
        self.met("create", path)
        return super().create(path, mode=mode)

    def open_end(self, path: str) -> int:
        self.met("open_end", path)
        return super().open_end(path)

    def open_lock(self, path: str) -> int:
        self.met("open_lock", path)
        return super().open_lock(path)

    def write(self, descriptor: int, data: bytes) -> None:
        try:
            self.met("write", "")
        except BaseException:
            self.failed(descriptor, data)
            raise
        super().write(descriptor, data)

    def set_time(self, descriptor: int, mtime_ns: int) -> None:
        self.met("set_time", "")
        super().set_time(descriptor, mtime_ns)

    def sync(self, descriptor: int) -> None:  # noqa: ARG002  # it does not wait
        self.met("sync", "")

    def link(self, source: str, target: str) -> None:
        self.met("link", target)
        super().link(source, target)

    def replace(self, source: str, target: str) -> None:
        self.met("replace", target)
        super().replace(source, target)

    def unlink(self, path: str) -> None:
        self.met("unlink", path)
        super().unlink(path)

    def make_private(self, path: str) -> None:
        self.met("make_private", path)
        super().make_private(path)

    def make_folder(self, path: str) -> None:
        self.met("make_folder", path)
        super().make_folder(path)

    def remove_folder(self, path: str) -> None:
        self.met("remove_folder", path)
        super().remove_folder(path)

    def sync_folder(self, path: str) -> None:
        self.met("sync_folder", path)


class FailingDisk(CountingDisk):
    """Fails at one of its calls, once or from then on; of what was to be written a part is there."""

    def __init__(self, at: int, error: int, *, for_ever: bool = False) -> None:
        super().__init__()
        self.at, self.error, self.for_ever = at, error, for_ever
        self.failures = 0

    def met(self, name: str, path: str) -> None:
        number = len(self.calls)
        super().met(name, path)
        if number == self.at or (self.for_ever and number > self.at):
            self.failures += 1
            raise OSError(self.error, os.strerror(self.error), path)

    def failed(self, descriptor: int, data: bytes) -> None:
        os.write(descriptor, data[: len(data) // 2])


class KillingDisk(CountingDisk):
    """Ends the process at one of its calls; of what was being written then, a part may be there."""

    def __init__(self, at: int, *, is_partial: bool = False) -> None:
        super().__init__()
        self.at, self.is_partial = at, is_partial

    def met(self, name: str, path: str) -> None:
        number = len(self.calls)
        super().met(name, path)
        if number >= self.at:
            raise Killed

    def failed(self, descriptor: int, data: bytes) -> None:
        if self.is_partial and len(self.calls) == self.at + 1:
            os.write(descriptor, data[: len(data) // 2])


class DyingDisk(CountingDisk):
    """Has the process killed at one of its calls; of what was being written a part is there."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at

    def met(self, name: str, path: str) -> None:
        super().met(name, path)
        if len(self.calls) > self.at:
            if name == "write":
                raise Killed  # caught below: first a part of it is written
            os.kill(os.getpid(), signal.SIGKILL)

    def failed(self, descriptor: int, data: bytes) -> None:
        os.write(descriptor, data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)


def in_a_process(do: Callable[[], object]) -> int:
    """Do it in a process of its own, a copy of this one; return how that ended, as `os.waitpid` says it."""
    child = start_process(do)
    return os.waitpid(child, 0)[1]


def start_process(do: Callable[[], object]) -> int:
    """Begin it in a process of its own; return its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        do()
        code = 0
    finally:
        os._exit(code)


class RefusingDisk(CountingDisk):
    """Refuses what a test picks, with an error of its choice: a file system that lacks something."""

    def __init__(self, picks: Callable[[str, str], int]) -> None:
        super().__init__()
        self._picks = picks

    def met(self, name: str, path: str) -> None:
        super().met(name, path)
        error = self._picks(name, path)
        if error:
            raise OSError(error, os.strerror(error), path)


def no_links(name: str, _path: str) -> int:
    """What a file system refuses that knows no second names."""
    return errno.EPERM if name == "link" else 0
