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
from clew.store.disk import DISK
from clew.store.source import FileSource, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clew.store.disk import Disk

_TEMPORARY: Final = re.compile(r"\..+\.(\d+)-\d+\.clew")
_QUIET: Final = 1.0
"""Seconds without growth after which nobody is taken to write into the old file any more."""

_LONGEST: Final = 30.0
"""Seconds after which it is given up to wait for that."""

_STEP: Final = 0.02
_WINDOW: Final = 4096


class NotWrittenError(ClewError):
    """A file could not be written; what was there before is still there."""

    code = "not-written"

    def __init__(self, path: str, cause: str) -> None:
        super().__init__(f"{path} was not written: {cause}", hint="nothing was changed")
        self.path = path
        self.cause = cause


class NotCarriedError(ClewError):
    """A file was replaced, but what somebody added to the old one meanwhile could not be carried over."""

    code = "not-carried"

    def __init__(self, path: str, backup: str, cause: str) -> None:
        super().__init__(
            f"{path} was replaced, but what was added to it meanwhile is in its backup only: {cause}",
            hint=f"the backup is {backup}",
        )
        self.path = path
        self.backup = backup


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
        start = max(0, source.size - _WINDOW)
        return cls(source.device, source.inode, source.size, source.read(start, source.size - start))


def write_new(target: str, pieces: Iterable[bytes], *, disk: Disk = DISK) -> Written:
    """Write a file that is not there yet. It appears when it is whole, or not at all."""
    folder = os.path.dirname(target)  # noqa: PTH120
    temporary, size = _prepare(target, pieces, disk)
    try:
        _claim(temporary, target, disk)
    except BaseException:
        _drop(temporary, disk)
        raise
    _drop(temporary, disk)
    return Written(target, size, is_lasting=_confirm(folder, disk))


def _claim(temporary: str, target: str, disk: Disk) -> None:
    """Give the finished file its name, which nobody else may have taken meanwhile."""
    try:
        disk.link(temporary, target)
    except FileExistsError as error:
        raise NotWrittenError(target, "there is such a file already") from error
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}:
            raise NotWrittenError(target, reason(error)) from error
        _claim_without_links(temporary, target, disk)


def _claim_without_links(temporary: str, target: str, disk: Disk) -> None:
    """Do so on a file system that knows no second names: the name is taken first, then filled at once."""
    try:
        disk.close(disk.create(target))
        disk.replace(temporary, target)
    except FileExistsError as error:
        raise NotWrittenError(target, "there is such a file already") from error
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
        _expect(path, expected)
        try:
            disk.link(path, backup)
        except OSError as error:
            raise NotWrittenError(path, f"it cannot be backed up: {reason(error)}") from error
        try:
            disk.replace(temporary, path)
        except OSError as error:
            _drop(backup, disk)  # it is a second name of what is still there
            raise NotWrittenError(path, reason(error)) from error
    except BaseException:
        _drop(temporary, disk)
        raise
    is_lasting = _confirm(folder, disk)
    carried, is_quiet = _drain(backup, path, expected.size, disk, sleep, clock)
    return Written(path, size, is_lasting, is_quiet, carried)


def _prepare(target: str, pieces: Iterable[bytes], disk: Disk, *, mode: int = 0o600) -> tuple[str, int]:
    """Write everything into a file beside the target, and wait until it is on the disk."""
    folder, name = os.path.split(target)
    clean(folder, disk=disk)
    temporary, descriptor = _opened(folder, name, disk, mode)
    size = 0
    try:
        try:
            for piece in pieces:
                disk.write(descriptor, piece)
                size += len(piece)
            disk.sync(descriptor)
        finally:
            disk.close(descriptor)
    except OSError as error:
        _drop(temporary, disk)
        raise NotWrittenError(target, reason(error)) from error
    except BaseException:
        _drop(temporary, disk)
        raise
    return temporary, size


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
        if match is None or _is_running(int(match[1])):
            continue
        _drop(os.path.join(folder, name), disk)  # noqa: PTH118
        found.append(name)
    return found


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


def _expect(path: str, expected: Stamp) -> None:
    with FileSource(path) as source:
        if Stamp.of(source) != expected:
            raise ChangedOnDiskError(path)


def _confirm(folder: str, disk: Disk) -> bool:
    """Wait until the name is on the disk. The file is there; that it stays, nobody has said if this fails."""
    try:
        disk.sync_folder(folder)
    except OSError:
        return False
    return True


def _drop(temporary: str, disk: Disk) -> None:
    try:
        disk.unlink(temporary)
    except OSError:
        return  # the next writer in this folder removes it


def _drain(
    backup: str,
    path: str,
    start: int,
    disk: Disk,
    sleep: Callable[[float], None],
    clock: Callable[[], float],
) -> tuple[int, bool]:
    """Carry over what is written into the old file, until nobody has for a while."""
    began = last = clock()
    at = size = start
    while clock() - last < _QUIET:
        with FileSource(backup) as source:
            if source.size > size:
                size = source.size
                data = source.read(at, size - at)
                # Whole lines only: the rest of one comes with the next step.
                data = data[: data.rfind(b"\n") + 1]
                if data:
                    _append(path, backup, data, disk)
                    at += len(data)
                last = clock()
        if clock() - began > _LONGEST:
            return at - start, False
        sleep(_STEP)
    with FileSource(backup) as source:
        if source.size > at:  # an end without a line ending, that nobody finished
            data = source.read(at, source.size - at)
            _append(path, backup, data, disk)
            at += len(data)
    return at - start, True


def _append(path: str, backup: str, data: bytes, disk: Disk) -> None:
    try:
        descriptor = disk.open_end(path)
        try:
            disk.write(descriptor, data)
            disk.sync(descriptor)
        finally:
            disk.close(descriptor)
    except OSError as error:
        raise NotCarriedError(path, backup, reason(error)) from error
