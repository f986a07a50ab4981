"""Go through session files once each, in as many processes as pay.

A file that is cut or cannot be read costs only itself: it comes back as a `Skipped`, or as far as it went.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, TypeVar

from clew.format.records import read
from clew.session.fold import Extent
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clew.format.records import Fragment, Record
    from clew.store.files import SessionFile

Result = TypeVar("Result")

PAYS: Final = 100_000_000
"""Bytes from which a second process is quicker than the time it takes to start."""


class Pass:
    """One file, gone through once. When it is over, `extent` says how much there was."""

    __slots__ = ("_end", "_lines", "_source")

    def __init__(self, path: str) -> None:
        self._source = FileSource(path)
        self._lines = 0
        self._end = b"\n"

    def items(self) -> Iterator[Record | Fragment]:
        """Give its records and fragments in file order, then let go of the file."""
        pull = self._source.readline()

        def readline(limit: int) -> bytes:
            raw = pull(limit)
            if raw:
                # Counted here: blank lines are neither records nor fragments.
                self._end = raw[-1:]
                self._lines += self._end == b"\n"
            return raw

        with self._source:
            yield from read(readline)

    @property
    def extent(self) -> Extent:
        """The bytes and lines that were there; an unfinished last line is a line."""
        return Extent(self._source.size, self._lines + (self._end != b"\n"))

    @property
    def was_cut(self) -> bool:
        """Whether the file got shorter while it was read."""
        return self._source.was_cut


def sweep(
    task: Callable[[SessionFile], Result],
    files: Sequence[SessionFile],
    *,
    jobs: int | None = None,
    pays: int = PAYS,
    advance: Callable[[], None] | None = None,
) -> list[Result]:
    """Do `task` for every file and return the results in the files' order.

    More than one process is started only from `pays` bytes on, or when `jobs` asks for it; `task` must then
    be a function that another process can import. `advance` is called after each file.
    """
    many = workers(files, jobs, pays)
    if many == 1:
        return [_one(task, file, advance) for file in files]
    from concurrent.futures import ProcessPoolExecutor, as_completed

    # The largest first: at the end there are small ones to fill the gaps with.
    order = sorted(range(len(files)), key=lambda at: -files[at].size)
    results: dict[int, Result] = {}
    with ProcessPoolExecutor(many) as pool:
        waiting = {pool.submit(task, files[at]): at for at in order}
        try:
            for done in as_completed(waiting):
                results[waiting[done]] = done.result()
                if advance is not None:
                    advance()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [results[at] for at in range(len(files))]


def _one(
    task: Callable[[SessionFile], Result], file: SessionFile, advance: Callable[[], None] | None
) -> Result:
    result = task(file)
    if advance is not None:
        advance()
    return result


def workers(files: Sequence[SessionFile], jobs: int | None, pays: int = PAYS) -> int:
    """Say how many processes are to go through files: `jobs`, or as many as pay, but no more than files."""
    if len(files) < 2:
        return 1
    if jobs is None:
        jobs = cores() if sum(file.size for file in files) >= pays else 1
    return max(1, min(jobs, len(files), 61))  # Windows cannot wait for more than 61


def cores() -> int:
    """Say how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1
