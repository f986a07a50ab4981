"""Thinking that an edit makes void.

Newer models take a block of thinking only if nothing that was sent before it has changed. So the first change
in what is sent voids every block of thinking after it, and those go too unless they are asked to stay.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from clew.edit.bare import drop_bare
from clew.edit.changes import content_of
from clew.edit.paths import settle
from clew.edit.ways import copies
from clew.format.entry import as_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew.edit.changes import Changes
    from clew.edit.woven import Result
    from clew.session.context import Context
    from clew.session.session import Session

THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_SIGHT: Final = re.compile(rb'"(?:redacted_)?thinking"|\\u00[4-7]')
"""What any thinking has in it: its type, or a letter that is spelled as an escape. Where a text speaks of it,
the quotes are escaped."""

_PIECE: Final = 1 << 20
_OVERLAP: Final = 32
VOID: Final = "thinking after a change is not accepted any more"


def may_think(session: Session) -> bool:
    """Say whether there may be thinking in a session, without decoding it: never no where there is some."""
    source, at = session.source, 0
    while at < source.size:
        if _SIGHT.search(source.read(at, _PIECE + _OVERLAP)):
            return True
        at += _PIECE
    return False


def drop_void(changes: Changes, before: Context, result: Result, after: Context) -> int:
    """Take out the thinking that the changes made void; return how many blocks that are."""
    count = 0
    touched: list[int] = []
    for row, blocks in _void_rows(changes.session, before, result, after):
        count += drop_thinking(changes, row, blocks, VOID)
        touched.append(row)
    if count:
        drop_bare(changes, touched)
        settle(changes, result)
    return count


def drop_thinking(changes: Changes, row: int, blocks: Sequence[int], reason: str) -> int:
    """Take some blocks out of a line; one without any others goes whole. Return how many they are."""
    return changes.drop_blocks(row, blocks, reason)


def thinking_blocks(session: Session, row: int) -> list[int]:
    """Return which blocks of a line are thinking."""
    content = content_of(session, row)
    return [index for index, block in enumerate(content) if block.get("type") in THINKING]


def first_difference(before: Context, after: Context) -> tuple[int, int] | None:
    """Return the message, and the block in it, from which on what is sent is not what it was.

    None where all that was sent before still is: what was added behind it voids nothing.
    """
    for at, (one, other) in enumerate(zip(before.messages, after.messages, strict=False)):
        if one == other:
            continue
        old, new = _blocks(one), _blocks(other)
        for index, (block, now) in enumerate(zip(old, new, strict=False)):
            if block != now:
                return at, index
        if len(new) < len(old) or at < len(before.messages) - 1 or one.get("role") != other.get("role"):
            return at, min(len(old), len(new))
        return None  # the last message goes on further than it did
    if len(after.messages) < len(before.messages):
        return len(after.messages), 0
    return None


def _void_rows(
    session: Session, before: Context, result: Result, after: Context
) -> Iterator[tuple[int, list[int]]]:
    place = first_difference(before, after)
    if place is None:
        return
    message, block = place
    for at in range(message, len(after.messages)):
        blocks = _blocks(after.messages[at])[block if at == message else 0 :]
        void = [one for one in blocks if as_mapping(one).get("type") in THINKING]
        if not void:
            continue
        for new_row in after.rows[at]:
            row = result.source_row(new_row)
            if row is None:
                continue
            content = content_of(session, row)
            found = [index for index, one in enumerate(content) if dict(one) in void]
            if found:
                # One that is there twice would be sent from its other line.
                yield from ((copy, found) for copy in {row, *copies(session, row)})


def _blocks(message: Mapping[str, Any]) -> list[object]:
    content = message.get("content")
    return cast("list[object]", content) if isinstance(content, list) else [content]
