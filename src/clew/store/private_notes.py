"""Small files in the state folder that only their owner may read: what one run of clew leaves for another.

They can be done without: one that cannot be read is as if it were not there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from clew.errors import ClewError
from clew.store.disk import DISK
from clew.store.source import FileSource
from clew.store.state import make_private
from clew.store.steps import about
from clew.store.writer import prepare

if TYPE_CHECKING:
    from pathlib import Path

    from clew.store.disk import Disk

_LARGEST: Final = 64 << 10


def write_note(folder: Path, name: str, data: bytes, *, disk: Disk = DISK) -> Path:
    """Put a note in its place, whole, over one that is there; folders are made."""
    make_private(folder, disk)
    path, temporary = folder / name, folder / f".{name}.{os.getpid()}.clew-new"
    with about(str(path)):
        with suppress(FileNotFoundError):
            disk.unlink(str(temporary))
        prepare(str(temporary), [data], target=str(path), disk=disk)
        disk.replace(str(temporary), str(path))
    return path


def read_note(folder: Path, name: str) -> bytes | None:
    """Return a note; None where there is none that can be read."""
    try:
        with FileSource(folder / name) as source:
            return source.read(0, _LARGEST)
    except ClewError:
        return None


def drop_note(folder: Path, name: str, *, disk: Disk = DISK) -> None:
    """Take a note away, if it is there."""
    with suppress(OSError):
        disk.unlink(str(folder / name))
