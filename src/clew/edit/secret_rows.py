"""Which lines of a session may hold secrets: many are looked at at once, and only a few by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.edit.joined_texts import Row, data_of, read_row
from clew.edit.secret_cleaner import ERRORS
from clew.edit.secret_glance import TEXTS, glance, is_quick

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clew.edit.secret_cleaner import Cleaner
    from clew.session.session import Session

MARK: Final = b"\xef\xbb\xbf"
_BLOCK: Final = 1 << 19
"""How many bytes are looked at at once; a line that is longer, by itself."""


def rows(
    session: Session, cleaner: Cleaner, sights: bytearray, advance: Callable[[int], None] | None
) -> Iterator[Row]:
    """Give the lines that may hold secrets; `sights` is told, or tells, what is seen in each."""
    if cleaner.may_glance and is_quick():
        yield from _at_a_glance(session, cleaner, sights, advance)
        return
    for row in range(len(session)):
        raw = read_row(session, row)
        if advance is not None:
            advance(len(raw))
        text = raw.decode("utf-8", ERRORS)
        # From two blocks of text on, one secret may be in both.
        if text.count('"text"') >= TEXTS or cleaner.may_hold(text, sights, row):
            yield _row(row, raw)


def _at_a_glance(
    session: Session, cleaner: Cleaner, sights: bytearray, advance: Callable[[int], None] | None
) -> Iterator[Row]:
    offset, length = session.table.offset, session.table.length
    for first, last in _blocks(session):
        begin = offset[first]
        data = session.source.read(begin, offset[last - 1] + length[last - 1] - begin)
        starts = [at - begin for at in offset[first:last]]
        seen = glance(data, starts)
        for row in range(first, last):
            if advance is not None:
                advance(length[row])
            what = seen.get(row - first)
            if what is None:
                cleaner.pass_over(sights, row)
                continue
            start = starts[row - first]
            raw = data[start : start + length[row]]
            if "text" in what or cleaner.may_hold_seen(raw, what, sights, row):
                yield _row(row, raw)


def _blocks(session: Session) -> Iterator[tuple[int, int]]:
    """Give stretches of lines that stand one after the other: the first row, and the one after."""
    offset, length = session.table.offset, session.table.length
    first = end = 0
    for row in range(len(session)):
        start, stop = offset[row], offset[row] + length[row]
        # Bytes between them that are no lines are read too, unless there are many.
        if row > first and (start < end or stop - offset[first] > _BLOCK):
            yield first, row
            first = row
        end = stop
    if first < len(session):
        yield first, len(session)


def _row(row: int, raw: bytes) -> Row:
    raw = raw.removeprefix(MARK)
    return Row(row, raw, data_of(raw))
