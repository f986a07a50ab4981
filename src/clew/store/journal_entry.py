"""What the journal says of one edit: every file it makes, replaces or moves, and how far it has come.

An entry is on the disk before the first file of an edit is touched. It holds names and sizes, never what is
in a session: a secret that was taken out of one must not stay here.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from clew.errors import ChangedOnDiskError, ClewError, NotARegularFileError, UnreadableError
from clew.store.locks import Process
from clew.store.source import FileSource, reason
from clew.store.state import make_private
from clew.store.writer import WINDOW, NotWrittenError, prepare

if TYPE_CHECKING:
    from pathlib import Path

    from clew.store.disk import Disk
    from clew.store.writer import Prepared, Stamp

VERSION: Final = 1
_UNFINISHED: Final = ".clew-new"
_LARGEST: Final = 64 << 20

State = Literal["begun", "done", "undoing", "undone", "rolled-back"]


@dataclass(frozen=True, slots=True)
class Mark:
    """How a file was, so that it can be known again."""

    size: int
    tail: str
    """A digest of its end."""

    mtime_ns: int = 0

    @classmethod
    def of(cls, seen: Stamp | Prepared) -> Mark:
        """Return the mark of a file that was read or written."""
        return cls(seen.size, _digest(seen.tail), getattr(seen, "mtime_ns", 0))

    def begins(self, path: str) -> bool:
        """Say whether a file still is what it was, or has only grown."""
        try:
            with FileSource(path) as source:
                start = max(0, self.size - WINDOW)
                return source.size >= self.size and self.tail == _digest(
                    source.read(start, self.size - start)
                )
        except (NotARegularFileError, ChangedOnDiskError):
            return False
        except ClewError:
            if os.path.lexists(path):
                raise  # what cannot be read is not known to be another
            return False

    def is_all(self, path: str, *, grown: int = 0) -> bool:
        """Say whether a file is what it was, to the last byte; `grown` is how much we added ourselves."""
        try:
            status = os.lstat(path)
        except OSError:
            return False
        if status.st_size != self.size + grown:
            return False
        return self.begins(path) and (not self.mtime_ns or status.st_mtime_ns == self.mtime_ns)


@dataclass(frozen=True, slots=True)
class Fresh:
    """A file that an edit makes."""

    target: str
    temporary: str
    mark: Mark | None = None
    """Known when it is written."""

    trash: str | None = None
    """Where it goes when the edit is undone."""


@dataclass(frozen=True, slots=True)
class Swapped:
    """A file that an edit replaces."""

    path: str
    temporary: str
    backup: str
    kept: str
    """The name that the new one has while the old one is put back."""

    old: Mark
    new: Mark | None = None
    is_copy: bool = False
    """Whether the backup is a copy, where the file system knows no second names."""

    carried: int = 0
    trash: str | None = None


@dataclass(frozen=True, slots=True)
class Shifted:
    """A file or folder that an edit moves."""

    source: str
    target: str
    is_folder: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One edit in the journal."""

    id: str
    command: str
    session: str
    """The file that was edited."""

    result: str | None
    """The main file of the new session; None for an edit in place."""

    state: State
    time_ms: int
    pid: int
    process_start: str
    process_space: str
    is_ready: bool = False
    """Whether everything is written under temporary names; before that nothing has its place yet."""

    new: tuple[Fresh, ...] = ()
    replaced: tuple[Swapped, ...] = ()
    moved: tuple[Shifted, ...] = ()
    folders: tuple[str, ...] = ()
    """The folders that were made for it, the outermost first."""

    is_forgotten: bool = False
    """Whether what is needed to undo it was removed for good."""

    undone_ms: int | None = None
    version: int = VERSION

    @property
    def process(self) -> Process:
        """The process that made the edit, or undid it."""
        return Process(self.pid, self.process_start, self.process_space)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the edit made, replaced or moved, as they are called after it."""
        return (
            *(file.target for file in self.new),
            *(file.path for file in self.replaced),
            *(file.target for file in self.moved),
        )

    @property
    def backups(self) -> tuple[str, ...]:
        """What was there before, where it is kept."""
        if self.state != "done" or self.is_forgotten:
            return ()
        return tuple(self.now_at(file.backup) for file in self.replaced)

    @property
    def trash(self) -> tuple[str, ...]:
        """Where the files of an edit that was undone may be kept."""
        if self.state != "undone" or self.is_forgotten:
            return ()
        return tuple(file.trash for file in (*self.new, *self.replaced) if file.trash is not None)

    @property
    def is_open(self) -> bool:
        """Whether it has begun, or has begun to be undone, and that is not finished."""
        return self.state in {"begun", "undoing"}

    def now_at(self, path: str) -> str:
        """Return what a path is called after the edit's moves."""
        for file in self.moved:
            if path == file.source or path.startswith(file.source + os.sep):
                path = file.target + path[len(file.source) :]
        return path

    def wrote(self, path: str) -> bool:
        """Say whether a file is just what the edit made of it."""
        if self.state != "done":
            return False
        made = [(file.target, file.mark, 0) for file in self.new]
        made += [(file.path, file.new, file.carried) for file in self.replaced]
        return any(
            self.now_at(target) == path and mark is not None and mark.is_all(path, grown=grown)
            for target, mark, grown in made
        )

    def touches(self, paths: set[str]) -> bool:
        """Say whether any of the paths is one that the edit works on."""
        mine = {*self.files, *(file.source for file in self.moved)}
        return not mine.isdisjoint(paths)


def journal_folder(state: Path) -> Path:
    """Return where the entries are."""
    return state / "journal"


def entry_file(state: Path, id_: str) -> Path:
    """Return where the entry of an edit is."""
    return journal_folder(state) / f"{id_}.json"


def save(entry: Entry, state: Path, disk: Disk) -> None:
    """Write an entry, in the place of what it said before; when this returns, it is on the disk."""
    import msgspec

    # Not by msgspec or orjson: a path may hold bytes that are no UTF-8.
    data = json.dumps(msgspec.to_builtins(entry), indent=1).encode() + b"\n"
    path = str(entry_file(state, entry.id))
    temporary = str(journal_folder(state) / f".{entry.id}{_UNFINISHED}")
    try:
        make_private(journal_folder(state), disk)
        with suppress(FileNotFoundError):
            disk.unlink(temporary)  # only one at a time is at an entry: see `locks`
        prepare(temporary, [data], target=path, disk=disk)
        disk.replace(temporary, path)
        disk.sync_folder(str(journal_folder(state)))
    except OSError as error:
        raise NotWrittenError(path, reason(error)) from error


def unfinished(state: Path) -> list[tuple[str, Path]]:
    """Return the entries that somebody did not finish writing: the id and the file of each."""
    try:
        paths = [path for path in journal_folder(state).iterdir() if path.name.endswith(_UNFINISHED)]
    except OSError:
        return []
    return [(path.name[1:].removesuffix(_UNFINISHED), path) for path in paths]


def load(path: Path) -> Entry | None:
    """Read an entry; None if it is damaged, or of a later version of clew."""
    import msgspec

    try:
        with FileSource(path) as source:
            data: object = json.loads(source.read(0, min(source.size, _LARGEST)))
        entry = msgspec.convert(data, Entry)
    except (ValueError, RecursionError, NotARegularFileError):  # a `ValidationError` is a `ValueError`
        return None
    except ClewError:
        if os.path.lexists(path):
            raise  # an edit that is not finished may be told of there
        return None
    return entry if entry.version == VERSION and entry.id == path.stem else None


def load_all(state: Path) -> list[Entry]:
    """Read all entries, the newest first."""
    try:
        paths = [path for path in journal_folder(state).iterdir() if path.suffix == ".json"]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise UnreadableError(str(journal_folder(state)), reason(error)) from error
    found = [entry for entry in map(load, paths) if entry is not None]
    return sorted(found, key=lambda entry: (entry.time_ms, entry.id), reverse=True)


def _digest(data: bytes) -> str:
    from hashlib import blake2b

    return blake2b(data, digest_size=16).hexdigest()
