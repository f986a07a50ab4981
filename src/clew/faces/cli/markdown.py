"""What the model writes, as rows of a terminal, while it is still writing.

A line is drawn for good when it has ended, a table when its last row has. What has not ended is drawn as it
looks by then (`tail`), and drawn again when there is more. Marks that are not understood stay as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.faces.cli import markdown_tables as tables
from clew.faces.cli.styled import Row, broken, safe, wrap
from clew.faces.cli.terminal import Part, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDEST: Final = 100
"""Prose is wrapped to this many cells at most; longer lines are hard to follow."""

_LONGEST: Final = 4000
"""A line that has not ended by then is drawn in pieces: it would else be drawn anew for every word of it."""

_MOST_ROWS: Final = 60
"""A table of so many rows is drawn as far as it is there; the rest follows as another."""

_FENCE: Final = re.compile(r" {0,12}(`{3,}|~{3,})[ \t]*([^`]*)$")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")
_ITEM: Final = re.compile(r"([ ]*)([-*+]|[0-9]{1,9}[.)])[ ]+(.*)$")
_QUOTE: Final = re.compile(r" {0,3}((?:>[ ]?)+)(.*)$")
_RULE: Final = re.compile(r" {0,3}(?:(?:-[ ]*){3,}|(?:\*[ ]*){3,}|(?:_[ ]*){3,})$")
_INLINE: Final = re.compile(
    r"\\(?P<escaped>[\\`*_{}\[\]()#+\-.!|>~])"
    r"|(?P<tick>`+)(?P<code>.+?)(?<!`)(?P=tick)(?!`)"
    r"|\*\*(?=\S)(?P<bold>.+?)(?<=\S)\*\*"
    r"|(?<![\w_])__(?=\S)(?P<strong>.+?)(?<=\S)__(?![\w_])"
    r"|\[(?P<words>[^\[\]]{1,400})\]\((?P<target>[^()\s]{1,2000})\)"
)


class Markdown:
    """A text that is arriving."""

    def __init__(self, width: int) -> None:
        self.width = width
        """Cells in a row. May change: what is drawn from then on heeds it."""
        self._line = ""
        self._fence: str | None = None
        self._table: list[str] = []

    def feed(self, text: str) -> list[Row]:
        """Take what came; return the rows that will not change any more."""
        rows: list[Row] = []
        *ended, last = text.split("\n")
        for piece in ended:
            rows += self._end_line(self._line + piece)
            self._line = ""
        self._line += last
        while len(self._line) > _LONGEST:
            at = self._line.rfind(" ", 0, _LONGEST) + 1 or _LONGEST
            rows += self._end_line(self._line[:at])
            self._line = self._line[at:]
        return rows

    def tail(self) -> list[Row]:
        """Return the rows of what has not ended yet, as they look by now."""
        rows = self._drawn_table(self._table + ([self._line] if self._is_row(self._line) else []))
        if self._line and not (self._table and self._is_row(self._line)):
            is_mark = _FENCE.match(self._line) is not None
            rows += [] if is_mark else self._drawn(self._line)
        return rows

    def end(self) -> list[Row]:
        """Return the rest: nothing more comes."""
        rows = self._end_line(self._line) if self._line else []
        rows += self._drawn_table(self._table)
        self._table, self._line, self._fence = [], "", None
        return rows

    # Lines ------------------------------------------------------------------------------------------

    def _end_line(self, line: str) -> list[Row]:
        rows: list[Row] = []
        line = line.removesuffix("\r")
        if self._is_row(line) and len(self._table) < _MOST_ROWS:
            self._table.append(line)
            return rows
        rows, self._table = self._drawn_table(self._table), []
        fence = _FENCE.match(line)
        if self._fence is not None:
            if fence is not None and fence[1].startswith(self._fence) and not fence[2].strip():
                self._fence = None
                return rows
        elif fence is not None:
            self._fence = fence[1]
            named = safe(fence[2].strip())
            return [*rows, (Span(f"── {named}"[: max(4, self.width)], ("dim",)),)] if named else rows
        return rows + self._drawn(line)

    def _is_row(self, line: str) -> bool:
        return self._fence is None and line.lstrip(" ").startswith("|")

    def _drawn_table(self, lines: list[str]) -> list[Row]:
        if not lines:
            return []
        found = tables.read(lines)
        if found is None:
            return [row for line in lines for row in self._drawn(line)]
        shown = [[[*inline(safe(cell))] for cell in row] for row in found]
        return [*tables.draw(shown, self.width)]

    def _drawn(self, line: str) -> list[Row]:
        text = safe(line)
        if self._fence is not None:
            border = Span("│ ", ("dim",))
            return [(border, piece) for piece in broken(text, self.width - 2)]
        return [*self._prose(text.rstrip(" "))]

    def _prose(self, text: str) -> Iterator[Row]:
        room = min(self.width, WIDEST)
        if not text:
            yield ()
            return
        if _RULE.match(text):
            yield (Span("─" * min(room, 40), ("dim",)),)
            return
        if (heading := _HEADING.match(text)) is not None:
            parts = (
                Span(part, ("bold",)) if isinstance(part, str) else Span(part.text, ("bold", *part.styles))
                for part in inline(heading[2])
            )
            yield from wrap(parts, room)
            return
        if (quote := _QUOTE.match(text)) is not None:
            border = (Span("│ " * quote[1].count(">"), ("dim",)),)
            yield from wrap(inline(quote[2]), room, first=border, rest=border)
            return
        if (item := _ITEM.match(text)) is not None:
            indent = item[1][: max(0, room // 3)]
            mark = f"{indent}{'-' if item[2] in '*+' else item[2]} "
            yield from wrap(inline(item[3]), room, first=(mark,), rest=(" " * len(mark),))
            return
        indent = text[: len(text) - len(text.lstrip(" "))][: room // 3]
        yield from wrap(inline(text.lstrip(" ")), room, first=(indent,), rest=(indent,))


def inline(text: str) -> Iterator[Part]:
    """Give the words of a line with their looks. A mark that is not closed is a sign like any other."""
    at = 0
    for found in _INLINE.finditer(text):
        if found.start() > at:
            yield text[at : found.start()]
        at = found.end()
        if found["escaped"]:
            yield found["escaped"]
        elif found["code"] is not None:
            yield Span(found["code"].strip(" ") or found["code"], ("cyan",))
        elif found["words"] is not None:
            yield from inline(found["words"])
            if found["target"] != found["words"]:
                yield Span(f" ({found['target']})", ("dim",))
        else:
            for part in inline(found["bold"] or found["strong"]):
                if isinstance(part, str):
                    yield Span(part, ("bold",))
                else:
                    yield Span(part.text, ("bold", *(one for one in part.styles if one != "bold")))
    if at < len(text):
        yield text[at:]
