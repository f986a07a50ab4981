"""Go through a file once: its records with their facts, and the bytes that are none.

This is the one tolerant reader. Everything that looks at each line once (the line table, counts,
checks, the index) is fed from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from clew.format.entry import Entry
from clew.format.lines import Line, readline_from, stream
from clew.format.salvage import BOM, Damage, pieces
from clew.format.skim import Skim, skim, skim_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clew.format.lines import LongLine, Source


class Fragment(Struct, frozen=True):
    """Bytes of a session file that are no record; kept, named, never deleted."""

    number: int
    """The number of the line, from 1."""

    offset: int
    length: int
    damage: Damage
    is_probable: bool = False
    """It ends in what may be a whole record, which is not taken for one."""

    is_last: bool = False
    """It is the unfinished end of the file: in a live session a line that is still being written."""


class Record(Struct):
    """One record in passing: where it is, its facts, and its bytes while they are at hand."""

    number: int
    offset: int
    length: int
    raw: bytes
    facts: Skim
    is_whole: bool = True
    is_abridged: bool = False
    entry: Entry | None = None
    is_terminated: bool = True
    """False for the last record of a file whose last newline is missing."""

    has_bom: bool = False
    """The file starts with a byte order mark, which stands before this record."""

    def decoded(self) -> Entry:
        """Return the record as an entry, decoded on use."""
        if self.entry is None:
            self.entry = Entry(
                self.raw.rstrip(b" \t\r\n"),
                offset=self.offset,
                number=self.number,
                is_whole=self.is_whole,
                is_abridged=self.is_abridged,
            )
        return self.entry


Plain = tuple[int, int, bytes, Skim]
"""A line that is one record and no more, as nearly all are: its number, its offset, its bytes, its facts."""


def scan(source: Source, *, start: int = 0, number: int = 1) -> Iterator[Record | Fragment]:
    """Go through `source` from byte `start`, where line `number` begins."""
    return read(readline_from(source, start=start), start=start, number=number)


def read(readline: Callable[[int], bytes], *, start: int = 0, number: int = 1) -> Iterator[Record | Fragment]:
    """Go through what `readline(limit)` gives, which begins at byte `start` and line `number`."""
    for item in read_plainly(readline, start=start, number=number):
        if isinstance(item, tuple):
            at, offset, raw, facts = item
            record = Record(at, offset, len(raw), raw, facts)
            if not raw.endswith(b"\n"):
                record.is_terminated = False
            yield record
        else:
            yield item


def read_plainly(
    readline: Callable[[int], bytes], *, start: int = 0, number: int = 1
) -> Iterator[Plain | Record | Fragment]:
    """As `read`, with no more than a tuple for a plain line: for those who go through millions of them."""
    at = start
    for line in stream(readline, start=start):
        if isinstance(line, bytes):
            facts = skim(line)
            if facts is not None:
                yield number, at, line, facts
            elif not line.isspace():
                yield from _slowly(Line(at, line), number)
            at += len(line)
        else:
            yield _long(line, number)
            at += line.length
        number += 1


def _slowly(line: Line, number: int) -> Iterator[Record | Fragment]:
    raw = line.raw
    found = pieces(raw, at_file_start=line.offset == 0)
    full = [piece for piece in found if piece.kind != "blank"]
    is_whole = len(full) == 1
    for piece in full:
        offset = line.offset + piece.start
        if piece.kind == "record" and piece.decoded is not None:
            body = raw[piece.start : piece.end]
            entry = Entry(body, offset=offset, number=number, is_whole=is_whole, decoded=piece.decoded)
            record = Record(number, offset, len(body), body, skim_entry(entry), is_whole, False, entry)
            record.is_terminated = line.is_terminated or piece is not full[-1]
            record.has_bom = line.offset == 0 and piece.start > 0 and raw.startswith(BOM)
            yield record
        else:
            is_last = not line.is_terminated and piece is full[-1]
            length = piece.end - piece.start
            damage = piece.damage or "garbage"
            yield Fragment(number, offset, length, damage, piece.is_probable, is_last)


def _long(line: LongLine, number: int) -> Record | Fragment:
    """Take a long line as one record, or as no record at all: where a splice lies was not kept."""
    is_last = not line.is_terminated
    if line.brief is None:
        return Fragment(number, line.offset, line.length, "too-long", is_last=is_last)
    found = pieces(line.brief, at_file_start=line.offset == 0)
    full = [piece for piece in found if piece.kind != "blank"]
    if len(full) != 1 or full[0].decoded is None:
        faults: list[Damage] = [piece.damage for piece in full if piece.damage is not None]
        return Fragment(number, line.offset, line.length, faults[0] if faults else "spliced", is_last=is_last)
    start, end = full[0].start, full[0].end
    offset, body = line.offset + start, line.brief[start:end]
    entry = Entry(body, offset=offset, number=number, is_abridged=True, decoded=full[0].decoded)
    record = Record(number, offset, line.length - start, body, skim_entry(entry), True, True, entry)
    record.is_terminated = line.is_terminated
    record.has_bom = start > 0 and line.offset == 0 and line.brief.startswith(BOM)
    return record
