"""The work in several processes. Each owns whole shards: no two of them write to the same database."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from clew.catalog.options import is_late
from clew.catalog.place import shard_paths
from clew.catalog.shards import NONE, open_shard, workers
from clew.catalog.unavailable import BusyError, CatalogUnavailableError, DamagedError
from clew.catalog.working import work

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnContext
    from multiprocessing.process import BaseProcess
    from multiprocessing.synchronize import Event
    from pathlib import Path

    from clew.catalog.database import Database
    from clew.catalog.options import Options, Stage
    from clew.catalog.shards import Lock
    from clew.catalog.sources import Share
    from clew.catalog.working import Teller
    from clew.store.files import Skipped


class _Done(NamedTuple):
    """The last thing a process says."""

    skipped: list[Skipped]
    fault: Literal["damaged", "busy", "unavailable", "failed"] | None
    shard: int
    detail: str


class _Line:
    """What a process that works tells the one that started it."""

    def __init__(self, line: Connection, stop: Event, parent: int | None) -> None:
        self._line = line
        self._stop = stop
        self._parent = parent
        self._is_cut = False
        self.skipped: list[Skipped] = []

    def stop(self) -> bool:
        # A line to somebody who is gone may seem open: processes started later have its other end too.
        is_orphan = self._parent is not None and os.getppid() != self._parent
        return self._is_cut or is_orphan or self._stop.is_set()

    def tell(self, stage: Stage, files: int, size: int) -> None:
        self.send((stage, files, size))

    def send(self, what: object) -> None:
        try:
            self._line.send(what)
        except OSError:  # who started this is gone: keep what was read, and end
            self._is_cut = True


def _process(
    folder: Path,
    shares: list[Share],
    options: Options,
    with_tools: bool,
    line: Connection,
    stop: Event,
    parent: int | None,
) -> None:
    """Work on whole shards in a process of its own."""
    # Ctrl-C reaches every process of a terminal; whether to stop is said by the one that started this.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    report = _Line(line, stop, parent)
    done = _Done([], None, NONE, "")
    opened: list[Database] = []
    lock = workers(folder)
    try:
        _share(lock)
        # If the one that started this is gone already, somebody else may have begun: say something first.
        report.tell("dialogue", 0, 0)
        paths = shard_paths(folder)
        opened.extend(open_shard(paths[share.number], share.number) for share in shares)
        work(list(zip(shares, opened, strict=True)), report, options, with_tools=with_tools)
    except DamagedError as error:
        done = _Done([], "damaged", error.shard, str(error))
    except BusyError as error:
        done = _Done([], "busy", NONE, str(error))
    except CatalogUnavailableError as error:
        done = _Done([], "unavailable", NONE, error.reason)
    except Exception as error:  # told to the one that started this, who raises it
        done = _Done([], "failed", NONE, f"{type(error).__name__}: {error}")
    for database in opened:
        database.close()
    lock.release()
    report.send(done._replace(skipped=report.skipped))
    line.close()


def _share(lock: Lock) -> None:
    if not lock.take(is_shared=True):
        raise BusyError("another clew is about to write")


def work_together(folder: Path, shares: Sequence[Share], options: Options, jobs: int, report: Teller) -> None:
    """Do the work in as many processes as `jobs` says, and tell how far it is."""
    import multiprocessing
    from multiprocessing.connection import wait

    context = cast("SpawnContext", multiprocessing.get_context(options.start_method))
    stop = context.Event()
    is_direct = os.name == "posix" and context.get_start_method() != "forkserver"
    parent = os.getpid() if is_direct else None
    with_tools = not is_late(options, shares)
    lines: dict[Connection, BaseProcess] = {}
    faults: list[_Done] = []
    for mine in _dealt(shares, jobs):
        here, there = context.Pipe(duplex=False)
        process = context.Process(
            target=_process, args=(folder, mine, options, with_tools, there, stop, parent), daemon=True
        )
        process.start()
        there.close()
        lines[here] = process
    try:
        while lines:
            for line in cast("list[Connection]", wait(list(lines), timeout=0.2)):
                told = _received(line)
                if told is None:
                    lines.pop(line).join()
                elif isinstance(told, _Done):
                    faults.append(told)
                    report.skipped.extend(told.skipped)
                else:
                    report.tell(*told)
            if report.stop():
                stop.set()
    finally:
        stop.set()
        for line, process in lines.items():
            line.close()
            process.join()
    _raise_first(faults, len(_dealt(shares, jobs)))


def _received(line: Connection) -> _Done | tuple[Stage, int, int] | None:
    try:
        return cast("_Done | tuple[Stage, int, int]", line.recv())
    except (EOFError, OSError):
        return None


def _dealt(shares: Sequence[Share], jobs: int) -> list[list[Share]]:
    """Deal the shards out so that everyone has about as many bytes."""
    hands: list[list[Share]] = [[] for _ in range(jobs)]
    for share in sorted(shares, key=lambda one: (-one.bytes, one.number)):
        min(hands, key=lambda hand: sum(one.bytes for one in hand)).append(share)
    return hands


def _raise_first(found: Sequence[_Done], many: int) -> None:
    for done in found:
        match done.fault:
            case "damaged":
                raise DamagedError(done.shard, done.detail)
            case "busy":
                raise BusyError(done.detail)
            case "unavailable":
                raise CatalogUnavailableError(done.detail)
            case "failed":
                raise CatalogUnavailableError(f"a process that built it failed: {done.detail}")
            case None:
                pass
    if len(found) < many:
        raise CatalogUnavailableError("a process that built it was killed")
