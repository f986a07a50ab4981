"""A folder in the state folder where something is laid out before it is used, and which is gone afterwards.

Whoever comes next removes what a killed process left. Nothing is waited for: it is not to last.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Final

from clew.store.disk import DISK
from clew.store.locks import BusyError, hold
from clew.store.source import reason
from clew.store.state import make_private, missing_folders
from clew.store.writer import NotWrittenError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from pathlib import Path

    from clew.store.disk import Disk

_PARENT: Final = "incoming"
_MOST: Final = 100


class Stage:
    """A folder to lay files out in."""

    def __init__(self, folder: str, disk: Disk) -> None:
        self.folder = folder
        self._disk = disk

    def path(self, place: str) -> str:
        """Return where a file is laid out."""
        return os.path.join(self.folder, *place.split("/"))  # noqa: PTH118

    def put(self, place: str, pieces: Iterable[bytes]) -> None:
        """Lay a file out."""
        path = self.path(place)
        try:
            for folder in missing_folders(os.path.dirname(path)):  # noqa: PTH120
                self._disk.make_folder(folder)
            descriptor = self._disk.create(path)
            try:
                for piece in pieces:
                    self._disk.write(descriptor, piece)
            finally:
                self._disk.close(descriptor)
        except OSError as error:
            raise NotWrittenError(path, reason(error)) from error


@contextmanager
def staging(state: Path, *, disk: Disk = DISK) -> Generator[Stage]:
    """Give a folder that is empty, and remove it in the end with all that is in it."""
    parent = str(state / _PARENT)
    try:
        # Its own name must last: the journal comes to lie beside it, and would be lost with the state folder.
        make_private(state / _PARENT, disk)
        names = os.listdir(parent)  # noqa: PTH208
    except OSError as error:
        raise NotWrittenError(parent, reason(error)) from error
    for name in names:
        # One that somebody is at is held by him; of the others nobody is left.
        with suppress(BusyError), hold(own := os.path.join(parent, name), state=state, wait=0, disk=disk):  # noqa: PTH118
            _remove(own, disk)
    for number in range(_MOST):
        own = os.path.join(parent, str(number))  # noqa: PTH118
        with ExitStack() as held:
            try:
                held.enter_context(hold(own, state=state, wait=0, disk=disk))
            except BusyError:
                continue
            try:
                disk.make_folder(own)
            except FileExistsError:
                continue  # it could not be removed
            except OSError as error:
                raise NotWrittenError(own, reason(error)) from error
            try:
                yield Stage(own, disk)
            finally:
                _remove(own, disk)
            return
    raise NotWrittenError(parent, "there is no room left in it")


def _remove(folder: str, disk: Disk) -> None:
    """Remove a folder with what is in it; what stays is tried again by whoever comes next."""
    for here, folders, files in os.walk(folder, topdown=False):
        for name in files:
            _quietly(disk.unlink, os.path.join(here, name))  # noqa: PTH118
        for name in folders:
            _quietly(disk.remove_folder, os.path.join(here, name))  # noqa: PTH118
    _quietly(disk.remove_folder, folder)


def _quietly(do: Callable[[str], None], path: str) -> None:
    try:
        do(path)
    except OSError:
        return
