"""What is written so that the terminal shows what it should: rows that stay, below them rows that change.

Rows that stay scroll away like any output. The others (what is being said, the box that is typed in, the
status) are drawn again in their place. Every text goes through the screen's own gate; the cursor moves here
are the only other thing that is written, and nothing from a session is part of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.faces.cli.styled import Row, cut, safe, width
from clew.faces.cli.terminal import Screen, Span, ascii_glyphs

if TYPE_CHECKING:
    from collections.abc import Sequence

_BEGIN: Final = "\x1b[?2026h\x1b[?25l"
"""Hold the picture back until it is whole, where the terminal can; hide the cursor."""

_END: Final = "\x1b[?2026l"
_SHOWN: Final = "\x1b[?25h"
_NO_WRAP: Final = "\x1b[?7l"
_WRAP: Final = "\x1b[?7h"
_ERASE_ROW: Final = "\x1b[K"
_ERASE_BELOW: Final = "\x1b[J"
_CLEAR: Final = "\x1b[H\x1b[2J"


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows that change, and where in them the cursor stands."""

    rows: tuple[Row, ...]
    cursor: tuple[int, int] | None = None
    """Row and cell; None hides it."""


class _Sheet:
    """A stream that keeps what is written to it, for a screen to write to."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self._written: list[str] = []

    def write(self, text: str, /) -> int:
        self._written.append(text)
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError("not a file")

    def take(self) -> str:
        text = "".join(self._written)
        self._written.clear()
        return text


class Ink:
    """Makes rows into text for a terminal, by the one gate that texts of sessions go through."""

    def __init__(self, *, color: bool, is_ascii: bool) -> None:
        self._sheet = _Sheet()
        self._is_ascii = is_ascii
        env = {"CLEW_ASCII": "1"} if is_ascii else {}
        self._screen = Screen(self._sheet, self._sheet, color="always" if color else "never", env=env)

    def row(self, row: Row, room: int | None = None) -> str:
        """Return a row as it is written, cut to the room there is."""
        parts = [
            Span(self._shown(text), styles)
            for text, styles in (part if isinstance(part, Span) else Span(part) for part in row)
            if text
        ]
        self._screen.print(
            *(parts if room is None else cut(parts, room, mark="." if self._is_ascii else "…"))
        )
        return self._sheet.take().removesuffix("\n")

    def _shown(self, text: str) -> str:
        text = safe(text)
        return ascii_glyphs(text) if self._is_ascii else text


class Painter:
    """Knows what the terminal shows of the rows that change, and says how to make it show others."""

    def __init__(self, ink: Ink, size: tuple[int, int]) -> None:
        self._ink = ink
        self.columns, self.lines = size
        self._drawn: list[int] = []
        """How wide each row is that is drawn."""
        self._at = 0
        """In which of them the cursor stands."""
        self._before = ""

    def resize(self, size: tuple[int, int]) -> None:
        """Hear that the terminal has another size; it has wrapped by itself what is too wide now."""
        columns, self.lines = size
        if columns != self.columns:
            rows = [max(1, -(-wide // columns)) for wide in self._drawn]
            self._at = sum(rows[: self._at])
            self._drawn = [columns] * sum(rows)
            self.columns = columns
        self._before = ""

    def draw(self, stays: Sequence[Row], frame: Frame) -> str:
        """Return what to write so that `stays` is added to what stays and `frame` stands below it."""
        rows, cursor = self._fitted(frame)
        texts = [self._ink.row(row, self.columns) for row in rows]
        picture = "\n".join([*texts, str(cursor)])
        if not stays and picture == self._before:
            return ""
        out = [_BEGIN, self._home(), *(f"{_ERASE_ROW}{self._ink.row(row)}\r\n" for row in stays)]
        out += [_NO_WRAP, *(f"{_ERASE_ROW}{text}\r\n" for text in texts[:-1])]
        out += [_ERASE_BELOW, *texts[-1:], _WRAP, "\r"]
        self._before = picture
        self._drawn = [min(self.columns, width(row)) for row in rows]
        self._at = max(0, len(rows) - 1)
        if cursor is not None:
            up = self._at - cursor[0]
            out += [f"\x1b[{up}A" if up else "", f"\x1b[{cursor[1]}C" if cursor[1] else "", _SHOWN]
            self._at = cursor[0]
        return "".join([*out, _END])

    def leave(self, stays: Sequence[Row] = ()) -> str:
        """Return what to write so that nothing but what stays is there, and others can go on below it."""
        text = self._home() + _ERASE_BELOW + "".join(f"{self._ink.row(row)}\r\n" for row in stays)
        self.forget()
        return text + _WRAP + _SHOWN

    def clear(self) -> str:
        """Return what to write so that the screen is empty."""
        self.forget()
        return _CLEAR

    def forget(self) -> None:
        """Leave what is drawn where it is, and draw from where the cursor stands."""
        self._drawn, self._at, self._before = [], 0, ""

    def _home(self) -> str:
        return (f"\x1b[{self._at}A" if self._at else "") + "\r"

    def _fitted(self, frame: Frame) -> tuple[tuple[Row, ...], tuple[int, int] | None]:
        """Leave out rows at the top for which there is no room: what has left the screen stays as it is."""
        rows, cursor = frame.rows or ((),), frame.cursor
        over = len(rows) - max(1, self.lines - 1)
        if over <= 0:
            return rows, cursor
        return rows[over:], None if cursor is None else (max(0, cursor[0] - over), cursor[1])
