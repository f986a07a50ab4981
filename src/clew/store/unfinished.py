"""Finish an edit, or take it back, from wherever it was interrupted.

What to do is told by which names there are (`steps`), not by what was going on. Everything here can be done
again after it was itself interrupted.
"""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from clew.errors import ClewError
from clew.store.carrying import PATIENCE, Watched, carry_missing
from clew.store.disk import DISK
from clew.store.source import reason
from clew.store.steps import (
    CannotFinishError,
    Returned,
    about,
    back_up,
    folder_of,
    has_moved,
    is_same,
    is_there,
    move,
    near,
    progress,
    put_back,
    swap,
    sync_all,
    throw,
    unlink,
)
from clew.store.writer import NotWrittenError

if TYPE_CHECKING:
    from clew.store.carrying import Patience
    from clew.store.disk import Disk
    from clew.store.journal_entry import Entry, Fresh, Swapped


class UnfinishedError(ClewError):
    """An edit failed, and what it had begun could not be taken back yet."""

    code = "unfinished"

    def __init__(self, path: str, cause: str) -> None:
        super().__init__(
            f"an edit of {path} was left half-way: {cause}",
            hint="the next run of clew finishes it or takes it back",
        )
        self.path = path
        self.cause = cause


def is_past(entry: Entry) -> bool:
    """Say whether an interrupted edit has come so far that it is to be finished."""
    if not entry.is_ready:
        return False
    if not entry.replaced and not entry.moved:
        # The main file's appearance is what counts.
        main = entry.new[-1] if entry.new else None
        return main is not None and _is_claimed(main)
    come = {progress(file) for file in _in_place(entry)}
    if "old" in come:
        return False  # it was being taken back
    return "swapped" in come or any(has_moved(file) for file in entry.moved)


def _is_claimed(file: Fresh) -> bool:
    if is_there(file.temporary):
        return is_same(file.temporary, file.target)
    return file.mark is not None and file.mark.begins(file.target)


def _in_place(entry: Entry) -> list[Swapped]:
    """Return the replaced files by the names they have now, wherever their folder was moved to."""
    moved = [file for file in entry.moved if has_moved(file)]
    if not moved:
        return [*entry.replaced]
    at = replace(entry, moved=tuple(moved)).now_at
    return [
        replace(
            file,
            path=at(file.path),
            temporary=at(file.temporary),
            backup=at(file.backup),
            kept=at(file.kept),
        )
        for file in entry.replaced
    ]


def finish(entry: Entry, disk: Disk = DISK) -> Entry:
    """Do what is left of an edit; return it as it is then, with nothing left but to say that it is done."""
    for file in _in_place(entry):
        if is_there(file.temporary):
            if not file.old.begins(file.path):
                raise CannotFinishError(file.path)
            with about(file.path):
                back_up(file, disk)
                sync_all((folder_of(file.backup), folder_of(file.path)), disk)
            swap(file, disk)
    for file in entry.moved:
        if is_there(file.target) and not has_moved(file):
            raise CannotFinishError(file.target)
        move(file, disk)
    sync_all(folders_of(entry), disk)
    carried: list[Swapped] = []
    for before, file in zip(entry.replaced, _in_place(entry), strict=True):
        gained = 0
        if file.new is not None:
            # A copy has what was added before it was made.
            gained = carry_missing(Watched(file.backup, file.path, file.old.size), file.new.size, disk=disk)
        # Of a beginning to take it back, which was interrupted too.
        unlink(near(file), disk)
        if is_same(file.kept, file.path):
            unlink(file.kept, disk)
        carried.append(seen_after(before, file.path, gained))
    gone = [file.temporary for file in entry.new if unlink(file.temporary, disk)]
    sync_all(map(folder_of, gone), disk)
    return replace(entry, replaced=tuple(carried))


def seen_after(file: Swapped, path: str, carried: int) -> Swapped:
    """Return a replaced file with what was carried over into it, and when it was last written."""
    new = file.new
    if new is None or not carried:
        return replace(file, carried=carried)
    # Its time is another one now; if somebody else added to it too, its size says so.
    return replace(file, carried=carried, new=replace(new, mtime_ns=_mtime(path)))


def _mtime(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


def roll_back(entry: Entry, disk: Disk = DISK, patience: Patience = PATIENCE) -> None:
    """Take back what an edit has done."""
    for file in reversed(entry.moved):
        if entry.is_ready and has_moved(file):
            move(file, disk, back=True)
            sync_all((folder_of(file.source), folder_of(file.target)), disk)
    gone: list[str] = []
    returned: list[Returned] = []
    for file in reversed(entry.replaced):
        if is_there(file.temporary) or not entry.is_ready:
            if is_there(file.path):  # else the backup is all there is
                gone += [file.backup] * unlink(file.backup, disk)
            gone += [file.temporary] * unlink(file.temporary, disk)
        else:
            returned.append(Returned(file))
    put_back(returned, disk, patience)
    for file in reversed(entry.new):
        is_ours = is_same(file.temporary, file.target)
        if not is_ours and not is_there(file.temporary) and entry.is_ready and file.mark is not None:
            is_ours = file.mark.is_all(file.target)  # where there are no second names
        if is_ours:
            gone += [file.target] * unlink(file.target, disk)
        gone += [file.temporary] * unlink(file.temporary, disk)
    gone += remove_folders(entry, disk)
    sync_all(map(folder_of, gone), disk)


def remove_folders(entry: Entry, disk: Disk) -> list[str]:
    """Take away the folders that were made for an edit, if nothing is in them; return them."""
    gone: list[str] = []
    for folder in reversed(entry.folders):
        if not is_there(folder):
            continue
        try:
            disk.remove_folder(folder)
        except OSError as error:
            if error.errno not in {errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}:
                raise NotWrittenError(folder, reason(error)) from error
        else:
            gone.append(folder)
    return gone


def folders_of(entry: Entry) -> list[str]:
    """Return the folders in which an edit makes or changes names."""
    paths = [
        *(file.target for file in entry.new),
        *(path for file in _in_place(entry) for path in (file.path, file.backup)),
        *(path for file in entry.moved for path in (file.source, file.target)),
        *entry.folders,
    ]
    return [*dict.fromkeys(map(folder_of, paths))]


def take_back(entry: Entry, disk: Disk = DISK, patience: Patience = PATIENCE) -> None:
    """Do, or go on with, the undoing of an edit that was done."""
    for file in reversed(entry.moved):
        move(file, disk, back=True)
    returned: list[Returned] = []
    for file in entry.replaced:
        new = file.path if is_there(file.backup) else file.kept
        is_ours = file.new is not None and file.new.is_all(new, grown=file.carried)
        returned.append(Returned(file, None if is_ours else file.trash))
    put_back(returned, disk, patience)
    # The main file first: when it is gone, the session is.
    for file in reversed(entry.new):
        if is_there(file.target) and file.trash is not None:
            throw(file.target, file.trash, disk)
    trash = (file.trash for file in (*entry.new, *entry.replaced) if file.trash is not None)
    sync_all(map(folder_of, trash), disk)
    remove_folders(entry, disk)
    sync_all(folders_of(entry), disk)
