"""Read a session: its turns along the whole history or along one branch, and its sub-agents.

Everything is given lazily, turn by turn: a session of a gigabyte is never held. What a screen makes of it is
left to the faces, the shape for programs to `turn_documents`.
"""

from __future__ import annotations

import time
from array import array
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar

from clew.actions.opening import agent_files, find_file
from clew.actions.stores import open_store
from clew.errors import ChangedOnDiskError, ClewError, UsageError
from clew.format.decode import DecodeError, decode
from clew.session.branches import branches, leaves
from clew.session.chain import chain
from clew.session.eras import rules
from clew.session.graph import NONE, Graph
from clew.session.rounds import Rounds
from clew.session.said import said
from clew.session.session import SALVAGED, SIDECHAIN, TOOL_RESULT, Session
from clew.session.subagents import Agent, Source, agents
from clew.session.turns import main_rows, turns
from clew.store.live import liveness
from clew.store.reader import open_session
from clew.store.sides import side_files
from clew.store.source import FileSource
from clew.view.placing import damage_by_turn, rows_before

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from clew.format.records import Fragment
    from clew.session.branches import Branch, Leaf
    from clew.session.calls import Call, Pairs
    from clew.session.turns import Turn
    from clew.store.files import SessionFile

T = TypeVar("T")

SHORTEST: Final = 4
"""The least of a uuid that names a line or a branch."""

_LARGEST_META: Final = 1 << 20
_WINDOW: Final = 1 << 16
"""Bytes that are read at once where lines are asked for one after the other."""


@dataclass(slots=True)
class Opened:
    """A session file that was read, with the files of its sub-agents."""

    file: SessionFile
    session: Session
    agent_files: tuple[SessionFile, ...] = ()
    is_cut: bool = False
    """Whether the file was found cut while it was read."""

    is_being_written: bool = False
    """Whether the last line is unfinished because someone may be writing it."""

    @property
    def is_damaged(self) -> bool:
        """Whether some of the file is not exactly one record a line. A line being written is no damage."""
        return self.is_cut or bool(self.damage) or any(flags & SALVAGED for flags in self.session.table.flags)

    @property
    def damage(self) -> tuple[Fragment, ...]:
        """The bytes that are no records, but for a last line that is still being written."""
        found = self.session.fragments
        return found[:-1] if self.is_being_written else found


def open_reading(roots: Sequence[Path], name: str, *, with_agents: bool = True) -> Opened:
    """Read the session a name stands for."""
    store = open_store(roots)
    listing = store.listing()
    file = find_file(store, name, listing=listing)
    beside = agent_files(store, file, listing=listing) if with_agents else ()
    session = open_session(file.path)
    source = session.source
    is_cut = isinstance(source, FileSource) and source.was_cut
    return Opened(file, session, beside, is_cut, is_being_written(file, session.fragments))


def is_being_written(file: SessionFile, fragments: Sequence[Fragment]) -> bool:
    """Say whether the last of a file's fragments is a line that someone may be writing right now."""
    return bool(fragments) and fragments[-1].is_last and liveness(file, now=time.time()).is_live


# Sub-agents -------------------------------------------------------------------------------------------


class OnDemand:
    """The bytes of a file that is opened for each read: there may be more sub-agents than open files."""

    def __init__(self, path: str, size: int, window: Window | None = None) -> None:
        self._path = path
        self._window = window or Window()
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """Return the bytes of a part of it, as much as there was when it was first read."""
        return self._window.read(self._path, offset, min(length, max(0, self.size - offset)), self.size)


class Window:
    """The part that was read last, of whichever file: lines are asked for one after the other."""

    def __init__(self) -> None:
        self._held = ("", 0, b"")

    def read(self, path: str, offset: int, length: int, size: int) -> bytes:
        """Return a part of a file of which `size` bytes count."""
        held, start, data = self._held
        if held != path or offset < start or offset + length > start + len(data):
            start = offset
            with FileSource(path) as source:
                data = source.read(offset, max(length, min(_WINDOW, size - offset)))
            if len(data) <= _WINDOW:
                # One value: several threads may read at once.
                self._held = (path, offset, data)
        return data[offset - start : offset - start + length]


def sub_agents(opened: Opened, *, calls: Sequence[Call] | None = None) -> tuple[Agent, ...]:
    """Return the sub-agents of a session under the calls that started them; unreadable files are left out.

    `calls` are those of the session that may have, if they are known.
    """
    return agents(opened.session, agent_sources(opened), calls=calls) if has_agents(opened) else ()


def has_agents(opened: Opened) -> bool:
    """Say whether a session may have sub-agents: to find out which, all its calls are gone through."""
    return bool(opened.agent_files) or any(flags & SIDECHAIN for flags in opened.session.table.flags)


def agent_sources(opened: Opened) -> list[Source]:
    """Return the files of a session's sub-agents, read; those that cannot be are left out."""
    sources: list[Source] = []
    window = Window()
    for file in opened.agent_files:
        try:
            read = open_session(file.path)
        except ClewError:
            continue
        source = OnDemand(file.path, read.source.size, window)
        session = Session(source, read.table, read.fragments, name=read.name)
        sources.append(Source(file.id.removeprefix("agent-"), session, file.path, _meta(file)))
    return sources


def _meta(file: SessionFile) -> Mapping[str, object]:
    for side in side_files(file).files:
        if side.kind == "meta" and side.size <= _LARGEST_META:
            try:
                with FileSource(side.path) as source:
                    return decode(source.read(0, source.size)).data
            except (ClewError, DecodeError):
                return {}
    return {}


def agent_turns(session: Session, agent: Agent) -> tuple[Session, tuple[Turn, ...]]:
    """Return where a sub-agent's lines are, and its turns."""
    if agent.source is not None:
        return agent.source.session, turns(agent.source.session)
    return session, turns(session, agent.rows, rounds=_rounds(session))


@lru_cache(maxsize=1)
def _rounds(session: Session) -> Rounds:
    """Return the rounds of a session; made once for all the sub-agents that stand in it."""
    return Rounds(session)


# What is read -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Reading:
    """The turns that were asked for, and how they hang together."""

    opened: Opened
    turns: tuple[Turn, ...]
    """All turns of the way that is read, whether asked for or not."""

    wanted: range
    """Which of them were asked for, by their place."""

    before: Sequence[int]
    """The rows before the first turn."""

    graph: Graph
    active: int | None
    """The row the client would go on from."""

    is_whole: bool
    """Whether the whole history is read, every branch of it, and not one way through it."""

    damage: Mapping[int, Sequence[Fragment]]
    """The bytes that are no records, by the place of the turn they stand in; before the first turn -1."""

    on_active: bytearray
    """For each row whether it lies on the way to where the client would go on."""

    turn_of: array[int]
    """For each row the place of its turn, -1 for none."""

    paired: Pairs
    """The calls of the way that is read."""

    @property
    def session(self) -> Session:
        """The session."""
        return self.opened.session

    def asked(self) -> Iterator[tuple[int, Turn]]:
        """Give the turns that were asked for, each with its place among all."""
        return ((at, self.turns[at]) for at in self.wanted)

    def is_off(self, turn: Turn) -> bool:
        """Say whether a turn is not on the way to where the client would go on."""
        row = turn.prompt_row
        return (
            self.is_whole
            and self.active is not None
            and row is not None
            and bool(self.session.table.uuid[row])
            and not self.on_active[row]
        )

    def goes_back_to(self, at: int) -> int | None:
        """Return the number of the turn a turn goes on from, where that is not the one before it.

        0 is the very beginning.
        """
        row = self.turns[at].prompt_row
        if not self.is_whole or at == 0 or row is None or not self.session.table.uuid[row]:
            return None
        over = self.graph.above[row]
        place = -1 if over < 0 else self.turn_of[over]
        if place >= at - 1:
            return None
        return 0 if place < 0 else self.turns[place].n


def read_turns(
    opened: Opened,
    *,
    at: str | None = None,
    branch: str | None = None,
    first: int | None = None,
    last: int | None = None,
    newest: int | None = None,
) -> Reading:
    """Cut a session into turns: the whole history, the way to a line (`at`), or to the end of a branch.

    Asked for are the turns from the number `first` to `last`, or the `newest` ones, however many there are.
    """
    session = opened.session
    graph = Graph(session)
    active = chain(session, rules()).leaf
    rows: Sequence[int]
    if at is not None:
        rows = way_to(session, graph, find_line(session, at))
    elif branch is not None:
        rows = way_to(session, graph, find_branch(session, graph, active, branch).row)
    else:
        rows = main_rows(session)
    gathered = said(session, rows)
    found = turns(session, rows, graph=graph, gathered=gathered)
    on_active = bytearray(len(session))
    for row in graph.upwards(active) if active is not None else ():
        on_active[row] = 1
    return Reading(
        opened,
        found,
        _asked(found, first, last) if newest is None else range(max(0, len(found) - newest), len(found)),
        rows_before(rows, found),
        graph,
        active,
        at is None and branch is None,
        damage_by_turn(session, found, opened.damage),
        on_active,
        _places(session, found),
        gathered.pairs,
    )


def _asked(found: tuple[Turn, ...], first: int | None, last: int | None) -> range:
    if first is None and last is None:
        return range(len(found))
    numbers = [turn.n for turn in found]
    if not numbers:
        raise UsageError("there are no turns here")
    low = numbers[0] if first is None else first
    high = numbers[-1] if last is None else last
    inside = [at for at, n in enumerate(numbers) if low <= n <= high]
    if not inside:
        wanted = f"turn {low}" if low == high else f"turns {low}-{high}"
        raise UsageError(
            f"there is no {wanted}" if low == high else f"there are no {wanted}",
            hint=f"the turns here are {numbers[0]} to {numbers[-1]}",
        )
    return range(inside[0], inside[-1] + 1)


def _places(session: Session, found: tuple[Turn, ...]) -> array[int]:
    places = array("i", [NONE]) * len(session)
    for at, turn in enumerate(found):
        for row in turn.rows:
            places[row] = at
    return places


def way_to(session: Session, graph: Graph, end: int) -> Sequence[int]:
    """Return the rows from the very beginning to `end`, the parallel calls and results beside it too."""
    table = session.table
    path = array("i", graph.upwards(end))
    path.reverse()
    if len(path) == 1 and not graph.is_node(end):
        return [row for row in main_rows(session) if row <= end]
    place = array("i", [NONE]) * len(session)
    for at, row in enumerate(path):
        place[row] = at
    answers = {table.message[row] for row in path if table.message[row]}
    beside: list[tuple[int, int]] = []
    for row in graph.nodes():
        if place[row] >= 0:
            continue
        over = graph.parent[row]
        is_part = table.message[row] in answers and bool(table.message[row])
        is_result = table.flags[row] & TOOL_RESULT and over >= 0 and table.message[over] in answers
        is_same_side = over < 0 or not (table.flags[row] ^ table.flags[over]) & SIDECHAIN
        if (is_part or (is_result and table.message[over])) and is_same_side:
            anchor = over
            while anchor >= 0 and place[anchor] < 0:
                anchor = graph.parent[anchor]
            if anchor >= 0:
                beside.append((place[anchor], row))
    way = array("i")
    done = 0
    for at, row in sorted(beside):
        way += path[done : at + 1]
        done = at + 1
        way.append(row)
    return way + path[done:]


def find_line(session: Session, uuid: str) -> int:
    """Return the row of the line with that uuid, or with the only one that starts so."""
    row = session.row(uuid)
    if row is not None:
        return row
    if len(uuid) >= SHORTEST:
        start = uuid.lower()
        found = {
            entry.uuid: row
            for row, entry in enumerate(session.entries())
            if entry.uuid is not None and entry.uuid.lower().startswith(start)
        }
        if len(found) > 1:
            some = ", ".join(list(found)[:4])
            raise UsageError(
                f"{len(found)} lines have a uuid that starts with {uuid!r}", hint=f"one of: {some}"
            )
        if found:
            return found.popitem()[1]
    raise UsageError(f"no line of this session has the uuid {uuid!r}", hint="clew tree lists where it ends")


def ends(session: Session, graph: Graph, active: int | None) -> tuple[tuple[Leaf, ...], tuple[Branch, ...]]:
    """Return the leaves of a session and its branches."""
    found = leaves(session, graph, active=active)
    return found, branches(session, found)


def find_branch(session: Session, graph: Graph, active: int | None, name: str) -> Leaf:
    """Return the end of a branch: by its number in `clew tree`, or the start of its last line's uuid."""
    found, others = ends(session, graph, active)
    if name.isdecimal() and len(name) < SHORTEST:
        if 1 <= int(name) <= len(others):
            return others[int(name) - 1].leaf
    elif len(name) >= SHORTEST:
        start = name.lower()
        fitting = [leaf for leaf in found if leaf.uuid is not None and leaf.uuid.lower().startswith(start)]
        if len(fitting) == 1:
            return fitting[0]
    count = len(others)
    said = "no branches" if not count else "1 branch" if count == 1 else f"{count} branches"
    raise UsageError(f"there is no branch {name!r}; the session has {said}", hint="clew tree lists them")


def until_cut(opened: Opened, items: Iterator[T]) -> Iterator[T]:
    """Give what can be read; a file that is cut meanwhile ends the list, and the session is damaged."""
    try:
        yield from items
    except ChangedOnDiskError:
        opened.is_cut = True
