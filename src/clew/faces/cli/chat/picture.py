"""The rows at the bottom of a chat, put together: what goes on, the question or the box, the status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.faces.cli import words
from clew.faces.cli.chat import box, orders
from clew.faces.cli.chat.painter import Frame
from clew.faces.cli.styled import Row, cut, safe
from clew.faces.cli.terminal import Span

if TYPE_CHECKING:
    from clew.faces.cli.chat.talk import Talk

_SHOWN_AFTER: Final = 1.0
"""Seconds after which it is told how long the session is at work."""


def frame(talk: Talk, now: float, columns: int, lines: int) -> Frame:
    """Draw how a chat stands, on a screen of this size."""
    below, cursor = _input(talk, columns, lines)
    below.append(box.status(_standing(talk), columns))
    above = box.queued(talk.engine.queued, columns)
    if talk.asking is None and talk.busy_since is not None and now - talk.busy_since >= _SHOWN_AFTER:
        above.append((Span(_working(talk, now - talk.busy_since), ("dim",)),))
    # One row stays between what is said and all this, and one of the screen is left alone.
    left = max(0, lines - 2 - len(below) - len(above))
    rows = (*(talk.telling.live(now, left) if left else ()), (), *above, *below)
    shift = len(rows) - len(below)
    return Frame(rows, None if cursor is None else (cursor[0] + shift, cursor[1]))


def _input(talk: Talk, columns: int, lines: int) -> tuple[list[Row], tuple[int, int] | None]:
    """Draw the question that is open, or else what is being typed; with where the cursor stands."""
    rows: list[Row] = [(Span("─" * columns, ("dim",)),)]
    asking = talk.asking
    editor = talk.editor
    if asking is not None:
        rows += asking.choices(columns)
        if asking.words is None:
            return rows, None
        editor = asking.words
    laid = box.lay_out(editor.draft, columns, max(1, lines // 2 - 2))
    cursor = len(rows) + laid.cursor[0], laid.cursor[1]
    rows += laid.rows
    if talk.others:
        rows.append(cut((Span("  " + "  ".join(map(safe, talk.others)), ("cyan",)),), columns))
    return rows, cursor


def _working(talk: Talk, seconds: float) -> str:
    what = "opening" if talk.running is None else "stopping" if talk.is_stopping else "working"
    return f"{what} · {words.duration(seconds * 1000)}"


def _standing(talk: Talk) -> box.Standing:
    running = talk.running
    hint = talk.hint or ("Esc stops" if talk.is_busy else "/help")
    if running is None:
        return box.Standing(hint=hint)
    return box.Standing(
        model=running.model,
        mode=running.gate.mode,
        tokens=talk.telling.tokens,
        window=orders.window(talk),
        cost_usd=running.budget.cost_usd,
        unpriced=running.budget.unpriced,
        hint=hint,
    )
