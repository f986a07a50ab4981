"""Open a session again that is being written: only the new lines are read, and only its end is cut anew.

What is told is what opening it from the beginning tells (see `session.turn_growth`), but for one thing that
is worked out when it is asked for: how many ways the conversation has.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import structs

from clew.actions.reading import Opened, is_being_written, read_turns, sub_agents
from clew.errors import ClewError
from clew.format.lines import readline_from
from clew.session.branches import count_branches
from clew.session.chain import chain
from clew.session.eras import rules
from clew.session.graph import NONE, Graph
from clew.session.session import SIDECHAIN, Session, TableBuilder
from clew.session.subagents import may_start
from clew.session.turn_growth import Calls, grown
from clew.store.reader import cursor_at, line_start
from clew.store.source import FileSource
from clew.view.placing import damage_by_turn
from clew.view.timeline import Memory, Timeline, Ways

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.reading import Reading
    from clew.session.calls import Call
    from clew.session.subagents import Agent
    from clew.session.turn_growth import Growth
    from clew.session.turns import Turn
    from clew.store.files import SessionFile
    from clew.store.reader import Cursor
    from clew.view.agents import Agents


@dataclass(slots=True)
class Branches:
    """How many ways the conversation of a session has, worked out when it is asked for."""

    session: Session
    reading: Reading | None = None
    """How all of it hangs together, where that is known."""

    many: int | None = None

    def count(self) -> int:
        """Return how many."""
        if self.many is None:
            reading, session = self.reading, self.session
            graph = Graph(session) if reading is None else reading.graph
            active = chain(session, rules()).leaf if reading is None else reading.active
            self.many = 1 + count_branches(session, graph, active=active)
        return self.many


@dataclass(slots=True)
class Standing:
    """A session as far as it was read, with all that is needed to go on from there."""

    opened: Opened
    turns: tuple[Turn, ...]
    before: Sequence[int]
    back: list[int | None]
    """For each turn the number of the one that it goes back to."""

    off: list[bool]
    """For each turn whether the client would not go that way."""

    active: int | None
    turn_of: array[int]
    calls: Calls
    starts: Sequence[Call] | None
    """The calls that may have started sub-agents; None where they are to be looked for in all lines."""

    agents: tuple[Agent, ...]
    timeline: Timeline
    branches: Branches
    memory: Memory = field(default_factory=Memory)
    cursor: Cursor | None = None
    """Behind the last line that has an end; None where it cannot be gone on from."""

    is_whole: bool = True
    reading: Reading | None = None
    """How all of it hangs together; None once it has grown."""


def mark(source: FileSource) -> Cursor | None:
    """Return what a file looks like at the end of its lines; to be taken before it is read.

    A client may cut the last line away and write another while we read. What is seen only afterwards would
    vouch for bytes that nobody read.
    """
    try:
        return cursor_at(source, line_start(source, source.size), number=0)
    except ClewError:
        return None


def stand(opened: Opened, *, branch: str | None = None, begun: Cursor | None = None) -> Standing:
    """Read a session as a whole; only with the mark from before it was opened can it be gone on from."""
    reading = read_turns(opened, branch=branch)
    places = range(len(reading.turns))
    is_all = branch is None and not any(flags & SIDECHAIN for flags in opened.session.table.flags)
    starts = tuple(filter(may_start, reading.paired.calls)) if is_all else None
    standing = Standing(
        opened,
        reading.turns,
        reading.before,
        [reading.goes_back_to(at) for at in places],
        [reading.is_off(turn) for turn in reading.turns],
        reading.active,
        reading.turn_of,
        Calls.of(reading.paired),
        starts,
        sub_agents(opened, calls=starts),
        Timeline(opened.session, ()),  # in a moment there is another
        Branches(opened.session, reading),
        cursor=_cursor(opened.session, begun) if branch is None else None,
        is_whole=branch is None,
        reading=reading,
    )
    standing.timeline = _timeline(standing, None)
    return standing


def gone_on(standing: Standing, file: SessionFile, agent_files: Sequence[SessionFile]) -> Standing | None:
    """Read what was added to a session; None where it has to be read as a whole.

    `agent_files` are those of its sub-agents as they are now.
    """
    try:
        return _gone_on(standing, file, agent_files)
    except ClewError:  # it was cut or rewritten meanwhile, or is gone
        return None


def _gone_on(standing: Standing, file: SessionFile, agent_files: Sequence[SessionFile]) -> Standing | None:
    cursor, active = standing.cursor, standing.active
    if cursor is None or active is None or file.size < cursor.offset:
        return None
    source = FileSource(file.path)
    begun = mark(source)
    if cursor.mismatch(source) is not None:
        return None
    session = _read_on(standing.opened.session, source, cursor)
    old = bisect_left(standing.opened.session.table.offset, cursor.offset)
    found = grown(session, standing.turns, old=old, leaf=active, calls=standing.calls)
    if found is None:
        return None
    beside = tuple(agent_files)
    opened = Opened(file, session, beside, source.was_cut, is_being_written(file, session.fragments))
    # The new lines hang under the last prompt each, so that the newest is where the client would go on.
    table = session.table
    leaf = next((row for row in range(len(table) - 1, old - 1, -1) if table.uuid[row]), active)
    more = len(found.turns) - len(standing.turns)
    is_same = beside == standing.opened.agent_files and not found.touches_agents
    starts = _starts(standing, found)
    now = Standing(
        opened,
        found.turns,
        standing.before,
        [*standing.back, *[None] * more],
        [*standing.off, *[False] * more],
        leaf,
        _places(standing.turn_of, old, found.turns, found.kept, len(table)),
        found.calls,
        starts,
        standing.agents if is_same else sub_agents(opened, calls=starts),
        standing.timeline,
        Branches(session, many=None if found.may_branch else standing.branches.many),
        standing.memory.until(found.kept),
        _cursor(session, begun),
    )
    now.timeline = _timeline(now, standing.timeline.known_agents if is_same else None)
    return now


def _timeline(standing: Standing, known: Agents | None) -> Timeline:
    # Nothing that the timeline holds may hold the standing, which holds the timeline: a session that grows
    # stands anew several times a second, and what hangs in a circle is not let go of at once.
    session, opened, is_whole = standing.opened.session, standing.opened, standing.is_whole
    calls = set[str | None]() if is_whole else {call.id for turn in standing.turns for call in turn.calls}

    return Timeline(
        session,
        standing.turns,
        agents=standing.agents,
        before=standing.before,
        damage=damage_by_turn(session, standing.turns, opened.damage),
        ways=Ways(standing.back.__getitem__, standing.off.__getitem__, standing.branches.count),
        is_live=opened.is_being_written,
        known_agents=known,
        is_counted=lambda agent: is_whole or agent.started_by in calls,
        memory=standing.memory,
    )


def _starts(standing: Standing, found: Growth) -> Sequence[Call] | None:
    """Return the calls that may have started sub-agents, those of the turns that are new or went on anew."""
    if standing.starts is None:
        return None
    again = {row for turn in standing.turns[found.kept :] for row in turn.rows}
    kept = [call for call in standing.starts if call.row not in again]
    more = [call for turn in found.turns[found.kept :] for call in turn.calls if may_start(call)]
    return sorted([*kept, *more], key=lambda call: (call.row, call.index))


def _places(before: array[int], old: int, turns: Sequence[Turn], kept: int, length: int) -> array[int]:
    found = before[:old]
    found.extend(array("i", [NONE]) * (length - old))
    for place in range(kept, len(turns)):
        for row in turns[place].rows:
            found[row] = place
    return found


def _cursor(session: Session, begun: Cursor | None) -> Cursor | None:
    """Return where to go on: behind the last whole line, if that is what it was when it was read."""
    source = session.source
    if begun is None or not isinstance(source, FileSource) or source.was_cut:
        return None
    now = mark(source)
    if now is None or (now.offset, now.head, now.tail) != (begun.offset, begun.head, begun.tail):
        return None
    try:
        return structs.replace(now, number=_number(session, source, now.offset))
    except ClewError:
        return None


def _number(session: Session, source: FileSource, offset: int) -> int:
    """Return the number of the line that begins at an offset: counted from the last one that is known."""
    table = session.table
    row = bisect_left(table.offset, offset) - 1
    fragment = next((one for one in reversed(session.fragments) if one.offset < offset), None)
    at, number = (table.offset[row], table.number[row]) if row >= 0 else (0, 1)
    if fragment is not None and fragment.offset > at:
        at, number = fragment.offset, fragment.number
    step = 1 << 20
    return number + sum(
        source.read(one, min(step, offset - one)).count(b"\n") for one in range(at, offset, step)
    )


def _read_on(before: Session, source: FileSource, cursor: Cursor) -> Session:
    """Return the session with the lines that were added; the one before stays as it is."""
    rows = bisect_left(before.table.offset, cursor.offset)
    builder = TableBuilder(before.table.beginning(rows))
    fragments = builder.read(
        readline_from(source, start=cursor.offset), start=cursor.offset, number=cursor.number
    )
    kept = [one for one in before.fragments if one.offset < cursor.offset]
    return Session(source, builder.table, (*kept, *fragments), name=before.name)
