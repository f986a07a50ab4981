"""The few calls by which files of a store are written: the only door, and a thin one.

Each does one thing to the disk and either does all of it or raises. Tests put a disk in its place that fails
at a call of their choosing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

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

    def open_end(self, path: str) -> int:
        """Open a file to write at its end, wherever that is by then."""
        return os.open(path, _END)

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all of it: a full disk may take a part without a word."""
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

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

    def make_folder(self, path: str) -> None:
        """Make a folder that only its owner may look into."""
        os.mkdir(path, 0o700)  # noqa: PTH102

    def sync_folder(self, path: str) -> None:
        """Wait until the names in a folder are on the disk, where folders can be opened at all."""
        if os.name != "posix":
            return
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _or_close(self, descriptor: int, do: Callable[[], None]) -> None:
        try:
            do()
        except BaseException:
            os.close(descriptor)
            raise


DISK: Final = Disk()
