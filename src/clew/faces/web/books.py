"""Sessions that are being read, kept open: a page asks for one turn after the other.

Of each only the table of its lines is held, and what it says is read when it is asked for. One thread at a
time reads a book, as what it keeps of its lines is not made for several.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from clew.actions.exporting import open_file
from clew.actions.reading import read_turns, sub_agents
from clew.actions.stories import timeline_of
from clew.faces.web.answers import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.actions.reading import Opened
    from clew.faces.web.shelves import Shelf
    from clew.store.files import SessionFile
    from clew.view.parts import Head, TurnHead
    from clew.view.timeline import Timeline

_MOST: Final = 4
_Stamp = tuple[object, ...]


class Book:
    """A session that is open; use it with its lock held."""

    def __init__(self, shelf: Shelf, file: SessionFile, *, branch: str | None) -> None:
        self.lock = threading.RLock()
        self.file = file
        self.opened: Opened = open_file(shelf.store, file, listing=shelf.listing)
        reading = read_turns(self.opened, branch=branch)
        self._main = timeline_of(reading, sub_agents(self.opened))
        self._numbers = {turn.n: place for place, turn in enumerate(reading.turns)}
        self._agents: dict[str, Timeline] = {}
        self._heads: dict[str, tuple[Head, tuple[TurnHead, ...]]] = {}

    def timeline(self, agent: str | None = None) -> Timeline:
        """Return the timeline of the session, or of a sub-agent of whatever depth."""
        if agent is None:
            return self._main
        found = self._agents.get(agent) or self._main.agent(agent)
        if found is None:
            raise NotFoundError(f"this session has no sub-agent {agent[:60]!r}")
        return self._agents.setdefault(agent, found)

    def heads(self, agent: str | None = None) -> tuple[Head, tuple[TurnHead, ...]]:
        """Return the session, or a sub-agent, and its turns, in a few facts each; read once for that."""
        name = agent or ""
        if name not in self._heads:
            timeline = self.timeline(agent)
            self._heads[name] = timeline.head(), tuple(timeline.heads())
        return self._heads[name]

    def places(self, agent: str | None = None) -> Mapping[int, int]:
        """Return the place of each turn by its number."""
        if agent is None:
            return self._numbers
        return {head.n: place for place, head in enumerate(self.heads(agent)[1])}


class Books:
    """The books that were read last."""

    def __init__(self, *, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._books: OrderedDict[tuple[str, str], tuple[_Stamp, Book]] = OrderedDict()

    def open(self, shelf: Shelf, file: SessionFile, *, branch: str | None = None) -> Book:
        """Return the book of a file as it is now."""
        name = (file.path, branch or "")
        stamp = (file.size, file.mtime_ns, file.inode, file.device, _agents_stamp(shelf, file))
        with self._lock:
            found = self._books.get(name)
            if found is not None and found[0] == stamp:
                self._books.move_to_end(name)
                return found[1]
        book = Book(shelf, file, branch=branch)
        with self._lock:
            self._books[name] = (stamp, book)
            self._books.move_to_end(name)
            while len(self._books) > self._most:
                self._books.popitem(last=False)
        return book

    def close(self) -> None:
        """Let go of all."""
        with self._lock:
            self._books.clear()


def _agents_stamp(shelf: Shelf, file: SessionFile) -> int:
    """Return something that changes when a sub-agent near the session does."""
    place = (file.root, file.folder)
    return hash(
        tuple(
            (one.path, one.size, one.mtime_ns)
            for one in shelf.listing.agents
            if (one.root, one.folder) == place and one.session in {None, file.id}
        )
    )
