"""Look into a session file's first and last lines to tell what it is, without reading it whole.

What a file is called never tells: conversations, summaries and sub-agents all end in `.jsonl`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from clew.errors import ChangedOnDiskError, ClewError
from clew.format.lines import BytesSource, readline_from
from clew.format.records import Record, scan
from clew.store.files import SessionFile, Skipped
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from clew.format.lines import Source
    from clew.format.skim import Skim
    from clew.store.files import Listing

Kind = Literal["conversation", "mixed", "summary", "agent", "empty"]

LINES: Final = 20
"""How many lines tell what a file is, when they tell anything."""

_MORE_LINES: Final = 500
_MORE_BYTES: Final = 4 << 20
"""How far the search goes on when the first lines hold no message, as with long lists of summaries."""

_TAIL: Final = 64 << 10
_TAIL_LINES: Final = 20


@dataclass(frozen=True, slots=True)
class Head:
    """What the first and last lines of a session file tell. Where the file is short they are all lines."""

    kind: Kind
    cwd: str | None
    """The first folder the client says it ran in."""

    session_ids: tuple[str, ...]
    """The ids on the lines looked at, the commonest first; a full read may find others."""

    started: str | None
    ended: str | None
    """The first and last time, as written."""

    version: str | None
    """The client version on the first line that has one."""

    git_branch: str | None
    slug: str | None
    """The readable name the client gave the session."""

    agent_id: str | None
    previous: str | None
    """The session this one goes on from: its id stands on the first line, another one on later lines."""

    is_whole: bool
    """Whether all lines of the file were looked at."""


class _Message(msgspec.Struct, gc=False):
    role: str | None = None
    timestamp: str | None = None


class _Glance(msgspec.Struct, rename="camel", gc=False):
    """The part of a line's facts that a head needs: without the content, in half the time of `skim`."""

    type: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    agent_id: str | None = None
    slug: str | None = None
    is_sidechain: bool | None = None
    message: _Message | None = None

    @property
    def role(self) -> str | None:
        return self.type or (self.message.role if self.message else None)

    @property
    def time(self) -> str | None:
        if self.timestamp is not None:
            return self.timestamp
        return self.message.timestamp if self.message else None


_DECODER: Final = msgspec.json.Decoder(_Glance)


def head(file: SessionFile, *, tail: bool = True) -> Head | Skipped:
    """Look into a session file; a file that cannot be read is no error but a `Skipped`."""
    try:
        with FileSource(file.path) as source:
            return _look(file.id, source, tail=tail)
    except ClewError as error:
        return Skipped(file.path, error.message)


def session_ids(source: Source) -> tuple[str, ...]:
    """Return the session ids on the first lines of a file, wherever its bytes are, the commonest first."""
    facts = _Facts()
    _first_lines(facts, readline_from(source, end=_MORE_BYTES))
    return tuple(facts.by_count())


def project(file: SessionFile, found: Head) -> str:
    """Return the folder a session worked in: the one its lines name, else the name of its project folder."""
    return found.cwd or file.folder


@dataclass(slots=True)
class _Facts:
    ids: Counter[str] = field(default_factory=Counter[str])
    first_id: str | None = None
    summaries: int = 0
    messages: int = 0
    sidechain: int = 0
    lines: int = 0
    cwd: str | None = None
    started: str | None = None
    ended: str | None = None
    version: str | None = None
    git_branch: str | None = None
    slug: str | None = None
    agent_id: str | None = None

    def add(self, facts: Skim | _Glance) -> None:
        if self.lines == 0:
            self.first_id = facts.session_id
        self.lines += 1
        if facts.session_id:
            self.ids[facts.session_id] += 1
        if facts.role in {"user", "assistant"}:
            self.messages += 1
            self.sidechain += facts.is_sidechain is True
        elif facts.type == "summary":
            self.summaries += 1
        time = facts.time
        self.started = self.started or time
        self.ended = time or self.ended
        self.cwd = self.cwd or facts.cwd
        self.version = self.version or facts.version
        self.git_branch = facts.git_branch or self.git_branch
        self.slug = facts.slug or self.slug
        self.agent_id = self.agent_id or facts.agent_id

    def by_count(self) -> list[str]:
        return [session for session, _ in self.ids.most_common()]

    @property
    def kind(self) -> Kind:
        if not self.messages:
            return "summary" if self.summaries else "empty"
        if self.sidechain == self.messages:
            return "agent"
        return "mixed" if self.summaries else "conversation"


def _look(name: str, source: FileSource, *, tail: bool) -> Head:
    facts = _Facts()
    end = _first_lines(facts, source.readline(buffer=32 << 10, end=_MORE_BYTES))
    if not facts.lines and source.size > _MORE_BYTES:
        # A line of hundreds of megabytes at the very start: read past it rather than call the file empty.
        for item in islice(scan(source), 1):
            if isinstance(item, Record):
                facts.add(item.facts)
    is_whole = end >= source.size
    if tail and not is_whole:
        for raw in _last_lines(source, end):
            _add_line(facts, raw)
    return Head(
        facts.kind,
        facts.cwd,
        tuple(facts.by_count()),
        facts.started,
        facts.ended,
        facts.version,
        facts.git_branch,
        facts.slug,
        facts.agent_id,
        _previous(name, facts),
        is_whole,
    )


def _first_lines(facts: _Facts, readline: Callable[[int], bytes]) -> int:
    """Add the first lines, more while none of them is a message; return where they end."""
    at = number = 0
    while number < LINES or (number < _MORE_LINES and not facts.messages):
        raw = readline(_MORE_BYTES)
        if not raw:
            break
        _add_line(facts, raw)
        at += len(raw)
        number += 1
    return at


def _last_lines(source: FileSource, start: int) -> list[bytes]:
    at = max(start, source.size - _TAIL)
    try:
        data = source.read(at, source.size - at)
    except ChangedOnDiskError:  # cut just now: the first lines have to do
        return []
    lines = data.split(b"\n")
    return lines[at > start :][-_TAIL_LINES:]


def _add_line(facts: _Facts, raw: bytes) -> None:
    try:
        facts.add(_DECODER.decode(raw))
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors; so is bad UTF-8
        for item in scan(BytesSource(raw)):
            if isinstance(item, Record):
                facts.add(item.facts)


def _previous(name: str, facts: _Facts) -> str | None:
    first = facts.first_id
    # With no other id in the file it is not a continuation: someone renamed or copied it.
    return first if first and first != name and len(facts.ids) > 1 else None


def continuations(heads: Iterable[tuple[SessionFile, Head]]) -> dict[str, tuple[str, ...]]:
    """Return for each session id the ids of the files that go on from it: the way back of `previous`."""
    found: dict[str, tuple[str, ...]] = {}
    for file, seen in heads:
        if seen.previous is not None:
            found[seen.previous] = (*found.get(seen.previous, ()), file.id)
    return found


@dataclass(frozen=True, slots=True)
class Agents:
    """The sub-agents of a store by the session they belong to."""

    by_session: Mapping[tuple[str | None, str, str], tuple[SessionFile, ...]]
    """By config folder, project folder and session id."""

    skipped: tuple[Skipped, ...]

    def of(self, session: SessionFile) -> tuple[SessionFile, ...]:
        """Return the sub-agents of a session, in the order of their paths."""
        return self.by_session.get((session.root, session.folder, session.id), ())


def group_agents(listing: Listing, agents: Iterable[SessionFile] | None = None) -> Agents:
    """Give each sub-agent, or each of some, to its session: by its place, else by the ids it begins with."""
    said = {(file.root, file.folder, file.id): file.size > 0 for file in listing.sessions}
    groups: dict[tuple[str | None, str, str], list[SessionFile]] = {}
    skipped: list[Skipped] = []
    for agent in listing.agents if agents is None else agents:
        owner = agent.session
        if owner is None:
            found = head(agent, tail=False)
            if isinstance(found, Skipped):
                skipped.append(found)
                continue
            # Some carry two ids (2.0.42-2.0.76): that of the client as it started, whose file stays empty,
            # and that of the session it then resumed.
            ids = found.session_ids
            owner = next(
                (session for session in ids if said.get((agent.root, agent.folder, session))),
                ids[0] if ids else "",
            )
        groups.setdefault((agent.root, agent.folder, owner), []).append(agent)
    return Agents({key: tuple(files) for key, files in groups.items()}, tuple(skipped))
