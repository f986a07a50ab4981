"""Read a session file once: its rows of entries, what is wrong with it, what a list shows of it, its lines.

A file of some megabytes is held whole, with what its lines say, until all its rows are made: each line is
then decoded once, however many tables it is in. Of a longer one nothing is held but a table of its lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from clew.format.lines import BytesSource
from clew.format.records import Fragment, Record
from clew.session.check import Checker
from clew.session.fold import Summary, fold
from clew.session.session import Session
from clew.tables.rows import entry_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew.format.entry import Entry
    from clew.format.lines import Source
    from clew.session.fold import Extent, Facts
    from clew.session.session import Table
    from clew.tables.cells import Home

Row = tuple[object, ...]

MOST: Final = 16 << 20
"""Bytes of a session's files that are held at once; decoded they are some four times as many."""

_MOST_LINES: Final = 50_000
"""Lines of a file up to which their rows are held until the rounds are known; of more they are made again."""


class HeldSession(Session):
    """A session whose lines were decoded as it was read."""

    __slots__ = ("_held",)

    def __init__(
        self,
        source: Source,
        table: Table,
        fragments: Iterable[Fragment],
        held: Sequence[Entry | None],
        *,
        name: str | None = None,
    ) -> None:
        """`held` are its entries by row; None for one that is to be read again."""
        super().__init__(source, table, fragments, name=name)
        self._held = held

    def entry(self, row: int) -> Entry:
        """Return the entry in `row`."""
        found = self._held[row]
        return super().entry(row) if found is None else found


class Read(NamedTuple):
    """One file, gone through once."""

    session: Session
    checker: Checker
    extent: Extent
    facts: Facts
    entries: list[Row] | None
    """The rows of its lines, without their rounds; None where there are too many."""


class _Lines:
    """Makes the rows of lines in passing, holds the lines, and keeps what is no record."""

    def __init__(self, home: Home, *, is_held: bool) -> None:
        self._home = home
        self.rows: list[Row] | None = []
        self.held: list[Entry | None] | None = [] if is_held else None
        self.fragments: list[Fragment] = []

    def add(self, item: Record | Fragment) -> None:
        """Take the next one, before anybody else: that nobody decoded a line yet says that it is plain."""
        if isinstance(item, Fragment):
            self.fragments.append(item)
            return
        rows = self.rows
        if rows is not None:
            rows.append(entry_row(item, self._home))
            if len(rows) > _MOST_LINES:
                self.rows = None
        if self.held is not None:
            # One that was mended or cut in passing is read again, in the way all others do.
            self.held.append(item.decoded() if item.entry is None else None)


def read(source: Source, home: Home, *, name: str, is_held: bool) -> Read:
    """Go through a file; with `is_held` its lines are held."""
    if is_held:
        source = BytesSource(source.read(0, source.size))
    lines, checker, summary = _Lines(home, is_held=is_held), Checker(name=name, source=source), Summary()
    extent = fold(source, lines, checker, summary)
    held = lines.held
    if held is None:
        session = Session(source, checker.table, lines.fragments, name=name)
    else:
        session = HeldSession(source, checker.table, lines.fragments, held, name=name)
    return Read(session, checker, extent, summary.result(extent), lines.rows)
