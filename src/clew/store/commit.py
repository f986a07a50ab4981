"""Write all files of an edit, or none.

Everything is first written under temporary names; then the journal says what is about to happen; then the
files get their places, the main file of a new session last: its appearance is the commit. Whatever fails
before that is taken back, by this process or, if it is killed, by the next one (`unfinished`).

The files that are replaced are kept in the journal's own folder, as second names of the old files. So the
client's folders gain nothing, a folder that is moved does not take them along, and whoever still writes into
an old file is heard. Only where that folder is on another file system they lie beside the file, hidden and
never ending in `.jsonl`; and where there are no second names at all, they are copies.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable  # noqa: TC003  # what the values are made of is public
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clew.errors import ClewError
from clew.store.carrying import PATIENCE, Watched, drain
from clew.store.disk import DISK
from clew.store.journal import recover
from clew.store.journal_entry import (
    Entry,
    Fresh,
    Mark,
    Shifted,
    Swapped,
    entry_file,
    journal_folder,
    load_all,
    save,
)
from clew.store.locks import BusyError, Process, hold
from clew.store.source import reason
from clew.store.state import make_private, missing_folders
from clew.store.steps import (
    WITHOUT_LINKS,
    about,
    back_up,
    copied,
    folder_of,
    is_there,
    move,
    swap,
    sync_all,
)
from clew.store.unfinished import UnfinishedError, folders_of, roll_back, seen_after
from clew.store.writer import NotWrittenError, Stamp, claim, confirm, drop, expect, prepare

if TYPE_CHECKING:
    from clew.store.carrying import Patience
    from clew.store.disk import Disk

__all__ = ("Done", "Job", "Moved", "NewFile", "Replaced", "UnfinishedError", "commit", "copied")


class NewFile(NamedTuple):
    """A file to be made."""

    target: str
    pieces: Callable[[], Iterable[bytes]]
    mode: int = 0o600
    mtime_ns: int | None = None
    """When it was last written, if that is not to be now."""


class Replaced(NamedTuple):
    """A file to be replaced, if it still is as it was when it was read."""

    path: str
    pieces: Callable[[], Iterable[bytes]]
    expected: Stamp
    may_grow: bool = False
    """Whether somebody may be adding lines to it: they are carried over as they are."""


class Moved(NamedTuple):
    """A file or folder to be moved to where nothing is, on the same file system."""

    source: str
    target: str


class Job(NamedTuple):
    """All that an edit does to files. They are made, replaced and moved in this order."""

    command: str
    session: str
    """The file that is edited."""

    result: str | None = None
    """The main file of the new session, if it makes one: the last of the new files."""

    new: tuple[NewFile, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    moved: tuple[Moved, ...] = ()


class Done(NamedTuple):
    """What came of an edit."""

    id: str
    """What the journal calls it."""

    files: tuple[str, ...]
    backups: tuple[str, ...]
    is_lasting: bool
    """Whether the disk has confirmed it; if not, it is done but may not survive a power cut just now."""

    is_quiet: bool
    """Whether nobody went on writing into the files that were replaced."""

    carried: int
    """How many bytes were written into them meanwhile, and carried over."""


def commit(job: Job, *, state: Path, now_ms: int, disk: Disk = DISK, patience: Patience = PATIENCE) -> Done:
    """Do all of it or nothing; whoever calls this holds the session (`locks.hold`)."""
    recover(state, disk=disk, patience=patience)
    entry = _entry(job, state, now_ms)
    _refuse_unfinished(entry, state)
    with hold(entry_file(state, entry.id), state=state, disk=disk):
        work = _Work(job, entry, state, disk)
        try:
            work.prepare()
            work.carry_out()
        except BaseException as error:
            _give_up(work, error, patience)
            raise
        return work.close(patience)


def _entry(job: Job, state: Path, now_ms: int) -> Entry:
    """Return what the journal is to say, before anything is written."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now_ms / 1000))
    id_ = f"{stamp}-{os.urandom(3).hex()}"
    count = len(job.new)
    new = tuple(
        Fresh(file.target, _beside(file.target, id_, number, "new")) for number, file in enumerate(job.new)
    )
    replaced = tuple(
        Swapped(
            path := os.path.realpath(file.path),
            _beside(path, id_, number, "new"),
            str(_backups(state) / f"{id_}-{number}"),
            _beside(path, id_, number, "kept"),
            Mark.of(file.expected),
        )
        for number, file in enumerate(job.replaced, start=count)
    )
    moved = tuple(
        Shifted(file.source, file.target, os.path.isdir(file.source) and not os.path.islink(file.source))  # noqa: PTH112, PTH114
        for file in job.moved
    )
    for file in job.moved:
        if not is_there(file.source):
            raise NotWrittenError(file.source, "there is no such file")
    folders: dict[str, None] = {}
    for target in [file.target for file in (*job.new, *job.moved)]:
        if is_there(target):
            raise NotWrittenError(target, "there is such a file already")
        folders |= dict.fromkeys(missing_folders(folder_of(target)))
    me = Process.this()
    return Entry(
        id_,
        job.command,
        job.session,
        job.result,
        "begun",
        now_ms,
        me.pid,
        me.start,
        me.space,
        new=new,
        replaced=replaced,
        moved=moved,
        folders=tuple(folders),
    )


def _backups(state: Path) -> Path:
    return journal_folder(state) / "backups"


def _beside(path: str, id_: str, number: int, what: str) -> str:
    """Return a hidden name in the same folder, short enough for any file system, and no session's."""
    return os.path.join(folder_of(path), f".{id_}-{number}.clew-{what}")  # noqa: PTH118


def _refuse_unfinished(entry: Entry, state: Path) -> None:
    """Raise if an earlier edit of the same files is unfinished: somebody is at it, or it cannot be mended."""
    paths = {*entry.files, *(file.source for file in entry.moved)}
    for other in load_all(state):
        if other.is_open and other.touches(paths):
            if other.process.is_running() and other.process != Process.this():
                raise BusyError(entry.session, other.pid)
            raise UnfinishedError(other.session, f"edit {other.id} is still in the journal")


def _give_up(work: _Work, error: BaseException, patience: Patience) -> None:
    """Take back what was done so far. If that fails too, the next run does."""
    try:
        roll_back(work.entry, work.disk, patience)
    except (ClewError, OSError) as second:
        raise UnfinishedError(work.entry.session, f"{error}; then: {second}") from error
    try:
        save(replace(work.entry, state="rolled-back"), work.state, work.disk)
    except (ClewError, OSError):
        return  # the next run finds that nothing is left of it, and says so in the journal


class _Work:
    """An edit while it is made."""

    def __init__(self, job: Job, entry: Entry, state: Path, disk: Disk) -> None:
        self.job = job
        self.entry = entry
        self.state = state
        self.disk = disk

    def prepare(self) -> None:
        """Write everything under temporary names."""
        disk, job = self.disk, self.job
        save(self.entry, self.state, disk)
        for folder in self.entry.folders:
            with about(folder):
                disk.make_folder(folder)
        new = [
            replace(
                file,
                mark=Mark.of(
                    prepare(
                        file.temporary,
                        wanted.pieces(),
                        target=file.target,
                        disk=disk,
                        mode=wanted.mode,
                        mtime_ns=wanted.mtime_ns,
                    )
                ),
            )
            for file, wanted in zip(self.entry.new, job.new, strict=True)
        ]
        replaced = [
            replace(
                file,
                new=Mark.of(
                    prepare(
                        file.temporary,
                        wanted.pieces(),
                        target=file.path,
                        disk=disk,
                        owner=_owner(file.path),
                    )
                ),
            )
            for file, wanted in zip(self.entry.replaced, job.replaced, strict=True)
        ]
        for file in job.replaced:
            expect(file.path, file.expected, may_grow=file.may_grow)
        if replaced:
            with about(str(_backups(self.state))):
                make_private(_backups(self.state), disk)
        # What the journal says to be there must be: names too.
        sync_all(folders_of(self.entry), disk)
        self.entry = replace(self.entry, new=tuple(new), replaced=tuple(replaced), is_ready=True)
        save(self.entry, self.state, disk)

    def carry_out(self) -> None:
        """Give everything its place."""
        disk = self.disk
        if self.entry.new:
            *others, main = self.entry.new
            for file in others:
                claim(file.temporary, file.target, disk=disk)
            sync_all((folder_of(file.target) for file in others), disk)
            claim(main.temporary, main.target, disk=disk)
        for number in range(len(self.entry.replaced)):
            self._back_up(number)
        sync_all((folder_of(path) for file in self.entry.replaced for path in (file.backup, file.path)), disk)
        for file, wanted in zip(self.entry.replaced, self.job.replaced, strict=True):
            # A copy hears nothing of what is added after it was made.
            expect(file.path, wanted.expected, may_grow=wanted.may_grow and not file.is_copy)
            swap(file, disk)
        for file in self.entry.moved:
            move(file, disk)

    def _back_up(self, number: int) -> None:
        """Keep a file that is about to be replaced, in the first way that works."""
        file = self.entry.replaced[number]
        beside = _beside(file.path, self.entry.id, len(self.entry.new) + number, "backup")
        for way in (file, replace(file, backup=beside), replace(file, is_copy=True)):
            if way is not file:  # the journal must know it first
                replaced = [*self.entry.replaced]
                replaced[number] = way
                self.entry = replace(self.entry, replaced=tuple(replaced))
                save(self.entry, self.state, self.disk)
            try:
                back_up(way, self.disk)
            except OSError as error:
                if error.errno not in WITHOUT_LINKS:
                    raise NotWrittenError(file.path, f"it cannot be backed up: {reason(error)}") from error
            else:
                return

    def close(self, patience: Patience) -> Done:
        """Hear who still writes into the old files, and say that it is done: nothing is taken back now."""
        entry, disk = self.entry, self.disk
        # Before the folders are synced: else a power cut could bring them back when the journal says done.
        dropped = [drop(file.temporary, disk=disk) for file in entry.new]
        confirmed = [confirm(folder, disk=disk) for folder in folders_of(entry)]
        is_lasting = all(confirmed)
        watched = [
            Watched(
                entry.now_at(file.backup),
                entry.now_at(file.path),
                file.old.size,
                0 if file.new is None else file.new.size,
            )
            for file in entry.replaced
            if not file.is_copy
        ]
        carried, is_quiet = drain(watched, disk=disk, patience=patience)
        gained = iter(carried)
        replaced = tuple(
            file if file.is_copy else seen_after(file, entry.now_at(file.path), next(gained))
            for file in entry.replaced
        )
        done = replace(entry, state="done", replaced=replaced)
        if all(dropped):  # else the next run does it
            try:
                save(done, self.state, disk)
            except (ClewError, OSError):
                is_lasting = False  # the next run finds that it is done
        return Done(entry.id, done.files, done.backups, is_lasting, is_quiet, sum(carried))


def _owner(path: str) -> tuple[int, int] | None:
    """Return whose a file is, if we could make one that its owner cannot read."""
    if os.name != "posix" or os.geteuid() != 0:
        return None
    with about(path):
        status = Path(path).stat()
    return (status.st_uid, status.st_gid) if status.st_uid != 0 else None
