"""The rows at the bottom: what is typed, what waits to be heard, and how the session stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.faces.cli import cells, words
from clew.faces.cli.styled import Row, cut, safe, width
from clew.faces.cli.terminal import Part, Span, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.faces.cli.chat.draft import Draft

_MARK: Final = "› "
_MOST_QUEUED: Final = 4
_TAB: Final = 4
_DATE: Final = re.compile(r"-20[0-9]{6}$")
"""The end of a model's name that nobody reads."""


class Laid(NamedTuple):
    """A draft in rows, and where the cursor stands in them."""

    rows: list[Row]
    cursor: tuple[int, int]


class _Sign(NamedTuple):
    """What a reader sees as one sign, and how it is drawn."""

    raw: str
    shown: Span
    cells: int


def lay_out(draft: Draft, room: int, most: int) -> Laid:
    """Lay a draft out in rows of so many cells, at most so many, those around the cursor."""
    # One cell stays free: the cursor stands behind the last letter.
    signs = _signs(draft, max(4, room - len(_MARK) - 1))
    rows: list[Row] = []
    cursor, at = (0, len(_MARK)), 0
    for line in _lines(signs, max(4, room - len(_MARK) - 1)):
        used = len(_MARK)
        row: list[Part] = [" " * used if rows else Span(_MARK, ("bold", "cyan"))]
        for sign in line:
            if at == draft.at:
                cursor = len(rows), used
            at += len(sign.raw)
            used += sign.cells
            row.append(sign.shown)
        if at == draft.at:
            # At the end of a row that was wrapped; the next sign, if there is one, has it behind it.
            cursor = len(rows), min(used, room - 1)
        rows.append(tuple(row))
    first = max(0, cursor[0] - most + 1)
    return Laid(rows[first : first + most], (cursor[0] - first, cursor[1]))


def _lines(signs: Sequence[_Sign], room: int) -> Iterator[Sequence[_Sign]]:
    """Break signs into rows: at new lines, behind blanks where there are any, else where a row is full."""
    start = used = blank = 0
    for number, sign in enumerate(signs):
        # A blank may stand in the cell that is left free.
        if used + sign.cells > room + (sign.raw == " "):
            end = blank if blank > start else number
            yield signs[start:end]
            start, used = end, sum(one.cells for one in signs[end:number])
        used += sign.cells
        if sign.raw == " ":
            blank = number + 1
        elif sign.raw == "\n":
            yield signs[start : number + 1]
            start, used = number + 1, 0
    yield signs[start:]


def _signs(draft: Draft, room: int) -> list[_Sign]:
    """Give what the draft is made of, sign by sign, none wider than a row."""
    made: list[_Sign] = []
    for number, line in enumerate(draft.text.split("\n")):
        if number:
            made.append(_Sign("\n", Span(""), 0))
        for cluster, wide in cells.clusters(line):
            label = draft.label(cluster[0])
            if label is not None:
                shown = Span(cells.cut_end(label, room), ("yellow",))
                made.append(_Sign(cluster[0], shown, cells.width(shown.text)))
                made += [_Sign(char, Span(""), 0) for char in cluster[1:]]
            elif cluster.isascii() and cluster >= " ":
                made.append(_Sign(cluster, Span(cluster), wide))
            else:
                text = cells.cut_end(" " * _TAB if cluster == "\t" else safe(cluster), room)
                made.append(_Sign(cluster, Span(text), cells.width(text)))
    return made


@dataclass(frozen=True, slots=True)
class Standing:
    """How the session stands."""

    model: str = ""
    mode: str = "default"
    tokens: int = 0
    window: int = 200_000
    cost_usd: float = 0.0
    unpriced: int = 0
    hint: str = ""
    """What can be done now."""


def status(standing: Standing, room: int) -> Row:
    """Draw how the session stands, in one row: facts at the left, what can be done at the right."""
    cost = spent(standing.cost_usd, standing.unpriced)
    used = f"{words.tokens(standing.tokens)} of {words.tokens(standing.window)}"
    share = standing.tokens / standing.window if standing.window else 0
    dim = ("dim",)
    facts: list[Part] = [
        Span(_DATE.sub("", one_line(standing.model)) or "starting", dim),
        Span(" · ", dim),
        Span(standing.mode, ("yellow",) if standing.mode == "bypassPermissions" else dim),
        Span(" · ", dim),
        Span(used, ("yellow",) if share > 0.8 else dim),
        Span(f" · {cost}", dim),
    ]
    hint = Span(standing.hint, dim)
    gap = room - width(facts) - width((hint,))
    if gap < 2:
        return cut(facts, room)
    return (*facts, " " * gap, hint)


def spent(cost_usd: float, unpriced: int) -> str:
    """Say what was spent; with answers of models without a price it is more than that, or not known."""
    if not unpriced:
        return words.money(cost_usd)
    return f"{words.money(cost_usd)}+" if cost_usd else words.UNKNOWN


def queued(waiting: Sequence[str], room: int) -> list[Row]:
    """Draw what the person said and the model has not heard yet."""
    rows: list[Row] = [
        cut((Span("queued › ", ("dim",)), Span(one_line(text), ("dim",))), room)
        for text in waiting[:_MOST_QUEUED]
    ]
    if len(waiting) > _MOST_QUEUED:
        rows.append((Span(f"{len(waiting) - _MOST_QUEUED} more", ("dim",)),))
    return rows
