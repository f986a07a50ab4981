"""Where tasks are done: in this process, in several of this machine, or on a cluster (`spark`)."""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from clew.errors import ClewError
from clew.lake.libraries import leave_pandas_out
from clew.lake.tasks import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future, ProcessPoolExecutor

    from clew.lake.settling_here import Question, Settled


class EngineError(ClewError):
    """The engine itself failed: not a session, but what should have read it."""

    code = "engine"

    def __init__(self, cause: str) -> None:
        super().__init__(cause, hint="run the command again: what was committed is not done again")


class Engine(Protocol):
    """Does tasks, in any order, and settles what depends on several sessions."""

    @property
    def width(self) -> int:
        """How many tasks are done at a time."""
        ...

    def run(self, tasks: Sequence[bytes]) -> Iterator[bytes]:
        """Do tasks and give what each of them did, as they end."""
        ...

    def settle(self, question: Question) -> Settled:
        """Make the rows of `usage` and `sessions` that what changed concerns, and write them."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


def _begin() -> None:
    """Make this process ready, and have it end when the one that started it is gone."""
    import signal
    import threading
    from multiprocessing import parent_process

    # Ctrl-C reaches every process of a terminal; the one that started this ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:

        def wait() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=wait, daemon=True).start()
    leave_pandas_out()


class LocalEngine:
    """Processes of this machine, of which this is one: it works while the others start."""

    def __init__(self, jobs: int | None = None) -> None:
        self._width = jobs or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None

    @property
    def width(self) -> int:
        """How many tasks are done at a time."""
        return self._width

    def run(self, tasks: Sequence[bytes]) -> Iterator[bytes]:
        """Do tasks and give what each of them did, as they end."""
        if self._width == 1 or len(tasks) < 2:
            yield from map(run, tasks)
            return
        from concurrent.futures.process import BrokenProcessPool

        try:
            yield from self._shared(tasks)
        except BrokenProcessPool as error:
            self._pool = None
            raise EngineError("a process that read sessions was ended from outside") from error

    def _shared(self, tasks: Sequence[bytes]) -> Iterator[bytes]:
        """Do tasks here and in the other processes, each taking the next when it has done one."""
        from concurrent.futures.process import BrokenProcessPool
        from queue import Empty, SimpleQueue

        left = deque(tasks)
        ended: SimpleQueue[Future[bytes]] = SimpleQueue()

        def give() -> None:
            with suppress(IndexError):  # nothing is left
                self._submit(left.popleft()).add_done_callback(take)

        def take(future: Future[bytes]) -> None:
            # At once, whatever this process is busy with: they are not to wait for it. That one of them died
            # is told by what it was doing.
            with suppress(BrokenProcessPool):
                give()
            ended.put(future)

        try:
            for _ in range(self._width - 1):
                give()
            for _ in tasks:
                try:
                    yield ended.get_nowait().result()
                except Empty:
                    try:
                        mine = left.popleft()
                    except IndexError:
                        yield ended.get().result()
                    else:
                        yield run(mine)
        finally:
            left.clear()

    def _submit(self, task: bytes) -> Future[bytes]:
        if self._pool is None:
            from concurrent.futures import ProcessPoolExecutor
            from multiprocessing import get_context

            # Not forked: the object stores' library has threads of its own, which a fork leaves half alive.
            self._pool = ProcessPoolExecutor(
                self._width - 1, mp_context=get_context("spawn"), initializer=_begin
            )
        return self._pool.submit(run, task)

    def settle(self, question: Question) -> Settled:
        """Make the rows of `usage` and `sessions` that what changed concerns, and write them."""
        from clew.lake.settling_here import settle_here

        return settle_here(question)

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
