"""Styled words in rows of so many cells: wrapped between words, cut, or filled up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.faces.cli import cells
from clew.faces.cli.terminal import Part, Span, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Row = tuple[Part, ...]
"""One row of the screen."""

_TAB: Final = 4
_WORDS: Final = re.compile(r" +|[^ ]+")


def safe(text: str) -> str:
    """Return a text of one line as it will be drawn, so that it can be measured."""
    return plain(text).expandtabs(_TAB).replace("\n", " ")


def joined(row: Sequence[Part]) -> Row:
    """Return a row with what stands together and looks alike as one piece."""
    made: list[Part] = []
    for part in row:
        before = made[-1] if made else None
        if isinstance(before, Span) and isinstance(part, Span) and before.styles == part.styles:
            made[-1] = Span(before.text + part.text, part.styles)
        else:
            made.append(part)
    return tuple(made)


def text_of(row: Iterable[Part]) -> str:
    """Return the words of a row."""
    return "".join(part if isinstance(part, str) else part.text for part in row)


def width(row: Iterable[Part]) -> int:
    """Return how many cells a row takes."""
    return cells.width(text_of(row))


def cut(row: Sequence[Part], room: int, *, mark: str = "…") -> Row:
    """Cut a row at its end to so many cells."""
    if width(row) <= room:
        return tuple(row)
    kept: list[Part] = []
    left = max(0, room)
    for part in row:
        text, styles = (part, ()) if isinstance(part, str) else part
        if cells.width(text) >= left:
            # The mark stands though this part would just fit: there is more behind it.
            kept.append(Span(cells.cut_end(text + " " * (left + 1), left, mark=mark), styles))
            break
        kept.append(part)
        left -= cells.width(text)
    return tuple(kept)


def wrap(
    parts: Iterable[Part], room: int, *, first: Sequence[Part] = (), rest: Sequence[Part] = ()
) -> Iterator[Row]:
    """Wrap words to rows of so many cells, the first beginning with `first`, the others with `rest`.

    The texts are `safe` already. A word that is wider than a row is cut in pieces.
    """
    room = max(4, room)
    row: list[Part] = [*first]
    used = start = width(first)
    blank: Span | None = None
    # A word may change its look in the middle: its pieces belong together, and are moved together.
    for word in _words(parts):
        if word[0].text.startswith(" "):
            blank = word[0]
            continue
        wide = sum(cells.width(piece.text) for piece in word)
        space = 0 if blank is None else cells.width(blank.text)
        if used > start and used + space + wide > room:
            yield tuple(row)
            row, used, start = [*rest], width(rest), width(rest)
        elif blank is not None:
            row.append(blank)
            used += space
        blank = None
        for piece in word:
            text = piece.text
            while used + cells.width(text) > room:
                head, left = _split(text, room - used)
                if used > start and used + cells.width(head) > room:
                    head, left = "", text
                text = left
                row.append(Span(head, piece.styles))
                yield tuple(row)
                row, used, start = [*rest], width(rest), width(rest)
            if text:
                row.append(Span(text, piece.styles))
                used += cells.width(text)
    yield tuple(row)


def _words(parts: Iterable[Part]) -> Iterator[list[Span]]:
    word: list[Span] = []
    for part in parts:
        text, styles = (part, ()) if isinstance(part, str) else part
        for found in _WORDS.finditer(text):
            if found[0][0] == " ":
                if word:
                    yield word
                    word = []
                yield [Span(found[0], styles)]
            else:
                word.append(Span(found[0], styles))
    if word:
        yield word


def broken(text: str, room: int) -> Iterator[str]:
    """Break a line of code into rows wherever they are full; nothing of it is lost."""
    room = max(2, room)
    while cells.width(text) > room:
        head, text = _split(text, room)
        yield head
    yield text


def _split(text: str, room: int) -> tuple[str, str]:
    """Cut a text behind the cells there are; at least one sign goes first, or it would never end."""
    if text.isascii():
        return text[: max(1, room)], text[max(1, room) :]
    taken = used = 0
    for cluster, wide in cells.clusters(text):
        if used + wide > room and taken:
            break
        used += wide
        taken += len(cluster)
    return text[:taken], text[taken:]
