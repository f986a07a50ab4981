"""Records in columns, one a line: no boxes, bold headings, numbers to the right.

A table fits its terminal or changes its shape; a row is never wrapped. Columns leave in a stated order as
the terminal gets narrower, one flexible column takes the spare room, and where even that is too much a
record takes two lines. Piped output keeps every column and cuts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from clew.faces.cli import cells
from clew.faces.cli.terminal import Part, Span, Style, ascii_glyphs, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

TWO_LINES_BELOW = 60
LEAST_FLEXIBLE = 20
_GAP = "  "
# A title of ten thousand letters must not push every other row's columns out of sight when piped.
_PADDED_WHEN_PIPED = 80


class Column(NamedTuple):
    """One column: its heading, and what becomes of it when there is little room."""

    heading: str
    align: Literal["left", "right"] = "left"
    flexible: bool = False
    """Takes the spare room and is cut to what there is, never below 20 cells. At most one column."""

    needs: int = 0
    """The terminal width from which it is shown. Of those that do not fit, the neediest goes first."""

    cut: Literal["end", "middle"] = "end"
    """Where its texts are cut: titles at the end, paths in the middle."""

    most: int | None = None
    """The most cells a column that is not flexible may take on a terminal."""

    hide_if_empty: bool = False
    """Left out when no record has anything in it."""

    words: str = "{}"
    """How its text reads in the two-line shape, where no heading explains it: "{} failed"."""

    style: tuple[Style, ...] = ()


def lines(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Part]],
    *,
    width: int | None,
    footer: Sequence[Part] | None = None,
    ascii_only: bool = False,
) -> list[list[Part]]:
    """Lay records out as lines for `Screen.lines`; `width` is None for piped output."""
    texts = [[_text(cell, ascii_only=ascii_only) for cell in row] for row in rows]
    chosen = [
        at
        for at, column in enumerate(columns)
        if not (column.hide_if_empty and all(not row[at] for row in texts))
    ]
    out: list[list[Part]]
    if width is None:
        sizes = {at: _natural(columns[at], texts, at, None) for at in chosen}
        return _one_line_each(columns, rows, texts, sizes)
    chosen = [at for at in chosen if columns[at].needs <= width]
    fitted = _fit(columns, texts, chosen, width) if width >= TWO_LINES_BELOW else None
    if fitted is None:
        out = _two_lines_each(columns, rows, texts, chosen, width, ascii_only=ascii_only)
    else:
        for row in texts:
            for at, most in fitted.items():
                row[at] = _cut(columns[at], row[at], most, ascii_only=ascii_only)
        out = _one_line_each(columns, rows, texts, fitted)
    if footer is not None:
        out.append(list(footer))
    return out


def _text(cell: Part, *, ascii_only: bool) -> str:
    text = one_line(cell if isinstance(cell, str) else cell.text)
    return ascii_glyphs(text) if ascii_only else text


def _styles(column: Column, cell: Part) -> tuple[Style, ...]:
    return column.style if isinstance(cell, str) else cell.styles


def _natural(column: Column, texts: Sequence[Sequence[str]], at: int, width: int | None) -> int:
    """How many cells a column wants."""
    widest = max((cells.width(row[at]) for row in texts), default=0)
    if width is None:
        widest = min(widest, _PADDED_WHEN_PIPED)
    elif column.most is not None:
        widest = min(widest, column.most)
    return max(cells.width(column.heading), widest)


def _fit(
    columns: Sequence[Column], texts: Sequence[Sequence[str]], chosen: Sequence[int], width: int
) -> dict[int, int] | None:
    """The cells of each column that stays, or None when no choice of columns fits on one line."""
    sizes = {at: _natural(columns[at], texts, at, width) for at in chosen}
    flexible = next((at for at in chosen if columns[at].flexible), None)
    while True:
        gaps = len(_GAP) * max(0, len(sizes) - 1)
        fixed = sum(size for at, size in sizes.items() if at != flexible) + gaps
        wanted = 0 if flexible is None else sizes[flexible]
        if fixed + min(wanted, LEAST_FLEXIBLE) <= width:
            if flexible is not None:
                sizes[flexible] = min(wanted, width - fixed)
            return sizes
        spare = [at for at in sizes if columns[at].needs and at != flexible]
        if not spare:
            return None
        del sizes[max(spare, key=lambda at: (columns[at].needs, at))]


def _cut(column: Column, text: str, most: int, *, ascii_only: bool) -> str:
    cutter = cells.cut_middle if column.cut == "middle" else cells.cut_end
    return cutter(text, most, mark="..." if ascii_only else "…")


def _one_line_each(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Part]],
    texts: Sequence[Sequence[str]],
    sizes: dict[int, int],
) -> list[list[Part]]:
    out: list[list[Part]] = []
    if any(columns[at].heading for at in sizes):
        out.append(_join([(columns[at], columns[at].heading, ("bold",)) for at in sizes], sizes))
    out.extend(
        _join([(columns[at], row[at], _styles(columns[at], cells_[at])) for at in sizes], sizes)
        for cells_, row in zip(rows, texts, strict=True)
    )
    return out


def _join(parts: Sequence[tuple[Column, str, tuple[Style, ...]]], sizes: dict[int, int]) -> list[Part]:
    """Put the cells of one line beside each other; colour covers the text, not the space around it."""
    line: list[Part] = []
    owed = ""
    for (column, text, styles), size in zip(parts, sizes.values(), strict=True):
        room = " " * max(0, size - cells.width(text))
        before, after = (room, "") if column.align == "right" else ("", room)
        owed += before
        if text:
            if owed:
                line.append(owed)
            line.append(Span(text, styles))
            owed = ""
        owed += after + _GAP
    return line  # what is still owed is white space at the end of the line


def _two_lines_each(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Part]],
    texts: Sequence[Sequence[str]],
    chosen: Sequence[int],
    width: int,
    *,
    ascii_only: bool,
) -> list[list[Part]]:
    """A record on two lines: its mark and title, then the other facts, dimmed and with words."""
    flexible = next((at for at in chosen if columns[at].flexible), None)
    marks = [at for at in chosen if not columns[at].heading and at != flexible]
    room = {at: min(_natural(columns[at], texts, at, width), width // 4) + 1 for at in marks[:2]}
    indent = sum(room.values())
    separator = " - " if ascii_only else " · "
    out: list[list[Part]] = []
    for row, cells_ in zip(texts, rows, strict=True):
        first: list[Part] = []
        for at, size in room.items():
            mark = _cut(columns[at], row[at], size - 1, ascii_only=ascii_only)
            first += [Span(mark, _styles(columns[at], cells_[at])), " " * (size - cells.width(mark))]
        if flexible is not None:
            title = _cut(columns[flexible], row[flexible], max(1, width - indent), ascii_only=ascii_only)
            first.append(Span(title, _styles(columns[flexible], cells_[flexible])))
        facts = [
            columns[at].words.format(row[at])
            for at in chosen
            if at != flexible and at not in room and row[at]
        ]
        out.append(_without_tail(first))
        ellipsis = "..." if ascii_only else "…"
        second = cells.cut_end(separator.join(facts), max(1, width - indent), mark=ellipsis)
        if second:
            out.append([" " * indent, Span(second, ("dim",))])
    return out


def _without_tail(line: list[Part]) -> list[Part]:
    """Leave out empty cells and white space at the end of a line."""
    while line and not (line[-1] if isinstance(line[-1], str) else line[-1].text).strip(" "):
        line = line[:-1]
    return line
