"""The few calls by which files of a store are written: the only door, and a thin one.

Each does one thing to the disk and either does all of it or raises. Tests put a disk in its place that fails
at a call of their choosing.
"""

from __future__ import annotations

import errno
import os
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_NEW: Final = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_CANNOT_ASK: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EACCES})
"""What is said of a folder on some network file systems, or of one that may be written but not read."""

_LOCK: Final = (
    os.O_RDWR
    | os.O_CREAT
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_END: Final = (
    os.O_WRONLY
    | os.O_APPEND
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class Disk:
    """The disk as it is."""

    def create(self, path: str, *, mode: int = 0o600) -> int:
        """Make a file that must not be there yet, and open it for writing; only its owner may read it."""
        descriptor = os.open(path, _NEW, mode)
        if os.name == "posix":  # whatever the umask says
            self._or_close(descriptor, lambda: os.fchmod(descriptor, mode))
        return descriptor

    def unnamed(self) -> IO[bytes]:
        """Make a file without a name, to hold something for a while: nothing is left of it in any case."""
        import tempfile

        return tempfile.TemporaryFile()

    def open_end(self, path: str) -> int:
        """Open a file to write at its end, wherever that is by then."""
        return os.open(path, _END)

    def open_lock(self, path: str) -> int:
        """Open a file that stands for something else, to lock it; it is made if it is not there."""
        return os.open(path, _LOCK, 0o600)

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all of it: a full disk may take a part without a word."""
        view = memoryview(data)
        while view:
            taken = os.write(descriptor, view)
            if not taken:  # else this would go on for ever
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            view = view[taken:]

    def give(self, descriptor: int, user: int, group: int) -> None:
        """Make a file somebody else's, as only the superuser can."""
        os.fchown(descriptor, user, group)

    def set_time(self, descriptor: int, mtime_ns: int) -> None:
        """Let a file be one that was last written at another time."""
        os.utime(descriptor, ns=(mtime_ns, mtime_ns))

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut a file that is open for writing."""
        os.ftruncate(descriptor, size)

    def sync(self, descriptor: int) -> None:
        """Wait until what was written is on the disk."""
        os.fsync(descriptor)

    def close(self, descriptor: int) -> None:
        """Let go of a file."""
        os.close(descriptor)

    def link(self, source: str, target: str) -> None:
        """Give a file a second name, which must not be taken."""
        os.link(source, target, follow_symlinks=False)

    def replace(self, source: str, target: str) -> None:
        """Put a file in the place of another, at once."""
        os.replace(source, target)  # noqa: PTH105  # nothing else happens on the way

    def unlink(self, path: str) -> None:
        """Take a name away."""
        os.unlink(path)  # noqa: PTH108

    def make_private(self, path: str) -> None:
        """Let only its owner read a file."""
        os.chmod(path, 0o600, follow_symlinks=os.chmod not in os.supports_follow_symlinks)  # noqa: PTH101

    def make_folder(self, path: str) -> None:
        """Make a folder that only its owner may look into."""
        os.mkdir(path, 0o700)  # noqa: PTH102

    def remove_folder(self, path: str) -> None:
        """Take away a folder that is empty."""
        os.rmdir(path)  # noqa: PTH106

    def sync_folder(self, path: str) -> None:
        """Wait until the names in a folder are on the disk, where a folder can be asked for that at all."""
        if os.name != "posix":
            return
        try:
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            if error.errno not in _CANNOT_ASK:
                raise

    def _or_close(self, descriptor: int, do: Callable[[], None]) -> None:
        try:
            do()
        except BaseException:
            os.close(descriptor)
            raise


DISK: Final = Disk()
