"""Texts of several lines on a terminal: wrapped by words to its width, folded where they are long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.faces.cli import cells
from clew.faces.cli.terminal import plain
from clew.faces.cli.words import count, size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDEST: Final = 100
"""Prose is wrapped to this many cells at most; longer lines are hard to follow."""

_FENCE: Final = ("```", "~~~")
_TAB: Final = 4


def lines_of(text: str) -> list[str]:
    """Return a text as plain lines, ready to be measured; blank ones at its ends are left out."""
    lines = plain(text).expandtabs(_TAB).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    return [line.rstrip() for line in lines[first:]]


def wrapped(lines: Sequence[str], width: int | None) -> Iterator[str]:
    """Wrap prose to a width; code stays as it is. Without a width nothing is wrapped."""
    if width is None:
        yield from lines
        return
    room = max(8, min(width, WIDEST))
    is_code = False
    for line in lines:
        is_fence = line.lstrip().startswith(_FENCE)
        if is_code or is_fence or line.startswith("    ") or cells.width(line) <= room:
            yield line
        else:
            yield from _wrap(line, room)
        is_code ^= is_fence


def _wrap(line: str, room: int) -> Iterator[str]:
    indent = line[: len(line) - len(line.lstrip(" "))]
    # What belongs to a list item stands under its words.
    words = line.split()
    hanging = indent + ("  " if words and words[0] in {"-", "*", "•"} else "")
    if cells.width(hanging) > room // 2:
        indent = hanging = ""
    held = indent
    used = cells.width(held)
    is_fresh = True
    for word in words:
        wide = cells.width(word)
        if not is_fresh and used + 1 + wide > room:
            yield held
            held, used, is_fresh = hanging, cells.width(hanging), True
        while is_fresh and used + wide > room:
            head, word = _split(word, room - used)
            yield held + head
            held, used, wide = hanging, cells.width(hanging), cells.width(word)
        held += word if is_fresh else f" {word}"
        used += wide + (not is_fresh)
        is_fresh = False
    yield held


def _split(word: str, room: int) -> tuple[str, str]:
    """Cut a word that is wider than a line."""
    if word.isascii():
        return word[:room], word[room:]
    taken = used = 0
    for cluster, wide in cells.clusters(word):
        if used + wide > room and taken:
            break
        used += wide
        taken += len(cluster)
    return word[:taken], word[taken:]


def folded(lines: Sequence[str], *, most: int, from_end: bool = False) -> tuple[Sequence[str], str | None]:
    """Return the first or last lines of a long text, and a note of what is left out."""
    # One line more is shown rather than a note that takes its place.
    if len(lines) <= most + 1:
        return lines, None
    shown, hidden = (lines[-most:], lines[:-most]) if from_end else (lines[:most], lines[most:])
    length = sum(len(line.encode("utf-8", "replace")) + 1 for line in hidden)
    return shown, f"{count(len(hidden), 'line')} {'before' if from_end else 'more'} ({size(length)}): --full"
