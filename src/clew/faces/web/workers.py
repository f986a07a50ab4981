"""Threads for what takes long: so many and no more, and never waited for when the server ends."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from clew.faces.web.answers import BusyError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Lane:
    """Some threads that do one piece of work after the other.

    Not the pool of the standard library: its threads are waited for at the end of the program, however long
    they take.
    """

    def __init__(self, name: str, *, threads: int, waiting: int) -> None:
        """Take on as much as there are threads, and keep `waiting` more; what comes then is refused."""
        self._name = name
        self._most = threads
        self._room = threads + waiting
        self._taken = 0
        self._threads: list[threading.Thread] = []
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    async def run(self, work: Callable[[], T], *, goes_on: bool = False) -> T:
        """Do some work in one of the threads. To be called in the thread of the server.

        Work that goes on with an answer which has begun is never refused.
        """
        if self._taken >= self._room and not goes_on:
            raise BusyError("the server has too much to do", hint="ask again in a moment")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._taken += 1
        self._queue.put(lambda: self._do(work, loop, future))
        if len(self._threads) < min(self._taken, self._most):
            thread = threading.Thread(target=self._loop, name=f"clew-{self._name}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return await future

    def close(self, *, wait: float) -> None:
        """Let the threads end; they are waited for so long at most."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(wait / max(1, len(self._threads)))

    def _loop(self) -> None:
        while (task := self._queue.get()) is not None:
            task()

    def _do(self, work: Callable[[], T], loop: asyncio.AbstractEventLoop, future: asyncio.Future[T]) -> None:
        result: Any = None
        error: BaseException | None = None
        try:
            result = work()
        except BaseException as raised:  # it is raised again where the work is waited for
            # An iterator's end cannot go through a future.
            error = RuntimeError("an iterator ended") if isinstance(raised, StopIteration) else raised
        with contextlib.suppress(RuntimeError):  # the server has ended meanwhile
            loop.call_soon_threadsafe(self._done, future, result, error)

    def _done(self, future: asyncio.Future[Any], result: object, error: BaseException | None) -> None:
        self._taken -= 1
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)
