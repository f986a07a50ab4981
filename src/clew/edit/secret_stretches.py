"""How a look for secrets is shared: stretches of lines, and what is seen in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.session.session import Session

_BLOCK: Final = 1 << 17
"""How many bytes are looked at at once; a line that is longer, by itself. With more, memory is given back and
asked for again each time."""


class Looked(NamedTuple):
    """What a look at the lines of a session found."""

    rows: Sequence[int]
    """Those that may hold secrets, in their order."""

    sights: bytearray
    """What was seen in each line, for `secret_cleaner`."""


def stretches(session: Session) -> Iterator[tuple[int, int]]:
    """Give the stretches of lines that are looked at at once: the first row, and the one after the last."""
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
