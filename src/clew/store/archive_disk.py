"""Put files of an archive, and those taken from it, in their places: whole, or not at all."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Final

from clew.store.disk import DISK
from clew.store.source import reason
from clew.store.writer import NO_LINKS, NotWrittenError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew.store.disk import Disk

_NO_SYNC: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EACCES})
"""What is said of a folder that cannot be asked, as on some network disks; nothing failed then."""


class Draft:
    """A file being written under another name, which `writer.clean` knows if nobody finishes it."""

    def __init__(self, folder: str, name: str, *, mode: int = 0o600, disk: Disk = DISK) -> None:
        self._disk = disk
        self._folder = folder
        self.size = 0
        self._name = os.path.join(folder, name)  # noqa: PTH118
        self._path, self._descriptor = self._open(name, mode)

    def _open(self, name: str, mode: int) -> tuple[str, int]:
        for number in range(1000):
            path = os.path.join(self._folder, f".{name[:80]}.{os.getpid()}-{number}.clew")  # noqa: PTH118
            try:
                return path, self._disk.create(path, mode=mode)
            except FileExistsError:
                continue
            except OSError as error:
                raise NotWrittenError(self._name, reason(error)) from error
        raise NotWrittenError(self._name, "there is no name left for it")

    def write(self, data: bytes) -> None:
        """Add to it."""
        try:
            self._disk.write(self._descriptor, data)
        except OSError as error:
            raise NotWrittenError(self._name, reason(error)) from error
        self.size += len(data)

    def finish(self, name: str) -> str:
        """Give it its name, which must be free, when all of it is on the disk."""
        target = os.path.join(self._folder, name)  # noqa: PTH118
        try:
            self._disk.sync(self._descriptor)
            self._close()
            self._claim(target)
        except FileExistsError as error:
            raise NotWrittenError(target, "there is such a file already") from error
        except OSError as error:
            raise NotWrittenError(target, reason(error)) from error
        finally:
            self.drop()
        return target

    def drop(self) -> None:
        """Give it up, or its first name once it has another."""
        try:
            self._close()
            if self._path:
                self._disk.unlink(self._path)
        except OSError:
            return  # whoever writes here next removes it
        finally:
            self._path = ""

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            self._disk.close(descriptor)

    def _claim(self, target: str) -> None:
        try:
            self._disk.link(self._path, target)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            # A file system that knows no second names: the name is taken first, then filled at once.
            self._disk.close(self._disk.create(target))
            self._disk.replace(self._path, target)
            self._path = ""


def put(folder: str, name: str, pieces: Iterable[bytes], *, mode: int = 0o600, disk: Disk = DISK) -> str:
    """Write a file that is not there yet. The caller confirms the folder, once for all that it puts there."""
    draft = Draft(folder, name, mode=mode, disk=disk)
    try:
        for piece in pieces:
            draft.write(piece)
    except BaseException:
        draft.drop()
        raise
    return draft.finish(name)


def make_folders(path: str, *, disk: Disk = DISK) -> None:
    """Make a folder and those above it that are missing; only their owner may look into them."""
    if os.path.isdir(path):  # noqa: PTH112
        return
    above = os.path.dirname(path)  # noqa: PTH120
    if above != path:
        make_folders(above, disk=disk)
    try:
        disk.make_folder(path)
    except FileExistsError:  # somebody else was quicker, or it is no folder
        if not os.path.isdir(path):  # noqa: PTH112
            raise NotWrittenError(path, "something that is no folder is in its place") from None
        return
    except OSError as error:
        raise NotWrittenError(path, reason(error)) from error
    confirm(above, disk=disk)


def confirm(folder: str, *, disk: Disk = DISK) -> None:
    """Wait until the names in a folder are on the disk, where the file system can be asked for that."""
    try:
        disk.sync_folder(folder)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise NotWrittenError(folder, reason(error)) from error
