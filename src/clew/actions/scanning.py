"""Look for a literal or a pattern in the raw session files: `clew search --literal` and `--regex`.

Nothing is indexed: the files are read, in as many processes as pay. A pattern always runs in a process that
can be ended: Python's matcher can take longer than anyone lives for one such as `(a+)+$`. What a hit is, is
told in `raw_search`.
"""

from __future__ import annotations

import contextlib
import signal
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from clew.actions.passes import workers
from clew.actions.raw_search import (
    LIMIT,
    Beat,
    Found,
    Matcher,
    Question,
    Scanned,
    Search,
    Spot,
    newest_first,
    tools_in,
)
from clew.errors import ClewError, UsageError
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from clew.store.files import SessionFile

__all__ = ["LIMIT", "Found", "Question", "Scanned", "Spot", "scan"]

PER_TEXT: Final = 2.0
"""Seconds that a pattern may take for one text."""

IN_ALL: Final = 120.0
"""Seconds after which a search ends with what it has."""

_POLL: Final = 0.05
_STEP: Final = 1 << 20


def scan(
    files: Sequence[SessionFile],
    question: Question,
    *,
    jobs: int | None = None,
    seconds: float = IN_ALL,
    per_text: float = PER_TEXT,
    advance: Callable[[int], object] | None = None,
) -> Scanned:
    """Search session files. `advance` is told how many more of them were searched.

    A pattern that makes no sense, or that takes too long for one text, is a `UsageError`. When the time is up
    for all of them, the result is partial and says so.
    """
    if not question.text:
        raise UsageError("there is nothing to look for")
    Matcher(question)  # a bad pattern fails here and not in another process
    shares = _shares(files, workers(files, jobs))
    if not shares:
        return Scanned()
    if len(shares) == 1 and not question.is_pattern:
        result = Search(question, seconds=seconds).all(shares[0], advance)
    else:
        result = _Team(shares, question, seconds, per_text).work(advance)
    result.found.sort(key=newest_first)
    result.found = _completed(result.found[: max(0, question.limit)])
    return result


def _shares(files: Sequence[SessionFile], count: int) -> list[list[SessionFile]]:
    """Deal out the files so that every share has about as many bytes, the newest first in each."""
    shares: list[list[SessionFile]] = [[] for _ in range(count)]
    sizes = [0] * count
    for file in sorted(files, key=lambda file: (-file.size, file.path)):
        least = sizes.index(min(sizes))
        shares[least].append(file)
        sizes[least] += file.size + 50_000  # an empty file has to be opened too
    for share in shares:
        share.sort(key=lambda file: (-file.mtime_ns, file.path))
    return [share for share in shares if share]


# --- several processes --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    beat: Any
    files: list[SessionFile]
    seen: int = 0
    since: float = 0.0
    """When it was first seen at this text."""


class _Team:
    """Processes that search a share of the files each, and are watched over."""

    def __init__(
        self, shares: list[list[SessionFile]], question: Question, seconds: float, per_text: float
    ) -> None:
        self._question = question
        self._seconds = seconds
        self._per_text = per_text
        self._shares = shares

    def _start(self, files: list[SessionFile]) -> _Worker:
        import multiprocessing
        from multiprocessing.sharedctypes import RawArray

        pipe, other = multiprocessing.Pipe(duplex=False)
        beat: Any = RawArray("q", 3)
        given = (files, self._question, self._seconds, beat, other)
        process = multiprocessing.Process(target=_search, args=given, daemon=True)
        process.start()
        # The process alone holds its end, so that its death is seen.
        other.close()
        return _Worker(process, pipe, beat, files)

    def work(self, advance: Callable[[int], object] | None) -> Scanned:
        """Wait for all of them and return what they found together."""
        from multiprocessing.connection import wait

        total = Scanned()
        workers: list[_Worker] = []
        busy: list[_Worker] = []
        try:
            for share in self._shares:
                workers.append(self._start(share))
                busy.append(workers[-1])
            while busy:
                ready = wait([worker.pipe for worker in busy], timeout=_POLL)
                for worker in [worker for worker in busy if worker.pipe in ready]:
                    message = _received(worker)
                    if isinstance(message, Scanned):
                        _add(total, message)
                        busy.remove(worker)
                    elif isinstance(message, str):
                        raise ClewError(f"the search failed: {message}")
                    elif advance is not None:
                        advance(message)
                for worker in busy:
                    self._check(worker)
        finally:
            for worker in workers:
                if worker in busy:
                    worker.process.kill()
                worker.process.join()
                worker.pipe.close()
        return total

    def _check(self, worker: _Worker) -> None:
        count, now = int(worker.beat[0]), time.monotonic()
        if count != worker.seen:
            worker.seen, worker.since = count, now
        # An odd number: it is in the middle of a text.
        elif count % 2 and now - worker.since > self._per_text:
            path = worker.files[int(worker.beat[1])].path
            raise UsageError(
                f"the pattern {self._question.text!r} took longer than {self._per_text:g} s for one text "
                f"({path}, byte {int(worker.beat[2])})",
                hint="a pattern without repeats inside repeats, as in (a+)+",
            )


def _received(worker: _Worker) -> Scanned | int | str:
    try:
        return worker.pipe.recv()
    except EOFError:
        worker.process.join()
        raise ClewError(f"a process that searched ended by itself ({worker.process.exitcode})") from None


def _add(total: Scanned, part: Scanned) -> None:
    total.found += part.found
    total.total += part.total
    for name, count in part.by_field.items():
        total.by_field[name] = total.by_field.get(name, 0) + count
    total.files += part.files
    total.skipped += part.skipped
    total.is_partial |= part.is_partial


def _search(
    files: list[SessionFile], question: Question, seconds: float, beat: Any, pipe: Connection
) -> None:
    """Do one process's share."""
    # The interrupt of a terminal goes to all; the first process ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    waiting, told = 0, time.monotonic()

    def advance(count: int) -> None:
        nonlocal waiting, told
        waiting += count
        now = time.monotonic()
        if now - told > _POLL:
            pipe.send(waiting)
            waiting, told = 0, now

    with contextlib.suppress(BrokenPipeError):
        try:
            result = Search(question, seconds=seconds, beat=Beat(beat)).all(files, advance)
        except Exception as error:  # of the filter, or of ours; not every error can be sent
            pipe.send(f"{type(error).__name__}: {error}")
        else:
            pipe.send(waiting)
            pipe.send(result)


# --- what only the hits that are given need -----------------------------------------------------------------


def _completed(found: list[Found]) -> list[Found]:
    """Add the numbers of the lines and the tools of results."""
    by_path: dict[str, list[Found]] = {}
    for one in found:
        by_path.setdefault(one.path, []).append(one)
    numbers: dict[tuple[str, int], int] = {}
    tools: dict[str, dict[str, str]] = {}
    for path, group in by_path.items():
        with contextlib.suppress(ClewError, OSError):  # gone since; then it has no number
            numbers |= {(path, offset): line for offset, line in _lines(path, {one.offset for one in group})}
            if any(one.tool is None and one.call is not None for one in group):
                tools[path] = tools_in(path)
    return [
        replace(
            one,
            line=numbers.get((one.path, one.offset), 0),
            tool=one.tool or tools.get(one.path, {}).get(one.call or ""),
        )
        for one in found
    ]


def _lines(path: str, offsets: set[int]) -> list[tuple[int, int]]:
    """Return for places in a file the numbers of the lines they are in."""
    lines: list[tuple[int, int]] = []
    number, at = 1, 0
    with FileSource(path) as source:
        for offset in sorted(offsets):
            while at < offset:
                piece = source.read(at, min(_STEP, offset - at))
                if not piece:
                    break
                number += piece.count(b"\n")
                at += len(piece)
            lines.append((offset, number))
    return lines
