"""Cut one line out of a text, around what was found in it.

A width is counted in characters here. A face that has to fit a line on a terminal measures cells, where a
Chinese character takes two, and cuts the line further. Controls stay as they are but for line ends and tabs:
each output has its own gate for those.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

Range = tuple[int, int]
"""From and to, in characters."""

WIDTH: Final = 160
CUT: Final = "…"

_FULL: Final = re.compile(r"\S")
_WIDE: Final = re.compile(r"\s{2,}")
_MOST: Final = 1000
"""How many places are weighed against one another; a text may hold a word a million times."""

_LONGEST: Final = 24
"""A longer word is cut rather than left out."""


def snippet(text: str, ranges: Sequence[Range], *, width: int = WIDTH) -> tuple[str, list[Range]]:
    """Return a line of at most `width` characters around the densest places, and where these are in it.

    `ranges` are in order and do not overlap. Blanks, line ends among them, become one space.
    """
    width = max(width, 3)
    start, end = _densest(text, ranges[:_MOST], width - 2)
    # Blanks fall together, so that more of the text fits in than there is room for characters.
    left, right = max(0, start - 4 * width), min(len(text), start + 4 * width)
    line, places = _squeezed(text[left:right])
    more_before = _FULL.search(text, 0, left) is not None
    more_after = _FULL.search(text, right) is not None
    if more_before or more_after or len(line) > width:
        focus = places[start - left], places[min(end, right) - left]
        begin, stop = _window(line, focus, width - 2)
    else:
        begin, stop = 0, len(line)
    before = CUT if more_before or begin > 0 else ""
    after = CUT if more_after or stop < len(line) else ""
    kept: list[Range] = []
    for first, last in ranges:
        if first < right and last > left:
            first, last = places[max(first, left) - left], places[min(last, right) - left]
            first, last = max(first, begin), min(last, stop)
            if first < last:
                kept.append((first - begin + len(before), last - begin + len(before)))
    return before + line[begin:stop] + after, kept


def _densest(text: str, ranges: Sequence[Range], width: int) -> Range:
    """Return the stretch of at most `width` with the most different places, then the most, then the first."""
    best = (0, 0)
    stretch = (0, 0)
    words: Counter[str] = Counter()
    first = 0
    for last, (begin, end) in enumerate(ranges):
        words[_word(text, (begin, end))] += 1
        while first < last and end - ranges[first][0] > width:
            word = _word(text, ranges[first])
            words[word] -= 1
            if not words[word]:
                del words[word]
            first += 1
        weight = (len(words), last - first + 1)
        if weight > best:
            best, stretch = weight, (ranges[first][0], end)
    return stretch


def _word(text: str, place: Range) -> str:
    return text[place[0] : min(place[1], place[0] + 40)].lower()


class _Places:
    """For each place in a text the place in the same text squeezed."""

    __slots__ = ("_blanks", "_lead", "_lost", "_size")

    def __init__(self, text: str, size: int) -> None:
        self._size = size
        self._lead = lost = len(text) - len(text.lstrip())
        self._blanks: list[Range] = []
        """Blanks that became shorter."""
        self._lost = [lost]
        """How many characters fewer there are before each of them, and after the last."""
        for blank in _WIDE.finditer(text, lost):
            self._blanks.append(blank.span())
            lost += blank.end() - blank.start() - 1
            self._lost.append(lost)

    def __getitem__(self, at: int) -> int:
        if at <= self._lead:
            return 0
        index = bisect_right(self._blanks, (at, 0))
        if index and at < self._blanks[index - 1][1]:
            at = self._blanks[index - 1][0] + 1  # the one space that is left of it
            index -= 1
        return min(at - self._lost[index], self._size)


def _squeezed(text: str) -> tuple[str, _Places]:
    """Return a text with one space for every blank, and the places of one in the other."""
    line = " ".join(text.split())
    return line, _Places(text, len(line))


def _window(line: str, focus: Range, width: int) -> Range:
    """Return the stretch of a line to show, with the focus in it and, where it can be, between words."""
    first, last = focus[0], min(focus[1], focus[0] + width)
    begin = max(0, first - (width - (last - first)) * 2 // 5)
    stop = min(len(line), begin + width)
    begin = max(0, stop - width)
    if begin > 0 and line[begin - 1] != " ":
        gap = line.find(" ", begin, min(first, begin + _LONGEST))
        begin = begin if gap < 0 else gap + 1
    if stop < len(line) and line[stop] != " ":
        gap = line.rfind(" ", max(last, stop - _LONGEST), stop)
        stop = stop if gap < 0 else gap
    return begin, stop
