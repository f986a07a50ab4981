"""The parts of a session as rows of a terminal. How much of each is shown is left to the reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.faces.cli import markdown_tables, prose
from clew.faces.cli.diff_lines import diff_rows
from clew.faces.cli.markdown import Markdown as Rendered
from clew.faces.cli.styled import Row, broken, cut, safe, wrap
from clew.faces.cli.terminal import Part, Span, one_line
from clew.view import parts
from clew.view.pictures import in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clew.faces.cli.terminal import Style

_BOXES: Final = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "removed": "[-]"}
_WIDEST_PIPE: Final = 1 << 20


def rows_of(part: parts.Part, room: int | None) -> Iterator[Row]:
    """Draw a part whole, in rows of so many cells; without a room as wide as it is."""
    match part:
        case parts.Text():
            look: tuple[Style, ...] = ("dim",) if part.is_muted else ()
            for line in prose.wrapped(prose.lines_of(part.text), room):
                yield (Span(line, look),) if line else ()
        case parts.Markdown():
            yield from markdown_rows(part.text, room)
        case parts.Code():
            yield from code_rows(part, room)
        case parts.Diff():
            yield from diff_rows(part, room, whole=True)
        case parts.Table():
            yield from _table(part, room)
        case parts.Image():
            yield (Span(f"[{one_line(in_words(part))}]", ("cyan",)),)
            if part.url:
                yield from _indented([(Span(one_line(part.url), ("dim",)),)])
        case parts.Notice():
            yield from notice_rows(part, room)
            if part.detail:
                yield from _indented(code_rows(parts.Code(part.detail), _less(room, 2)))
        case parts.Todos():
            yield from todo_rows(part.items, room)
        case parts.Section():
            yield (Span(f"{one_line(part.title)}:", ("dim",)),)
            for one in part.parts:
                yield from _indented(rows_of(one, _less(room, 2)))


def _less(room: int | None, cells: int) -> int | None:
    return None if room is None else max(8, room - cells)


def _indented(rows: Iterable[Row]) -> Iterator[Row]:
    return (("  ", *row) if row else () for row in rows)


def markdown_rows(text: str, room: int | None) -> Iterator[Row]:
    """Draw what a model wrote; in a pipe it stays as it was written."""
    if room is None:
        yield from ((line,) if line else () for line in prose.lines_of(text))
        return
    rendered = Rendered(room)
    rows = [*rendered.feed(text.strip("\n")), *rendered.end()]
    while rows and not rows[-1]:
        rows.pop()
    yield from rows


def code_rows(code: parts.Code, room: int | None) -> Iterator[Row]:
    """Draw lines of fixed width, with their numbers where they have some."""
    lines = prose.lines_of(code.text)
    if code.stream == "err":
        yield (Span("stderr:", ("dim",)),)
    gutter = 0 if code.first_line is None else len(str(code.first_line + len(lines)))
    for at, line in enumerate(lines):
        left = Span(f"{(code.first_line or 0) + at:>{gutter}}  ", ("dim",)) if gutter else None
        space = None if room is None else max(8, room - (gutter + 2 if gutter else 0))
        for piece_at, piece in enumerate(broken(line, space) if space is not None else (line,)):
            start: tuple[Part, ...] = () if left is None else (left if not piece_at else " " * (gutter + 2),)
            yield (*start, piece) if piece or start else ()
    if code.total_lines is not None and code.total_lines > len(lines):
        yield (Span(f"… of {code.total_lines:,} lines", ("dim",)),)


def _table(table: parts.Table, room: int | None) -> Iterator[Row]:
    if table.head:
        cells = [[[safe(cell)] for cell in row] for row in (table.head, *table.rows)]
        columns = max(map(len, cells))
        even: list[Sequence[Sequence[Part]]] = [
            [*row, *([""] for _ in range(columns - len(row)))] for row in cells
        ]
        yield from markdown_tables.draw(even, room or _WIDEST_PIPE)
        return
    for row in table.rows:
        name, *values = map(one_line, row)
        inner: tuple[Part, ...] = (Span(f"{name}: " if values else name, ("dim",)), "  ".join(values))
        yield from wrap(inner, room) if room is not None else (inner,)


def notice_rows(notice: parts.Notice, room: int | None) -> Iterator[Row]:
    """Draw what clew says of a session."""
    if notice.level == "info":
        text = f"· {one_line(notice.text)}"
        yield (Span(text, ("dim",)),) if room is None else cut((Span(text, ("dim",)),), room)
        return
    for at, line in enumerate(prose.wrapped([one_line(notice.text)], _less(room, 2))):
        yield (Span(f"{'  ' if at else '! '}{line}", ("yellow",)),)


def todo_rows(items: Iterable[parts.Todo], room: int | None) -> Iterator[Row]:
    """Draw things to do, with what became of each."""
    for one in items:
        look: tuple[Style, ...] = ("dim",) if one.state in {"removed", "pending"} else ()
        if one.state == "completed":
            look = ("green",)
        after = ""
        if one.is_new:
            after = "  new"
        elif one.state == "removed":
            after = "  gone"
        row: Row = (Span(f"{_BOXES[one.state]} ", look), one_line(one.text), Span(after, ("dim",)))
        yield row if room is None else cut(row, room)


def changed(todos: parts.Todos) -> list[parts.Todo]:
    """Return what changed in a list."""
    return [one for one in todos.items if one.is_new or one.was is not None or one.state == "removed"]
