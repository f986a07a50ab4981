"""Tables as they are written in Markdown, in columns that fit the screen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.faces.cli.styled import Row, width, wrap
from clew.faces.cli.terminal import Part, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CELL: Final = re.compile(r"(?<!\\)\|")
_RULE: Final = re.compile(r"\s*:?-+:?\s*")
_GAP: Final = "  "
_NARROWEST: Final = 6
_MOST_COLUMNS: Final = 24


def read(lines: Sequence[str]) -> list[list[str]] | None:
    """Return the cells of a table, its head first; None where the lines are none."""
    if len(lines) < 2 or not all(_RULE.fullmatch(cell) for cell in cells_of(lines[1])):
        return None
    rows = [cells_of(line) for number, line in enumerate(lines) if number != 1]
    columns = max(map(len, rows))
    if columns > _MOST_COLUMNS:
        return None
    return [row + [""] * (columns - len(row)) for row in rows]


def cells_of(line: str) -> list[str]:
    """Cut a row of a table into its cells."""
    line = line.strip()
    inner = line.removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(inner)]


def draw(rows: Sequence[Sequence[Sequence[Part]]], room: int) -> Iterator[Row]:
    """Draw the cells of a table; a cell that is too wide is wrapped in its column."""
    widths = _widths(rows, room)
    for number, row in enumerate(rows):
        columns = [
            [*wrap(_bold(cell) if number == 0 else cell, wide)]
            for cell, wide in zip(row, widths, strict=True)
        ]
        for line in range(max(map(len, columns))):
            yield _joined([column[line] if line < len(column) else () for column in columns], widths)
        if number == 0:
            yield (Span(_GAP.join("─" * wide for wide in widths), ("dim",)),)


def _bold(cell: Sequence[Part]) -> list[Part]:
    return [Span(part, ("bold",)) if isinstance(part, str) else part for part in cell]


def _joined(cells: Sequence[Row], widths: Sequence[int]) -> Row:
    made: list[Part] = []
    for number, (cell, wide) in enumerate(zip(cells, widths, strict=True)):
        made += cell
        if number < len(cells) - 1:
            made.append(" " * (wide - width(cell)) + _GAP)
    return tuple(made)


def _widths(rows: Sequence[Sequence[Sequence[Part]]], room: int) -> list[int]:
    """Return as wide columns as they need, or narrower ones, the widest first, where that is too much."""
    widths = [max(1, *(width(row[at]) for row in rows)) for at in range(len(rows[0]))]
    room -= len(_GAP) * (len(widths) - 1)
    while sum(widths) > room:
        widest = max(range(len(widths)), key=widths.__getitem__)
        if widths[widest] <= _NARROWEST:
            break
        second = sorted(widths)[-2] if len(widths) > 1 else _NARROWEST
        over = sum(widths) - room
        widths[widest] = max(_NARROWEST, min(widths[widest] - 1, max(second, widths[widest] - over)))
    return widths
