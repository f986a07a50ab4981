"""What the server knows while it runs: whose sessions, which of them are open, the index, what happens."""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING, TypeVar

from clew.actions.stores import open_store
from clew.faces.web.answers import BuildingError
from clew.faces.web.books import Books
from clew.faces.web.events import Hub
from clew.faces.web.index_build import IndexBuild
from clew.faces.web.shelves import Shelves
from clew.faces.web.workers import Lane

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from clew.faces.web.answers import Document
    from clew.faces.web.books import Book
    from clew.faces.web.shelves import Shelf
    from clew.store.files import Listing, SessionFile, Store

T = TypeVar("T")


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
        self.index = IndexBuild(self.store, is_wanted=use_index)
        self.hub = Hub(lambda: self.store, self.shelf)
        self.quick = Lane("quick", threads=4, waiting=64)
        self.slow = Lane("slow", threads=2, waiting=8)
        self.writing = threading.Lock()
        """One edit at a time."""
        self._shelves = Shelves()
        self._books = Books()
        self._examined: tuple[Listing, Document] | None = None
        self._examining = threading.Lock()

    @property
    def store(self) -> Store:
        """The store, looked for anew: the client may have made its folder since."""
        return open_store(self.roots)

    def shelf(self) -> Shelf:
        """Return the sessions as they are now."""
        return self._shelves.now(self.store)

    def find(self, key: str) -> tuple[Shelf, SessionFile]:
        """Return the file that a key stands for, and the list that it was found in."""
        shelf = self._shelves.with_key(self.store, key)
        return shelf, shelf.file(key)

    def book(self, key: str, *, branch: str | None = None) -> Book:
        """Open a session to read in it. The list is new, so that what was just written is in it."""
        shelf = self.shelf()
        return self._books.open(shelf, shelf.file(key), branch=branch)

    def need_index(self) -> None:
        """Refuse what only the index can tell while it is being built."""
        if self.index.is_building:
            raise BuildingError("the index is still being built", hint="/api/index tells how far it is")

    def examined(self, examine: Callable[[], Document]) -> Document:
        """Return what a look at all sessions found; the last one, if no file has changed since."""
        with self._examining:
            listing = self.store.listing()
            if self._examined is None or self._examined[0] != listing:
                self._examined = (listing, examine())
            return self._examined[1]

    def start(self) -> None:
        """Begin what goes on beside the answers."""
        self.index.start()

    def close(self, *, wait: float = 1.0) -> None:
        """End everything; edits that are being written are waited for a moment."""
        self.hub.close(wait=wait)
        self.index.close(wait=wait)
        self.quick.close(wait=wait)
        self.slow.close(wait=wait)
        self._books.close()
