"""Watch sessions as they are written: one, or all of a store, their sub-agents included.

What happens is given piece by piece; nothing is printed. Between two looks at the files the watch sleeps. A
look costs a `stat` for each of the files and folders something is expected in, a bounded number of them; the
whole store is listed every few seconds, and less often where that takes long.
"""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, Final, Literal

from clew.actions.glances import Glance, glance
from clew.errors import ClewError
from clew.format.records import Fragment, Record
from clew.store.files import Skipped, Store, at_path
from clew.store.follow import Restart, Tail
from clew.store.heads import head
from clew.store.live import liveness, running
from clew.store.roots import find_roots
from clew.store.signs import RECENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clew.store.files import Listing, SessionFile

POLL: Final = 0.2
_SLOWEST: Final = 1.0
_LISTING: Final = 5.0
_SHARE: Final = 20
"""Listing the store takes at most one part in so many of the time."""

_FILES: Final = 64
"""Files that are followed at once, and as many that were written last and may be again."""

_QUIET: Final = 60.0
_FOLDERS: Final = 8
_SHOWN: Final = 5
"""Sessions whose last lines are shown at the start."""

_LARGE: Final = 256 << 10
"""A session file of that size which appears all at once is a copy; its last lines are enough."""


@dataclass(frozen=True, slots=True)
class Stream:
    """One file that is watched, and what a person calls it."""

    path: str
    session: str
    """The id of the session, also for a sub-agent of it."""

    agent: str | None
    """The sub-agent's id; None for the session itself."""

    title: str | None
    project: str


@dataclass(frozen=True, slots=True)
class Said:
    """A record, or bytes that are none, not given before."""

    stream: Stream
    item: Record | Fragment


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of a file otherwise; `number` is the line it goes on from."""

    stream: Stream
    what: Literal["cut", "rewritten", "replaced", "left out"]
    number: int


@dataclass(frozen=True, slots=True)
class Gone:
    """A file cannot be read now. If it comes back, it is gone on with."""

    stream: Stream
    reason: str


@dataclass(frozen=True, slots=True)
class Pause:
    """All there was is told; the watch waits."""

    idle: float
    """Seconds since something was told."""


News = Said | Changed | Gone | Pause


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be watched and how."""

    file: SessionFile | None = None
    """One session; without it every session that is live or comes to life."""

    lines: int | None = None
    """How many messages are shown of what is there already; None for a few."""

    from_start: bool = False
    whole: bool = False
    """Give every line of a file that appears, however large it is already."""

    until_idle: float | None = None


@dataclass(slots=True)
class _Known:
    """A file as it was when last looked at."""

    file: SessionFile
    tail: Tail | None = None
    stream: Stream | None = None
    active: float = 0.0


class Watch:
    """Follows the files of a store. Go through `news`, which ends only where a wish says so."""

    def __init__(
        self,
        store: Store,
        wish: Wish,
        *,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._store = store
        self._wish = wish
        self._now = now
        self._clock = clock
        self._sleep = sleep
        self._known: dict[str, _Known] = {}
        self._followed: dict[str, _Known] = {}
        self._near: list[_Known] = []
        self._owners: dict[str, tuple[str, ...]] = {}
        self._folders: dict[str, int | None] = {}
        self._listed = 0.0
        self._cost = 0.0
        self._spoke = clock()
        file = wish.file
        if file is not None and file.root is not None and file.root not in store.roots.found:
            self._store = Store.at([file.root])  # named by a path outside the folders looked at

    @property
    def watched(self) -> tuple[Stream, ...]:
        """The files that are followed now."""
        return tuple(self._stream(one) for one in self._followed.values())

    def unfinished(self) -> list[tuple[Stream, int]]:
        """Return the files whose last line is being written, and how many bytes of it there are."""
        return [
            (self._stream(one), one.tail.held_back)
            for one in self._followed.values()
            if one.tail is not None and one.tail.held_back
        ]

    def news(self) -> Iterator[News]:
        """Give what there is, as wished, and then what happens."""
        yield from self._begin()
        self._spoke = self._clock()
        limit = self._wish.until_idle
        interval = POLL
        while True:
            before = self._clock()
            is_quiet = True
            for news in self._look():
                is_quiet = False
                self._spoke = self._clock()
                yield news
            idle = self._clock() - self._spoke
            yield Pause(idle)
            if limit is not None and idle >= limit:
                return
            interval = min(_SLOWEST, interval * 1.2) if is_quiet else POLL
            wait = interval if limit is None else min(interval, max(0.01, limit - idle))
            # A look that took long is not followed by a sleep as long as ever.
            self._sleep(max(0.01, wait - (self._clock() - before)))

    # Finding files ---------------------------------------------------------------------------------------

    def _begin(self) -> Iterator[News]:
        for file in self._files():
            self._known[file.path] = _Known(file)
        wanted = self._wish.file
        if wanted is not None:
            self._known.setdefault(wanted.path, _Known(wanted))
        processes = running(self._store.roots.found)
        now = self._now()
        shown = 0
        newest = sorted(self._known.values(), key=lambda one: -one.file.mtime_ns)
        opened: list[tuple[_Known, int]] = []
        for one in newest[: _FILES if wanted is None else None]:
            is_it = wanted is not None and one.file.path == wanted.path
            if (
                not is_it
                and not liveness(one.file, now=now, processes=processes, look_for_open=False).is_live
            ):
                continue
            count = 0
            if not one.file.is_agent or is_it:
                shown += 1
                few = 10 if is_it else 3
                count = 0 if shown > _SHOWN else few if self._wish.lines is None else self._wish.lines
            opened.append((one, count))
        self._note_near()
        for one, count in reversed(opened):  # the one written last comes last, where a person looks
            if self._wish.from_start:
                self._follow(one)
                yield from self._told(one)
            else:
                yield from self._history(one, count)

    def _files(self) -> list[SessionFile]:
        """List the store's files that are to be watched."""
        before = self._clock()
        if not self._store.roots.found:  # no folder yet: the client makes it when it first runs
            self._store = Store(find_roots(self._store.roots.looked_in))
        seen = {folder: _changed(folder) for folder in self._folders}
        found = self._wanted(self._store.listing())
        # As they were before the listing: what came while it was made is found by the next one.
        self._folders = {folder: seen.get(folder, 0) for folder in self._promising(found)}
        self._listed = self._clock()
        self._cost = self._listed - before
        return found

    def _promising(self, files: Sequence[SessionFile]) -> Iterator[str]:
        """Give the folders in which a new file is likeliest to appear: those that changed last."""
        for root in self._store.roots.found:
            top = f"{root}{os.sep}projects"
            yield top
            try:
                with os.scandir(top) as entries:
                    changed = [(_changed(entry.path) or 0, entry.path) for entry in entries]
            except OSError:
                continue
            yield from (path for _, path in nlargest(_FOLDERS, changed))
        for file in nlargest(_FOLDERS, files, key=lambda file: file.mtime_ns):
            yield f"{file.path.removesuffix('.jsonl')}{os.sep}subagents"

    def _wanted(self, listing: Listing) -> list[SessionFile]:
        wanted = self._wish.file
        files = [*listing.sessions, *listing.agents]
        if wanted is None:
            return files
        place = (wanted.root, wanted.folder)
        return [
            file
            for file in files
            if file.path == wanted.path
            or (
                file.is_agent
                and not wanted.is_agent
                and (file.root, file.folder) == place
                and wanted.id in self._owners_of(file)
            )
        ]

    def _owners_of(self, agent: SessionFile) -> tuple[str, ...]:
        """Return the session a sub-agent's file belongs to: by its place, else by what its lines say."""
        if agent.session is not None:
            return (agent.session,)
        found = self._owners.get(agent.path)
        if not found and agent.size:
            seen = head(agent, tail=False)
            found = () if isinstance(seen, Skipped) else seen.session_ids
            self._owners[agent.path] = found
        return found or ()

    def _is_due(self) -> bool:
        since = self._clock() - self._listed
        if since < self._cost * _SHARE:
            return False
        return since >= _LISTING or any(_changed(path) != at for path, at in self._folders.items())

    # Looking ---------------------------------------------------------------------------------------------

    def _look(self) -> Iterator[News]:
        if self._is_due():
            yield from self._relisted(self._files())
        else:
            yield from self._touched()
        # Sub-agents first: their last words come before their result does.
        for one in sorted(self._followed.values(), key=lambda one: not one.file.is_agent):
            yield from self._told(one)
        self._let_go()

    def _relisted(self, files: Sequence[SessionFile]) -> Iterator[News]:
        here = {file.path for file in files}
        for path in [path for path in self._known if path not in here and path not in self._followed]:
            del self._known[path]
        for file in files:
            one = self._known.get(file.path)
            if one is None:
                one = self._known[file.path] = _Known(file)
                if abs(self._now() - file.mtime_ns / 1e9) > RECENT:
                    continue  # brought here from elsewhere
                if file.size > _LARGE and not self._wish.whole and not self._wish.from_start:
                    yield from self._history(one, self._wish.lines or 3, say=True)
                else:
                    self._follow(one)
            elif one.tail is None and _has_changed(one.file, file):
                yield from self._woken(one, file)
        self._note_near()

    def _note_near(self) -> None:
        idle = (one for one in self._known.values() if one.tail is None)
        self._near = nlargest(_FILES, idle, key=lambda one: one.file.mtime_ns)

    def _touched(self) -> Iterator[News]:
        """Look at the files written last, which are the likeliest to be written again."""
        for one in self._near:
            old = one.file
            status = _status(old.path) if one.tail is None else None
            if status is not None and (old.size, old.mtime_ns, old.inode) != (
                status.st_size,
                status.st_mtime_ns,
                status.st_ino,
            ):
                file = at_path(old.path)
                if not isinstance(file, Skipped):
                    yield from self._woken(one, file)

    def _woken(self, one: _Known, file: SessionFile) -> Iterator[News]:
        """Begin to follow a file that was quiet so far; what was there before is known."""
        old = one.file
        if (file.device, file.inode) == (old.device, old.inode) and file.size >= old.size:
            yield from self._history(one, 0, upto=old.size)
            return
        yield from self._history(one, 0)
        if one.tail is not None:
            is_same = (file.device, file.inode) == (old.device, old.inode)
            yield Changed(self._stream(one), "cut" if is_same else "replaced", one.tail.number)

    def _follow(self, one: _Known) -> Tail:
        one.tail = Tail(one.file.path, clock=self._clock)
        one.active = self._clock()
        self._followed[one.file.path] = one
        return one.tail

    def _history(
        self, one: _Known, count: int, *, upto: int | None = None, say: bool = False
    ) -> Iterator[News]:
        """Go through what is in a file already; give the last `count` messages and all between them."""
        tail = self._follow(one)
        held: deque[Record | Fragment] = deque()
        messages = 0
        try:
            for item in tail.start(upto=upto):
                if not count:
                    continue
                held.append(item)
                messages += _is_message(item)
                while messages > count or len(held) > 20 * count + 100:
                    messages -= _is_message(held.popleft())
        except ClewError:  # gone or no file any more: the next look says so
            return
        if held and say and held[0].number > 1:
            yield Changed(self._stream(one), "left out", held[0].number)
        while held:
            yield Said(self._stream(one), held.popleft())

    def _told(self, one: _Known) -> Iterator[News]:
        if one.tail is None:
            return
        stream: Stream | None = None
        for found in one.tail.look():
            if stream is None:
                one.active = self._clock()
                stream = self._stream(one, again=True)
            match found:
                case Restart():
                    yield Changed(stream, found.why, found.number)
                case Skipped():
                    yield Gone(stream, found.reason)
                case _:
                    yield Said(stream, found)

    def _let_go(self) -> None:
        """Follow only so many files: those that have been quiet longest are only known again."""
        extra = len(self._followed) - _FILES
        if extra <= 0:
            return
        for path, one in sorted(self._followed.items(), key=lambda pair: pair[1].active)[:extra]:
            file = at_path(path)
            if one.tail is None or self._clock() - one.active < _QUIET:
                break
            if not isinstance(file, Skipped):
                # Not its size: what came since the last look is still to be told.
                one.file = file._replace(size=one.tail.offset)
            one.tail = None
            del self._followed[path]
        self._note_near()

    def _stream(self, one: _Known, *, again: bool = False) -> Stream:
        if one.stream is None or (again and one.stream.title is None):
            file = one.file
            seen = glance(file)
            facts = seen.alone if isinstance(seen, Glance) else None
            owners = self._owners_of(file) if file.is_agent else ()
            one.stream = Stream(
                file.path,
                owners[0] if owners else file.id,
                file.id.removeprefix("agent-") if file.is_agent else None,
                facts.title if facts else None,
                (facts.cwd if facts else None) or file.folder,
            )
        return one.stream


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116  # at every tick, for many paths
    except (OSError, ValueError):
        return None


def _changed(folder: str) -> int | None:
    status = _status(folder)
    return None if status is None else status.st_mtime_ns


def _has_changed(old: SessionFile, new: SessionFile) -> bool:
    return (old.size, old.mtime_ns, old.inode, old.device) != (new.size, new.mtime_ns, new.inode, new.device)


def _is_message(item: Record | Fragment) -> bool:
    return isinstance(item, Record) and item.facts.role in {"user", "assistant"} and not item.facts.is_meta
