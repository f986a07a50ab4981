"""Who wrote each line of a file: the session, the turn and the prompt, through all sessions that changed it.

The versions of all sessions are followed in the order of their times, to what the file holds now. A line
belongs to the version it first came in with; what came in between two versions, or after the last, to nobody.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import partial
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.actions.file_changes import follow_opened
from clew.actions.passes import sweep
from clew.actions.reading import OnDemand, Opened, is_being_written
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
    from collections.abc import Callable, Iterable, Iterator

    from clew.actions.file_changes import Followed
    from clew.session.file_versions import Version
    from clew.store.files import SessionFile, Store

_STEP: Final = 4 << 20
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

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of `clew blame --json`."""
        return {"file": self.file, "lines": [line.as_dict() for line in self.lines]}


def blame(
    store: Store,
    path: str,
    *,
    known_as: str | None = None,
    jobs: int | None = None,
    start: Callable[[int], Callable[[], None]] | None = None,
) -> Blame:
    """Tell who wrote each line of a file on disk.

    `known_as` is the path that the sessions knew it by, where it was moved or copied since: whole, or from
    the folder of a session on.
    """
    here = Path(path).absolute()
    if not here.exists():
        raise UsageError(f"there is no file {path}")
    held = Content.of(workspace.read(str(here)))
    names = {os.path.normpath(here), str(here.resolve())} if known_as is None else {known_as}
    last = here.name if known_as is None else _last(known_as)
    speaking, skipped = _speaking(store, last, jobs, start)
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
    for one in _in_order(exact or moved):
        sessions[one.author.session] = None
        lines.follow(one.version, one.author)
    authors = lines.now(held)
    rows = [
        BlamedLine(n, text, author)
        for n, (text, author) in enumerate(zip(_rows(held.shown), authors, strict=True), 1)
    ]
    return Blame(str(here), tuple(rows), tuple(sessions), tuple(skipped))


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

    def now(self, held: Content) -> list[Author | None]:
        """Return the authors of the lines that the file holds now."""
        self._become(held, None)
        return self._authors

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


def _is_moved(followed: Followed, path: str, names: set[str]) -> bool:
    """Say whether a file may be the same one though its project went elsewhere: folder and name are alike."""
    inside = relative(path, followed.cwd)
    if inside == path or followed.cwd is None:
        return False
    project = followed.cwd.replace("\\", "/").rstrip("/").rpartition("/")[2]
    ends = [f"/{project}/{inside}", *([f"/{inside}"] if "/" in inside else [])]
    return any(name.endswith(end) for name in names for end in ends)


# Which sessions -------------------------------------------------------------------------------------------


def _speaking(
    store: Store, name: str, jobs: int | None, start: Callable[[int], Callable[[], None]] | None
) -> tuple[list[tuple[SessionFile, tuple[SessionFile, ...]]], list[Skipped]]:
    """Return the sessions that speak of a file of that name, themselves or by a sub-agent, and those."""
    listing = store.listing()
    files = [*listing.sessions, *listing.agents]
    advance = None if start is None else start(len(files))
    needle = json.dumps(name, ensure_ascii=False)[1:].encode("utf-8", "surrogateescape")
    hits = sweep(partial(_speaks_of, needle=needle), files, jobs=jobs, pays=_PAYS, advance=advance)
    there = {file.path for file, hit in zip(files, hits, strict=True) if hit}
    agents = group_agents(listing)
    speaking = [
        (file, beside)
        for file in listing.sessions
        for beside in [agents.of(file)]
        if file.path in there or any(agent.path in there for agent in beside)
    ]
    return speaking, [*listing.skipped]


def _speaks_of(file: SessionFile, *, needle: bytes) -> bool:
    try:
        with FileSource(file.path) as source:
            at = 0
            while at < source.size:
                if needle in source.read(at, _STEP + len(needle) - 1):
                    return True
                at += _STEP
    except ClewError:
        return False
    return False
