"""Put a session back from an archive: every file where it was, byte for byte, and never over another.

What is put back is new to the file system: its time is now. With the time it had, the client would delete it
again as soon as it starts.
"""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from clew.errors import ClewError, RefusedError
from clew.store.archive_packs import LostChunkError
from clew.store.disk import DISK
from clew.store.drafts import Draft, clean, make_folders, sync_names
from clew.store.source import FileSource, reason, what_is
from clew.store.writer import NotWrittenError, confirm

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.store.archive import Snapshot
    from clew.store.archive_manifest import ArchivedFile
    from clew.store.archive_packs import Packs
    from clew.store.disk import Disk

_STEP = 1 << 20


class Lost(NamedTuple):
    """A file that could not be put back as it was."""

    place: str
    reason: str
    bytes: int
    """How many bytes of it are lost."""

    is_partial: bool
    """Whether the rest of it was put back."""


class Restored(NamedTuple):
    """What came of putting a session back."""

    snapshot: Snapshot
    to: str
    put: tuple[str, ...]
    """The files that were written, the session's own last."""

    kept: tuple[str, ...]
    """The files that were there already, just so."""

    lost: tuple[Lost, ...]
    is_lasting: bool = True
    """Whether the disk has confirmed all of it."""

    @property
    def path(self) -> str:
        """The session's own file."""
        return _target(self.to, self.snapshot.manifest.main)


def restore(
    snapshot: Snapshot, packs: Packs, *, to: str, partly: bool = False, disk: Disk = DISK
) -> Restored:
    """Put the files of a snapshot back below the folder `to`; refuse if one would take another's place.

    A file whose chunks are lost is left out and named; `partly` puts back what is left of it.
    """
    base = os.path.abspath(to)  # noqa: PTH100  # a link to it stays one
    files = snapshot.manifest.files
    taken = {file.place: _is_there(base, file) for file in files}
    work = _Work(packs, base, partly, disk)
    main = snapshot.manifest.main
    for file in files:
        if taken[file.place]:
            continue
        if file is main:
            work.sync()  # when the session is there, all that belongs to it is
        work.put(file)
    kept = tuple(_target(base, file) for file in files if taken[file.place])
    return Restored(snapshot, base, tuple(work.done), kept, tuple(work.lost), work.confirmed())


class _Work:
    def __init__(self, packs: Packs, base: str, partly: bool, disk: Disk) -> None:
        self._packs, self._base, self._partly, self._disk = packs, base, partly, disk
        self._folders: set[str] = set()
        self.done: list[str] = []
        self.lost: list[Lost] = []

    def put(self, file: ArchivedFile) -> None:
        target = _target(self._base, file)
        folder, name = os.path.split(target)
        make_folders(folder, disk=self._disk)
        if folder not in self._folders:
            clean(folder, disk=self._disk)
            self._folders.add(folder)
        # Nobody but the owner may write it, whatever was allowed before.
        draft = Draft(folder, name, mode=(file.mode & 0o755) | 0o600, disk=self._disk)
        try:
            lost = self._fill(draft, file)
            if lost is not None:
                self.lost.append(lost)
            if lost is None or lost.is_partial:
                self.done.append(draft.finish(name))
        finally:
            draft.drop()

    def _fill(self, draft: Draft, file: ArchivedFile) -> Lost | None:
        """Write what is in the archive of a file; return what is not."""
        whole = sha256()
        why: str | None = None
        for chunk in file.chunks:
            try:
                data = self._packs.read(chunk)
            except LostChunkError as error:
                why = why or error.message
                if not self._partly:
                    break
                continue
            whole.update(data)
            draft.write(data)
        if why is not None:
            return Lost(file.place, why, file.size - draft.size * self._partly, is_partial=self._partly)
        if whole.hexdigest() != file.digest:
            return Lost(
                file.place, "its chunks do not make the file that it was", file.size, is_partial=False
            )
        return None

    def sync(self) -> None:
        for folder in self._folders:
            sync_names(folder, disk=self._disk)

    def confirmed(self) -> bool:
        return all(confirm(folder, disk=self._disk) for folder in self._folders)


def _target(base: str, file: ArchivedFile) -> str:
    return os.path.join(base, *file.place.split("/"))  # noqa: PTH118


def _is_there(base: str, file: ArchivedFile) -> bool:
    return is_there(base, file.place, lambda: (file.size, file.digest))


def is_there(
    base: str,
    place: str,
    wanted: Callable[[], tuple[int, str]],
    *,
    trusted: int = 0,
    hint: str = "nothing was changed; name another folder to put it in",
) -> bool:
    """Say whether a file is there just so; refuse if another is, or if a link would lead elsewhere.

    `wanted` is asked for the size and the sha256 that it is to have, if there is one. So many folders below
    the base as are `trusted` may be links.
    """

    def refused(path: str, why: str) -> RefusedError:
        return RefusedError(f"{path} is not written: {why}", hint=hint)

    at = base
    *folders, name = place.split("/")
    for depth, part in enumerate(folders):
        at = os.path.join(at, part)  # noqa: PTH118
        status = _status(at)
        if status is None:
            return False
        is_link = stat.S_ISLNK(status.st_mode)
        if not stat.S_ISDIR(status.st_mode) and not (is_link and depth < trusted and os.path.isdir(at)):  # noqa: PTH112
            raise refused(at, "a link or a file is in the place of a folder")
    target = os.path.join(at, name)  # noqa: PTH118
    status = _status(target)
    if status is None:
        return False
    if stat.S_ISLNK(status.st_mode):
        raise refused(target, "a link is in its place")
    what = what_is(status.st_mode)
    if what is not None:
        raise refused(target, f"{what} is in its place")
    size, digest = wanted()
    if status.st_size != size or _digest(target) != digest:
        grown = status.st_size > size and _digest(target, size) == digest
        raise refused(target, "it has grown since" if grown else "there is another file of that name")
    return True


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise NotWrittenError(path, reason(error)) from error


def _digest(path: str, size: int | None = None) -> str | None:
    whole = sha256()
    try:
        with FileSource(path) as source:
            end = source.size if size is None else size
            for at in range(0, end, _STEP):
                whole.update(source.read(at, min(_STEP, end - at)))
    except ClewError:
        return None
    return whole.hexdigest()
