"""Tell every open page what happens to sessions, as Server-Sent Events.

One watch serves all. It begins with the first page and goes on for a while after the last one has left, so
that a page that comes back is told what it missed. If that is not known any more, it is told to read anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from clew.actions.watching import Changed, Gone, Pause, Said, Watch, Wish
from clew.errors import ClewError
from clew.faces.web.answers import BusyError, utf8
from clew.format.json_pieces import whole
from clew.format.records import Fragment

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from clew.actions.watching import News, Stream
    from clew.faces.web.shelves import Shelf
    from clew.store.files import Store

KEPT: Final = 1_000
"""Events that a page which comes back can still be told."""

HEARTBEAT: Final = 15.0
_LOOK: Final = 0.1
"""Seconds between two looks at the files: what is written is to be seen within 0.3 s."""

_LINGER: Final = 60.0
_PAGES: Final = 100
_BEHIND: Final = 256
"""Events that wait for a page; one that is further behind is told to read anew."""


@dataclass(slots=True)
class _Grown:
    """What was added to one file between two looks."""

    stream: Stream
    first: int
    last: int
    lines: int = 0
    damaged: int = 0
    kinds: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a page is told."""

    number: int
    name: str
    data: dict[str, object]


class _Page:
    """One page that listens."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self.is_behind = False

    def tell(self, events: Iterable[Event | None]) -> None:
        """Pass events on, from whatever thread."""
        with contextlib.suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self._put, list(events))

    def _put(self, events: list[Event | None]) -> None:
        for event in events:
            if self.queue.qsize() >= _BEHIND and event is not None:
                self.is_behind = True
            else:
                self.queue.put_nowait(event)


class Hub:
    """Watches the store and tells the pages."""

    def __init__(
        self, store: Callable[[], Store], shelf: Callable[[], Shelf], *, last: Callable[[], Shelf]
    ) -> None:
        """`shelf` lists the sessions anew; `last` gives the list that pages were last answered from."""
        self._store = store
        self._shelf_now = shelf
        self._last_shelf = last
        self._lock = threading.Lock()
        self._pages: set[_Page] = set()
        self._kept: deque[Event] = deque(maxlen=KEPT)
        self._run = ""
        self._number = 0
        self._is_ready = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_over = False
        self._told_at = 0.0

    def known_until(self) -> float | None:
        """Return since when pages have been told nothing new, on the monotonic clock; None without a watch.

        Whoever read the files after that knows all that any page was told.
        """
        with self._lock:
            is_watching = self._thread is not None and bool(self._pages) and self._is_ready.is_set()
            return self._told_at if is_watching else None

    async def listen(self, last: str | None) -> AsyncGenerator[bytes]:
        """Give the events for one page, whose last one was `last`, until it leaves or the server ends."""
        page, missed, start = await self._joined(last)
        try:
            yield b"retry: 1000\n\n"
            if missed is None:
                yield self._written(Event(start, "refresh", {}))
            else:
                yield self._written(Event(start, "hello", {}))
                for event in missed:
                    yield self._written(event)
                    start = event.number
            while not self._is_over:
                try:
                    event = await asyncio.wait_for(page.queue.get(), HEARTBEAT)
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if event is None:
                    return
                if event.number <= start:  # it was on its way while the page was taken in
                    continue
                if page.is_behind:
                    page.is_behind = False
                    while not page.queue.empty():
                        event = page.queue.get_nowait() or event
                    yield self._written(Event(event.number, "refresh", {}))
                    continue
                yield self._written(event)
        finally:
            with self._lock:
                self._pages.discard(page)

    def close(self, *, wait: float) -> None:
        """Let all pages go, and end the watch."""
        self._is_over = True
        self._stop.set()
        self._is_ready.set()
        with self._lock:
            pages, thread = list(self._pages), self._thread
        for page in pages:
            page.tell([None])
        if thread is not None:
            thread.join(wait)

    # Pages ------------------------------------------------------------------------------------------------

    async def _joined(self, last: str | None) -> tuple[_Page, list[Event] | None, int]:
        """Take a page in: with what it missed, or None if it has to read everything anew."""
        loop = asyncio.get_running_loop()
        page = _Page(loop)
        with self._lock:
            if len(self._pages) >= _PAGES or self._is_over:
                raise BusyError(f"more than {_PAGES} pages are listening")
            self._pages.add(page)
            if self._thread is None:
                self._begin()
        # What is written from now on is told: the watch has seen all files.
        while not self._is_ready.is_set():
            await asyncio.sleep(0.01)
        with self._lock:
            number = self._number
            if last is None:
                return page, [], number
            run, _, text = last.rpartition("-")
            if run != self._run or not text.isdigit() or len(text) > 15:
                return page, None, number
            after = int(text)
            missed = [event for event in self._kept if event.number > after]
            is_whole = after <= number and len(missed) == number - after
            return page, missed if is_whole else None, number if not is_whole else after

    def _written(self, event: Event) -> bytes:
        data = utf8(whole(event.data))
        return f"id: {self._run}-{event.number}\nevent: {event.name}\n".encode() + b"data: " + data + b"\n\n"

    # The watch --------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._run = secrets.token_hex(8)
        # The numbers go on: somebody may still be listening.
        self._kept.clear()
        self._is_ready.clear()
        self._stop.clear()
        self._thread = threading.Thread(target=self._watch, name="clew-events", daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        # A watch waits longer and longer where nothing happens; somebody is looking at this one.
        def sleep(seconds: float) -> None:
            self._stop.wait(min(seconds, _LOOK))

        try:
            while not self._stop.is_set():
                try:
                    if self._follow(Watch(self._store(), Wish(lines=0, whole=True), sleep=sleep)):
                        return
                except (ClewError, OSError):  # a folder that is not there now; the pages are told to look
                    self._tell("refresh", {})
                    self._is_ready.set()
                    self._stop.wait(1)
        finally:
            with self._lock:
                # Not for another watch that has begun meanwhile, and has not seen the files yet.
                if self._thread is threading.current_thread():
                    self._thread = None
                    self._is_ready.set()

    def _follow(self, watch: Watch) -> bool:
        """Tell what happens; say whether that is enough, as nobody has listened for a while."""
        grown: dict[str, _Grown] = {}
        alone = 0.0
        for news in watch.news():
            if self._stop.is_set():
                break
            if not isinstance(news, Pause):
                self._take(news, grown)
                continue
            self._tell_grown(grown)
            self._is_ready.set()
            alone = alone + _LOOK if not self._pages else 0.0
            if alone > _LINGER and self._left():
                return True
        return False

    def _left(self) -> bool:
        """End the watch, if really nobody listens."""
        with self._lock:
            if self._pages:
                return False
            self._thread = None
            return True

    def _take(self, news: News, grown: dict[str, _Grown]) -> None:
        match news:
            case Said(stream, item):
                one = grown.setdefault(stream.path, _Grown(stream, item.number, item.number))
                one.stream = stream
                one.last = max(one.last, item.number)
                one.lines += 1
                if isinstance(item, Fragment):
                    one.damaged += 1
                else:
                    kind = item.facts.kind
                    if kind in one.kinds or len(one.kinds) < 40:
                        one.kinds[kind] = one.kinds.get(kind, 0) + 1
            case Changed(stream, what, number):
                self._tell_grown(grown)
                self._tell("changed", {**self._place(stream), "what": what, "line": number})
            case Gone(stream, reason):
                self._tell_grown(grown)
                self._tell("gone", {**self._place(stream), "reason": reason})
            case _:
                pass

    def _tell_grown(self, grown: dict[str, _Grown]) -> None:
        for one in grown.values():
            self._tell(
                "grown",
                {
                    **self._place(one.stream),
                    "first_line": one.first,
                    "last_line": one.last,
                    "lines": one.lines,
                    "damaged": one.damaged,
                    "kinds": one.kinds,
                },
            )
        grown.clear()

    def _place(self, stream: Stream) -> dict[str, object]:
        # A key may become another, when a second session of the same id appears: pages go by the newest list.
        shelf = self._last_shelf()
        if shelf.key_of(stream.path) is None:
            shelf = self._shelf_now()
        own = shelf.key_of(stream.path)
        session = own if stream.agent is None else shelf.session_key(stream.session, stream.path)
        return {
            "session": session,
            "file": own,
            "agent": stream.agent,
            "title": stream.title,
            "project": stream.project,
        }

    def _tell(self, name: str, data: dict[str, object]) -> None:
        with self._lock:
            self._told_at = time.monotonic()
            self._number += 1
            event = Event(self._number, name, data)
            self._kept.append(event)
            pages = list(self._pages)
        for page in pages:
            page.tell([event])
