"""Keep the key by which the same secret gets the same placeholder, today and in a year.

Without it a placeholder says nothing of the secret; so it is drawn once, and only its owner may read it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from clew.errors import NotARegularFileError, UnreadableError
from clew.store.disk import DISK
from clew.store.drafts import sync_names
from clew.store.locks import hold
from clew.store.source import FileSource
from clew.store.steps import about
from clew.store.writer import prepare

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.store.disk import Disk

NAME: Final = "redaction-key"
_UNFINISHED: Final = f".{NAME}.clew-new"
_SIZE: Final = 32
_LEAST: Final = 16
"""What is shorter was damaged, or never finished by whoever made it, and is no key."""

_LARGEST: Final = 4096
_WAIT: Final = 10.0
"""Seconds for which another process may be at it: a slow disk takes one or two to confirm a file."""


def placeholder_key(state: Path, *, draw: Callable[[int], bytes], disk: Disk = DISK) -> bytes:
    """Return the key, the same for all; `draw` makes one where there is none yet, or a damaged one."""
    path = str(state / NAME)
    key = _read(path)
    if key is not None:
        return key
    # Two that replaced a damaged one at once would go on with different keys: one waits and reads.
    with hold(path, state=state, wait=_WAIT, disk=disk):
        key = _read(path)
        if key is None:
            key = draw(_SIZE)
            _write(path, key, state, disk)
        return key


def _read(path: str) -> bytes | None:
    """Return the key, or None if there is none."""
    try:
        with FileSource(path) as source:
            data = source.read(0, _LARGEST)
    except NotARegularFileError as error:
        raise UnreadableError(path, f"it is {error.what}") from error
    except UnreadableError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
    return data if len(data) >= _LEAST else None


def _write(path: str, key: bytes, state: Path, disk: Disk) -> None:
    """Put a key in its place, whole; when this returns, it is on the disk."""
    # Not by `drafts.put`: that cannot replace, and a process killed in it can leave the key a second name.
    temporary = str(state / _UNFINISHED)
    with about(path):
        with suppress(FileNotFoundError):
            disk.unlink(temporary)  # only one at a time is here
        prepare(temporary, [key], target=path, disk=disk)
        disk.replace(temporary, path)
    sync_names(str(state), disk=disk)
