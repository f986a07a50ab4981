"""What the server knows while it runs: whose sessions, which of them are open, the index, what happens."""

from __future__ import annotations

import secrets
import threading
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from clew.actions.stores import open_store
from clew.faces.web.answers import BuildingError
from clew.faces.web.books import Books
from clew.faces.web.events import Hub
from clew.faces.web.index_build import IndexBuild
from clew.faces.web.sharing import Shared
from clew.faces.web.shelves import Shelves, seen_again
from clew.faces.web.workers import Lane
from clew.store.signs import signs_of_life

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path

    from clew.actions.listing import SessionList
    from clew.faces.web.answers import Document
    from clew.faces.web.books import Book
    from clew.faces.web.shelves import Shelf
    from clew.store.files import Listing, SessionFile, Store

T = TypeVar("T")
_HARDLY_OLD = 0.25
"""Seconds within which pages are told of a line anyway."""

_EXAMINED = 60.0
"""Seconds for which a look at all sessions is good at least, if no file changes."""

LaneName = Literal["quick", "list", "search", "slow", "edit"]
"""Turns and heads; lists; searches; what may take seconds; edits, which are done one after the other."""


class _Examined(NamedTuple):
    """A look at all sessions."""

    listing: Listing
    live: frozenset[str]
    """The files that somebody may have been writing."""

    until: float
    """On the monotonic clock."""

    found: Document


class Site:
    """One server's state. Its parts look after their own locks."""

    def __init__(
        self,
        roots: Sequence[Path] = (),
        *,
        read_only: bool = False,
        use_index: bool = True,
        jobs: int | None = None,
        log: Callable[[str], object] | None = None,
    ) -> None:
        self.roots = tuple(roots)
        self.read_only = read_only
        self.use_index = use_index
        self.jobs = jobs
        self.log = log
        """Is told of what went wrong inside."""
        self.key = secrets.token_bytes(32)
        """Makes the placeholders of exports. It is of this run alone: to look at something writes nothing."""
        self._store: tuple[float, Store] | None = None
        self.index = IndexBuild(self.store, is_wanted=use_index)
        self.hub = Hub(lambda: self.store, self.shelf, last=self.last_shelf)
        self.lanes: Mapping[LaneName, Lane] = {
            "quick": Lane("quick", threads=4, waiting=64),
            # Of its own, so that nobody who reads waits for lists.
            "list": Lane("list", threads=2, waiting=64),
            # A pattern may take seconds, and words hardly ever do.
            "search": Lane("search", threads=2, waiting=64),
            "slow": Lane("slow", threads=2, waiting=8),
            # The preview of an edit reads all of a session, and nobody who only looks waits for that.
            "edit": Lane("edit", threads=1, waiting=8),
        }
        self.lists: Shared[tuple[Shelf, SessionList]] = Shared()
        """Lists of all sessions: many pages ask for the same one when there is news."""
        self.writing = threading.Lock()
        """One edit at a time."""
        self._listed: Listing | None = None
        self._shelves = Shelves()
        self._books = Books()
        self._examined: _Examined | None = None
        self._examining = threading.Lock()

    @property
    def store(self) -> Store:
        """The store, looked for anew now and then: the client may have made its folder since."""
        kept, now = self._store, time.monotonic()
        if kept is None or now - kept[0] > _HARDLY_OLD:
            kept = self._store = (now, open_store(self.roots))
        return kept[1]

    def shelf(self) -> Shelf:
        """Return the sessions as they are now."""
        return self._shelves.now(self.store)

    def recent_shelf(self) -> Shelf:
        """Return the sessions as they are now, or hardly before if pages are told of all that happens."""
        told = self.hub.known_until()
        found = None if told is None else self._shelves.since(told)
        return self.shelf() if found is None else found

    def last_shelf(self) -> Shelf:
        """Return the sessions as they were when somebody last looked."""
        return self._shelves.last(self.store) or self.shelf()

    def find(self, key: str) -> tuple[Shelf, SessionFile]:
        """Return the file that a key stands for, and the list that it was found in."""
        shelf = self._shelves.with_key(self.store, key)
        return shelf, shelf.file(key)

    def book(self, key: str, *, branch: str | None = None) -> Book:
        """Open a session to read in it; what was just written is in it."""
        asked = time.monotonic()
        told = self.hub.known_until()
        if told is not None:
            # Pages ask when there is news. What has all the news, and is hardly old, does for all of them.
            asked = max(told, asked - _HARDLY_OLD)
        # To list all files anew for each turn would take longer than to read it. One that has come since is
        # listed as soon as there is news of it.
        shelf = self._shelves.with_key(self.store, key)
        file = seen_again(shelf.file(key))
        if file is None:
            shelf = self.shelf()
            file = shelf.file(key)
        return self._books.open(shelf, file, branch=branch, asked=asked)

    def listed(self, tool: str | None, work: Callable[[Shelf], SessionList]) -> tuple[Shelf, SessionList]:
        """List all sessions; while some are written to all the time, the last list does for a while."""
        return self.lists.get(tool, partial(self._list, work), is_spared=self.index.updates.is_spent)

    def _list(self, work: Callable[[Shelf], SessionList]) -> tuple[Shelf, SessionList]:
        shelf = self.shelf()
        is_new, self._listed = shelf.listing != self._listed, shelf.listing
        with self.index.updates.spending(lambda: is_new):
            return shelf, work(shelf)

    @contextmanager
    def edited(self) -> Generator[None]:
        """Let one edit after the other be written; what is asked for then has it."""
        with self.writing:
            try:
                yield
            finally:
                self.lists.forget()
                self.index.hurry()

    def need_index(self) -> None:
        """Refuse what only the index can tell while it is being built."""
        if self.index.is_building:
            raise BuildingError("the index is still being built", hint="/api/index tells how far it is")

    def examined(self, examine: Callable[[], Document]) -> Document:
        """Return what a look at all sessions found; the last one, if no file has changed since.

        Nor may anybody have stopped writing one, and after a while it is too old: days go by, copies are put
        into the archive. The longer it takes to look, the longer it is good.
        """
        with self._examining:
            listing, now = self.store.listing(), time.time()
            is_live = signs_of_life(self.store, now=now)
            live = frozenset(file.path for file in (*listing.sessions, *listing.agents) if is_live(file))
            kept = self._examined
            if kept is None or (kept.listing, kept.live) != (listing, live) or time.monotonic() > kept.until:
                began = time.monotonic()
                found = examine()
                ended = time.monotonic()
                until = ended + max(_EXAMINED, 30 * (ended - began))
                kept = self._examined = _Examined(listing, live, until, found)
            return kept.found

    def start(self) -> None:
        """Begin what goes on beside the answers."""
        self.index.start()

    def close(self, *, wait: float = 1.0) -> None:
        """End everything; edits that are being written are waited for a moment."""
        self.hub.close(wait=wait)
        self.index.close(wait=wait)
        for lane in self.lanes.values():
            lane.close(wait=wait / len(self.lanes))
        self.lists.forget()
        self._books.close()
