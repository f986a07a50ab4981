"""Write session files so that at every moment there is the old file or the new one, whole.

A new file gets its name when all of it is on the disk. A file that is replaced keeps a second name, its
backup; whoever still writes into the old one is heard: what it gains is carried over.
"""

from __future__ import annotations

import errno
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import ChangedOnDiskError, ClewError
from clew.store.carrying import NotCarriedError, Patience, Watched, drain
from clew.store.disk import DISK
from clew.store.source import FileSource, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clew.store.disk import Disk

__all__ = (
    "NO_LINKS",
    "WINDOW",
    "NotCarriedError",
    "NotWrittenError",
    "Prepared",
    "Stamp",
    "Written",
    "claim",
    "clean",
    "confirm",
    "drop",
    "expect",
    "prepare",
    "write_in_place",
    "write_new",
)

_TEMPORARY: Final = re.compile(r"\..+\.(\d+)-\d+\.clew")
NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What a file system says that has no second names, or no more of them."""

WINDOW: Final = 4096
"""How much of its end a file is known by."""

_LONG_AGO: Final = 3600.0


class NotWrittenError(ClewError):
    """A file could not be written; what was there before is still there."""

    code = "not-written"

    def __init__(self, path: str, cause: str) -> None:
        super().__init__(f"{path} was not written: {cause}", hint="nothing was changed")
        self.path = path
        self.cause = cause


class Written(NamedTuple):
    """What came of writing."""

    path: str
    bytes: int
    is_lasting: bool = True
    """Whether the disk has confirmed it; if not, it is done but may not survive a power cut just now."""

    is_quiet: bool = True
    """Whether nobody went on writing into the file that was replaced."""

    carried: int = 0
    """How many bytes were written into it meanwhile, and carried over."""


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


def write_new(target: str, pieces: Iterable[bytes], *, disk: Disk = DISK) -> Written:
    """Write a file that is not there yet. It appears when it is whole, or not at all."""
    folder = os.path.dirname(target)  # noqa: PTH120
    temporary, size = _prepare(target, pieces, disk)
    try:
        claim(temporary, target, disk=disk)
    except BaseException:
        drop(temporary, disk=disk)
        raise
    drop(temporary, disk=disk)
    return Written(target, size, is_lasting=confirm(folder, disk=disk))


def claim(temporary: str, target: str, *, disk: Disk) -> None:
    """Give the finished file its name, which nobody else may have taken meanwhile."""
    try:
        disk.link(temporary, target)
    except FileExistsError as error:
        raise NotWrittenError(target, "there is such a file already") from error
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise NotWrittenError(target, reason(error)) from error
        _claim_without_links(temporary, target, disk)


def _claim_without_links(temporary: str, target: str, disk: Disk) -> None:
    """Do so on a file system that knows no second names.

    A name that is taken first and filled then would keep others out for certain, but a process killed in
    between would leave an empty file.
    """
    if os.path.lexists(target):
        raise NotWrittenError(target, "there is such a file already")
    try:
        disk.replace(temporary, target)
    except OSError as error:
        raise NotWrittenError(target, reason(error)) from error


def write_in_place(
    path: str,
    pieces: Iterable[bytes],
    *,
    expected: Stamp,
    backup: str,
    disk: Disk = DISK,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Written:
    """Put a new file in the place of one that is still as `expected`; the old one is then `backup`.

    What somebody writes into the old one meanwhile is carried over. The backup stays.
    """
    folder = os.path.dirname(path)  # noqa: PTH120
    mode = _mode(path)
    temporary, size = _prepare(path, pieces, disk, mode=mode)
    try:
        expect(path, expected)
        try:
            disk.link(path, backup)
        except OSError as error:
            raise NotWrittenError(path, f"it cannot be backed up: {reason(error)}") from error
        try:
            disk.replace(temporary, path)
        except OSError as error:
            drop(backup, disk=disk)  # it is a second name of what is still there
            raise NotWrittenError(path, reason(error)) from error
    except BaseException:
        drop(temporary, disk=disk)
        raise
    is_lasting = confirm(folder, disk=disk)
    (carried,), is_quiet = drain(
        [Watched(backup, path, expected.size)], disk=disk, patience=Patience(sleep=sleep, clock=clock)
    )
    return Written(path, size, is_lasting, is_quiet, carried)


def prepare(
    temporary: str,
    pieces: Iterable[bytes],
    *,
    target: str,
    disk: Disk = DISK,
    mode: int = 0o600,
    owner: tuple[int, int] | None = None,
) -> Prepared:
    """Write everything into a file that is not there yet, and wait until it is on the disk."""
    try:
        descriptor = disk.create(temporary, mode=mode)
    except OSError as error:
        raise NotWrittenError(target, reason(error)) from error
    return _fill(temporary, descriptor, pieces, target, disk, owner)


def _prepare(target: str, pieces: Iterable[bytes], disk: Disk, *, mode: int = 0o600) -> tuple[str, int]:
    """Do so beside the target, by the first name that is free."""
    folder, name = os.path.split(target)
    clean(folder, disk=disk)
    temporary, descriptor = _opened(folder, name, disk, mode)
    return temporary, _fill(temporary, descriptor, pieces, target, disk, None).size


def _fill(
    temporary: str,
    descriptor: int,
    pieces: Iterable[bytes],
    target: str,
    disk: Disk,
    owner: tuple[int, int] | None,
) -> Prepared:
    size, tail = 0, b""
    try:
        try:
            if owner is not None:
                disk.give(descriptor, *owner)
            for piece in pieces:
                disk.write(descriptor, piece)
                size += len(piece)
                tail = piece[-WINDOW:] if len(piece) >= WINDOW else (tail + piece)[-WINDOW:]
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


def _opened(folder: str, name: str, disk: Disk, mode: int) -> tuple[str, int]:
    for number in range(1000):
        # The names are cut, as a longer one may be too long for the file system.
        temporary = os.path.join(folder, f".{name[:80]}.{os.getpid()}-{number}.clew")  # noqa: PTH118
        try:
            return temporary, disk.create(temporary, mode=mode)
        except FileExistsError:
            continue
        except OSError as error:
            raise NotWrittenError(os.path.join(folder, name), reason(error)) from error  # noqa: PTH118
    raise NotWrittenError(os.path.join(folder, name), "there is no name left for it")  # noqa: PTH118


def clean(folder: str, *, disk: Disk = DISK) -> list[str]:
    """Remove what writers that are no more left unfinished in a folder; return their names."""
    found: list[str] = []
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return found
    for name in names:
        match = _TEMPORARY.fullmatch(name)
        path = os.path.join(folder, name)  # noqa: PTH118
        if match is None or (_is_running(int(match[1])) and not _is_old(path, int(match[1]))):
            continue
        drop(path, disk=disk)
        found.append(name)
    return found


def _is_old(path: str, process: int) -> bool:
    """Say whether nobody has written for an hour: then the process is another one with the same id."""
    try:
        written = Path(path).lstat().st_mtime
    except OSError:
        return False
    return process != os.getpid() and time.time() - written > _LONG_AGO


def _is_running(process: int) -> bool:
    if process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # somebody else's
    return True


def _mode(path: str) -> int:
    try:
        return Path(path).stat().st_mode & 0o777
    except OSError as error:
        raise NotWrittenError(path, reason(error)) from error


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
