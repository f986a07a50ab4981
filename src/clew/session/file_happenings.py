"""What happened to files in a session, in order: calls that change them, and all that shows what they hold.

The calls of sub-agents count, and belong to the turn of the call that started them. The order is that of the
session's file; what stands in other files is put where its time says. Nothing is read but the lines that name
a file: what they say of it is read when a file is followed (`file_versions`).
"""

from __future__ import annotations

import ntpath
import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.format.kinds import FileHistoryDelta, FileHistorySnapshot
from clew.format.kinds.attachment import Attachment
from clew.format.times import milliseconds
from clew.session.calls import Call, call_block, pairs
from clew.session.chain import chain
from clew.session.eras import rules
from clew.session.files import PATHS, absolute, start_folder
from clew.session.graph import Graph
from clew.session.order import in_order
from clew.session.turns import Turn, main_rows, turns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from clew.format.kinds.file_history import Backup
    from clew.session.session import Session
    from clew.session.subagents import Agent

_READ: Final = "Read"
_SHOWING: Final = frozenset({"file", "edited_text_file"})


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that changed a file or shows what it held."""

    path: str
    turn: int
    time: int | None
    session: Session
    row: int
    call: Call | None = None
    copy: Backup | None = None
    """A copy the client made of the file. Without it and without a call the row is an attachment."""

    agent_id: str | None = None
    is_active: bool = True
    """Whether it stands on the way to where the client would go on; what was rewound does not."""

    @property
    def changes(self) -> bool:
        """Whether it is a call that changes the file."""
        return self.call is not None and self.call.name in PATHS


def happenings(
    session: Session, agents: Iterable[Agent] = (), *, found: Sequence[Turn] | None = None
) -> list[Happening]:
    """Return what happened to the files that a session changed, in order; `found` are its turns, if cut."""
    gathering = _Gathering(session, turns(session) if found is None else found)
    for agent in agents:
        gathering.agent(agent)
    return gathering.finish()


def normal_path(path: str, cwd: str | None) -> str:
    """Return a path from the root on, without `.` and `..`, in the style of the system it is of."""
    if path.startswith(("~/", "~\\")):
        return path
    whole = absolute(path, cwd)
    is_windows = not whole.startswith("/") and "\\" in whole
    return ntpath.normpath(whole) if is_windows else posixpath.normpath(whole)


class _Start(NamedTuple):
    turn: int
    time: int
    is_active: bool


class _Gathering:
    def __init__(self, session: Session, found: Sequence[Turn]) -> None:
        self._session = session
        self._cwd = start_folder(session)
        self._found: list[tuple[tuple[int, int, int], Happening]] = []
        self._sources = 0
        self._seen: set[str] = set()
        self._turns = found
        self._turn_of: dict[str, _Start] = {}
        """Where a sub-agent belongs, by the call that started it."""
        self._main()

    def finish(self) -> list[Happening]:
        changed = {one.path for _, one in self._found if one.changes}
        self._found.sort(key=lambda item: item[0])
        return [one for _, one in self._found if one.path in changed]

    def _main(self) -> None:
        session = self._session
        active = _active(session)
        latest = 0
        copies = _Copies(session, self._cwd)
        rows = main_rows(session)
        at = _places(rows if len(rows) == len(session) else range(len(session)))
        for turn in self._turns:
            prompt = turn.prompt_row
            is_active = prompt is None or not session.table.uuid[prompt] or prompt in active
            results: dict[int, list[Call]] = {}
            for call in turn.calls:
                if call.id:
                    begun = session.table.time_of(call.row) or latest
                    self._turn_of[call.id] = _Start(turn.n, begun, is_active)
                if call.result_row is not None:
                    results.setdefault(call.result_row, []).append(call)
            # A result may stand in a later turn than its call; its time counts, its turn is the call's.
            for row in sorted({*turn.rows, *results}, key=at.__getitem__):
                latest = max(latest, session.table.time_of(row) or 0)
                for call in results.get(row, ()):
                    self._call(session, call, turn.n, (latest, 0, at[row]), None, is_active=is_active)
                for path, copy in copies.at(row):
                    time = milliseconds(copy.time)
                    one = Happening(path, turn.n, time, session, row, copy=copy, is_active=is_active)
                    self._found.append(((latest if time is None else time, 0, at[row]), one))
                self._attachment(row, turn.n, (latest, 0, at[row]), is_active=is_active)

    def agent(self, top: Agent) -> None:
        """Take in what a sub-agent did, and those it started."""
        stack: list[tuple[Agent, _Start | None]] = [(top, None)]
        while stack:
            agent, above = stack.pop()
            self._sources += 1
            place = self._turn_of.get(agent.started_by or "") or above
            home = self._session if agent.source is None else agent.source.session
            calls = pairs(home, None if agent.source is not None else agent.rows).calls
            at = _places(range(len(home)) if agent.source is None else in_order(home.table))
            ordered = sorted(
                calls, key=lambda call, at=at: at[call.row if call.result_row is None else call.result_row]
            )
            latest = place.time if place is not None else 0
            for call in ordered:
                if call.result_row is None:
                    continue
                latest = max(latest, home.table.time_of(call.result_row) or 0)
                begun = home.table.time_of(call.row) or latest
                start = place or _Start(self._turn_at(latest), begun, True)
                if call.id:
                    self._turn_of.setdefault(call.id, start._replace(time=max(start.time, begun)))
                key = (latest, self._sources, at[call.result_row])
                self._call(home, call, start.turn, key, agent.agent_id, is_active=start.is_active)
            stack += [(child, place) for child in reversed(agent.children)]

    def _call(
        self,
        home: Session,
        call: Call,
        turn: int,
        key: tuple[int, int, int],
        agent_id: str | None,
        *,
        is_active: bool,
    ) -> None:
        name = call.name or ""
        field = PATHS.get(name) or ("file_path" if name == _READ else None)
        row = call.result_row
        if field is None or row is None or call.is_error:
            return  # what failed, and what never came back, changed nothing as far as the session tells
        if call.id:
            if call.id in self._seen:
                return  # a sub-agent's file may begin with what was said before it
            self._seen.add(call.id)
        path = call_block(home, call).input.get(field)
        if not isinstance(path, str) or not path:
            return
        entry = home.entry(call.row)
        one = Happening(
            normal_path(path, entry.cwd or self._cwd),
            turn,
            home.table.time_of(row),
            home,
            call.row,
            call,
            agent_id=agent_id,
            is_active=is_active,
        )
        self._found.append((key, one))

    def _attachment(self, row: int, turn: int, key: tuple[int, int, int], *, is_active: bool) -> None:
        session = self._session
        if not session.table.kind_of(row).startswith("attachment"):
            return
        attachment = Attachment(session.entry(row).data)
        path = attachment.filename
        if attachment.subtype in _SHOWING and path:
            time = session.table.time_of(row)
            path = normal_path(path, session.entry(row).cwd or self._cwd)
            one = Happening(path, turn, time, session, row, is_active=is_active)
            self._found.append((key, one))

    def _turn_at(self, time: int) -> int:
        """Return the turn that was going on at a time, for a sub-agent that no call started."""
        started = [turn.n for turn in self._turns if turn.started is not None and turn.started <= time]
        return started[-1] if started else 0


class _Copies:
    """The copies the client made of files, each where it is first named."""

    def __init__(self, session: Session, cwd: str | None) -> None:
        self._session = session
        self._cwd = cwd
        self._seen: set[tuple[str, str | None, str | None, str | None]] = set()

    def at(self, row: int) -> Iterator[tuple[str, Backup]]:
        named: Iterable[tuple[str, Backup]]
        match self._session.table.kind_of(row):
            case "file-history-snapshot":
                named = FileHistorySnapshot(self._session.entry(row).data).backups.items()
            case "file-history-delta":
                delta = FileHistoryDelta(self._session.entry(row).data)
                named = [(delta.path, delta.backup)] if delta.path and delta.backup else ()
            case _:
                return
        for path, copy in named:
            whole = normal_path(path, self._cwd)
            key = (whole, copy.file_name, copy.time, copy.content)
            if key not in self._seen:
                self._seen.add(key)
                yield whole, copy


def _places(order: Sequence[int]) -> Mapping[int, int] | range:
    """Return where in an order each row stands."""
    return order if isinstance(order, range) else {row: place for place, row in enumerate(order)}


def _active(session: Session) -> frozenset[int]:
    """Return the rows on the way to where the client would go on."""
    leaf = chain(session, rules()).leaf
    return frozenset() if leaf is None else frozenset(Graph(session).upwards(leaf))
