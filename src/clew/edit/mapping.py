"""A session of another machine: folders that are elsewhere here.

As when a project moves (`move`), only where a line tells of its own folder is anything changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from clew.edit.move import REASON, moved_path
from clew.edit.plan import KEEP, FilePlan, Patch
from clew.format.patch import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.edit.plan import Step
    from clew.session.session import Session


class Folders(NamedTuple):
    """Which folder is where now: pairs of the old and the new one."""

    pairs: Sequence[tuple[str, str]]

    def mapped(self, path: str) -> str | None:
        """Return where a path is now, by the longest old folder that it is in; None if it is in none."""
        for old, new in sorted(self.pairs, key=lambda pair: -len(pair[0])):
            found = moved_path(path, old, new)
            if found is not None:
                return found if found == new else _joined(found, new, old)
        return None


def _joined(found: str, new: str, old: str) -> str:
    """Return a path as the system of its new folder writes it."""
    ours, theirs = _mark(new), _mark(old)
    if ours == theirs:
        return found
    start = len(new.rstrip(ours))
    return found[:start] + found[start:].replace(theirs, ours)


def _mark(folder: str) -> str:
    return "\\" if "\\" in folder and "/" not in folder else "/"


def map_folders(session: Session, folders: Folders, target: str) -> FilePlan:
    """Let the lines of a session tell of their folders as they are called here.

    Nothing is remembered of any line: a session may have millions, and every one tells of its folder.
    """

    def decide(row: int) -> Step:
        place = session.entry(row).text("cwd")
        mapped = None if place is None else folders.mapped(place)
        if mapped is None or mapped == place:
            return KEEP
        table = session.table
        raw = session.source.read(table.offset[row], table.length[row])
        return Patch(replace(raw, ("cwd",), mapped), REASON)

    return FilePlan(session, target, decide=decide)


def first_folder(session: Session) -> str | None:
    """Return the folder that the first line tells of that tells of any."""
    for row in range(len(session)):
        place = session.entry(row).text("cwd")
        if place is not None:
            return place
    return None
