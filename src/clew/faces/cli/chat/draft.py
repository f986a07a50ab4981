"""What is being typed: a text of several lines, a place in it, and long pastes that stand as one sign each.

Values: whatever is done to a draft makes a new one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from clew.faces.cli import cells
from clew.faces.cli.words import count

_FIRST_PASTE: Final = 0x10FF00
_MOST_PASTES: Final = 0xF0
_LONG_LINES: Final = 6
_LONG_TEXT: Final = 1000
_WORD: Final = re.compile(r"\w+|[^\w\s]+")


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that is being typed."""

    text: str = ""
    """A paste that was folded is one sign of the private use area in it."""

    at: int = 0
    """Where the next letter goes."""

    pastes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing but blanks."""
        return not self.text.strip()

    @property
    def whole(self) -> str:
        """All of it, with what was pasted."""
        return "".join(self._behind(char) for char in self.text)

    def _behind(self, char: str) -> str:
        number = ord(char) - _FIRST_PASTE
        return self.pastes[number] if 0 <= number < len(self.pastes) else char

    def label(self, char: str) -> str | None:
        """Return what is shown in the place of a folded paste, None for any other sign."""
        number = ord(char) - _FIRST_PASTE
        if not 0 <= number < len(self.pastes):
            return None
        text = self.pastes[number]
        return f"[pasted {count(text.count(chr(10)) + 1, 'line')}, {count(len(text), 'character')}]"

    # Writing --------------------------------------------------------------------------------------

    def insert(self, text: str) -> Draft:
        """Put in what was typed."""
        text = "".join(char if ord(char) < _FIRST_PASTE else "\ufffd" for char in text)
        return self._put(text)

    def paste(self, text: str) -> Draft:
        """Put in what was pasted; a long one is folded."""
        is_long = text.count("\n") >= _LONG_LINES or len(text) > _LONG_TEXT
        if not is_long or len(self.pastes) >= _MOST_PASTES:
            return self.insert(text)
        sign = chr(_FIRST_PASTE + len(self.pastes))
        return replace(self._put(sign), pastes=(*self.pastes, text))

    def _put(self, text: str) -> Draft:
        return replace(self, text=self.text[: self.at] + text + self.text[self.at :], at=self.at + len(text))

    def cut(self, start: int, end: int) -> tuple[Draft, str]:
        """Take out a part; return what is left and what was taken."""
        return replace(self, text=self.text[:start] + self.text[end:], at=start), self.text[start:end]

    # Places ---------------------------------------------------------------------------------------

    def move(self, at: int) -> Draft:
        """Go to a place."""
        return replace(self, at=max(0, min(at, len(self.text))))

    @property
    def line_start(self) -> int:
        """Where the line begins."""
        return self.text.rfind("\n", 0, self.at) + 1

    @property
    def line_end(self) -> int:
        """Where the line ends."""
        found = self.text.find("\n", self.at)
        return len(self.text) if found < 0 else found

    @property
    def before(self) -> int:
        """One sign to the left, as a reader counts them."""
        if self.at == self.line_start:
            return max(0, self.at - 1)
        *_, (last, _wide) = cells.clusters(self.text[self.line_start : self.at])
        return self.at - len(last)

    @property
    def after(self) -> int:
        """One sign to the right."""
        if self.at == self.line_end:
            return min(len(self.text), self.at + 1)
        first, _wide = next(cells.clusters(self.text[self.at : self.line_end]))
        return self.at + len(first)

    @property
    def word_start(self) -> int:
        """Where the word begins that is here or to the left."""
        starts = [found.start() for found in _WORD.finditer(self.text, 0, self.at)]
        return starts[-1] if starts else 0

    @property
    def word_end(self) -> int:
        """Where the word ends that is here or to the right."""
        found = _WORD.search(self.text, self.at)
        return len(self.text) if found is None else found.end()

    @property
    def blank_start(self) -> int:
        """Where the run of letters begins that ends here, with the blanks behind it."""
        found = re.search(r"\S*\s*\Z", self.text[: self.at])
        return self.at if found is None else found.start()

    def up(self) -> Draft | None:
        """Go a line up; None on the first."""
        start = self.line_start
        if start == 0:
            return None
        above = self.text.rfind("\n", 0, start - 1) + 1
        return self.move(min(above + self.at - start, start - 1))

    def down(self) -> Draft | None:
        """Go a line down; None on the last."""
        end = self.line_end
        if end == len(self.text):
            return None
        below = self.text.find("\n", end + 1)
        last = len(self.text) if below < 0 else below
        return self.move(min(end + 1 + self.at - self.line_start, last))


def draft_of(text: str) -> Draft:
    """Return a draft with a text in it that is ready to be changed, at its end."""
    return Draft().insert(text)
