"""What clew says of a session's file in the place it is about: damage, what was recovered or is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.session.session import ABRIDGED, SALVAGED
from clew.view import words
from clew.view.parts import Notice
from clew.view.texts import one_line, pretty

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew.format.records import Fragment
    from clew.session.session import Session

_DAMAGE: Final[Mapping[str, str]] = {
    "torn": "cut off mid-record",
    "spliced": "a torn record with another one behind it",
    "nul": "a run of NULs",
    "garbage": "bytes that are no record",
    "not-a-record": "JSON, but no record",
    "too-deep": "nested too deep",
    "too-long": "too long to be read",
}
_MOST_BYTES: Final = 4096
"""How many of the bytes that could not be read are shown."""


def damage_words(run: Sequence[Fragment]) -> str:
    """Say what could not be read, in one line for a run of fragments."""
    first, last = run[0].number, run[-1].number
    length = words.size(sum(one.length for one in run))
    why = _DAMAGE.get(run[0].damage, "damaged")
    if first == last:
        return f"{length} could not be read (line {first:,}, byte {run[0].offset:,}): {why}"
    lines = words.count(last - first + 1, "line")
    return f"{lines} could not be read (lines {first:,}–{last:,}, {length}): {why}"


def damage(session: Session, run: Sequence[Fragment]) -> Notice:
    """Return the notice for a run of fragments, with their bytes."""
    first = run[0]
    end = run[-1].offset + run[-1].length
    raw = session.source.read(first.offset, min(end - first.offset, _MOST_BYTES))
    text = raw.decode("utf-8", "replace")
    if end - first.offset > len(raw):
        text += f"\n… {words.size(end - first.offset)} in all"
    return Notice(
        damage_words(run),
        "warning",
        line=first.number,
        offset=first.offset,
        length=end - first.offset,
        detail=text,
    )


def runs(fragments: Sequence[Fragment]) -> Iterator[list[Fragment]]:
    """Give what could not be read, what stands in adjoining lines and is damaged alike in one piece."""
    run: list[Fragment] = []
    for one in fragments:
        if run and (one.number > run[-1].number + 1 or one.damage != run[0].damage):
            yield run
            run = []
        run.append(one)
    if run:
        yield run


def of_row(session: Session, row: int, *, is_first: bool) -> Iterator[Notice]:
    """Give what is to be said of a row itself; `is_first` for the first record of its line."""
    table = session.table
    flags = table.flags[row]
    if not flags & (SALVAGED | ABRIDGED):
        return
    number, offset, length = table.number[row], table.offset[row], table.length[row]
    if flags & SALVAGED and is_first:
        yield Notice(
            f"recovered from line {number:,}, which the client skips",
            "warning",
            line=number,
            offset=offset,
            length=length,
        )
    if flags & ABRIDGED:
        yield Notice(
            f"large record, {words.size(length)} (line {number:,}): its long texts are cut here",
            "warning",
            line=number,
            offset=offset,
            length=length,
        )


def unknown_line(session: Session, row: int, kind: str) -> Notice:
    """Return the notice for a line of a type clew does not know."""
    table = session.table
    return Notice(
        f"a line of a type clew does not know: {one_line(kind, longest=120)}",
        line=table.number[row],
        offset=table.offset[row],
        length=table.length[row],
        detail=pretty(session.entry(row).data),
    )
