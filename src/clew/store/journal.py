"""The journal of edits: what was done, what was left unfinished, and how to take the last one back.

There is one small file for each edit. What is needed to undo one lies beside them: the files it replaced, and
later the files it made.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clew.errors import ClewError, RefusedError
from clew.store.carrying import PATIENCE
from clew.store.disk import DISK
from clew.store.journal_entry import Entry, entry_file, journal_folder, load, load_all, save, unfinished
from clew.store.locks import BusyError, Process, hold
from clew.store.source import reason
from clew.store.state import make_private
from clew.store.steps import CannotFinishError, folder_of, is_same, is_there, sync_all, unlink
from clew.store.unfinished import UnfinishedError, finish, is_past, roll_back, take_back
from clew.store.writer import NotWrittenError

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.store.carrying import Patience
    from clew.store.disk import Disk


class UnknownEditError(ClewError):
    """The journal has no such edit."""

    code = "unknown-edit"

    def __init__(self, name: str | None) -> None:
        what = "the journal has no edit to undo" if name is None else f"the journal has no edit {name!r}"
        super().__init__(what, hint="clew journal lists the edits there are")
        self.name = name


class NoBackupError(ClewError):
    """What is needed to undo an edit is no longer there."""

    code = "no-backup"

    def __init__(self, entry: Entry, path: str) -> None:
        super().__init__(f"edit {entry.id} cannot be undone: {path} is gone")
        self.path = path


class Undone(NamedTuple):
    """What undoing an edit did."""

    id: str
    command: str
    files: tuple[str, ...]
    """What was put back, moved back or taken away."""

    trash: tuple[str, ...]
    """Where that which was taken away is kept."""


class Forgotten(NamedTuple):
    """What was removed for good."""

    id: str
    command: str
    files: tuple[str, ...]


def entries(state: Path) -> list[Entry]:
    """Return the edits of the journal, the newest first; what cannot be read is passed over."""
    return load_all(state)


def recover(state: Path, *, disk: Disk = DISK, patience: Patience = PATIENCE) -> list[str]:
    """Finish or take back the edits whose process is no more; say what was done.

    What cannot be put right now is said too, and tried again the next time.
    """
    notes: list[str] = []
    for entry in load_all(state):
        if not entry.is_open:
            continue
        # One of this process holds its entry while it is at work.
        if entry.process.is_running() and entry.process != Process.this():
            continue
        what = f"{entry.command} of {entry.session}"
        try:
            with hold(entry_file(state, entry.id), state=state, wait=0, disk=disk):
                again = load(entry_file(state, entry.id))
                if again is not None and again.is_open:
                    notes.append(f"{what} had been interrupted: {_settle(again, state, disk, patience)}")
        except BusyError:
            continue
        except (ClewError, OSError) as error:
            cause = reason(error) if isinstance(error, OSError) else error
            notes.append(f"{what} had been interrupted and cannot be put right now: {cause}")
    for id_, path in unfinished(state):
        with suppress(ClewError), hold(entry_file(state, id_), state=state, wait=0, disk=disk):
            unlink(str(path), disk)
    return notes


def _settle(entry: Entry, state: Path, disk: Disk, patience: Patience) -> str:
    if entry.state == "undoing":
        take_back(entry, disk, patience)
        save(replace(entry, state="undone"), state, disk)
        return "it is undone now"
    if is_past(entry):
        try:
            done = finish(entry, disk)
        except CannotFinishError:
            pass  # there is still the other way
        else:
            save(replace(done, state="done"), state, disk)
            return "it is done now"
    roll_back(entry, disk, patience)
    save(replace(entry, state="rolled-back"), state, disk)
    return "nothing of it is left"


def undo(
    state: Path,
    id: str | None = None,  # noqa: A002  # what the journal calls it
    *,
    now_ms: int,
    force: bool = False,
    disk: Disk = DISK,
    patience: Patience = PATIENCE,
) -> Undone:
    """Take back the last edit, or the one of that id.

    The files of a new session go to the trash; replaced ones are put back. What has grown or changed since
    is refused, unless `force` says to put it into the trash.
    """
    interrupted = _interrupted(state, id)
    recover(state, disk=disk, patience=patience)
    if interrupted is not None:
        now = load(entry_file(state, interrupted.id))
        if now is not None and now.state in {"undone", "rolled-back"}:
            return _told(now)  # it was this one that was meant, not the one before
    entry = _chosen(state, id, lambda one: one.state == "done")
    at = entry_file(state, entry.id)
    with hold(at, state=state, disk=disk), hold(entry.result or entry.session, state=state, disk=disk):
        again = load(at)
        if again is None or again.state != "done":
            raise UnknownEditError(entry.id)
        entry = again
        _check(entry, force=force)
        try:
            make_private(_trash(state), disk)
        except OSError as error:
            raise NotWrittenError(str(_trash(state)), reason(error)) from error
        entry = _with_trash(entry, _trash(state), now_ms)
        try:
            save(entry, state, disk)
            take_back(entry, disk, patience)
            entry = replace(entry, state="undone")
            save(entry, state, disk)
        except (ClewError, OSError) as error:
            # From here on the next run goes on with it: it must not say that nothing was changed.
            cause = reason(error) if isinstance(error, OSError) else error.message
            raise UnfinishedError(entry.session, cause.removesuffix(".")) from error
    return _told(entry)


def _interrupted(state: Path, name: str | None) -> Entry | None:
    """Return the edit that is to be undone, if it was interrupted, or its undoing was."""
    for entry in load_all(state):
        if name is None or entry.id == name:
            return entry if entry.is_open else None
    return None


def _told(entry: Entry) -> Undone:
    trash = tuple(path for path in entry.trash if is_there(path))
    back = (*(file.path for file in entry.replaced), *(file.source for file in entry.moved))
    return Undone(entry.id, entry.command, (*back, *(file.target for file in entry.new)), trash)


def _check(entry: Entry, *, force: bool) -> None:
    """Raise if an edit cannot be undone, or something would be lost."""
    for file in entry.replaced:
        if not is_there(entry.now_at(file.backup)):
            raise NoBackupError(entry, entry.now_at(file.backup))
    for file in entry.moved:
        if not is_there(file.target):
            raise NoBackupError(entry, file.target)
        if is_there(file.source) and not is_same(file.source, file.target):
            raise RefusedError(
                f"{file.source} is there again since edit {entry.id}", hint="move it away first"
            )
    if force:
        return
    for file in entry.new:
        if is_there(file.target) and (file.mark is None or not file.mark.is_all(file.target)):
            raise _changed(file.target, entry)
    for file in entry.replaced:
        path = entry.now_at(file.path)
        if file.new is None or not file.new.is_all(path, grown=file.carried):
            raise _changed(path, entry)


def _changed(path: str, entry: Entry) -> RefusedError:
    return RefusedError(
        f"{path} has changed since edit {entry.id}", hint="--force puts it into the trash all the same"
    )


def _trash(state: Path) -> Path:
    return journal_folder(state) / "trash"


def _with_trash(entry: Entry, trash: Path, now_ms: int) -> Entry:
    def place(number: int, path: str) -> str:
        return str(trash / f"{entry.id}-{number}{Path(path).suffix[:16]}")

    new = tuple(replace(file, trash=place(number, file.target)) for number, file in enumerate(entry.new))
    replaced = tuple(
        replace(file, trash=place(number, file.path))
        for number, file in enumerate(entry.replaced, start=len(new))
    )
    me = Process.this()  # now it is this one that must not be disturbed
    return replace(
        entry,
        state="undoing",
        new=new,
        replaced=replaced,
        undone_ms=now_ms,
        pid=me.pid,
        process_start=me.start,
        process_space=me.space,
    )


def forget(
    state: Path,
    id: str | None = None,  # noqa: A002  # what the journal calls it
    *,
    disk: Disk = DISK,
) -> Forgotten:
    """Remove for good what is kept to undo the last edit, or the one of that id; say what was removed."""
    recover(state, disk=disk)
    entry = _chosen(state, id, lambda one: one.state in {"done", "undone"})
    at = entry_file(state, entry.id)
    with hold(at, state=state, disk=disk):
        again = load(at)
        if again is None or again.is_open:
            raise UnknownEditError(entry.id)
        entry = again
        kept = [*entry.backups, *entry.trash]
        if entry.state == "done":
            for file, backup in zip(entry.replaced, entry.backups, strict=False):
                if is_there(backup) and not file.is_copy and _size(backup) > file.old.size + file.carried:
                    raise RefusedError(
                        f"somebody went on writing into {backup} after the edit",
                        hint="clew undo brings it back",
                    )
        gone = tuple(path for path in kept if unlink(path, disk))
        sync_all(map(folder_of, gone), disk)
        if kept:  # else there is nothing to forget yet
            save(replace(entry, is_forgotten=True), state, disk)
    return Forgotten(entry.id, entry.command, gone)


def _size(path: str) -> int:
    return Path(path).lstat().st_size


def _chosen(state: Path, name: str | None, fits: Callable[[Entry], bool]) -> Entry:
    """Return the newest edit that fits, or the one that goes by that id or the start of it."""
    found = [entry for entry in load_all(state) if fits(entry)]
    if name is not None:
        named = [entry for entry in found if entry.id == name]
        found = named or [entry for entry in found if name and entry.id.startswith(name)]
        if len(found) > 1:
            found = []
    if not found:
        raise UnknownEditError(name)
    return found[0]
