"""Say where in its session a line is: in which turn, and whether the client would still go that way."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from clew.actions.search_lines import Lines, note_of
from clew.errors import ClewError
from clew.session.chain import chain
from clew.session.eras import rules
from clew.session.graph import Graph
from clew.session.session import HUMAN, SIDECHAIN
from clew.session.turns import main_rows
from clew.store.reader import open_session
from clew.tables.texts import texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.search_values import Hit
    from clew.session.session import Session
    from clew.tables.texts import Text

Where = Literal["active", "branch", "before-compaction", "sub-agent", "spilled"]

_PLACED_BYTES: Final = 256 << 20
"""How much is read to tell where hits are; beyond it that is not told."""

_OFF, _ACTIVE, _BEFORE = 0, 1, 2
_NAMES: Final[dict[int, Where]] = {_ACTIVE: "active", _BEFORE: "before-compaction"}


class Near(NamedTuple):
    """A line before or after a hit, for `--context`."""

    line: int
    uuid: str | None
    text: Text


class Layout:
    """How the lines of one session file hang together."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._graph = Graph(session)
        self._marks = bytearray(len(session))
        found = chain(session, rules())
        self._leaf = found.leaf
        if found.leaf is not None:
            for row in self._graph.upwards(found.leaf):
                self._marks[row] = _BEFORE
            for row in (*self._graph.path(found.leaf), *found.rows):
                self._marks[row] = _ACTIVE
        self._turns: array[int] | None = None
        self.main = main_rows(session)
        self._is_all = len(self.main) == len(session)

    def row(self, offset: int) -> int | None:
        """Return the row of the record at an offset."""
        offsets = self._session.table.offset
        row = bisect_left(offsets, offset)
        return row if row < len(offsets) and offsets[row] == offset else None

    def role(self, row: int) -> str:
        """Return the type of a row, without its subtype."""
        return self._session.table.kind_of(row).partition("/")[0]

    def turn(self, row: int) -> int | None:
        """Return the turn of a row as `clew show` counts them; None before the first and beside them."""
        if self._turns is None:
            self._turns = self._counted()
        return self._turns[row] or None

    def _counted(self) -> array[int]:
        table = self._session.table
        found = array("i", [0]) * len(table)
        seen: set[int] = set()
        count = 0
        for row in self.main:
            key = table.uuid[row]
            # A prompt that is written again begins no other turn.
            if table.flags[row] & HUMAN and key not in seen:
                count += 1
                if key:
                    seen.add(key)
            found[row] = count
        return found

    def where(self, row: int) -> Where:
        """Say whether the client would still go the way that a row is on."""
        table = self._session.table
        if table.flags[row] & SIDECHAIN and not self._is_all:
            return "sub-agent"
        if not table.uuid[row] or self._leaf is None:
            return "active"
        node = table.last_of(table.uuid[row])
        way: list[int] = []
        while node >= 0 and self._marks[node] == _OFF:
            way.append(node)
            node = self._graph.above[node]
        if node < 0 or self._speaks(way, node):
            return "branch"
        return _NAMES[self._marks[node]]

    def _speaks(self, way: list[int], anchor: int) -> bool:
        """Say whether the talk went another way there: results of parallel calls merely stand beside."""
        table = self._session.table
        spoken = 0
        for row in self._graph.upwards(anchor):
            if table.kind_of(row) == "assistant":
                spoken = table.message[row]
                break
        for row in reversed(way):
            if table.flags[row] & HUMAN:
                return True
            if table.kind_of(row) == "assistant":
                if not table.message[row] or table.message[row] != spoken:
                    return True
                spoken = table.message[row]
        return False

    def near(self, row: int, many: int) -> tuple[list[Near], list[Near]]:
        """Return the lines with a text before and after a row, so many of each."""
        return self._side(range(row - 1, -1, -1), many)[::-1], self._side(
            range(row + 1, len(self._session)), many
        )

    def _side(self, rows: range, many: int) -> list[Near]:
        found: list[Near] = []
        for row in rows:
            if len(found) >= many:
                break
            entry = self._session.entry(row)
            said = texts(entry)
            if said:
                found.append(Near(entry.number or 0, entry.uuid, said[0]))
        return found


def layout_of(path: str) -> Layout | None:
    """Return how the lines of a file hang together; None if it cannot be read."""
    try:
        return Layout(open_session(path))
    except ClewError:
        return None


def placed(hits: Sequence[Hit], context: int) -> list[Hit]:
    """Say of each hit where in its session it is, and what is around it."""
    found = list(hits)
    by_path: dict[str, list[int]] = {}
    for at, hit in enumerate(hits):
        # A spilled output is where the line is that tells of it.
        by_path.setdefault(hit.owner if hit.where == "spilled" else hit.path, []).append(at)
    room = _PLACED_BYTES
    lines = Lines()
    for path, places in by_path.items():
        if not context and all(hits[at].where == "sub-agent" for at in places):
            continue
        room -= _size(path)
        layout = layout_of(path) if room >= 0 else None
        if layout is None:
            continue
        for at in places:
            hit = hits[at]
            offset = hit.offset
            if hit.where == "spilled":
                note = note_of(path, _name(hit.path))
                if note is None:
                    continue
                offset = note.offset
                tool = lines.tool_in(path, note.call) if note.call is not None else None
                hit = replace(hit, uuid=note.facts.uuid, time=note.facts.time, tool=tool, call=note.call)
            row = layout.row(offset)
            if row is not None:
                if hit.where is None:
                    hit = replace(hit, where=layout.where(row))
                if hit.role is None:
                    hit = replace(hit, role=layout.role(row))
                # A title is of the whole session, wherever it was written.
                if hit.where != "sub-agent" and hit.field != "title":
                    hit = replace(hit, turn=layout.turn(row))
                if context:
                    before, after = layout.near(row, context)
                    hit = replace(hit, before=tuple(before), after=tuple(after))
            found[at] = hit
    return found


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _name(path: str) -> str:
    return path.rpartition(os.sep)[2]
