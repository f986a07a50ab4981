"""Which lines two texts have in common, in order: what a diff and the question who wrote a line stand on."""

from __future__ import annotations

import io
from bisect import bisect_left
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, AnyStr, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST: Final = 1_000_000
"""Pairs of lines up to which all are compared; beyond, lines that occur once lead the way."""


class Same(NamedTuple):
    """A run of lines that both have."""

    before: int
    after: int
    length: int


class Stretch(NamedTuple):
    """A run of lines that differ: `before[old.start:old.stop]` became `after[new.start:new.stop]`."""

    old: range
    new: range


def cut_lines(text: str) -> list[str]:
    """Cut a text after each newline and nowhere else; the last line may have none."""
    return list(io.StringIO(text, newline="\n"))


def cut_bytes(data: bytes) -> list[bytes]:
    """Cut bytes after each newline; the last line may have none."""
    return list(io.BytesIO(data))


def same(before: Sequence[AnyStr], after: Sequence[AnyStr]) -> list[Same]:
    """Return the runs of lines that both have, in order."""
    found: list[Same] = []
    for run in _runs(before, after, range(len(before)), range(len(after))):
        last = found[-1] if found else None
        if last and last.before + last.length == run.before and last.after + last.length == run.after:
            found[-1] = Same(last.before, last.after, last.length + run.length)
        elif run.length:
            found.append(run)
    return found


def changed(before: Sequence[AnyStr], after: Sequence[AnyStr]) -> list[Stretch]:
    """Return the runs of lines that differ, in order."""
    found: list[Stretch] = []
    old = new = 0
    for run in [*same(before, after), Same(len(before), len(after), 0)]:
        if run.before > old or run.after > new:
            found.append(Stretch(range(old, run.before), range(new, run.after)))
        old, new = run.before + run.length, run.after + run.length
    return found


def counts(before: str, after: str) -> tuple[int, int]:
    """Count the lines that came in and those that went out."""
    stretches = changed(cut_lines(before), cut_lines(after))
    return sum(len(one.new) for one in stretches), sum(len(one.old) for one in stretches)


def _runs(before: Sequence[AnyStr], after: Sequence[AnyStr], old: range, new: range) -> Iterator[Same]:
    """Give the runs within two parts. What is equal at both ends is set aside first: an edit is small."""
    most = min(len(old), len(new))
    head = next((n for n in range(most) if before[old[n]] != after[new[n]]), most)
    most -= head
    tail = next((n for n in range(most) if before[old[-1 - n]] != after[new[-1 - n]]), most)
    if head:
        yield Same(old.start, new.start, head)
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    if old and new:
        if len(old) * len(new) <= _MOST:
            yield from _compared(before, after, old, new)
        else:
            yield from _by_single_lines(before, after, old, new)
    if tail:
        yield Same(old.stop, new.stop, tail)


def _compared(before: Sequence[AnyStr], after: Sequence[AnyStr], old: range, new: range) -> Iterator[Same]:
    matcher = SequenceMatcher(None, before[old.start : old.stop], after[new.start : new.stop], autojunk=False)
    for a, b, length in matcher.get_matching_blocks():
        yield Same(a + old.start, b + new.start, length)


def _by_single_lines(
    before: Sequence[AnyStr], after: Sequence[AnyStr], old: range, new: range
) -> Iterator[Same]:
    """Go from one line that both have once to the next; between them compare as always."""
    there, here = _once(before, old), _once(after, new)
    pairs = [(there[line], here[line]) for line in there if line in here]
    a, b = old.start, new.start
    for x, y in _rising(pairs):
        if x < a or y < b:
            continue
        yield from _runs(before, after, range(a, x), range(b, y))
        yield Same(x, y, 1)
        a, b = x + 1, y + 1
    if (a, b) != (old.start, new.start):  # else nothing leads the way, and all of it is taken as changed
        yield from _runs(before, after, range(a, old.stop), range(b, new.stop))


def _once(lines: Sequence[AnyStr], part: range) -> dict[AnyStr, int]:
    found: dict[AnyStr, int] = {}
    again: set[AnyStr] = set()
    for at in part:
        line = lines[at]
        if line in found:
            again.add(line)
        found[line] = at
    return {line: at for line, at in found.items() if line not in again}


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest choice of pairs, given by their first number, whose second numbers rise too."""
    ends: list[int] = []
    tops: list[int] = []
    below: list[int] = []
    for at, (_, y) in enumerate(pairs):
        place = bisect_left(ends, y)
        below.append(tops[place - 1] if place else -1)
        ends[place : place + 1] = [y]
        tops[place : place + 1] = [at]
    chosen: list[tuple[int, int]] = []
    at = tops[-1] if tops else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = below[at]
    return chosen[::-1]
