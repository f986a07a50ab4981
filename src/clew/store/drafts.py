"""Write files under a name of their own, `.name.process-number.clew`, until they are whole.

Whoever writes next in the same folder knows by that name what a killed process left there, and removes it
(`clean`). Edits of sessions have the journal for that instead (`commit`).
"""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Final

from clew.store.disk import DISK
from clew.store.locks import started
from clew.store.source import reason
from clew.store.writer import NotWrittenError, claim, drop

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew.store.disk import Disk

_TEMPORARY: Final = re.compile(r"\..+\.(\d+)-\d+\.clew", re.DOTALL)
_LONGEST: Final = 80
"""How many bytes of a name its temporary one begins with: with all of them it may be too long."""

_MOST: Final = 1000
_LONG_AGO: Final = 3600.0


class Draft:
    """A file being written, that has no name of its own yet."""

    def __init__(self, folder: str, name: str, *, mode: int = 0o600, disk: Disk = DISK) -> None:
        self._disk = disk
        self._folder = folder
        self.size = 0
        self._name = os.path.join(folder, name)  # noqa: PTH118
        self._path, self._descriptor = self._open(name, mode)

    def _open(self, name: str, mode: int) -> tuple[str, int]:
        for number in range(_MOST):
            temporary = f".{_beginning(name)}.{os.getpid()}-{number}.clew"
            path = os.path.join(self._folder, temporary)  # noqa: PTH118
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
            if not claim(self._path, target, disk=self._disk):
                self._path = ""
        except OSError as error:
            raise NotWrittenError(target, reason(error)) from error
        finally:
            self.drop()
        return target

    def drop(self) -> None:
        """Give it up, or its first name once it has another."""
        path, self._path = self._path, ""
        try:
            self._close()
        except OSError:
            pass  # it is let go of, whatever is said
        finally:
            if path:
                drop(path, disk=self._disk)

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            self._disk.close(descriptor)


def _beginning(name: str) -> str:
    name = name[:_LONGEST]
    while len(os.fsencode(name)) > _LONGEST:
        name = name[:-1]
    return name


def put(folder: str, name: str, pieces: Iterable[bytes], *, mode: int = 0o600, disk: Disk = DISK) -> str:
    """Write a file that is not there yet; it appears when it is whole, or not at all.

    The caller waits for the folder (`sync_names`), once for all that it puts there.
    """
    draft = Draft(folder, name, mode=mode, disk=disk)
    try:
        for piece in pieces:
            draft.write(piece)
    except BaseException:
        draft.drop()
        raise
    return draft.finish(name)


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
        if match is None or (started(int(match[1])) is not None and not _is_old(path, int(match[1]))):
            continue
        drop(path, disk=disk)
        found.append(name)
    return found


def _is_old(path: str, process: int) -> bool:
    """Say whether nobody has written for an hour: then the process is another one with the same id."""
    try:
        written = os.lstat(path).st_mtime
    except OSError:
        return False
    return process != os.getpid() and time.time() - written > _LONG_AGO


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
    sync_names(above, disk=disk)


def sync_names(folder: str, *, disk: Disk = DISK) -> None:
    """Wait until the names in a folder are on the disk; raise if that is not to be had.

    For what the next step stands on. Where all is done already, `writer.confirm` only says whether they are.
    """
    try:
        disk.sync_folder(folder)
    except OSError as error:
        raise NotWrittenError(folder, reason(error)) from error
