"""What was typed in earlier chats, so that it need not be typed again. Only its owner can read it."""

# ruff: noqa: PTH103, PTH105, PTH120

from __future__ import annotations

import contextlib
import json
import os
import stat
from typing import TYPE_CHECKING, Final

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
    path = str(state / _NAME)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor = os.open(path, flags, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return
            os.write(descriptor, json.dumps(text).encode("ascii") + b"\n")
            is_long = os.fstat(descriptor).st_size > 2 * _MOST_BYTES
        finally:
            os.close(descriptor)
        if is_long:
            _shorten(state, path)


def _shorten(state: Path, path: str) -> None:
    kept = read_history(state)[-_MOST // 2 :]
    temporary = f"{path}.{os.getpid()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(b"".join(json.dumps(text).encode("ascii") + b"\n" for text in kept))
    os.replace(temporary, path)
