"""Put a file in the place of another: whole or not at all, with the mode it had, and never through a link.

The new content is written beside the file and then takes its name. Where that would change more than the
content (a file with several names, somebody else's file, a folder that may not be written) the file is
written over instead. A file that is not as it was when it was read is left alone.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from typing import Final

from clew.agent import paths
from clew.errors import ClewError

_FLAGS: Final = (
    os.O_WRONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What file systems say that know no second names."""


class ChangedError(ClewError):
    """The file is not what it was when it was read."""

    code = "changed-on-disk"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was changed while it was about to be written")
        self.path = path


def create(path: str, data: bytes) -> os.stat_result:
    """Make a file at a resolved path, and the folders it needs. Raise `ChangedError` if one is there."""
    with paths.opened_folder(os.path.dirname(path), make=True) as folder:  # noqa: PTH120
        name = paths.place(path, folder)
        beside = _written(path, folder, data, mode=None)
        try:
            try:
                os.link(beside, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            except FileExistsError:
                raise ChangedError(path) from None
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                if _look(name, folder) is not None:
                    raise ChangedError(path) from None
                os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(beside, dir_fd=folder)


def replace(path: str, data: bytes, *, before: os.stat_result) -> os.stat_result:
    """Write a file that was read as `before`; return what the system says of it now."""
    with paths.opened_folder(os.path.dirname(path)) as folder:  # noqa: PTH120
        name = paths.place(path, folder)
        # Opened for writing though another takes its place: one who may not write a file is told so.
        descriptor = os.open(name, _FLAGS, dir_fd=folder)
        try:
            now = os.fstat(descriptor)
            _check(path, before, now)
            if _can_be_swapped(now):
                with suppress(PermissionError):
                    return _swap(path, folder, data, now)
            return _overwrite(descriptor, data)
        finally:
            os.close(descriptor)


def _swap(path: str, folder: int | None, data: bytes, before: os.stat_result) -> os.stat_result:
    name = paths.place(path, folder)
    beside = _written(path, folder, data, mode=stat.S_IMODE(before.st_mode), like=before)
    try:
        _copy_attributes(path, folder, beside)
        _check(path, before, _look(name, folder))
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=folder)
        raise
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def _overwrite(descriptor: int, data: bytes) -> os.stat_result:
    _write(descriptor, data)
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)
    return os.fstat(descriptor)


def _written(
    path: str, folder: int | None, data: bytes, *, mode: int | None, like: os.stat_result | None = None
) -> str:
    """Write a file beside another, and return what it is called; without a mode it gets the usual one."""
    name = f".clew-{secrets.token_hex(8)}.tmp"
    beside = name if folder is not None else os.path.join(os.path.dirname(path), name)  # noqa: PTH118, PTH120
    # Nobody else reads it before it has the mode it should have.
    descriptor = os.open(
        beside, _FLAGS | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600, dir_fd=folder
    )
    try:
        try:
            _write(descriptor, data)
            if like is not None and (like.st_uid, like.st_gid) != _owner(descriptor):
                os.fchown(descriptor, like.st_uid, like.st_gid)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise
    return beside


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _owner(descriptor: int) -> tuple[int, int]:
    facts = os.fstat(descriptor)
    return facts.st_uid, facts.st_gid


def _look(name: str, folder: int | None) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _check(path: str, before: os.stat_result, now: os.stat_result | None) -> None:
    if now is None or _identity(before) != _identity(now):
        raise ChangedError(path)


def _identity(facts: os.stat_result) -> tuple[int, ...]:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def _can_be_swapped(facts: os.stat_result) -> bool:
    """Whether another file may take this one's place: it would cut it off from its other names."""
    return stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1


def _copy_attributes(path: str, folder: int | None, beside: str) -> None:
    """Give the new file what the old one has beside its mode, access lists for example, where that works."""
    if folder is None or not hasattr(os, "listxattr"):
        return
    old = f"/proc/self/fd/{folder}/{os.path.basename(path)}"  # noqa: PTH119
    new = f"/proc/self/fd/{folder}/{beside}"
    with suppress(OSError):
        for name in os.listxattr(old, follow_symlinks=False):
            with suppress(OSError):
                os.setxattr(new, name, os.getxattr(old, name, follow_symlinks=False), follow_symlinks=False)
