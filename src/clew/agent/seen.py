"""Which files the model has seen in this session, and as what.

A file may be changed only by who knows what is in it: it must have been read (or written) in this session,
and hold the same still. The size and the time of a file tell quickly that nothing happened; the digest
of what it holds decides, so that a file that was merely touched counts as the same, and one that was changed
within a tick of the clock does not.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from clew.agent import paths
from clew.errors import ClewError

if TYPE_CHECKING:
    import os

Judgement = Literal["unseen", "same", "changed"]

_MOST: Final = 64 << 20
"""Of a file larger than this nobody asks whether it changed: it cannot have been read."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a file was when the model last saw it."""

    digest: bytes
    """Of its bytes; of its text with plain line ends where only that is known."""

    size: int | None = None
    mtime_ns: int | None = None
    is_whole: bool = True
    """Whether the model saw all of it, and not some lines."""

    is_text: bool = False
    """Whether the digest is that of the text: the file was seen in an earlier run of this session."""

    window: tuple[int, int | None] | None = None
    """The lines that were asked for, as the first and how many; None where that has no meaning."""


class Seen:
    """The files that were seen, by their resolved path. Calls that run at once may share it."""

    def __init__(self) -> None:
        self._sights: dict[str, Sight] = {}
        self._lock = threading.Lock()

    def note(
        self,
        path: str,
        data: bytes,
        facts: os.stat_result,
        *,
        is_whole: bool = True,
        window: tuple[int, int | None] | None = None,
    ) -> None:
        """Keep that the model knows what a file holds: it read it, or wrote it."""
        sight = Sight(_digest(data), facts.st_size, facts.st_mtime_ns, is_whole, window=window)
        with self._lock:
            self._sights[path] = sight

    def remember(self, path: str, text: str) -> None:
        """Keep that the model knows a file by what an earlier run of the session read or wrote of it.

        The text must be all of the file, as the transcript has it: decoded, with plain line ends.
        """
        sight = Sight(_digest(_plain(text)), is_text=True)
        with self._lock:
            self._sights[path] = sight

    def forget(self, path: str) -> None:
        """Take a file for one that was never seen."""
        with self._lock:
            self._sights.pop(path, None)

    def sight(self, path: str) -> Sight | None:
        """Return what a file was when it was last seen."""
        with self._lock:
            return self._sights.get(path)

    def judge(self, path: str, data: bytes) -> Judgement:
        """Say whether the model knows a file that now holds these bytes."""
        sight = self.sight(path)
        if sight is None:
            return "unseen"
        if sight.is_text:
            return "same" if sight.digest == _digest(_text(data)) else "changed"
        return "same" if sight.digest == _digest(data) else "changed"

    def changed(self) -> tuple[str, ...]:
        """Return the files that hold something else now than what was seen; those that are gone, too."""
        return tuple(path for path in self.paths if self._has_changed(path))

    def _has_changed(self, path: str) -> bool:
        sight = self.sight(path)
        if sight is None:
            return False
        try:
            facts = paths.look(path)
            if facts is None:
                return True
            if (facts.st_size, facts.st_mtime_ns) == (sight.size, sight.mtime_ns):
                return False
            return self.judge(path, paths.read(path, most=_MOST).data) == "changed"
        except (OSError, ClewError):
            return True

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that were seen, the latest last."""
        with self._lock:
            return tuple(self._sights)

    def copy(self) -> Seen:
        """Return the same knowledge for somebody who goes on alone, as a sub-agent does."""
        other = Seen()
        with self._lock:
            other._sights.update(self._sights)
        return other


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _plain(text: str) -> bytes:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").encode("utf-8", "surrogatepass")


def _text(data: bytes) -> bytes:
    """Return what a transcript would have kept of these bytes."""
    if data.startswith(b"\xff\xfe"):
        return _plain(data.decode("utf-16-le", "replace"))
    return _plain(data.decode("utf-8", "replace"))
