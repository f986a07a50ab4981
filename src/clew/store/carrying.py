"""Hear whoever still writes into a file that was replaced: what it gains is carried over into the new one.

A client may hold a file open. After the file was replaced it writes into the old one, which has only its
backup's name by then.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import ClewError
from clew.store.disk import DISK
from clew.store.source import FileSource, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clew.store.disk import Disk

_QUIET: Final = 1.0
"""Seconds without growth after which nobody is taken to write into the old file any more."""

_LONGEST: Final = 30.0
"""Seconds after which it is given up to wait for that."""

_STEP: Final = 0.02
_UNFINISHED: Final = 0.5
"""Seconds after which a line in the new file is taken to stay unfinished."""


class NotCarriedError(ClewError):
    """A file was replaced, but what somebody added to the old one meanwhile could not be carried over."""

    code = "not-carried"

    def __init__(self, path: str, backup: str, cause: str) -> None:
        super().__init__(
            f"{path} was replaced, but what was added to it meanwhile is in its backup only: {cause}",
            hint=f"the backup is {backup}",
        )
        self.path = path
        self.backup = backup


class Patience(NamedTuple):
    """How long somebody who still writes into an old file is waited for."""

    quiet: float = _QUIET
    longest: float = _LONGEST
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic


PATIENCE: Final = Patience()


class Watched(NamedTuple):
    """A file that was replaced, and what takes its place."""

    old: str
    path: str
    start: int
    """How much of the old one was known when it was replaced: what comes after is carried over."""

    placed: int = 0
    """How long the new one was when it took its place; what comes after is written by others, or by us."""


def drain(
    files: Sequence[Watched], *, disk: Disk = DISK, patience: Patience = PATIENCE
) -> tuple[list[int], bool]:
    """Carry over what is written into old files, until nobody has for a while.

    Return how many bytes of each, and whether it has become quiet.
    """
    began = last = patience.clock()
    at = [file.start for file in files]
    sizes = [*at]
    while files and patience.clock() - last < patience.quiet:
        for number, file in enumerate(files):
            with FileSource(file.old) as source:
                if source.size > sizes[number]:
                    sizes[number] = source.size
                    data = source.read(at[number], source.size - at[number])
                    # Whole lines only: the rest of one comes with the next step.
                    data = data[: data.rfind(b"\n") + 1]
                    if data:
                        _append(file, data, disk, patience)
                        at[number] += len(data)
                    last = patience.clock()
        if patience.clock() - began > patience.longest:
            return [end - file.start for end, file in zip(at, files, strict=True)], False
        patience.sleep(_STEP)
    for number, file in enumerate(files):
        with FileSource(file.old) as source:
            if source.size > at[number]:  # an end without a line ending, that nobody finished
                data = source.read(at[number], source.size - at[number])
                _append(file, data, disk, patience)
                at[number] += len(data)
    return [end - file.start for end, file in zip(at, files, strict=True)], True


def carry_missing(file: Watched, known: int, *, disk: Disk = DISK) -> int:
    """Carry over what an interrupted `drain` did not; return how many bytes the old file has gained in all.

    Of the new file, what comes after `known` bytes may have been carried over before, or written there by
    others: no line comes over twice.
    """
    with FileSource(file.old) as source:
        gained = source.read(file.start, source.size - file.start)
    if not gained:
        return 0
    with FileSource(file.path) as source:
        there = source.read(known, source.size - known).split(b"\n")
    unfinished = there.pop()
    counts: dict[bytes, int] = {}
    for line in there:
        counts[line] = counts.get(line, 0) + 1
    missing: list[bytes] = []
    *whole, end = gained.split(b"\n")
    for line in whole:
        if counts.get(line, 0):
            counts[line] -= 1
        else:
            missing.append(line + b"\n")
    if end and end != unfinished and not counts.get(end, 0):
        missing.append(end)
    data = b"".join(missing)
    if unfinished and data:
        # It was cut off while it was carried over, or somebody else's line is not finished yet.
        data = data[len(unfinished) :] if data.startswith(unfinished) else b"\n" + data
    if data:
        _append(file, data, disk)
    return len(gained)


def _append(file: Watched, data: bytes, disk: Disk, patience: Patience | None = None) -> None:
    try:
        descriptor = disk.open_end(file.path)
        try:
            if patience is not None and not _is_whole(file, patience):
                data = b"\n" + data
            disk.write(descriptor, data)
            disk.sync(descriptor)
        finally:
            disk.close(descriptor)
    except OSError as error:
        raise NotCarriedError(file.path, file.old, reason(error)) from error


def _is_whole(file: Watched, patience: Patience) -> bool:
    """Wait until whoever writes into the new file has finished its line; say whether it did."""
    began = grown = patience.clock()
    size = -1
    while True:
        with FileSource(file.path) as source:
            now = source.size
            if now <= file.placed or source.read(now - 1, 1) == b"\n":
                return True
        moment = patience.clock()
        if now > size:
            grown, size = moment, now
        # A line that goes on for ever is not waited for either.
        if moment - grown >= _UNFINISHED or moment - began > patience.longest:
            return False
        patience.sleep(_STEP / 10)
