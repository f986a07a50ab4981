"""A trace in the terminal: its spans as a tree, and beside each when it ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.faces.cli import cells, words
from clew.faces.cli.terminal import Part, ascii_glyphs, one_line, span

if TYPE_CHECKING:
    from clew.faces.cli.terminal import Screen, Style
    from clew.session.spending import Spent
    from clew.trace.span import Span
    from clew.trace.spans import TurnTrace

_GAP: Final = "  "
_DEEPEST: Final = 12
_PIPED: Final = 60
"""Cells for the tree where nothing is cut."""

_LOOKS: Final[dict[str, tuple[Style, ...]]] = {"agent": ("bold",), "generation": (), "tool": ("cyan",)}
_UNFINISHED: Final = {
    "running": "not over",
    "no_answer": "no answer",
    "interrupted": "interrupted",
    "unanswered_call": "a call has no result",
    "agent_unfinished": "a sub-agent is at work",
    "news_awaited": "a sub-agent's news are awaited",
}


class Waterfall:
    """Draws the turns of a session one after the other."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        width = screen.width
        self._has_figures = width is None or width >= 60
        fixed = 8 + (len(_GAP) + 7) * 2 * self._has_figures
        if width is None:
            self._bar, self._tree = 0, _PIPED
        else:
            self._bar = 0 if width < 60 else 20 if width < 100 else 40
            room = width - fixed - (len(_GAP) + self._bar if self._bar else 0)
            self._tree = max(12, room)

    def show(self, turn: TurnTrace) -> None:
        """Draw one turn."""
        screen = self._screen
        spans = list(turn.spans())
        used = {one.span_id: one.spent for one in turn.generations()}
        first = min(one.start_ns for one in spans)
        last = max(one.end_ns for one in spans)
        told = [words.duration((last - first) / 1e6), words.count(len(spans), "span"), turn.trace_id]
        if turn.reason is not None:
            told.insert(0, _UNFINISHED[turn.reason])
        if turn.is_history:
            told.insert(0, "another session's")
        heading = f"── {turn.n} ── {' · '.join(told)} ──"
        if screen.width is not None:
            heading = cells.cut_end(heading, screen.width)
        screen.print(span(heading, "dim"))
        depths: dict[str | None, int] = {None: -1}
        for one in spans:
            depth = depths[one.span_id] = depths.get(one.parent_id, 0) + 1
            screen.print(*self._line(one, depth, used.get(one.span_id), first, max(1, last - first)))

    def _line(self, one: Span, depth: int, spent: Spent | None, first: int, whole: int) -> list[Part]:
        mark = "✗ " if one.status == "error" else ""
        label = _text(f"{mark}{one_line(one.label)}", self._screen)
        indent = "  " * min(depth, _DEEPEST)
        room = max(1, self._tree - len(indent))
        if self._screen.width is not None:
            label = cells.cut_end(label, room, mark=_text("…", self._screen))
        styles: tuple[Style, ...] = ("red",) if mark else ("dim",) if one.is_history else _LOOKS[one.type]
        line: list[Part] = [indent, span(label, *styles), " " * max(0, room - cells.width(label))]
        line.append(cells.pad(words.duration((one.end_ns - one.start_ns) / 1e6), 8, right=True))
        if self._has_figures:
            tokens = "" if spent is None else words.tokens(spent.tokens.total)
            cost = "" if spent is None else words.money(spent.cost_usd)
            line += [_GAP, cells.pad(tokens, 7, right=True), _GAP, cells.pad(cost, 7, right=True)]
        if self._bar:
            line += [_GAP, *self._when(one, first, whole)]
        return _without_tail(line)

    def _when(self, one: Span, first: int, whole: int) -> list[Part]:
        """Draw when a span ran: the whole width is the turn."""
        start = (one.start_ns - first) * self._bar // whole
        length = max(1, round((one.end_ns - one.start_ns) * self._bar / whole))
        start = min(start, self._bar - 1)
        length = min(length, self._bar - start)
        is_moment = one.end_ns - one.start_ns < whole / self._bar / 4
        return [" " * start, span("▏" if is_moment else "█" * length, "dim")]


def _text(text: str, screen: Screen) -> str:
    return ascii_glyphs(text) if screen.is_ascii else text


def _without_tail(line: list[Part]) -> list[Part]:
    while line and isinstance(line[-1], str) and not line[-1].strip(" "):
        line.pop()
    if line and isinstance(line[-1], str):
        line[-1] = line[-1].rstrip(" ")
    return line
