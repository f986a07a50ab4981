"""Which turn something stands in that belongs to none: lines before a prompt, bytes that are no records."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.format.records import Fragment
    from clew.session.session import Session
    from clew.session.turns import Turn


def rows_before(rows: Sequence[int], turns: Sequence[Turn]) -> Sequence[int]:
    """Return those of `rows`, which were cut into turns, that come before the first of them."""
    if not turns:
        return rows
    start = turns[0].rows[0] if turns[0].rows else None
    return rows[: rows.index(start)] if start is not None else ()


def damage_by_turn(
    session: Session, turns: Sequence[Turn], fragments: Sequence[Fragment]
) -> Mapping[int, Sequence[Fragment]]:
    """Give each fragment to the turn it stands in, by its place; to -1 what comes before the first."""
    offset = session.table.offset
    # Where children stand before their parents the turns do not begin in order; damage goes by the file.
    starts = sorted((offset[turn.rows[0]], at) for at, turn in enumerate(turns) if turn.rows)
    damage: dict[int, list[Fragment]] = {}
    for fragment in fragments:
        over = bisect_right(starts, (fragment.offset, len(turns))) - 1
        damage.setdefault(starts[over][1] if over >= 0 else -1, []).append(fragment)
    return damage
