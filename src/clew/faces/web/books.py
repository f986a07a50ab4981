"""Sessions that are being read, kept open: a page asks for one turn after the other.

Of each only the table of its lines is held, and what it says is read when it is asked for. One thread at a
time reads a book, as what it keeps of its lines is not made for several. A session that has grown is another
book, made of the one before and the new lines.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.actions.exporting import open_file
from clew.actions.opening import agent_files
from clew.actions.reading import is_being_written, read_turns
from clew.actions.reopening import gone_on, mark, stand
from clew.actions.window import read_window
from clew.errors import ChangedOnDiskError
from clew.faces.web.answers import NotFoundError
from clew.faces.web.shelves import seen_again
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from clew.actions.reading import Opened
    from clew.actions.reopening import Standing
    from clew.faces.web.answers import Document
    from clew.faces.web.shelves import Shelf
    from clew.session.turns import Turn
    from clew.session.window import Window
    from clew.store.files import SessionFile
    from clew.view.parts import Flow, Head, TurnHead
    from clew.view.timeline import Timeline

_MOST: Final = 32
_LARGEST: Final = 256 << 20
"""Bytes of the files of all books that are kept; what is held of each is a part of it. One is always kept."""

_ANSWERS: Final = 1 << 19
"""Bytes of answers that are kept with a book: pages of turns."""

_VIEWS: Final = 4 << 20
"""The same for what all of the session has to be read for."""


class _Stamp(NamedTuple):
    """A session and the files near it, as they lay there."""

    file: SessionFile
    near: tuple[SessionFile, ...]
    """What may be its sub-agents'."""


class Stretch(NamedTuple):
    """Some parts of a turn that are made already."""

    first: int
    parts: tuple[Flow, ...]

    def page(self, first: int, many: int) -> Sequence[Flow]:
        """Return so many parts from one on, and one more; none if it has not all of them."""
        at = first - self.first
        return self.parts[at : at + many + 1] if at >= 0 and at + many < len(self.parts) else ()


class Answers:
    """What was answered of a session as it is: fifty pages that look at one ask for the same."""

    def __init__(self, most: int = _ANSWERS) -> None:
        """Keep so many bytes at most."""
        self._most = most
        self._kept: dict[Hashable, Document] = {}
        self._size = 0

    def get(self, name: Hashable) -> Document | None:
        """Return the answer with a name, if it was given before."""
        return self._kept.get(name)

    def keep(self, name: Hashable, answer: Document) -> Document:
        """Keep an answer, unless it is large, and return it."""
        size = len(answer.body)
        if size <= self._most:
            if self._size + size > self._most:
                self._kept.clear()
                self._size = 0
            self._kept[name] = answer
            self._size += size
        return answer


class Book:
    """A session that is open; use it with its lock held."""

    def __init__(self, standing: Standing, *, before: Book | None = None) -> None:
        """`before` is the same session with fewer lines."""
        # What was worked out of sub-agents is shared with the book before, so both are read one at a time.
        self.lock = threading.RLock() if before is None else before.lock
        self.standing = standing
        self.file = standing.opened.file
        self.opened: Opened = standing.opened
        self.answers = Answers()
        self.views = Answers(_VIEWS)
        self.stretches: dict[tuple[str | None, int], Stretch] = {}
        """What stands before the place that somebody went to, by sub-agent and number of the turn."""
        self.flows: dict[tuple[str | None, int, int], Iterator[Flow]] = {}
        """Turns that were read in part: by sub-agent, number, and the part that comes next."""
        self._main = standing.timeline
        self._window: Window | None = None
        self._numbers = {turn.n: place for place, turn in enumerate(standing.turns)}
        self._agents: dict[str, Timeline] = {}
        self._heads: dict[str, tuple[Head, tuple[TurnHead, ...]]] = {}
        # All but its last turn are as they were.
        self._known = before.known_heads()[:-1] if before is not None else ()

    @property
    def is_left(self) -> bool:
        """Whether its last line was being written, and nobody writes it any more: then it is damage."""
        opened = self.opened
        return opened.is_being_written and not is_being_written(self.file, opened.session.fragments)

    def timeline(self, agent: str | None = None) -> Timeline:
        """Return the timeline of the session, or of a sub-agent of whatever depth."""
        if agent is None:
            return self._main
        found = self._agents.get(agent) or self._main.agent(agent)
        if found is None:
            raise NotFoundError(f"this session has no sub-agent {agent[:60]!r}")
        return self._agents.setdefault(agent, found)

    def turns(self, agent: str | None = None) -> Sequence[Turn]:
        """Return the turns of the session, or of a sub-agent, in their places."""
        return self.timeline(agent).own_turns

    def heads(self, agent: str | None = None) -> tuple[Head, tuple[TurnHead, ...]]:
        """Return the session, or a sub-agent, and its turns, in a few facts each; read once for that."""
        name = agent or ""
        if name not in self._heads:
            timeline = self.timeline(agent)
            known = self._known if agent is None else ()
            rest = range(len(known), len(timeline.own_turns))
            self._heads[name] = timeline.head(), (*known, *map(timeline.turn_head, rest))
        return self._heads[name]

    def known_heads(self) -> tuple[TurnHead, ...]:
        """Return the turns in a few facts each, as far as that was worked out."""
        found = self._heads.get("")
        return self._known if found is None else found[1]

    def window(self) -> Window:
        """Return how the context window filled; worked out once."""
        if self._window is None:
            reading = self.standing.reading or read_turns(self.opened)
            self._window = read_window(reading)
        return self._window

    def places(self, agent: str | None = None) -> Mapping[int, int]:
        """Return the place of each turn by its number."""
        if agent is None:
            return self._numbers
        return {turn.n: place for place, turn in enumerate(self.turns(agent))}


class _Kept:
    """A book, and who may open it anew."""

    def __init__(self) -> None:
        self.opening = threading.Lock()
        self.book: Book | None = None
        self.stamp: _Stamp | None = None
        self.since = 0.0
        """When the opening began: what was written before is in the book."""


class Books:
    """The books that were read last."""

    def __init__(self, *, most: int = _MOST, largest: int = _LARGEST) -> None:
        self._most = most
        self._largest = largest
        self._lock = threading.Lock()
        self._books: OrderedDict[tuple[str, str], _Kept] = OrderedDict()

    def open(
        self, shelf: Shelf, file: SessionFile, *, branch: str | None = None, asked: float | None = None
    ) -> Book:
        """Return the book of a file as it is now, or was at some time after it was `asked` for."""
        stamp = _Stamp(file, _near(shelf, file))
        kept = self._kept((file.path, branch or ""))
        asked = time.monotonic() if asked is None else asked
        # Others who ask for the same meanwhile wait, and are given the same.
        with kept.opening:
            book = kept.book
            if book is not None and (kept.stamp == stamp or kept.since > asked) and not book.is_left:
                return book
            since = time.monotonic()
            kept.book = self._opened(shelf, stamp, branch, kept)
            kept.stamp, kept.since = stamp, since
            return kept.book

    def _kept(self, name: tuple[str, str]) -> _Kept:
        with self._lock:
            kept = self._books.setdefault(name, _Kept())
            self._books.move_to_end(name)
            while len(self._books) > 1 and (len(self._books) > self._most or self._size() > self._largest):
                self._books.popitem(last=False)
            return kept

    def _size(self) -> int:
        return sum(kept.stamp.file.size for kept in self._books.values() if kept.stamp is not None)

    def _opened(self, shelf: Shelf, stamp: _Stamp, branch: str | None, kept: _Kept) -> Book:
        before, file = kept.book, stamp.file
        if before is not None and branch is None and kept.stamp is not None:
            beside = _agent_files(shelf, before, kept.stamp, stamp)
            with before.lock:
                standing = gone_on(before.standing, file, beside)
                if standing is not None:
                    return Book(standing, before=before)
        # Let go of the old one first: both may be large.
        kept.book = before = None
        try:
            return _read(shelf, file, branch)
        except ChangedOnDiskError:  # its end was rewritten meanwhile, which takes a moment
            return _read(shelf, file, branch)

    def close(self) -> None:
        """Let go of all."""
        with self._lock:
            self._books.clear()


def _read(shelf: Shelf, file: SessionFile, branch: str | None) -> Book:
    """Read all of a session."""
    source = FileSource(file.path)
    begun = mark(source)
    opened = open_file(shelf.store, file, listing=shelf.listing, source=source)
    return Book(stand(opened, branch=branch, begun=begun))


def _near(shelf: Shelf, file: SessionFile) -> tuple[SessionFile, ...]:
    """Return the files near the session that may be its sub-agents', as they are now."""
    place = (file.root, file.folder)
    found = (
        seen_again(one)
        for one in shelf.listing.agents
        if (one.root, one.folder) == place and one.session in {None, file.id}
    )
    return tuple(one for one in found if one is not None)


def _agent_files(shelf: Shelf, before: Book, then: _Stamp, now: _Stamp) -> Sequence[SessionFile]:
    """Return the files of a session's sub-agents; whose each is need not be found out again."""
    known = before.opened.agent_files
    if now.near == then.near:
        return known
    if [one.path for one in now.near] == [one.path for one in then.near]:
        mine = {one.path for one in known}
        return tuple(one for one in now.near if one.path in mine)
    return agent_files(shelf.store, now.file, listing=shelf.listing)
