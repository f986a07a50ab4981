"""A small terminal for tests: understands what the painter writes and nothing else, and scrolls."""

from __future__ import annotations

import re

from clew.faces.cli import cells

_CONTROL = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])")


class Terminal:
    """Rows of a screen, and those that left it at the top."""

    def __init__(self, columns: int, lines: int) -> None:
        self.columns, self.lines = columns, lines
        self.rows: list[list[str]] = [[]]
        """All rows; the last `lines` of them are on the screen."""
        self.row = 0
        self.column = 0
        self.wraps = True
        self.is_cursor_shown = True

    @property
    def top(self) -> int:
        return max(0, len(self.rows) - self.lines)

    @property
    def text(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.rows]

    def write(self, text: str) -> None:
        at = 0
        while at < len(text):
            found = _CONTROL.match(text, at)
            if found is not None:
                self._control(found[1], found[2])
                at = found.end()
            elif text[at] in "\r\n":
                self.column = 0 if text[at] == "\r" else self.column
                if text[at] == "\n":
                    self._down()
                at += 1
            else:
                assert text[at] >= " ", f"{text[at]!r} is written"
                cluster, wide = next(cells.clusters(text[at : at + 40]))
                self._letter(cluster, wide)
                at += len(cluster)

    def _control(self, given: str, final: str) -> None:
        number = int(given) if given.isdigit() else 1
        match final:
            case "A":
                assert self.row - number >= self.top, "above the screen"
                self.row -= number
            case "C":
                self.column += number
            case "K":
                self.rows[self.row] = self.rows[self.row][: self.column]
            case "J" if given == "2":
                self.rows = self.rows[: self.top] + [[] for _ in range(self.lines)]
            case "J":
                self.rows[self.row] = self.rows[self.row][: self.column]
                del self.rows[self.row + 1 :]
            case "H":
                self.row, self.column = self.top, 0
            case "m":
                pass
            case "h" | "l":
                self.wraps = final == "h" if given == "?7" else self.wraps
                self.is_cursor_shown = final == "h" if given == "?25" else self.is_cursor_shown
            case _:
                raise AssertionError(f"ESC [ {given} {final} is written")

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])

    def _letter(self, cluster: str, wide: int) -> None:
        if self.column + wide > self.columns:
            if not self.wraps:
                return
            self.column = 0
            self._down()
        row = self.rows[self.row]
        row += [" "] * (self.column - len(row))
        row[self.column : self.column + wide] = [cluster, *([""] * (wide - 1))]
        self.column += wide

    def resize(self, columns: int, lines: int) -> None:
        """Wrap anew what is too wide, as terminals do; the cursor stays where it was in the text."""
        made: list[list[str]] = []
        for number, row in enumerate(self.rows):
            if number == self.row:
                down, self.column = divmod(self.column, columns)
                at = len(made) + down
            pieces = [row[start : start + columns] for start in range(0, len(row), columns)]
            made += pieces or [[]]
        self.row, self.rows = at, made  # pyright: ignore[reportPossiblyUnboundVariable]  # the row is one of them
        self.columns, self.lines = columns, lines
