"""Short texts side by side as far as they fit: facts on a line, and small tables in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.faces.cli import cells
from clew.faces.cli.terminal import Part, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

_BETWEEN: Final = " · "
_GAP: Final = 4


def flow(facts: Sequence[Sequence[Part]], *, width: int | None) -> list[list[Part]]:
    """Put facts on one line with dots between them; what does not fit goes to the next."""
    lines: list[list[Part]] = []
    for fact in facts:
        room = None if width is None or not lines else width - measure(lines[-1]) - len(_BETWEEN)
        if lines and (room is None or measure(fact) <= room):
            lines[-1] += [_BETWEEN, *fact]
        else:
            lines.append(list(fact))
    return lines


def beside(blocks: Sequence[Sequence[Sequence[Part]]], *, width: int | None) -> list[list[Part]]:
    """Stand blocks of lines beside each other, as many in a row as fit; piped, one below the other."""
    rows: list[list[Sequence[Sequence[Part]]]] = []
    used = 0
    for block in blocks:
        wide = max((measure(line) for line in block), default=0)
        if rows and width is not None and used + _GAP + wide <= width:
            rows[-1].append(block)
            used += _GAP + wide
        else:
            rows.append([block])
            used = wide
    out: list[list[Part]] = []
    for row in rows:
        if out:
            out.append([])
        out += _row(row)
    return out


def _row(blocks: Sequence[Sequence[Sequence[Part]]]) -> list[list[Part]]:
    wide = [max((measure(line) for line in block), default=0) for block in blocks]
    out: list[list[Part]] = []
    for at in range(max(map(len, blocks))):
        line: list[Part] = []
        owed = 0
        for block, size in zip(blocks, wide, strict=True):
            text = block[at] if at < len(block) else ()
            if text:
                line += [" " * owed, *text] if owed else text
                owed = 0
            owed += size - measure(text) + _GAP
        out.append(line)
    return out


def measure(parts: Sequence[Part]) -> int:
    """How many cells a line takes."""
    return sum(cells.width(_text(part)) for part in parts)


def _text(part: Part) -> str:
    text = part if isinstance(part, str) else part.text
    # White space at the ends is part of the layout and stays.
    return (
        text
        if text.isspace()
        else " " * (len(text) - len(text.lstrip(" ")))
        + one_line(text)
        + (" " * (len(text) - len(text.rstrip(" "))))
    )
