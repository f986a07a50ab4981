"""Who wrote each line of a file: the session, the turn and the prompt, through all sessions that changed it.

The versions of all sessions are followed in the order of their times, to what the file holds now. A line
belongs to the version it first came in with; what came in between two versions, or after the last, to nobody.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.actions.file_changes import follow_opened
from clew.actions.passes import sweep
from clew.actions.reading import OnDemand, Opened, is_being_written
from clew.catalog.naming import NOTHING, naming
from clew.catalog.needles import for_literal
from clew.errors import ClewError, UsageError
from clew.format.times import iso
from clew.session.file_contents import Content
from clew.session.file_versions import Gap
from clew.session.inside_paths import relative
from clew.session.line_diffs import same
from clew.session.prompts import read
from clew.session.session import Session
from clew.store import workspace
from clew.store.files import Skipped
from clew.store.heads import group_agents
from clew.store.reader import open_session
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from clew.actions.file_changes import Followed
    from clew.session.file_versions import Version
    from clew.store.files import SessionFile, Store

_STEP: Final = 4 << 20
_ESCAPED: Final = frozenset("\"\\<>&'+`")
"""What some writers of JSON escape, of what the name of a file may hold."""

_PAYS: Final = 1_000_000_000
"""Bytes from which a second process pays: the search runs at several gigabytes a second."""


@dataclass(frozen=True, slots=True)
class Author:
    """What wrote a line."""

    session: str
    turn: int
    prompt: str | None
    uuid: str | None
    """The line of the call."""

    time: int | None
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class BlamedLine:
    """A line of the file and what wrote it; None when nothing tells."""

    n: int
    text: str
    author: Author | None

    def as_dict(self) -> dict[str, object] | None:
        """Return it in the shape of `clew blame --json`: null when nobody knows who wrote it."""
        if self.author is None:
            return None
        return {
            "n": self.n,
            "text": self.text,
            "session": self.author.session,
            "turn": self.author.turn,
            "prompt": self.author.prompt,
            "uuid": self.author.uuid,
            "time": iso(self.author.time),
            "agent_id": self.author.agent_id,
        }


@dataclass(frozen=True, slots=True)
class Blame:
    """A file, line by line."""

    file: str
    lines: tuple[BlamedLine, ...]
    sessions: tuple[str, ...]
    """The sessions that changed it."""

    skipped: tuple[Skipped, ...]
    last: Author | None = None
    """What changed it last, as far as sessions tell."""

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of `clew blame --json`."""
        return {"file": self.file, "lines": [line.as_dict() for line in self.lines]}


def blame(
    store: Store,
    path: str,
    *,
    known_as: str | None = None,
    among: Collection[str] | None = None,
    jobs: int | None = None,
    use_index: bool = True,
    start: Callable[[int], Callable[[], None]] | None = None,
) -> Blame:
    """Tell who wrote each line of a file on disk.

    `known_as` is the path that the sessions knew it by, where it was moved or copied since: whole, or from
    the folder of a session on. `among` are the ids of the sessions in question, where somebody knows. Else,
    with an index, only sessions that it does not know as they are now are searched for the name of the file;
    `start` is told how many.
    """
    here = Path(path).absolute()
    if not here.exists():
        raise UsageError(f"there is no file {path}")
    held = Content.of(workspace.read(str(here)))
    names = {os.path.normpath(here), str(here.resolve())} if known_as is None else {known_as}
    last = here.name if known_as is None else _last(known_as)
    if among is not None:
        speaking, skipped = _among(store, among)
    else:
        speaking, skipped = _speaking(store, last, jobs, start, use_index=use_index)
    return _blamed(str(here), held, _Names(frozenset(names), known_as), speaking, skipped)


def blame_told(store: Store, path: str, *, among: Collection[str]) -> Blame:
    """Tell who wrote each line of a file as sessions last tell it, by the path they knew; nothing is opened.

    `among` are the ids of the sessions in question.
    """
    # However it is spelled: a list may have it as the session wrote it.
    return _blamed(path, None, _Names(frozenset(), path), *_among(store, among))


class _Names(NamedTuple):
    """What a file may be called."""

    names: frozenset[str]
    known_as: str | None = None


def _blamed(
    shown: str,
    held: Content | None,
    called: _Names,
    speaking: Sequence[tuple[SessionFile, tuple[SessionFile, ...]]],
    skipped: list[Skipped],
) -> Blame:
    """Follow a file through sessions to what it holds, or without that to the last that they tell."""
    names, known_as = called
    exact: list[Iterator[_Told]] = []
    moved: list[Iterator[_Told]] = []
    for place, (file, beside) in enumerate(speaking):
        try:
            followed = follow_opened(_opened(file, beside))
        except ClewError as error:
            skipped.append(Skipped(file.path, error.message))
            continue
        for name in followed.paths:
            if name in names or (known_as is not None and _is_known(followed, name, known_as)):
                exact.append(_told(followed, name, place, skipped))
            elif known_as is None and _is_moved(followed, name, names):
                moved.append(_told(followed, name, place, skipped))
    lines = Lines()
    sessions: dict[str, None] = {}
    last: Author | None = None
    for one in _in_order(exact or moved):
        sessions[one.author.session] = None
        last = one.author if one.version.content is not None else last
        lines.follow(one.version, one.author)
    rows = [
        BlamedLine(n, text, author)
        for n, (text, author) in enumerate(lines.last() if held is None else lines.now(held), 1)
    ]
    return Blame(shown, tuple(rows), tuple(sessions), tuple(skipped), last)


class Lines:
    """The lines of a file while it is followed, each with its author."""

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._authors: list[Author | None] = []

    def follow(self, version: Version, author: Author) -> None:
        """Take in a version: what it started from is somebody else's, what is new is its own."""
        if version.content is None:
            return
        if version.before is not None:
            self._become(version.before, None)
        elif version.action == "create":
            self._become(Content(""), None)
        self._become(version.content, author)

    def now(self, held: Content) -> list[tuple[str, Author | None]]:
        """Return the lines that the file holds now, with their authors."""
        self._become(held, None)
        return self.last()

    def last(self) -> list[tuple[str, Author | None]]:
        """Return the lines that the last version held, with their authors."""
        return list(zip(self._rows, self._authors, strict=True))

    def _become(self, content: Content, author: Author | None) -> None:
        rows = _rows(content.shown)
        if rows == self._rows:
            return
        authors = [author] * len(rows)
        for run in same(self._rows, rows):
            authors[run.after : run.after + run.length] = self._authors[run.before : run.before + run.length]
        self._rows, self._authors = rows, authors


def _rows(text: str) -> list[str]:
    """Cut a text into lines without their ends: whether the last has one is nobody's doing."""
    rows = text.split("\n")
    if not rows[-1]:
        rows.pop()
    return rows


class _Told(NamedTuple):
    """A version with its author and its place among those of all sessions."""

    time: int
    session: int
    at: int
    version: Version
    author: Author


def _opened(file: SessionFile, beside: tuple[SessionFile, ...]) -> Opened:
    """Open a session whose file is open only while it is read: there may be many."""
    found = open_session(file.path)
    source = OnDemand(file.path, found.source.size)
    session = Session(source, found.table, found.fragments, name=found.name)
    return Opened(file, session, beside, False, is_being_written(file, session.fragments))


def _told(followed: Followed, path: str, place: int, skipped: list[Skipped]) -> Iterator[_Told]:
    """Give the versions of a file in one session, as they are asked for."""
    prompts = {turn.n: turn.prompt_row for turn in followed.turns}
    session, file = followed.opened.session, followed.opened.file
    latest = 0
    try:
        for at, version in enumerate(followed.changes(path)):
            if isinstance(version, Gap):
                continue
            row = prompts.get(version.turn)
            prompt = None if row is None else read(session.entry(row)).words
            latest = max(latest, version.time or 0)
            author = Author(file.id, version.turn, prompt, version.uuid, version.time, version.agent_id)
            yield _Told(latest, place, at, version, author)
    except ClewError as error:
        skipped.append(Skipped(file.path, error.message))


def _in_order(told: Iterable[Iterator[_Told]]) -> Iterator[_Told]:
    """Give the versions of all sessions in the order of their times; a call that several hold counts once."""
    seen: set[tuple[str, int | None]] = set()
    for one in merge(*told, key=lambda one: one[:3]):
        call = one.version.call
        if call is not None:
            if (call, one.version.time) in seen:  # a fork has it too, with the time it had
                continue
            seen.add((call, one.version.time))
        yield one


def _last(path: str) -> str:
    """Return the last part of a path that sessions know, of whatever system; one without is no file's."""
    last = path.replace("\\", "/").rpartition("/")[2]
    if last in {"", ".", ".."}:
        raise UsageError(f"{path!r} names no file", hint="--as takes the path of the file, not of its folder")
    return last


def _is_known(followed: Followed, path: str, known_as: str) -> bool:
    """Say whether a session means a file by a path that a person gave, however that is spelled."""
    wanted = os.path.normpath(known_as)
    return wanted in {os.path.normpath(path), os.path.normpath(relative(path, followed.cwd))}


def _is_moved(followed: Followed, path: str, names: AbstractSet[str]) -> bool:
    """Say whether a file may be the same one though its project went elsewhere: folder and name are alike."""
    inside = relative(path, followed.cwd)
    if inside == path or followed.cwd is None:
        return False
    project = followed.cwd.replace("\\", "/").rstrip("/").rpartition("/")[2]
    ends = [f"/{project}/{inside}", *([f"/{inside}"] if "/" in inside else [])]
    return any(name.endswith(end) for name in names for end in ends)


# Which sessions -------------------------------------------------------------------------------------------


def _among(
    store: Store, ids: Collection[str]
) -> tuple[list[tuple[SessionFile, tuple[SessionFile, ...]]], list[Skipped]]:
    """Return some sessions with their sub-agents, by their ids."""
    listing = store.listing()
    agents = group_agents(listing)
    return [(file, agents.of(file)) for file in listing.sessions if file.id in ids], []


def _speaking(
    store: Store,
    name: str,
    jobs: int | None,
    start: Callable[[int], Callable[[], None]] | None,
    *,
    use_index: bool,
) -> tuple[list[tuple[SessionFile, tuple[SessionFile, ...]]], list[Skipped]]:
    """Return the sessions that speak of a file of that name, themselves or by a sub-agent, and those."""
    listing = store.listing()
    told = naming(store, listing, name) if use_index else NOTHING
    files = [file for file in (*listing.sessions, *listing.agents) if file.path not in told.known]
    advance = None if start is None else start(len(files))
    hits = sweep(partial(_speaks_of, needles=_needles(name)), files, jobs=jobs, pays=_PAYS, advance=advance)
    there = {*told.naming, *(file.path for file, hit in zip(files, hits, strict=True) if hit)}
    agents = group_agents(listing)
    speaking = [
        (file, beside)
        for file in listing.sessions
        for beside in [agents.of(file)]
        if file.path in there or any(agent.path in there for agent in beside)
    ]
    return speaking, [*listing.skipped]


def _needles(name: str) -> tuple[bytes, ...]:
    """Return what a file holds one of if it names a path that ends in a name; nothing for all files."""
    if name.isascii() and name.isprintable() and not set(name) & _ESCAPED:
        return (f'{name}"'.encode(),)
    found = for_literal(name)
    return () if found is None else found.spellings


def _speaks_of(file: SessionFile, *, needles: tuple[bytes, ...]) -> bool:
    try:
        with FileSource(file.path) as source:
            at, more = 0, max(map(len, needles), default=1) - 1
            while at < source.size:
                piece = source.read(at, _STEP + more)
                if not needles or any(needle in piece for needle in needles):
                    return True
                at += _STEP
    except ClewError:
        return False
    return False
