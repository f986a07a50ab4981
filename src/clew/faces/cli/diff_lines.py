"""A diff on a terminal: line numbers, signs, and the words that changed."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from clew.faces.cli.styled import Row, broken, cut, safe, width
from clew.faces.cli.terminal import Part, Span, Style
from clew.view.parts import Diff, Hunk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST: Final = 400
"""Characters of a line up to which its words are compared."""

_ALIKE: Final = 0.4
"""How much two lines must have in common for their differing words to be worth marking."""

_LOOKS: Final[dict[str, tuple[Style, ...]]] = {"+": ("green",), "-": ("red",)}


def trimmed(diff: Diff, *, context: int = 1) -> Diff:
    """Return a diff with fewer lines around what changed: enough to see where one is."""
    made: list[Hunk] = []
    for hunk in diff.hunks:
        changed = [at for at, line in enumerate(hunk.lines) if line[:1] in {"+", "-"}]
        at = 0
        while at < len(changed):
            last = at
            while last + 1 < len(changed) and changed[last + 1] - changed[last] <= 2 * context + 1:
                last += 1
            low = max(0, changed[at] - context)
            made.append(_part(hunk, low, min(len(hunk.lines), changed[last] + context + 1)))
            at = last + 1
    return Diff(diff.path, tuple(made), diff.added, diff.removed, diff.is_new)


def _part(hunk: Hunk, low: int, high: int) -> Hunk:
    before = hunk.lines[:low]
    gone = sum(line.startswith("-") for line in before)
    came = sum(line.startswith("+") for line in before)
    is_placed = bool(hunk.old_start or hunk.new_start)
    old = hunk.old_start + len(before) - came if is_placed else 0
    new = hunk.new_start + len(before) - gone if is_placed else 0
    return Hunk(old, new, hunk.lines[low:high])


def diff_rows(diff: Diff, room: int | None, *, whole: bool) -> Iterator[Row]:
    """Draw a diff. Lines that are too wide are cut, or with `whole` go on in the next row."""
    gutter = _gutter(diff)
    for at, hunk in enumerate(diff.hunks):
        if at:
            yield (Span(" " * max(0, gutter - 1) + "⋮", ("dim",)),)
        for sign, number, inner in _lines(hunk):
            look = _LOOKS.get(sign, ("dim",))
            left = f"{number or '':>{gutter}} " if gutter else ""
            head: list[Part] = [Span(left, ("dim",)), Span(f"{sign} ", look)]
            space = None if room is None else max(8, room - width(head))
            row: Row = (*head, *(_look(text, look, is_new=is_new) for text, is_new in inner))
            if space is None or width(row) - width(head) <= space:
                yield row
            elif not whole:
                yield cut(row, width(head) + space)
            else:
                text = "".join(text for text, _ in inner)
                for piece_at, piece in enumerate(broken(text, space)):
                    start = head if not piece_at else [" " * width(head)]
                    yield (*start, Span(piece, look))


def _look(text: str, look: tuple[Style, ...], *, is_new: bool) -> Span:
    return Span(text, (*look, "bold", "reverse") if is_new else look if look != ("dim",) else ())


def _gutter(diff: Diff) -> int:
    """Return how wide the widest number is; 0 where no number is known."""
    last = 0
    for hunk in diff.hunks:
        if hunk.new_start or hunk.old_start:
            last = max(last, hunk.old_start + len(hunk.lines), hunk.new_start + len(hunk.lines))
    return len(str(last)) if last else 0


Inner = list[tuple[str, bool]]
"""Pieces of a line, each with whether it changed."""


def _lines(hunk: Hunk) -> Iterator[tuple[str, int, Inner]]:
    """Give each line with its sign, its number (of the old file for what went) and its pieces."""
    old, new = hunk.old_start, hunk.new_start
    is_placed = bool(old or new)
    lines = hunk.lines
    at = 0
    while at < len(lines):
        gone, came = _run(lines, at, "-"), 0
        came = _run(lines, at + gone, "+")
        if not gone and not came:
            yield " ", new if is_placed else 0, [(safe(lines[at][1:]), False)]
            old, new, at = old + 1, new + 1, at + 1
            continue
        before = [safe(line[1:]) for line in lines[at : at + gone]]
        after = [safe(line[1:]) for line in lines[at + gone : at + gone + came]]
        pairs = [_compared(one, other) for one, other in zip(before, after, strict=False)]
        for number, text in enumerate(before):
            yield (
                "-",
                old + number if is_placed else 0,
                (pairs[number][0] if number < len(pairs) else [(text, False)]),
            )
        for number, text in enumerate(after):
            yield (
                "+",
                new + number if is_placed else 0,
                (pairs[number][1] if number < len(pairs) else [(text, False)]),
            )
        old, new, at = old + gone, new + came, at + gone + came


def _run(lines: Sequence[str], start: int, sign: str) -> int:
    at = start
    while at < len(lines) and lines[at].startswith(sign):
        at += 1
    return at - start


def _compared(old: str, new: str) -> tuple[Inner, Inner]:
    """Return two lines in pieces, those that differ marked where the lines are much alike."""
    if max(len(old), len(new)) > _LONGEST:
        return [(old, False)], [(new, False)]
    before, after = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return [(old, False)], [(new, False)]
    left: Inner = []
    right: Inner = []
    for tag, low, high, new_low, new_high in matcher.get_opcodes():
        if high > low:
            left.append(("".join(before[low:high]), tag != "equal"))
        if new_high > new_low:
            right.append(("".join(after[new_low:new_high]), tag != "equal"))
    return left, right
