"""The first and the last step of writing a file: all of it on the disk, then its name.

What lies between, and what is done when something fails, is told by `commit` for edits of sessions and by
`drafts` for all else.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import ChangedOnDiskError, ClewError
from clew.store.disk import DISK
from clew.store.source import FileSource, reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew.store.disk import Disk

NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What a file system says that has no second names, or no more of them."""

WINDOW: Final = 4096
"""How much of its end a file is known by."""


class NotWrittenError(ClewError):
    """A file could not be written; what was there before is still there."""

    code = "not-written"

    def __init__(self, path: str, cause: str) -> None:
        super().__init__(f"{path} was not written: {cause}", hint="nothing was changed")
        self.path = path
        self.cause = cause


class TakenError(NotWrittenError):
    """There is a file of that name already."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "there is such a file already")


class Stamp(NamedTuple):
    """How a file was when it was read: if it is still so, nothing of it is overlooked."""

    device: int
    inode: int
    size: int
    tail: bytes

    @classmethod
    def of(cls, source: FileSource) -> Stamp:
        """Return the stamp of a file that is open."""
        start = max(0, source.size - WINDOW)
        return cls(source.device, source.inode, source.size, source.read(start, source.size - start))


class Prepared(NamedTuple):
    """A file that is whole and on the disk, but not in its place yet."""

    size: int
    mtime_ns: int
    tail: bytes
    """Its end, as in a stamp."""


def claim(temporary: str, target: str, *, disk: Disk) -> bool:
    """Give the finished file its name, which nobody else may have taken meanwhile.

    Return whether it still has its temporary one too.
    """
    try:
        disk.link(temporary, target)
    except FileExistsError as error:
        raise TakenError(target) from error
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise NotWrittenError(target, reason(error)) from error
        _claim_without_links(temporary, target, disk)
        return False
    return True


def _claim_without_links(temporary: str, target: str, disk: Disk) -> None:
    """Do so on a file system that knows no second names.

    A name that is taken first and filled then would keep others out for certain, but a process killed in
    between would leave an empty file.
    """
    if os.path.lexists(target):
        raise TakenError(target)
    try:
        disk.replace(temporary, target)
    except OSError as error:
        raise NotWrittenError(target, reason(error)) from error


def prepare(
    temporary: str,
    pieces: Iterable[bytes],
    *,
    target: str,
    disk: Disk = DISK,
    mode: int = 0o600,
    owner: tuple[int, int] | None = None,
    mtime_ns: int | None = None,
) -> Prepared:
    """Write everything into a file that is not there yet, and wait until it is on the disk.

    Only its owner may read it, whoever could read what it takes the place of, unless a `mode` is given. Its
    time is now, unless another is.
    """
    try:
        descriptor = disk.create(temporary, mode=mode)
    except OSError as error:
        raise NotWrittenError(target, reason(error)) from error
    size, tail = 0, b""
    try:
        try:
            if owner is not None:
                disk.give(descriptor, *owner)
            for piece in pieces:
                disk.write(descriptor, piece)
                size += len(piece)
                tail = piece[-WINDOW:] if len(piece) >= WINDOW else (tail + piece)[-WINDOW:]
            if mtime_ns is not None and os.utime in os.supports_fd:
                disk.set_time(descriptor, mtime_ns)
            disk.sync(descriptor)
            mtime_ns = os.fstat(descriptor).st_mtime_ns
        finally:
            disk.close(descriptor)
    except OSError as error:
        drop(temporary, disk=disk)
        raise NotWrittenError(target, reason(error)) from error
    except BaseException:
        drop(temporary, disk=disk)
        raise
    return Prepared(size, mtime_ns, tail)


def expect(path: str, expected: Stamp, *, may_grow: bool = False) -> None:
    """Raise if a file is not as it was when it was read; `may_grow` lets pass what was only added to."""
    with FileSource(path) as source:
        now = Stamp.of(source)
        if may_grow and now.size > expected.size:
            start = max(0, expected.size - WINDOW)
            now = Stamp(now.device, now.inode, expected.size, source.read(start, expected.size - start))
        if now != expected:
            raise ChangedOnDiskError(path)


def confirm(folder: str, *, disk: Disk) -> bool:
    """Wait until the name is on the disk. The file is there; that it stays, nobody has said if this fails."""
    try:
        disk.sync_folder(folder)
    except OSError:
        return False
    return True


def drop(path: str, *, disk: Disk) -> bool:
    """Take away a file that is not wanted; say whether it is gone. If not, the next writer removes it."""
    try:
        disk.unlink(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
