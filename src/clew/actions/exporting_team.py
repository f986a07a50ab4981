"""Sessions made into files one after the other, or several at once by processes of their own.

Each is written whole under a name that says whose it is, and told in the order that was asked for: what it is
called in the end, and whether it may be, is settled by `exporting_folder`. So the folder is the same however
many processes there are. If one of them is killed, the rest is made here.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from concurrent.futures import CancelledError
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.actions.exporting import Wish, open_file, pieces, story
from clew.actions.own_patterns import compiled, watched
from clew.actions.passes import workers
from clew.errors import ClewError
from clew.export.registry import find
from clew.store.outputs import give_up, write_output
from clew.store.source import reason
from clew.store.writer import NotWrittenError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from multiprocessing.synchronize import Event

    from clew.actions.export_stories import Chosen
    from clew.edit.secret_forms import Spans
    from clew.export.options import Options
    from clew.store.files import Listing, SessionFile, Store
    from clew.view.parts import Head

_PAYS: Final = 4_000_000
"""Bytes of sessions from which a second process is quicker than the time it takes to start."""

_MOST: Final = 8
"""Processes that are started without being asked for: each may hold as much as a large session takes."""

_AHEAD: Final = 3
"""Sessions for each process that may be made before it is their turn."""

_EVERY: Final = 64
"""Lines or pieces after which a process asks whether it is to stop."""


_WATCH: Final = 1.0
"""Seconds after which a process looks again whether the one that started it is there."""


class Made(NamedTuple):
    """A session that was written, under a name that is not its own yet."""

    temporary: str
    head: Head
    size: int
    digest: str
    redacted: int
    is_damaged: bool


class Missed(NamedTuple):
    """A session that was not written."""

    reason: str
    unwritten: str | None = None
    """The file, where that could not be written: then so it would be for all."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is made of which sessions, and where."""

    store: Store
    listing: Listing
    wish: Wish
    folder: str
    process: int
    """The process that asks for it."""

    def make(
        self, number: int, file: SessionFile, *, go_on: Callable[[], None] | None = None
    ) -> Made | Missed:
        """Write a session; one that cannot be costs only itself. `go_on` may raise to end it."""
        temporary = os.path.join(self.folder, f".export.{self.process}-{number}.clew")  # noqa: PTH118
        wish = self.wish
        ask = go_on or (lambda: None)
        try:
            opened = open_file(self.store, file, listing=self.listing)
            told = story(opened, wish, advance=None if go_on is None else lambda _size: ask())
            written = write_output(temporary, _asking(pieces(told, wish), ask), replace=True)
        except NotWrittenError as error:
            return Missed(error.cause, error.path)
        except ClewError as error:
            return Missed(error.message)
        except OSError as error:
            return Missed(reason(error))
        except Exception as error:  # one session must never stop the others
            return Missed(f"{type(error).__name__}: {error}")
        redacted = sum(told.redacted.values())
        return Made(temporary, told.head, written.size, written.digest, redacted, opened.is_damaged)


def _asking(found: Iterable[bytes], ask: Callable[[], None]) -> Iterator[bytes]:
    for piece in found:
        ask()
        yield piece


def processes(files: Sequence[SessionFile], wish: Wish, jobs: int | None) -> int:
    """Say how many processes are to make sessions: `jobs`, or as many as pay."""
    if (wish.own is not None and not wish.patterns) or find(wish.exporter.name) is not wish.exporter:
        return 1  # another process could not make the same of it
    many = workers(files, jobs, _PAYS)
    return many if jobs is not None else min(many, _MOST)


def make_all(order: Order, files: Sequence[SessionFile], *, jobs: int = 1) -> Generator[Made | Missed]:
    """Write sessions, and give what became of each in their order. To be closed by whoever does not go on."""
    done = 0
    if jobs > 1:
        with closing(_together(order, files, jobs)) as found:
            for one in found:
                done += 1
                yield one
    for number in range(done, len(files)):
        yield order.make(number, files[number])


# Several processes --------------------------------------------------------------------------------------


def _together(order: Order, files: Sequence[SessionFile], jobs: int) -> Generator[Made | Missed]:
    """Give what became of the sessions, as far as the processes live."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context()
    stop = context.Event()
    is_direct = os.name == "posix" and context.get_start_method() != "forkserver"
    setting = (_Setting.of(order), stop, os.getpid() if is_direct else None)
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=setting)
    waiting: deque[Future[Made | Missed]] = deque()
    left = iter(enumerate(files))
    try:
        while True:
            with suppress(BrokenProcessPool):
                for number, file in islice(left, jobs * _AHEAD - len(waiting)):
                    waiting.append(pool.submit(_make, number, file))
            if not waiting:
                return
            try:
                found = waiting[0].result()
            except (BrokenProcessPool, CancelledError):
                return
            waiting.popleft()
            yield found
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
        for one in waiting:
            _let_go(one)


def _let_go(one: Future[Made | Missed]) -> None:
    """Remove what was made and is no longer wanted."""
    if one.done() and not one.cancelled() and one.exception() is None:
        made = one.result()
        if isinstance(made, Made):
            give_up(made.temporary)


class _Setting(NamedTuple):
    """An order as another process is told it: the exporter by its name, patterns as they were typed."""

    store: Store
    listing: Listing
    folder: str
    process: int
    format: str
    options: Options
    chosen: Chosen
    key: bytes | None
    patterns: tuple[str, ...]

    @classmethod
    def of(cls, order: Order) -> _Setting:
        wish = order.wish
        return cls(
            order.store, order.listing, order.folder, order.process,
            wish.exporter.name, wish.options, wish.chosen, wish.key, wish.patterns,
        )  # fmt: skip

    def order(self, own: Spans | None) -> Order:
        wish = Wish(find(self.format), self.options, self.chosen, self.key, own, self.patterns)
        return Order(self.store, self.listing, wish, self.folder, self.process)


class _Stopped(BaseException):
    """Whoever asked for it no longer wants it."""


class _Worker:
    """What a process that makes sessions knows: it is told once, and they are many."""

    def __init__(self, order: Order, stop: Event, matching: ExitStack) -> None:
        self.order = order
        self._stop = stop
        self._matching = matching
        """Keeps what matches the patterns, until this process ends."""
        self._asked = 0

    def go_on(self) -> None:
        """End what is being made if it is no longer wanted."""
        self._asked += 1
        if self._asked % _EVERY == 0 and self._stop.is_set():
            raise _Stopped


_here: list[_Worker] = []
"""The worker of this process, if it is one."""


def _begin(setting: _Setting, stop: Event, parent: int | None) -> None:
    """Make this process ready."""
    # Ctrl-C reaches every process of a terminal; whether to stop is said by the one that started this.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    matching = ExitStack()
    own = matching.enter_context(watched(compiled(setting.patterns)))
    _here.append(_Worker(setting.order(own), stop, matching))


def _end_with(parent: int | None) -> None:
    """End this process when the one that started it is gone: nobody would tell it to."""
    while parent is None or os.getppid() == parent:
        time.sleep(_WATCH)
    os._exit(1)


def _make(number: int, file: SessionFile) -> Made | Missed:
    """Make a session in a process of its own."""
    worker = _here[0]
    try:
        return worker.order.make(number, file, go_on=worker.go_on)
    except _Stopped:
        return Missed("it was no longer wanted")
