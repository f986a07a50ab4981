"""Say where in its session a line is: in which turn, and whether the client would still go that way."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from clew.actions.search_lines import Lines, note_of
from clew.errors import ClewError
from clew.session.layout import Layout, Place
from clew.store.reader import open_session
from clew.tables.texts import texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.search_values import Hit
    from clew.session.session import Session
    from clew.tables.texts import Text

Where = Place | Literal["spilled"]

_PLACED_BYTES: Final = 256 << 20
"""How much is read to tell where hits are; beyond it that is not told."""


class Near(NamedTuple):
    """A line before or after a hit, for `--context`."""

    line: int
    uuid: str | None
    text: Text


def near(session: Session, row: int, many: int) -> tuple[list[Near], list[Near]]:
    """Return the lines with a text before and after a row, so many of each."""
    before = _side(session, range(row - 1, -1, -1), many)
    return before[::-1], _side(session, range(row + 1, len(session)), many)


def _side(session: Session, rows: range, many: int) -> list[Near]:
    found: list[Near] = []
    for row in rows:
        if len(found) >= many:
            break
        entry = session.entry(row)
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
        # Most often the index told it already.
        places = [at for at in places if context or hits[at].where in {None, "spilled"}]
        if not places:
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
                    before, after = near(layout.session, row, context)
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
