"""How the context window of a session filled: the figures behind the Context view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.actions.reading import way_to
from clew.format.times import iso
from clew.session.window import Window, thinned, window

if TYPE_CHECKING:
    from clew.actions.reading import Reading

POINTS: Final = 2_000
"""Turns that are told at most; of more, some are passed over evenly."""


def read_window(reading: Reading) -> Window:
    """Follow the way to where the client would go on; the turns are those of the whole session."""
    session, active = reading.session, reading.active
    if active is None:
        return Window((), (), ())
    rows = way_to(session, reading.graph, active)
    numbers, places = [turn.n for turn in reading.turns], reading.turn_of

    def turn_of(row: int) -> int:
        place = places[row]
        return numbers[place] if place >= 0 else 0

    return window(session, rows, turn_of)


def window_document(found: Window, *, most: int = POINTS) -> dict[str, object]:
    """Return it as JSON has it."""
    fills = thinned(found.fills, most)
    return {
        "turns": [
            {"turn": one.turn, "time": iso(one.time), "tokens": one.tokens, "by_kind": dict(one.by_kind)}
            for one in fills
        ],
        "turns_total": len(found.fills),
        "compactions": [
            {
                "turn": one.turn,
                "time": iso(one.time),
                "before": one.before,
                "after": one.after,
                "trigger": one.trigger,
                "is_estimated": one.is_estimated,
            }
            for one in found.compactions
        ],
        "table": [
            {"kind": one.kind, "blocks": one.blocks, "tokens": one.tokens, "share": round(one.share, 6)}
            for one in found.table
        ],
        "split": "estimated, and scaled to what was measured",
    }
