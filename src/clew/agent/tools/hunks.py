"""What changed between two texts, as the client keeps it: hunks of lines with three lines around them."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_AROUND: Final = 3
_MOST: Final = 4_000_000
"""When more pairs of lines than this would have to be compared, all of them count as changed."""

_NO_END: Final = "\\ No newline at end of file"

Opcode = tuple[str, int, int, int, int]


def hunks(old: str, new: str) -> list[dict[str, Any]]:
    """Return the changed stretches. The texts have plain line ends."""
    before, after = _lines(old), _lines(new)
    if before == after:
        return []
    return [_hunk(group, before, after) for group in _groups(_opcodes(before, after))]


def _lines(text: str) -> list[str]:
    """Cut a text into lines. The last one keeps that it has no end, by which it differs from one that has."""
    lines = text.split("\n")
    last = lines.pop()
    if last:
        lines.append(f"{last}\n{_NO_END}")
    return lines


def _opcodes(before: Sequence[str], after: Sequence[str]) -> list[Opcode]:
    """Say how one list of lines becomes the other. What is equal at both ends is set aside first."""
    most = min(len(before), len(after))
    head = next((n for n in range(most) if before[n] != after[n]), most)
    tail = next((n for n in range(most - head) if before[-1 - n] != after[-1 - n]), most - head)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    codes: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    if len(old) * len(new) > _MOST:
        codes.append(("replace", head, head + len(old), head, head + len(new)))
    else:
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        codes += [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in matcher.get_opcodes()]
    if tail:
        codes.append(("equal", len(before) - tail, len(before), len(after) - tail, len(after)))
    return codes


def _groups(codes: Sequence[Opcode]) -> Iterator[list[Opcode]]:
    """Put changes together that are near each other, with some equal lines around them."""
    group: list[Opcode] = []
    for at, (tag, a, b, c, d) in enumerate(codes):
        if tag != "equal":
            group.append((tag, a, b, c, d))
            continue
        is_first, is_last = at == 0, at == len(codes) - 1
        if not is_first and not is_last and b - a <= 2 * _AROUND:
            group.append((tag, a, b, c, d))
            continue
        if not is_first:
            group.append((tag, a, min(b, a + _AROUND), c, min(d, c + _AROUND)))
            yield group
            group = []
        if not is_last:
            group = [(tag, max(a, b - _AROUND), b, max(c, d - _AROUND), d)]
    if group:
        yield group


def _hunk(group: Sequence[Opcode], before: Sequence[str], after: Sequence[str]) -> dict[str, Any]:
    lines: list[str] = []
    for tag, a, b, c, d in group:
        if tag == "equal":
            lines += [f" {line}" for line in before[a:b]]
        else:
            lines += [f"-{line}" for line in before[a:b]]
            lines += [f"+{line}" for line in after[c:d]]
    first, last = group[0], group[-1]
    return {
        "oldStart": first[1] + 1,
        "oldLines": last[2] - first[1],
        "newStart": first[3] + 1,
        "newLines": last[4] - first[3],
        "lines": [piece for line in lines for piece in line.split("\n")],
    }
