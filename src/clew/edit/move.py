"""A session of another folder: the lines say that they were written there.

Only where a line tells of its own folder is anything changed. What was said stays as it was said, paths and
all, so nothing that is sent changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.edit.changes import Changes
from clew.format.patch import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.session.session import Session

REASON: Final = "the project's new folder"


def move(session: Session, *, old: str, new: str) -> Changes:
    """Let the lines of a session that were written in a folder, or below it, be of another one."""
    changes = Changes(session)
    for row in range(len(session)):
        place = session.entry(row).text("cwd")
        moved = None if place is None else moved_path(place, old, new)
        if moved is not None:
            changes.change(row, _told(moved), REASON)
    return changes


def moved_path(path: str, old: str, new: str) -> str | None:
    """Return where a path is when a folder has moved; None for one that is not in it."""
    mark = "\\" if "\\" in old and "/" not in old else "/"
    old, new = old.rstrip(mark) or mark, new.rstrip(mark) or mark
    if path.rstrip(mark) == old:
        return new
    start = old if old.endswith(mark) else old + mark
    if not path.startswith(start):
        return None
    return (new if new.endswith(mark) else new + mark) + path[len(start) :]


def _told(place: str) -> Callable[[bytes], bytes]:
    return lambda raw: replace(raw, ("cwd",), place)
