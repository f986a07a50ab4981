"""What was typed in earlier chats, so that it need not be typed again. Only its owner can read it."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from typing import TYPE_CHECKING, Final

from clew.errors import ClewError
from clew.store.disk import DISK
from clew.store.state import make_private
from clew.store.writer import prepare

if TYPE_CHECKING:
    from pathlib import Path

_NAME: Final = "chat-history.jsonl"
_MOST: Final = 1000
_MOST_BYTES: Final = 4 << 20
_LONGEST: Final = 20_000
"""A prompt longer than that is not kept."""


def read_history(state: Path) -> list[str]:
    """Return what was typed, oldest first; what cannot be read is left out."""
    try:
        descriptor = os.open(str(state / _NAME), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            return []
        data = os.pread(descriptor, _MOST_BYTES, max(0, about.st_size - _MOST_BYTES))
    except OSError:
        return []
    finally:
        os.close(descriptor)
    found: list[str] = []
    for line in data.split(b"\n"):
        with contextlib.suppress(ValueError, RecursionError):
            value: object = json.loads(line)
            if isinstance(value, str) and value.strip():
                found.append(value)
    return found[-_MOST:]


def keep(state: Path, text: str) -> None:
    """Add what was typed. A disk that is full or read-only costs the history, not the session."""
    if not text.strip() or len(text) > _LONGEST:
        return
    path = state / _NAME
    with contextlib.suppress(OSError, ClewError):
        make_private(state, DISK)
        is_long = _add(str(path), json.dumps(text).encode("ascii") + b"\n")
        if is_long:
            _shorten(state, str(path))


def _add(path: str, line: bytes) -> bool:
    """Add a line; say whether the file is too long by now."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):  # a pipe would be waited for
            return False
        descriptor = DISK.open_end(path)
    except FileNotFoundError:
        descriptor = DISK.create(path)
    try:
        DISK.write(descriptor, line)
        return os.fstat(descriptor).st_size > 2 * _MOST_BYTES
    finally:
        DISK.close(descriptor)


def _shorten(state: Path, path: str) -> None:
    kept = read_history(state)[-_MOST // 2 :]
    temporary = f"{path}.{os.getpid()}"
    prepare(temporary, (json.dumps(text).encode("ascii") + b"\n" for text in kept), target=path)
    DISK.replace(temporary, path)
