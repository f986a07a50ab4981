"""Which lines of a session may hold secrets: many are looked at at once, and only a few by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.edit.joined_texts import Row, data_of, read_row
from clew.edit.secret_cleaner import ERRORS, Cleaner
from clew.edit.secret_glance import TEXTS, glance, is_quick
from clew.edit.secret_stretches import stretches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clew.session.session import Session

MARK: Final = b"\xef\xbb\xbf"


def rows(
    session: Session,
    cleaner: Cleaner,
    sights: bytearray,
    advance: Callable[[int], None] | None,
    looked: Sequence[int] | None = None,
) -> Iterator[Row]:
    """Give the lines that may hold secrets; `sights` is told, or tells, what is seen in each.

    `looked` are those lines, if they were looked for before.
    """
    if looked is not None:
        for row in looked:
            yield _row(row, read_row(session, row))
        return
    if cleaner.may_glance and is_quick():
        for first, last in stretches(session):
            for row, raw in _suspects(session, cleaner, sights, first, last):
                yield _row(row, raw)
            if advance is not None:
                for length in session.table.length[first:last]:
                    advance(length)
        return
    if is_quick() and cleaner.beginnings is not None:
        yield from _with_known(session, cleaner, sights, advance)
        return
    for row in range(len(session)):
        raw = read_row(session, row)
        if advance is not None:
            advance(len(raw))
        text = raw.decode("utf-8", ERRORS)
        # From two blocks of text on, one secret may be in both.
        if text.count('"text"') >= TEXTS or cleaner.may_hold(text, sights, row):
            yield _row(row, raw)


def _with_known(
    session: Session, cleaner: Cleaner, sights: bytearray, advance: Callable[[int], None] | None
) -> Iterator[Row]:
    """Give the lines that may hold secrets, where those are known and it was noted what is seen in lines."""
    assert cleaner.beginnings is not None
    offset, length = session.table.offset, session.table.length
    for first, last in stretches(session):
        begin = offset[first]
        data = session.source.read(begin, offset[last - 1] + length[last - 1] - begin)
        is_near = cleaner.beginnings.are_in(data)
        for row in range(first, last):
            start = offset[row] - begin
            raw = data[start : start + length[row]]
            if advance is not None:
                advance(len(raw))
            # From two blocks of text on, one secret may be in both.
            if raw.count(b'"text"') >= TEXTS or (
                not cleaner.passes(raw, sights[row], is_near=is_near)
                and cleaner.may_hold(raw.decode("utf-8", ERRORS), sights, row)
            ):
                yield _row(row, raw)


def look(session: Session, first: int, last: int, sights: bytearray) -> list[int]:
    """Return which lines of a stretch may hold secrets; `sights` is told what is seen in each."""
    return [row for row, _ in _suspects(session, Cleaner(None, b"", None), sights, first, last)]


def _suspects(
    session: Session, cleaner: Cleaner, sights: bytearray, first: int, last: int
) -> Iterator[tuple[int, bytes]]:
    offset, length = session.table.offset, session.table.length
    begin = offset[first]
    data = session.source.read(begin, offset[last - 1] + length[last - 1] - begin)
    starts = [at - begin for at in offset[first:last]]
    seen = glance(data, starts)
    for row in range(first, last):
        what = seen.get(row - first)
        if what is None:
            cleaner.pass_over(sights, row)
            continue
        start = starts[row - first]
        raw = data[start : start + length[row]]
        if "text" in what or cleaner.may_hold_seen(raw, what, sights, row):
            yield row, raw


def _row(row: int, raw: bytes) -> Row:
    raw = raw.removeprefix(MARK)
    return Row(row, raw, data_of(raw))
