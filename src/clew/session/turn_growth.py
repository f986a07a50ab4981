"""The turns of a session that has grown, without cutting all of it anew.

Nearly always lines are added that go on with the last turn, or begin another behind it. Then the turns before
stay as they were, and only the last is cut again. Where a new line says something of an earlier turn (a line
is written again, a result comes late, the person goes back, the conversation is compacted), nothing is told,
and the session has to be read as a whole.
Law: what is told is what cutting the whole session tells.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from clew.session.calls import is_stand_in
from clew.session.graph import BOUNDARY
from clew.session.ids import id_hash
from clew.session.rounds import PAUSE_MS
from clew.session.said import said
from clew.session.session import (
    COMPACT_SUMMARY,
    HUMAN,
    META,
    SALVAGED,
    SIDECHAIN,
    SYNTHETIC,
    TOOL_RESULT,
)
from clew.session.turns import turns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.session.calls import Pairs
    from clew.session.rounds import Round
    from clew.session.session import Session
    from clew.session.turns import Turn

_SPEAKERS: Final = frozenset({"user", "assistant"})
_HINT: Final = "last-prompt"
_AGENT_TOOLS: Final = frozenset({"Task", "Agent"})
_AGENT_NEWS: Final = "progress/agent_progress"
_MOST: Final = 20_000
"""New lines from which on it is no gain."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Which calls a session has made, and which of its results have none."""

    made: Mapping[str, int]
    """The row of each call by its id."""

    loose: Mapping[str, int]
    """The row of each result without a call, by the id it names."""

    @classmethod
    def of(cls, paired: Pairs) -> Calls:
        """Take them from what was paired."""
        return cls(
            {call.id: call.row for call in paired.calls if call.id},
            {one.id: one.row for one in paired.unpaired_results if one.id},
        )

    def with_(self, paired: Pairs) -> Calls:
        """Return them with those of more rows."""
        more = Calls.of(paired)
        loose = {name: row for name, row in {**self.loose, **more.loose}.items() if name not in more.made}
        return Calls({**self.made, **more.made}, loose)


@dataclass(frozen=True, slots=True)
class Growth:
    """The turns of a session that has grown."""

    turns: tuple[Turn, ...]
    kept: int
    """How many of them, the first ones, are as they were."""

    calls: Calls
    may_branch: bool
    """Whether a new line hangs where another hangs already: the conversation may go two ways from there."""

    touches_agents: bool
    """Whether a new line may tell of a sub-agent."""


def grown(session: Session, before: Sequence[Turn], *, old: int, leaf: int, calls: Calls) -> Growth | None:
    """Return the turns of a session whose first `old` rows were cut into turns before; None if unsure.

    `leaf` is the row in which the conversation ended then. There may have been a row more, of a line that was
    not yet finished.
    """
    last = before[-1] if before else None
    if leaf >= old or (last is not None and last.rows and last.rows[-1] >= old):
        return None
    if len(session) - old > _MOST:
        return None
    if last is None or last.prompt_row is None or not last.rows or last.rows[0] != last.prompt_row:
        return None
    tail = _Tail(session, last, old)
    if not tail.takes(leaf) or not tail.is_plain() or not tail.hangs_together():
        return None
    rows = array("i", last.rows)
    rows.extend(range(old, len(session)))
    gathered = said(session, rows)
    paired = gathered.pairs
    first = rows[0]
    if any(calls.made.get(call.id or "", first) < first for call in paired.calls):
        return None  # a call that was made before
    if any(calls.loose.get(call.id or "", first) < first for call in paired.calls):
        return None  # its result came long ago
    if any(calls.made.get(one.id or "", first) < first for one in paired.unpaired_results):
        return None  # a result of an earlier turn
    if any(calls.made.get(one.id or "", first) < first for one in paired.duplicate_results):
        return None
    cut = turns(session, _span(rows), rounds=_Rounds(session, tail, last), gathered=gathered)
    numbered = [replace(turn, n=last.n + at) for at, turn in enumerate(cut)]
    agents = any(
        call.name in _AGENT_TOOLS or call.agent_id is not None
        for call in paired.calls
        if call.row >= old or (call.result_row or 0) >= old
    )
    return Growth(
        (*before[:-1], *numbered),
        len(before) - 1,
        calls.with_(paired),
        tail.may_branch,
        agents or tail.has_agent_news,
    )


class _Tail:
    """The last turn with what was added behind it."""

    def __init__(self, session: Session, last: Turn, old: int) -> None:
        self._session = session
        self._rows = last.rows
        self._new = range(old, len(session))
        self.start = last.rows[0]
        table = session.table
        self._under: dict[int, int] = {}
        """The rows under the newest prompt, by the hashes of their uuids."""
        self._by_uuid: dict[int, int] = {}
        self._behind: set[int] = set()
        """The rows behind the one in which the conversation ended, and that itself."""
        self._parents: set[int] = set()
        for row in last.rows:
            key = table.uuid[row]
            if key and (row == self.start or table.parent[row] in self._under):
                self._under[key] = row
            self._parents.add(table.parent[row])
        self.may_branch = False
        self.has_agent_news = False
        self._has_hints = any(kind.partition("/")[0] == _HINT for kind in table.kinds)

    def takes(self, leaf: int) -> bool:
        """Say whether the conversation ended under the last prompt."""
        table = self._session.table
        self._behind = {table.uuid[leaf]}
        for row in self._rows:
            if table.parent[row] in self._behind and table.uuid[row]:
                self._behind.add(table.uuid[row])
        return table.uuid[leaf] in self._under

    def is_plain(self) -> bool:
        """Say whether the lines are such as only go on with what there is."""
        table = self._session.table
        for row in self._new:
            flags, kind = table.flags[row], table.kind_of(row)
            if flags & (SIDECHAIN | SALVAGED | COMPACT_SUMMARY) or kind == BOUNDARY:
                return False
            self.has_agent_news |= kind == _AGENT_NEWS
        uuids: set[int] = set()
        messages: set[int] = set()
        self._by_uuid = {table.uuid[row]: row for row in (*self._rows, *self._new) if table.uuid[row]}
        for row in (*self._rows, *self._new):
            if table.kind_of(row) == "assistant":
                # Without an id it is told by its neighbours whose line it is.
                if not table.message[row]:
                    return False
                messages.add(table.message[row])
            if table.uuid[row]:
                if table.uuid[row] in uuids:
                    return False
                uuids.add(table.uuid[row])
        is_again = not uuids.isdisjoint(table.uuid[: self.start])
        return not is_again and messages.isdisjoint(table.message[: self.start])

    def hangs_together(self) -> bool:
        """Say whether every new line hangs under the prompt that was the newest when it was written."""
        table = self._session.table
        for row in self._new:
            key, over = table.uuid[row], table.parent[row]
            kind, flags = table.kind_of(row), table.flags[row]
            if kind.partition("/")[0] == _HINT:
                named = self._session.entry(row).text("leafUuid")
                if named and id_hash(named) not in self._under:
                    return False
            if not key:
                if flags & HUMAN or kind in _SPEAKERS:
                    return False
                continue
            if over not in self._under:
                return False
            self.may_branch |= over in self._parents and not flags & TOOL_RESULT
            if self._has_hints and not flags & TOOL_RESULT:
                # The client goes on where it was told to, which need not be where the file ends.
                if self.may_branch or over not in self._behind:
                    return False
                self._behind.add(key)
            self._parents.add(over)
            if flags & HUMAN:
                self._under = {}
            self._under[key] = row
        return True

    def spoken_before(self, row: int) -> int | None:
        """Return the row in which somebody last spoke above a new row."""
        table, rows = self._session.table, self._by_uuid
        above = rows.get(table.parent[row])
        while above is not None:
            is_said = table.kind_of(above) in _SPEAKERS and not table.flags[above] & (
                META | SYNTHETIC | COMPACT_SUMMARY
            )
            if is_said and not (table.flags[above] & TOOL_RESULT and is_stand_in(self._session.entry(above))):
                return above
            above = rows.get(table.parent[above])
        return None


class _Rounds:
    """Tells the rounds of the last turn and of those behind it."""

    def __init__(self, session: Session, tail: _Tail, last: Turn) -> None:
        self._table = session.table
        self._tail = tail
        self._last = last

    def of(self, row: int) -> Round:
        """Return the round of a prompt."""
        if row == self._last.prompt_row and self._last.round is not None:
            return self._last.round
        before = self._tail.spoken_before(row)
        now, then = self._table.time_of(row), None if before is None else self._table.time_of(before)
        is_return = now is not None and then is not None and now - then > PAUSE_MS
        return "resume" if is_return else "new_round"


def _span(rows: array[int]) -> Sequence[int]:
    is_one = len(rows) == rows[-1] - rows[0] + 1
    return range(rows[0], rows[-1] + 1) if is_one else rows
