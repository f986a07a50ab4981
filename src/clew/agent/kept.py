"""What files were before the session changed them: copies in the client's own place, by its own names.

`<config>/file-history/<session>/<first 16 hex of sha256 of the path>@v<n>`. Which copies belong to which
prompt is said in the transcript; here they are made. A link is never followed: what it leads to is not the
file that was named.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from clew.format.kinds import FileHistoryDelta, FileHistorySnapshot
from clew.format.times import iso
from clew.store.disk import DISK
from clew.store.source import reason
from clew.store.state import make_private
from clew.store.writer import NotWrittenError

if TYPE_CHECKING:
    from clew.format.kinds.file_history import Backup
    from clew.session.session import Session
    from clew.store.disk import Disk

_READ: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_PIECE: Final = 1 << 20
_LARGEST: Final = 256 << 20
"""A file larger than this is not copied before it is changed."""

_MOST_VERSIONS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Copy:
    """What a file was at some time."""

    name: str | None
    """What the copy is called; None if there was no file."""

    version: int
    time: int
    digest: bytes | None = None
    """Of what is in it; None if this process did not make it."""

    def as_json(self) -> dict[str, object]:
        """Return it as the transcript says it."""
        return {"backupFileName": self.name, "version": self.version, "backupTime": iso(self.time)}


class Kept:
    """The copies of one session."""

    def __init__(self, folder: str, cwd: str, *, disk: Disk = DISK) -> None:
        self._folder = folder
        self._cwd = cwd
        self._disk = disk
        self._copies: dict[str, Copy] = {}
        self._own: set[str] = set()
        """The files that this process is the one to change."""
        self._is_ready = False

    @property
    def copies(self) -> dict[str, dict[str, object]]:
        """The copies there are, by path: relative inside the project, as the client has it."""
        return {path: copy.as_json() for path, copy in self._copies.items()}

    def take_up(self, session: Session) -> None:
        """Learn from a session that is continued what it has copies of."""
        table = session.table
        for row in range(len(table)):
            match table.kind_of(row):
                case "file-history-snapshot":
                    for path, backup in FileHistorySnapshot(session.entry(row).data).backups.items():
                        self._learn(path, backup)
                case "file-history-delta":
                    delta = FileHistoryDelta(session.entry(row).data)
                    if delta.path and delta.backup is not None:
                        self._learn(delta.path, delta.backup)
                case _:
                    pass

    def before(self, path: str, *, at: int) -> bool:
        """Keep a file that is about to be made or changed; say whether that is new to be told of.

        What is kept already is not kept again: until the next prompt that copy is what it was.
        """
        tracked = self._tracked(path)
        if tracked in self._copies:
            self._own.add(tracked)
            return False
        copy = self._copy(path, 1, at)
        if copy is None:
            return False
        self._copies[tracked] = copy
        self._own.add(tracked)
        return True

    def at_prompt(self, *, at: int) -> None:
        """Copy again every file that has changed since its last copy."""
        for tracked, last in list(self._copies.items()):
            path = os.path.join(self._cwd, tracked)  # noqa: PTH118
            # What a file says that was written elsewhere is no reason to read whatever it names.
            if tracked not in self._own and not self._is_inside(path):
                continue
            copy = self._copy(path, last.version + 1, at, unless=last)
            if copy is not None:
                self._copies[tracked] = copy

    def _is_inside(self, path: str) -> bool:
        """Say whether a file lies in the project, all links followed."""
        project = os.path.realpath(self._cwd).rstrip(os.sep) + os.sep
        try:
            return os.path.realpath(path).startswith(project)
        except (OSError, ValueError):
            return False

    def _learn(self, path: str, backup: Backup) -> None:
        version = backup.version if backup.version is not None and backup.version > 0 else 1
        name = backup.file_name
        # A name out of a file goes nowhere near a path before it is known to be a plain one.
        if name is not None and not _is_plain(name):
            return
        known = self._copies.get(path)
        if known is None or known.version <= version:
            self._copies[path] = Copy(name, min(version, _MOST_VERSIONS), 0)

    def _tracked(self, path: str) -> str:
        return path.removeprefix(self._cwd.rstrip(os.sep) + os.sep)

    def _copy(self, path: str, version: int, at: int, *, unless: Copy | None = None) -> Copy | None:
        """Make a copy; None if there is nothing to copy, or nothing new."""
        try:
            descriptor = os.open(path, _READ)
        except (FileNotFoundError, NotADirectoryError):
            return None if unless is not None and unless.name is None else Copy(None, version, at)
        except (OSError, ValueError):  # a link, or one that may not be read: whoever changes it will say so
            return None
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                return None
            digest = _digest(descriptor)
            if unless is not None and unless.name is not None and digest == self._digest_of(unless):
                return None
            return self._write(descriptor, path, version, at, digest)
        except OSError as error:
            raise NotWrittenError(path, f"what it was cannot be kept: {reason(error)}") from error
        finally:
            os.close(descriptor)

    def _digest_of(self, copy: Copy) -> bytes | None:
        if copy.digest is not None or copy.name is None:
            return copy.digest
        try:
            descriptor = os.open(os.path.join(self._folder, copy.name), _READ)  # noqa: PTH118
        except OSError:
            return None
        try:
            return _digest(descriptor)
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def _write(self, source: int, path: str, version: int, at: int, digest: bytes) -> Copy:
        if not self._is_ready:
            make_private(Path(self._folder), self._disk)
            self._is_ready = True
        start = sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        while True:
            name = f"{start}@v{version}"
            target = os.path.join(self._folder, name)  # noqa: PTH118
            try:
                copy = self._disk.create(target)
            except FileExistsError:
                # Left by somebody who came no further than this.
                version += 1
                if version > _MOST_VERSIONS:
                    raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), target) from None
                continue
            break
        try:
            try:
                _pour(source, copy, self._disk)
            finally:
                self._disk.close(copy)
        except BaseException:
            self._disk.unlink(target)
            raise
        return Copy(name, version, at, digest)


def _is_plain(name: str) -> bool:
    return bool(name) and name == os.path.basename(name) and name not in {".", ".."} and "\0" not in name  # noqa: PTH119


def _digest(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    found = sha256()
    while piece := os.read(descriptor, _PIECE):
        found.update(piece)
    return found.digest()


def _pour(source: int, target: int, disk: Disk) -> None:
    os.lseek(source, 0, os.SEEK_SET)
    while piece := os.read(source, _PIECE):
        disk.write(target, piece)
