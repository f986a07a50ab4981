"""Bring a catalog up to date: see which files changed, read what is new in them, settle what follows.

With much to read it is done in several processes. What people and the model said is read first in all files,
so that most of what is searched for is found soon; what tools said comes after.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from clew.catalog.options import Options, Stage, is_late
from clew.catalog.place import SHARDS, shard_paths
from clew.catalog.shards import NONE, damaged_shards, drop_shard, open_shard, tidy, translated
from clew.catalog.sources import (
    Share,
    is_same,
    is_unsettled,
    lacking,
    make_plan,
    plan_of,
    spilled,
    wanted,
)
from clew.catalog.unavailable import BusyError, CatalogUnavailableError, DamagedError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

    from clew.catalog.database import Database
    from clew.store.files import Listing, SessionFile, Skipped

WORTH_ANOTHER: Final = 32_000_000
"""Bytes to read from which a second process pays for its start."""

DAMAGED: Final = "the index was damaged and was built anew"
BUSY: Final = "another clew is indexing; the newest lines may be missing"


class Progress(NamedTuple):
    """How far an update has come."""

    stage: Stage
    files: int
    files_total: int
    bytes: int
    bytes_total: int


class Update(Struct, frozen=True):
    """What an update did."""

    files_read: int = 0
    files_gone: int = 0
    bytes_read: int = 0
    skipped: tuple[Skipped, ...] = ()
    """Files that could not be read."""

    notes: tuple[str, ...] = ()
    """What somebody who asks should know: that the answer may be old, that the index was built anew."""

    is_current: bool = True
    """Whether everything there is was taken in."""


class Stop:
    """Asked often whether to stop: because somebody said so, or because telling how far it is went wrong."""

    def __init__(self) -> None:
        self.reason: BaseException | None = None

    def __call__(self) -> bool:
        """Say whether to stop."""
        return self.reason is not None

    @contextmanager
    def on_interrupt(self) -> Generator[None]:
        """Take Ctrl-C for a wish to stop: what was read is committed before it is passed on."""
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return

        def interrupt(_signal: int, _frame: object) -> None:
            self.reason = KeyboardInterrupt()

        signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def update(
    folder: Path,
    listing: Listing,
    *,
    options: Options,
    changed: Sequence[SessionFile] | None = None,
    tell: Callable[[Progress], object] | None = None,
) -> Update:
    """Bring the catalog in `folder` up to date with what the listing says there is.

    Where somebody knows that some session files, known ones, are all that changed, only those are looked at.
    """
    notes: list[str] = []
    dropped: set[int] = set()
    while True:
        try:
            return _update(folder, listing, changed, options, tell, notes)
        except DamagedError as error:
            numbers = {error.shard} if error.shard != NONE else damaged_shards(folder)
            if numbers <= dropped:
                raise CatalogUnavailableError(f"it is damaged each time it is built: {error}") from error
            dropped |= numbers
            for number in numbers:
                drop_shard(shard_paths(folder)[number])
            notes[:] = [DAMAGED]
        except BusyError:
            return Update(notes=(*notes, BUSY), is_current=False)


def _update(
    folder: Path,
    listing: Listing,
    changed: Sequence[SessionFile] | None,
    options: Options,
    tell: Callable[[Progress], object] | None,
    notes: list[str],
) -> Update:
    stop = Stop()
    with stop.on_interrupt():
        with _opened(folder) as shards:
            known = plan_of(changed, shards) if changed else None
            shares = known or _plan(listing, shards)
            late = _late(shards, details=options.details)
            if not any(late) and all(share.is_idle for share in shares) and not _is_unsettled(shards):
                return Update(notes=tuple(notes))
            from clew.catalog.working import work  # with all it takes to read; most commands find nothing new

            report = _Report(shares, late, tell, stop)
            jobs = _jobs(options.jobs, shares, late)
            if jobs == 1:
                todo = [(share, shards[share.number]) for share in shares]
                work(todo, report, options, with_tools=not is_late(options, shares))
                return _finish(shards, shares, report, notes)
        from clew.catalog.processes import work_together

        # No connection may be open where processes are started: SQLite's locks do not survive a fork.
        work_together(folder, shares, options, jobs, report)
        with _opened(folder) as shards:
            return _finish(shards, shares, report, notes)


def _plan(listing: Listing, shards: Sequence[Database]) -> list[Share]:
    outputs = spilled(listing.sessions)
    nothing = [Share(number) for number in range(SHARDS)]
    if is_same(listing, outputs, shards):
        return nothing
    return make_plan(wanted(listing, outputs), listing, shards) or nothing


@contextmanager
def _opened(folder: Path) -> Generator[list[Database]]:
    shards: list[Database] = []
    try:
        for number, path in enumerate(shard_paths(folder)):
            shards.append(open_shard(path, number))
        yield shards
        for number, path in enumerate(shard_paths(folder)):
            with translated(number):
                tidy(shards[number], path)
    finally:
        for database in shards:
            database.close()


def _is_unsettled(shards: Sequence[Database]) -> bool:
    with translated():
        return is_unsettled(shards)


def _late(shards: Sequence[Database], *, details: bool) -> list[int]:
    """Return for each shard how many bytes earlier updates have left: tools' words, and details if wanted."""
    found: list[int] = []
    for number, database in enumerate(shards):
        with translated(number):
            row = database.execute("SELECT total(offset - tools_offset) FROM source").fetchall()[0]
            left = sum(size for _, size in lacking(database)) if details else 0
        found.append(int(row[0]) + left)
    return found


def _jobs(jobs: int | None, shares: Sequence[Share], late: Sequence[int]) -> int:
    busy = [share.bytes + left for share, left in zip(shares, late, strict=True) if share.work or left]
    if jobs is None:
        jobs = cores() if sum(busy) >= WORTH_ANOTHER else 1
    return max(1, min(jobs, len(busy)))


def cores() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def _finish(shards: Sequence[Database], shares: Sequence[Share], report: _Report, notes: list[str]) -> Update:
    if report.stop.reason is None:
        from clew.catalog.settling import settle

        with translated(is_writing=True):
            if is_unsettled(shards):
                report.tell("settling", 0, 0)
                settle(shards)
    if report.stop.reason is not None:
        raise report.stop.reason
    return Update(
        sum(len(share.work) for share in shares),
        sum(len(share.gone) for share in shares),
        report.bytes_read,
        tuple(report.skipped),
        tuple(notes),
    )


# --- the work -----------------------------------------------------------------------------------------------


class _Report:
    """Gathers how far all who work have come, and passes it on."""

    def __init__(
        self,
        shares: Sequence[Share],
        late: Sequence[int],
        tell: Callable[[Progress], object] | None,
        stop: Stop,
    ) -> None:
        self.stop = stop
        self.skipped: list[Skipped] = []
        self.bytes_read = 0
        self._tell = tell
        self._stage: Stage = "dialogue"
        self._done: dict[Stage, list[int]] = {}
        files, size = sum(len(share.work) for share in shares), sum(share.bytes for share in shares)
        self._totals: dict[Stage, tuple[int, int]] = {
            "dialogue": (files, size),
            "tools": (files, size + sum(late)),
            "details": (0, 0),
            "settling": (0, 0),
        }

    def tell(self, stage: Stage, files: int, size: int) -> None:
        """Take in that some files and bytes were gone through."""
        done = self._done.setdefault(stage, [0, 0])
        done[0] += files
        done[1] += size
        if stage == "dialogue":
            self.bytes_read += size
        if self._tell is None or self.stop.reason is not None:
            return
        try:
            self._tell(Progress(stage, done[0], self._totals[stage][0], done[1], self._totals[stage][1]))
        except BaseException as error:  # whatever it was: what was read is kept first
            self.stop.reason = error
