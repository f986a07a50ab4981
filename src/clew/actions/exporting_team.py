"""Sessions made into files one after the other, or several at once by processes of their own.

Each is written whole under a name that says whose it is, and told in the order that was asked for: what it is
called in the end, and whether it may be, is settled by `exporting_folder`. So the folder is the same however
many processes there are. If one of them is killed, the rest is made here.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from concurrent.futures import CancelledError
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.actions.exporting import Wish, open_with, pieces, story
from clew.actions.own_patterns import compiled, watched
from clew.actions.passes import workers
from clew.actions.second_process import end_with
from clew.errors import ClewError
from clew.export.registry import find
from clew.store.outputs import Digested, give_up, write_aside
from clew.store.source import reason
from clew.store.writer import NotWrittenError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from multiprocessing.synchronize import Event

    from clew.actions.export_stories import Chosen
    from clew.edit.secret_forms import Spans
    from clew.export.options import Options
    from clew.store.files import SessionFile
    from clew.view.parts import Head

_PAYS: Final = 4_000_000
"""Bytes of sessions from which a second process is quicker than the time it takes to start."""

_MOST: Final = 8
"""Processes that are started without being asked for: each may hold as much as a large session takes."""

_AHEAD: Final = 16
"""Sessions for each process that may be made before it is their turn."""

_SHARES: Final = 16
"""How many sessions a process makes at the least, if none is larger than it should be."""

_EVERY: Final = 64
"""Lines or pieces after which a process asks whether it is to stop."""


class Made(NamedTuple):
    """A session that was written, under a name that is not its own yet."""

    temporary: str
    head: Head
    size: int
    digest: str
    redacted: int
    is_damaged: bool
    left: int = 0


class Missed(NamedTuple):
    """A session that was not written."""

    reason: str
    unwritten: str | None = None
    """The file, where that could not be written: then so it would be for all."""


class Source(NamedTuple):
    """A session that is to be made into a file."""

    file: SessionFile
    agents: tuple[SessionFile, ...] = ()

    @property
    def size(self) -> int:
        """How many bytes are read for it."""
        return self.file.size + sum(agent.size for agent in self.agents)


@dataclass(frozen=True, slots=True)
class Order:
    """What is made of sessions, and where."""

    wish: Wish
    folder: str
    process: int
    """The process that asks for it."""

    def make(self, number: int, source: Source, *, go_on: Callable[[], None] | None = None) -> Made | Missed:
        """Write a session; one that cannot be costs only itself. `go_on` may raise to end it."""
        temporary = os.path.join(self.folder, f".export.{self.process}-{number}.clew")  # noqa: PTH118
        wish = self.wish
        ask = go_on or (lambda: None)
        try:
            opened = open_with(source.file, source.agents)
            told = story(opened, wish, advance=None if go_on is None else lambda _size: ask())
            page = Digested(_asking(pieces(told, wish), ask))
            written = write_aside(temporary, page)
        except NotWrittenError as error:
            return Missed(error.cause, error.path)
        except ClewError as error:
            return Missed(error.message)
        except OSError as error:
            return Missed(reason(error))
        except Exception as error:  # one session must never stop the others
            return Missed(f"{type(error).__name__}: {error}")
        redacted = sum(told.redacted.values())
        return Made(temporary, told.head, written.size, page.digest, redacted, opened.is_damaged, told.left)


def _asking(found: Iterable[bytes], ask: Callable[[], None]) -> Iterator[bytes]:
    for piece in found:
        ask()
        yield piece


def processes(files: Sequence[SessionFile], wish: Wish, jobs: int | None) -> int:
    """Say how many processes are to make sessions: `jobs`, or as many as pay."""
    if (wish.own is not None and not wish.patterns) or find(wish.exporter.name) is not wish.exporter:
        return 1  # another process could not make the same of it
    many = workers(files, jobs, _PAYS)
    return many if jobs is not None else min(many, len(files), _MOST)


def make_all(order: Order, sources: Sequence[Source], *, jobs: int = 1) -> Generator[Made | Missed]:
    """Write sessions, and give what became of each in their order. To be closed by whoever does not go on."""
    done = 0
    if jobs > 1:
        with closing(_together(order, sources, jobs)) as found:
            for one in found:
                done += 1
                yield one
    for number in range(done, len(sources)):
        yield order.make(number, sources[number])


# Several processes --------------------------------------------------------------------------------------


def _together(order: Order, sources: Sequence[Source], jobs: int) -> Generator[Made | Missed]:
    """Give what became of the sessions, as far as the processes live."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context()
    stop = context.Event()
    is_direct = os.name == "posix" and context.get_start_method() != "forkserver"
    setting = (_Setting.of(order), stop, os.getpid() if is_direct else None)
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=setting)
    waiting: dict[int, Future[Made | Missed]] = {}
    large = _large(sources, jobs)
    left = deque([*large, *(number for number in range(len(sources)) if number not in large)])
    try:
        for wanted in range(len(sources)):
            with suppress(BrokenProcessPool):
                while left and (left[0] in large or left[0] < wanted + jobs * _AHEAD):
                    waiting[left[0]] = pool.submit(_make, left[0], sources[left[0]])
                    left.popleft()
            try:
                found = waiting[wanted].result()
            except (BrokenProcessPool, CancelledError, KeyError):
                return
            del waiting[wanted]
            yield found
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
        for one in waiting.values():
            _let_go(one)


def _large(sources: Sequence[Source], jobs: int) -> dict[int, None]:
    """Return the few that are begun with: a long one at the end would keep the others waiting."""
    share = sum(source.size for source in sources) / (jobs * _SHARES)
    found = [number for number, source in enumerate(sources) if source.size > share]
    return dict.fromkeys(sorted(found, key=lambda number: -sources[number].size))


def _let_go(one: Future[Made | Missed]) -> None:
    """Remove what was made and is no longer wanted."""
    if one.done() and not one.cancelled() and one.exception() is None:
        made = one.result()
        if isinstance(made, Made):
            give_up(made.temporary)


class _Setting(NamedTuple):
    """An order as another process is told it: the exporter by its name, patterns as they were typed."""

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
            order.folder, order.process,
            wish.exporter.name, wish.options, wish.chosen, wish.key, wish.patterns,
        )  # fmt: skip

    def order(self, own: Spans | None) -> Order:
        wish = Wish(find(self.format), self.options, self.chosen, self.key, own, self.patterns)
        return Order(wish, self.folder, self.process)


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
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    matching = ExitStack()
    own = matching.enter_context(watched(compiled(setting.patterns)))
    _here.append(_Worker(setting.order(own), stop, matching))


def _make(number: int, source: Source) -> Made | Missed:
    """Make a session in a process of its own."""
    worker = _here[0]
    try:
        return worker.order.make(number, source, go_on=worker.go_on)
    except _Stopped:
        return Missed("it was no longer wanted")
