"""Answers that say nothing any more once something was taken out of them.

The newer clients do not send an answer of nothing but thinking or white space; the older ones do, and the API
refuses it. So what is left of such an answer goes too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from clew.edit.changes import content_of
from clew.session.session import SALVAGED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew.edit.changes import Changes

BARE: Final = "nothing is left of the answer"


def drop_bare(changes: Changes, touched: Iterable[int]) -> None:
    """Let the answers go whose lines were touched and that say nothing any more."""
    table = changes.session.table
    rows_touched = [*touched]
    alone = [row for row in rows_touched if not table.message[row]]
    wanted = {table.message[row] for row in rows_touched if table.message[row]}
    groups: dict[int, list[int]] = {key: [] for key in wanted}
    if wanted:
        for row, key in enumerate(table.message):
            is_line = table.kind_of(row) == "assistant" and not table.flags[row] & SALVAGED
            if key in wanted and is_line:
                groups[key].append(row)
    for rows in [*groups.values(), *([row] for row in alone)]:
        left = [row for row in rows if row not in changes.dropped]
        if left and not any(_says(changes, row) for row in left):
            for row in left:
                changes.drop(row, BARE)


def _says(changes: Changes, row: int) -> bool:
    """Say whether a line still has words, calls or anything else that is sent by itself."""
    out = changes.blocks_out(row)
    content = content_of(changes.session, row)
    if not content:
        return bool(changes.session.entry(row).content)  # words without a block, or something odd
    return any(_has_sense(block) for index, block in enumerate(content) if index not in out)


def _has_sense(block: Mapping[str, Any]) -> bool:
    kind = block.get("type")
    if kind == "text":
        return bool(str(block.get("text") or "").strip())
    return kind not in ("thinking", "redacted_thinking")
