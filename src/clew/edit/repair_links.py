"""Parents that are not there, and parents in a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.session.graph import BOUNDARY, MISSING, NODE
from clew.session.session import SIDECHAIN

if TYPE_CHECKING:
    from clew.edit.repair_state import Repaired, View
    from clew.session.graph import Links

CIRCLE: Final = "its parents form a circle"
_TRIED: Final = 100
"""How many lines above are tried for a parent before a line becomes a root."""


def mend_links(view: View, state: Repaired) -> None:
    """Hang what lost its parent on the line before it, and cut each circle where it goes back in the file."""
    table = view.session.table
    links = view.links
    for cycle in links.cycles:
        # Parents stand before their children; where one does not, the circle was closed.
        row = min(row for row in cycle if links.ids.last(table.parent[row]) >= row)
        hang(view, state, row, _before(view, links, row, frozenset(cycle)), CIRCLE)
    for row, mark in enumerate(links.marks):
        if mark & MISSING:
            over = links.parent[row]
            if over < 0:
                over = _freed(view, state, links, row)
            is_other_side = over >= 0 and (table.flags[row] ^ table.flags[over]) & SIDECHAIN
            if is_other_side or table.kind_of(row) == BOUNDARY:
                over = -1
            hang(view, state, row, over, "its parent is not in the file")


def _freed(view: View, state: Repaired, links: Links, row: int) -> int:
    """Return the line before one that lost its parent; where it hangs on that one, cut the circle above."""
    flags = view.session.table.flags
    nodes = (over for over in range(row - 1, -1, -1) if links.marks[over] & NODE)
    over = next((over for over in nodes if not (flags[over] ^ flags[row]) & SIDECHAIN), -1)
    way: list[int] = []
    above = over
    while above >= 0 and above != row:
        way.append(above)
        above = links.parent[above]
    back = [one for one in way if links.parent[one] > one]
    if above != row or not back:
        return -1
    hang(view, state, min(back), _before(view, links, min(back), frozenset((row, *way))), CIRCLE)
    return over


def hang(view: View, state: Repaired, row: int, over: int, reason: str) -> None:
    """Hang a row on another; on nothing below 0."""
    uuid = view.session.entry(over).uuid if over >= 0 else None
    state.set(view.origins[row], "parentUuid", uuid, reason)


def _before(view: View, links: Links, row: int, cycle: frozenset[int]) -> int:
    """Return the nearest line before `row` that does not hang on it; -1 if there is none."""
    flags = view.session.table.flags
    tried = 0
    for over in range(row - 1, -1, -1):
        if not links.marks[over] & NODE or (flags[over] ^ flags[row]) & SIDECHAIN:
            continue
        above = over
        while above >= 0 and above not in cycle:
            above = links.parent[above]
        if above < 0:
            return over
        tried += 1
        if tried >= _TRIED:
            break
    return -1
