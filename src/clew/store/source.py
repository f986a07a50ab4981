"""Open a session file safely and read its bytes.

Only regular files are ever opened. What is read is the file as it was when it was opened: bytes
added later are not seen, and bytes that are gone are an error, never silently short. Large parts read one
after the other are of one file: where its end was rewritten in between, that is as if it had been cut there.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from clew.errors import ChangedOnDiskError, NotARegularFileError, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from _typeshed import WriteableBuffer

Change = Literal["cut", "replaced", "deleted"]

# O_NONBLOCK: a pipe put in the file's place between stat() and open() must not hang us.
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_MOST: Final = 1 << 30
"""The most asked for in one call; Linux gives at most 2 GB at a time."""

_LARGE: Final = 1 << 16
_SEAM: Final = 4096
"""How many bytes before a part are looked at again: they are others if the end of the file was rewritten."""


def what_is(mode: int) -> str | None:
    """Name what a file mode says it is, or None for a regular file."""
    if stat.S_ISREG(mode):
        return None
    kinds = {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "not a regular file")


def reason(error: OSError | ValueError) -> str:
    """Say in a few words why a file could not be read."""
    if isinstance(error, OSError):
        if error.errno == errno.ELOOP:
            return "a loop of symbolic links"
        if error.strerror:
            return error.strerror[:1].lower() + error.strerror[1:]
    return str(error) or type(error).__name__


def open_regular(path: str, *, is_listed: bool = False) -> tuple[int, os.stat_result]:
    """Open a regular file for reading and return its descriptor and status; refuse anything else.

    `is_listed` says that it was seen to be one just now.
    """
    try:
        if not is_listed:
            # First without opening: to open a device can already do something.
            _refuse_others(path, os.stat(path))  # noqa: PTH116
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise UnreadableError(path, reason(error)) from error
    try:
        status = os.fstat(descriptor)
        _refuse_others(path, status)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, status


def _refuse_others(path: str, status: os.stat_result) -> None:
    what = what_is(status.st_mode)
    if what is not None:
        raise NotARegularFileError(path, what)


class FileSource:
    """The bytes of one session file as they were when it was opened; a `Source` for a `Session`."""

    __slots__ = ("_descriptor", "_seam", "device", "inode", "mtime_ns", "path", "size", "was_cut")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._descriptor = -1
        self.path = os.fspath(path)
        self._descriptor, status = open_regular(self.path)
        self.size = status.st_size
        """How many bytes there are: those there were, or those still there after a cut was met."""
        self.device = status.st_dev
        self.inode = status.st_ino
        self.mtime_ns = status.st_mtime_ns
        self.was_cut = False
        """Whether the file was found shorter than it had been, or its end rewritten while it was read."""
        # One value: several threads may read at once.
        self._seam = (0, b"")

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset`; fewer only at the end it had when opened."""
        wanted = min(length, self.size - offset)
        if wanted <= 0:
            return b""
        data = self.read_once(offset, wanted)
        if len(data) < wanted:  # a signal, a network file system or a cut
            parts = [data]
            have = len(data)
            while have < wanted:
                data = self.read_once(offset + have, wanted - have)
                if not data:
                    self.was_cut = True
                    raise ChangedOnDiskError(self.path)
                parts.append(data)
                have += len(data)
            data = b"".join(parts)
        if self.is_torn_at(offset):
            self.was_cut = True
            raise ChangedOnDiskError(self.path)
        self.read_up_to(offset + wanted, data)
        return data

    def leave_unfinished(self) -> None:
        """Take the file to end in its last whole line: somebody may be writing the rest of one."""
        at = self.size
        while at > 0:
            start = max(0, at - _LARGE)
            newline = self.read(start, at - start).rfind(b"\n")
            if newline >= 0:
                self.size = start + newline + 1
                return
            at = start
        self.size = 0

    def read_up_to(self, offset: int, data: bytes) -> None:
        """Take note of a part that was read and ends at `offset`."""
        self._seam = (offset, data[-_SEAM:] if len(data) >= _LARGE else b"")

    def is_torn_at(self, offset: int) -> bool:
        """Say whether a part read just now does not belong to the one read before, which ended at `offset`.

        A client that cuts the end away and writes another would else leave us with half a line of each.
        """
        at, seam = self._seam
        return at == offset and seam != b"" and self.read_once(offset - len(seam), len(seam)) != seam

    def readline(self, *, buffer: int = 1 << 20, end: int | None = None) -> Callable[[int], bytes]:
        """Return a quick `readline(limit)` up to `end`, or to where the file turns out to be cut."""
        return io.BufferedReader(_Reading(self, self.size if end is None else end), buffer).readline

    def change(self) -> Change | None:
        """Say what has become of the file since it was opened; growth is no change."""
        try:
            here = Path(self.path).stat()
        except OSError:
            return "deleted"
        if (here.st_dev, here.st_ino) != (self.device, self.inode):
            return "replaced"
        return "cut" if self.was_cut or here.st_size < self.size else None

    def close(self) -> None:
        """Let go of the file."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # A session lives as long as someone looks at it, and no one closes a session.
        self.close()

    def __repr__(self) -> str:
        return f"FileSource({self.path!r}, {self.size} bytes)"

    def read_once(self, offset: int, length: int) -> bytes:
        """Return what one call gives: often less than asked for, nothing where the file ends now."""
        try:
            return read_at(self._descriptor, min(length, _MOST), offset)
        except OSError as error:
            raise UnreadableError(self.path, reason(error)) from error

    def cut_at(self, offset: int) -> None:
        """Take note that the file ends at `offset` now."""
        self.was_cut = True
        self.size = offset


class _Reading(io.RawIOBase):
    """A file from its start to the end it had when it was opened, for a buffer to stand on."""

    def __init__(self, source: FileSource, end: int) -> None:
        super().__init__()
        self._source = source
        self._end = end
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        source = self._source
        view = memoryview(buffer).cast("B")
        wanted = min(len(view), min(self._end, source.size) - self._at)
        if wanted <= 0:
            return 0
        data = source.read_once(self._at, wanted)
        if not data or source.is_torn_at(self._at):
            source.cut_at(self._at)
            return 0
        source.read_up_to(self._at + len(data), data)
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


_SEEK: Final = threading.Lock()


def seek_and_read(descriptor: int, length: int, offset: int) -> bytes:
    """Do what `os.pread` does where there is none (Windows)."""
    with _SEEK:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, length)


read_at: Final[Callable[[int, int, int], bytes]] = getattr(os, "pread", seek_and_read)
