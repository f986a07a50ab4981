"""One session → its rows. The same pure function runs in a process on a laptop and on a cluster.

Bytes come from the sources that are handed in, rows go out in batches: of a session of a gigabyte neither
its bytes nor its rows are ever here all at once. What depends on other sessions (whose a message is, what a
session used) is left to `settling`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from clew.lake import held
from clew.lake.redaction import Redaction
from clew.session.fold import Summary, fold
from clew.session.rounds import inputs
from clew.session.usage import Folder
from clew.tables.cells import Home, clean, day_of
from clew.tables.rows import (
    Shared,
    call_rows,
    entry_rows,
    file_rows,
    found_problems,
    message_cost,
    message_rows,
    session_row,
    turn_rows,
)
from clew.tables.strings import whole_characters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew.format.lines import Source
    from clew.session.fold import Facts
    from clew.session.session import Session

_BATCH: Final = 20_000
_PIECE: Final = 1 << 20
_FIRST: Final = 1 << 14
"""The first piece is short: it is cut into lines to find the folder, which is in one of the first."""


UNKNOWN_DAY: Final = "unknown"

Put = Callable[[str, str, Sequence[tuple[object, ...]]], object]
"""Is given a table, the day the session began, and rows."""


class Part(NamedTuple):
    """One session file of a session."""

    path: str
    """As rows show it."""

    name: str
    """What it is called, without the ending."""

    source: Source
    is_agent: bool


class Origin(NamedTuple):
    """Whose session it is."""

    session: str
    folder: str
    changed_ms: int


class Mapped(NamedTuple):
    """What is told of a session beside its rows."""

    day: str
    """The day it began, in UTC, or `unknown`."""

    damaged: int
    secrets: int


class _Read(NamedTuple):
    """One file, gone through once."""

    part: Part
    home: Home
    found: held.Read

    @property
    def session(self) -> Session:
        return self.found.session

    @property
    def facts(self) -> Facts:
        return self.found.facts


def map_session(
    origin: Origin,
    parts: Sequence[Part],
    put: Put,
    *,
    key: bytes | None = None,
    sides: Iterable[Iterable[bytes]] = (),
) -> Mapped:
    """Make the rows of a session and hand them to `put`, table by table, in batches, with the day it began.

    With a `key` secrets are taken out; `sides` are the files beside the session, which may tell of some.
    The rows of messages have more cells than the documented columns: see `schemas.COPIES`.
    """
    read = _all_read(origin, parts)
    redaction = None if key is None else _gathered(read, key, sides)
    main = next((one for one in read if not one.part.is_agent), None)
    started = [one.facts.started for one in ([main] if main else read) if one.facts.started is not None]
    day = day_of(min(started, default=None)) or UNKNOWN_DAY
    out = _Out(put, day, redaction)
    for one in read:
        _write(out, one, main or one, origin)
    facts = None
    if main is not None:
        facts = _facts(main, redaction)
        row = session_row(
            facts,
            session_id=origin.session,
            path=main.part.path,
            folder=origin.folder,
            changed_ms=origin.changed_ms,
            agents=len(read) - 1,
        )
        # Whether somebody writes it now, nobody knows who looks at a copy of it.
        out.put(
            "sessions", [tuple(None if name == "live" else value for name, value in row._asdict().items())]
        )
    return Mapped(
        day,
        sum(one.facts.damaged for one in read),
        0 if redaction is None else redaction.found,
    )


class _Out:
    """Where rows go, without their secrets."""

    def __init__(self, put: Put, day: str, redaction: Redaction | None) -> None:
        self._put = put
        self._day = day
        self.redaction = redaction

    def put(self, table: str, rows: Iterable[tuple[object, ...]]) -> None:
        redaction = self.redaction
        clean_rows = rows if redaction is None else (redaction.row(table, row) for row in rows)
        pull = iter(clean_rows)
        while batch := list(islice(pull, _BATCH)):
            self._put(table, self._day, batch)


def _all_read(origin: Origin, parts: Sequence[Part]) -> list[_Read]:
    found: list[_Read] = []
    room = held.MOST
    for part in parts:
        agent = part.name.removeprefix("agent-") if part.is_agent else None
        home = Home(whole_characters(origin.session), clean(agent))
        is_held = part.source.size <= room
        room -= part.source.size if is_held else 0
        found.append(_Read(part, home, held.read(part.source, home, name=part.name, is_held=is_held)))
    return found


def _gathered(read: Sequence[_Read], key: bytes, sides: Iterable[Iterable[bytes]]) -> Redaction | None:
    redaction = Redaction(key)
    for one in read:
        redaction.gather(one.session)
    for side in sides:
        redaction.gather_side(side)
    return redaction if redaction.ready() else None


def _facts(main: _Read, redaction: Redaction | None) -> Facts:
    """Return what a list of sessions shows, without secrets; sizes and counts are those of the file."""
    if redaction is None:
        return main.facts
    summary = Summary()
    fold(redaction.session(main.session).source, summary)
    told = summary.result(main.found.extent)
    return msgspec.structs.replace(told, damaged=main.facts.damaged, is_unfinished=main.facts.is_unfinished)


def _write(out: _Out, one: _Read, owner: _Read, origin: Origin) -> None:
    home, session, entries = one.home, one.session, one.found.entries
    shared = Shared(session)
    if entries is None:
        out.put("entries", entry_rows(session, home))
    else:
        for told in inputs(session, rounds=shared.rounds):
            row = entries[told.row]
            entries[told.row] = (*row[:-2], told.kind, told.round)
        out.put("entries", entries)
        entries.clear()
    out.put("problems", found_problems(one.found.checker, session, home, shared=shared))
    out.put("messages", _messages(one, shared, owner, origin))
    read = session if out.redaction is None else out.redaction.session(session)
    if read is not session:
        shared = Shared(read)
    out.put("turns", turn_rows(read, home, shared=shared))
    out.put("calls", call_rows(read, home, shared=shared))
    out.put("files", file_rows(read, home, shared=shared))


def _messages(one: _Read, shared: Shared, owner: _Read, origin: Origin) -> Iterator[tuple[object, ...]]:
    """Make the rows of messages, each with what is needed to tell whose it is if others have it too."""
    usage = Folder("calls").file(one.part.path, _pieces(one.session.source), agent=one.home.agent_id)
    project = clean(owner.facts.cwd) or whole_characters(origin.folder)
    path, owner_path = whole_characters(one.part.path), whole_characters(owner.part.path)
    beside = (project, path, owner_path, whole_characters(owner.part.name), owner.facts.oldest)
    made = message_rows(usage, one.home, one.session, shared=shared)
    for row, message in zip(usage.rows.values(), made, strict=True):
        yield (*message, message_cost(row), *beside)


def _pieces(source: Source) -> Iterator[bytes]:
    at, size = 0, _FIRST
    while piece := source.read(at, size):
        yield piece
        at, size = at + len(piece), _PIECE
