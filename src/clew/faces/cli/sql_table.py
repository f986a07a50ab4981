"""The answer to a query in the terminal: a table where it fits, else one field a line.

What columns there are and how wide they get is known only now, so the room is shared out here: the widest
columns give way first, and no column that holds text gets narrower than can be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.faces.cli import cells, table
from clew.faces.cli.terminal import Part, Span, one_line, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.sql import Row, Value
    from clew.faces.cli.terminal import Screen

NOTHING: Final = "–"
_GAP: Final = 2
_LEAST: Final = 8
"""Cells that a column is never cut below."""

_LONGEST: Final = 2_000
"""Characters of a value that are looked at: no terminal is wider."""


def show(screen: Screen, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Write the rows: names as SELECT gives them, numbers to the right."""
    names = [one_line(name) for name in columns]
    parts = [[_part(value, is_piped=screen.width is None) for value in row] for row in rows]
    aligned = [_is_number([row[at] for row in rows]) for at in range(len(names))]
    if screen.width is None:
        wide = [
            table.Column(name, "right" if right else "left")
            for name, right in zip(names, aligned, strict=True)
        ]
        screen.lines(table.lines(wide, parts, width=None, ascii_only=screen.is_ascii))
        return
    sizes = _fitted(names, parts, aligned, screen.width)
    if sizes is None:
        screen.lines(_one_field_a_line(names, parts, screen.width, ascii_only=screen.is_ascii))
        return
    mark = "..." if screen.is_ascii else "…"
    fitting = [
        table.Column(cells.cut_end(name, size, mark=mark), "right" if right else "left", most=size)
        for name, size, right in zip(names, sizes, aligned, strict=True)
    ]
    # All of it fits, so the shape for narrow terminals is not asked for.
    width = max(screen.width, table.TWO_LINES_BELOW)
    screen.lines(table.lines(fitting, parts, width=width, ascii_only=screen.is_ascii))


def text(value: Value) -> str:
    """Return a value as a person or a spreadsheet reads it; nothing for null."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.hex()
    return repr(value) if isinstance(value, float) else str(value)


def _part(value: Value, *, is_piped: bool) -> Part:
    if value is None:
        return span(NOTHING, "dim")
    if isinstance(value, float) and not is_piped:
        return f"{value:.15g}"  # as SQLite shows it: 0.1 + 0.2 is 0.3
    found = text(value)
    return found if is_piped else found[:_LONGEST]


def _is_number(values: Sequence[Value]) -> bool:
    kinds = {type(value) for value in values} - {type(None)}
    return bool(kinds) and kinds <= {int, float}


def _width(part: Part) -> int:
    return cells.width(one_line(part if isinstance(part, str) else part.text))


def _fitted(
    names: Sequence[str], parts: Sequence[Sequence[Part]], aligned: Sequence[bool], width: int
) -> list[int] | None:
    """Share out the cells of a line; None where the columns do not fit even when cut."""
    room = width - _GAP * (len(names) - 1)
    sizes = [
        max(cells.width(name), max((_width(row[at]) for row in parts), default=0))
        for at, name in enumerate(names)
    ]
    # A number is never cut: what is left of it would be another number.
    least = [
        max((_width(row[at]) for row in parts), default=0) if right else min(size, _LEAST)
        for at, (size, right) in enumerate(zip(sizes, aligned, strict=True))
    ]
    if sum(least) > room:
        return None
    over = sum(sizes) - room
    while over > 0:
        at = max(range(len(sizes)), key=lambda one: (sizes[one] > least[one], sizes[one]))
        # Down to the next widest, but no further than needed.
        others = [size for one, size in enumerate(sizes) if one != at and sizes[one] > least[one]]
        to = max(least[at], min(sizes[at] - 1, max(others, default=0)), sizes[at] - over)
        over -= sizes[at] - to
        sizes[at] = to
    return sizes


def _one_field_a_line(
    names: Sequence[str], parts: Sequence[Sequence[Part]], width: int, *, ascii_only: bool
) -> list[list[Part]]:
    mark = "..." if ascii_only else "…"
    label = min(max(map(cells.width, names), default=0), max(_LEAST, width // 2))
    out: list[list[Part]] = []
    for row in parts:
        if out:
            out.append([])
        for name, part in zip(names, row, strict=True):
            value = one_line(part if isinstance(part, str) else part.text)
            styles = () if isinstance(part, str) else part.styles
            head = cells.pad(cells.cut_end(name, label, mark=mark), label)
            room = max(1, width - label - _GAP)
            out.append(
                [Span(head, ("bold",)), " " * _GAP, Span(cells.cut_end(value, room, mark=mark), styles)]
            )
    return out
