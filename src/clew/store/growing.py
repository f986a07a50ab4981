"""A session file that one process goes on writing: whole lines at its end, and nothing else ever.

Whoever grows a session holds its lock, so that two of us do not continue the same conversation; a client that
is at it is noticed by the signs of `live`. Edits go by `commit`, a single line by `append`.
"""

from __future__ import annotations

import os
import stat
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from clew.errors import ChangedOnDiskError, ClewError, NotARegularFileError, RefusedError, UnreadableError
from clew.store.disk import DISK
from clew.store.files import Skipped, at_path
from clew.store.live import liveness
from clew.store.locks import hold
from clew.store.source import FileSource, reason, what_is
from clew.store.state import make_private
from clew.store.writer import NotWrittenError, TakenError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from clew.store.disk import Disk
    from clew.store.live import Live

_WAIT: Final = 1.5
"""Seconds to wait for another of us that is just letting go."""


class PartlyWrittenError(NotWrittenError):
    """A write failed half way, and what it left could not be cut away again: somebody wrote behind it."""

    def __init__(self, path: str, cause: str, *, whole: int) -> None:
        super().__init__(path, cause)
        self.hint = "a part of it is there; it is passed over when the session is read"
        self.whole = whole
        """How many of the lines are there whole, the first ones."""


class Growing:
    """A session file open to be added to. Its methods may be called from several threads."""

    def __init__(self, path: str, descriptor: int, held: ExitStack, disk: Disk, *, is_new: bool) -> None:
        status = os.fstat(descriptor)
        self.path = path
        self.live: Live | None = None
        """How an existing file was found. That it was written just now is worth a word, but no refusal."""
        self.written_by_others = 0
        """How many bytes somebody else has added meanwhile."""
        self._descriptor = descriptor
        self._held = held
        self._disk = disk
        self._is_new = is_new
        self._place = (status.st_dev, status.st_ino)
        self._size = status.st_size
        self._lock = threading.Lock()

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, state: Path, disk: Disk = DISK) -> Self:
        """Make a file that must not be there yet, and the folders it lies in; only their owner may look."""
        named = os.path.abspath(path)  # noqa: PTH100
        with ExitStack() as stack:
            try:
                make_private(Path(named).parent, disk)
                stack.enter_context(hold(named, state=state, wait=_WAIT, disk=disk))
                disk.close(disk.create(named))
                # Opened anew: what is created is written at a place of its own, not where the end is by then.
                descriptor = disk.open_end(named)
            except FileExistsError as error:
                raise TakenError(named) from error
            except OSError as error:
                raise NotWrittenError(named, reason(error)) from error
            return cls(named, descriptor, stack.pop_all(), disk, is_new=True)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        state: Path,
        now: float,
        force: bool = False,
        disk: Disk = DISK,
    ) -> Self:
        """Open a file that is there; refuse if somebody else is writing it now, in seconds, unless forced."""
        named = os.path.abspath(path)  # noqa: PTH100
        with ExitStack() as stack:
            _insist_regular(named)
            stack.enter_context(hold(named, state=state, wait=_WAIT, disk=disk))
            live = _refuse_others(named, now=now, force=force)
            descriptor = _open_end(named, disk)
            grown = cls(named, descriptor, stack.pop_all(), disk, is_new=False)
            grown.live = live
            return grown

    @property
    def size(self) -> int:
        """How many bytes there are, as far as this process knows."""
        return self._size

    def append(self, lines: Sequence[bytes]) -> None:
        """Write lines behind what is there, in one go; each has its newline or is given one.

        Either all of them are there afterwards or an error says what is.
        """
        ended = [line if line.endswith(b"\n") else line + b"\n" for line in lines]
        if any(line.find(b"\n") != len(line) - 1 for line in ended):
            raise ValueError("a line of a session holds no newline but its own")
        if not ended:
            return
        with self._lock:
            start = self._look()
            lead = b"\n" if self._is_open_at(start) else b""
            data = lead + b"".join(ended)
            try:
                self._disk.write(self._descriptor, data)
            except BaseException as error:
                whole = self._take_back(start, data, ended)
                if not isinstance(error, OSError):
                    raise
                if whole is None:
                    raise NotWrittenError(self.path, reason(error)) from error
                raise PartlyWrittenError(self.path, reason(error), whole=whole) from error
            self._size = start + len(data)

    def sync(self) -> None:
        """Wait until what was written is on the disk."""
        with self._lock:
            try:
                self._disk.sync(self._descriptor)
            except OSError as error:
                raise NotWrittenError(self.path, reason(error)) from error

    def close(self) -> None:
        """Let go of the file and of its lock. A file made here that nothing came into is taken away again."""
        with self._lock:
            descriptor, self._descriptor = self._descriptor, -1
            if descriptor < 0:
                return
            try:
                here = os.stat(self.path)  # noqa: PTH116
                if self._is_new and not here.st_size and (here.st_dev, here.st_ino) == self._place:
                    self._disk.unlink(self.path)
            except OSError:
                pass  # an empty file does no harm
            finally:
                try:
                    self._disk.close(descriptor)
                finally:
                    self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _look(self) -> int:
        """Return where the file ends now; raise if it is no longer the one that was opened."""
        if self._descriptor < 0:
            raise NotWrittenError(self.path, "it is closed")
        try:
            here = os.stat(self.path)  # noqa: PTH116
        except OSError as error:
            raise ChangedOnDiskError(self.path) from error
        # Written on, the lines would go into a file that has no name any more; or follow lines that are gone.
        if (here.st_dev, here.st_ino) != self._place or here.st_size < self._size:
            raise ChangedOnDiskError(self.path)
        self.written_by_others += here.st_size - self._size
        self._size = here.st_size
        return here.st_size

    def _is_open_at(self, end: int) -> bool:
        """Say whether the last line has no end yet."""
        return end > 0 and self._read(end - 1, 1) != b"\n"

    def _read(self, offset: int, length: int) -> bytes:
        with FileSource(self.path) as source:
            return source.read(offset, length)

    def _take_back(self, start: int, data: bytes, lines: Sequence[bytes]) -> int | None:
        """Cut away what a failed write left. Return how many whole lines stay, None if nothing is left."""
        there = b""
        try:
            size = os.fstat(self._descriptor).st_size
            there = self._read(start, size - start)
            if data.startswith(there):  # else somebody wrote too, before it or behind it
                if there:
                    self._disk.truncate(self._descriptor, start)
                return None
            self._size = size
        except (OSError, ClewError):
            pass  # what is left is found by the next look, and ended with a newline before anything is added
        behind = b"\n" + there
        return next((n for n, line in enumerate(lines) if b"\n" + line not in behind), len(lines))


def _insist_regular(path: str) -> None:
    """Refuse what is no file of its own: a link may lead anywhere, and to open a pipe can hang."""
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError) as error:
        raise UnreadableError(path, reason(error)) from error
    what = "a link" if stat.S_ISLNK(mode) else what_is(mode)
    if what is not None:
        raise NotARegularFileError(path, what)


def _open_end(path: str, disk: Disk) -> int:
    try:
        descriptor = disk.open_end(path)
    except OSError as error:
        raise NotWrittenError(path, reason(error)) from error
    what = what_is(os.fstat(descriptor).st_mode)
    if what is not None:  # put in its place between the two looks
        disk.close(descriptor)
        raise NotARegularFileError(path, what)
    return descriptor


def _refuse_others(path: str, *, now: float, force: bool) -> Live:
    """Raise if a client says that it is at this session, or has the file open for writing."""
    file = at_path(path)
    if isinstance(file, Skipped):
        raise UnreadableError(path, file.reason)
    live = liveness(file, now=now)
    if live.why in {"process", "open"} and not force:
        does = "says it is at it" if live.why == "process" else "has it open for writing"
        raise RefusedError(
            f"{path} is being written by somebody else: process {live.pid} {does}",
            hint="end that one first, or fork the session; --force continues it all the same",
        )
    return live
