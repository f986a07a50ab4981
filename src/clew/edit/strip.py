"""Take out of a session what is not words: thinking, pictures, and what no client reads when it resumes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from clew.edit.bare import drop_bare
from clew.edit.bulk import drop_bulk
from clew.edit.changes import Changes
from clew.edit.images import change_images
from clew.edit.paths import settle
from clew.edit.thinking import drop_thinking, thinking_blocks
from clew.session.session import SALVAGED

if TYPE_CHECKING:
    from clew.edit.images import Shrink
    from clew.session.session import Session

THINKING: Final = "thinking is taken out"


def strip(
    session: Session,
    *,
    thinking: bool = False,
    bulk: bool = False,
    images: Literal["keep", "drop", "shrink"] = "keep",
    shrink: Shrink | None = None,
) -> Changes:
    """Take out all thinking, what is never read again, and pictures or what of them is too large.

    `shrink` makes a picture smaller. Without it, and where it cannot, such a picture is taken out.
    """
    changes = Changes(session)
    if thinking:
        _drop_all_thinking(changes)
        settle(changes)
    if bulk:
        drop_bulk(changes)
    if images != "keep":
        change_images(changes, images, shrink)
    return changes


def _drop_all_thinking(changes: Changes) -> None:
    """Take thinking out on every branch, and of sub-agents that are in the file too."""
    session = changes.session
    table = session.table
    touched: list[int] = []
    for row in range(len(session)):
        # On a damaged line no client reads it; that is for a repair.
        is_read = table.kind_of(row) == "assistant" and not table.flags[row] & SALVAGED
        if is_read and drop_thinking(changes, row, thinking_blocks(session, row), THINKING):
            touched.append(row)
    drop_bare(changes, touched)
