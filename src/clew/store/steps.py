"""What an edit does to one file: each step can be done again after it was interrupted, and taken back.

How far it has come is told by which names there are: a file that has not been replaced yet still has its
temporary name beside it; one that has been, only its backup; one that was put back, neither.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from clew.errors import ClewError
from clew.store.carrying import Watched, carry_missing, drain
from clew.store.source import FileSource, reason
from clew.store.writer import NO_LINKS, NotWrittenError, prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from clew.store.carrying import Patience
    from clew.store.disk import Disk
    from clew.store.journal_entry import Shifted, Swapped

WITHOUT_LINKS: Final = NO_LINKS | {errno.EXDEV}
"""What is said where a file can get no second name there."""

_CHUNK: Final = 1 << 20


class CannotFinishError(ClewError):
    """An interrupted edit does not fit any more what is there now."""

    code = "cannot-finish"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} has changed since an edit of it was interrupted")
        self.path = path


def copied(path: str) -> Callable[[], Iterable[bytes]]:
    """Return what gives the bytes of a file, one part after the other."""

    def pieces() -> Iterator[bytes]:
        with FileSource(path) as source:
            for offset in range(0, source.size, _CHUNK):
                yield source.read(offset, _CHUNK)

    return pieces


@contextmanager
def about(path: str) -> Generator[None]:
    """Let an error of the disk name the file it is about."""
    try:
        yield
    except OSError as error:
        raise NotWrittenError(path, reason(error)) from error


def folder_of(path: str) -> str:
    """Return the folder that a file is in."""
    return os.path.dirname(path)  # noqa: PTH120


def is_there(path: str) -> bool:
    """Say whether there is something by that name."""
    return os.path.lexists(path)


def is_same(one: str, other: str) -> bool:
    """Say whether two names are of one file."""
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except OSError:
        return False


def sync_all(folders: Iterable[str], disk: Disk) -> None:
    """Wait until the names in the folders are on the disk."""
    for folder in dict.fromkeys(folders):
        if is_there(folder):
            with about(folder):
                disk.sync_folder(folder)


def unlink(path: str, disk: Disk) -> bool:
    """Take a name away; say whether it was there."""
    if not is_there(path):
        return False
    with about(path), suppress(FileNotFoundError):
        disk.unlink(path)
    return True


# --- moves --------------------------------------------------------------------------------------------------


def move(file: Shifted, disk: Disk, *, back: bool = False) -> None:
    """Move a file or a folder to where nothing is, or back; a second time does nothing."""
    source, target = (file.target, file.source) if back else (file.source, file.target)
    with about(source):
        if not file.is_folder and is_same(source, target):
            disk.unlink(source)  # all that was left to do
        elif not is_there(source) and is_there(target):
            return
        elif is_there(target):
            raise NotWrittenError(target, "there is such a file already")
        elif file.is_folder:
            disk.replace(source, target)
        else:
            try:
                disk.link(source, target)
            except OSError as error:
                if error.errno not in NO_LINKS:
                    raise
                disk.replace(source, target)
            else:
                disk.unlink(source)


def has_moved(file: Shifted) -> bool:
    """Say whether a move has begun."""
    return is_there(file.target) and (not is_there(file.source) or is_same(file.source, file.target))


# --- replaced files -----------------------------------------------------------------------------------------


def progress(file: Swapped) -> Literal["waiting", "swapped", "old"]:
    """Say how far a file has come that was ready to be replaced."""
    if is_there(file.temporary):
        return "waiting"
    if not is_there(file.backup):
        return "old"
    # Where the backup is a copy, it is there for a moment longer.
    return "old" if file.is_copy and _is_old(file) else "swapped"


def _is_old(file: Swapped) -> bool:
    is_old = file.old.begins(file.path)
    if is_old and file.new is not None and file.new.begins(file.path):
        return file.old.size > file.new.size  # one begins as the other does: it is the longer one
    return is_old


def back_up(file: Swapped, disk: Disk) -> None:
    """Make the backup of a file that has not been replaced yet, anew if there is one."""
    if not file.is_copy and is_same(file.path, file.backup):
        return
    unlink(file.backup, disk)
    if file.is_copy:
        prepare(file.backup, copied(file.path)(), target=file.path, disk=disk)
    else:
        disk.link(file.path, file.backup)


def swap(file: Swapped, disk: Disk) -> None:
    """Put the new file in the place of one that is backed up."""
    with about(file.path):
        disk.replace(file.temporary, file.path)
    with suppress(OSError):  # it is as others could read it before, and nothing else is wrong
        disk.make_private(file.backup)


class Returned(NamedTuple):
    """A replaced file whose backup is to be put back."""

    file: Swapped
    trash: str | None = None
    """Where the new one goes, if it is not what we wrote."""

    @property
    def watched(self) -> Watched:
        """The new file, into which somebody may still be writing, and the old one in its place."""
        file = self.file
        new = 0 if file.new is None else file.new.size + file.carried
        return Watched(file.kept, file.path, new, file.old.size + file.carried)


def put_back(files: Sequence[Returned], disk: Disk, patience: Patience) -> None:
    """Put the backups of replaced files back in their places.

    What somebody adds to the new ones meanwhile is carried over, of all of them at once.
    """
    heard = [one for one in files if _put_back(one, disk)]
    drain([one.watched for one in heard], disk=disk, patience=patience)
    for one in files:
        if not is_there(one.file.kept):
            continue
        if one.trash is None:
            unlink(one.file.kept, disk)
        else:
            throw(one.file.kept, one.trash, disk)


def _put_back(one: Returned, disk: Disk) -> bool:
    """Put one back; say whether what is written into the new one is still to be heard."""
    file, trash = one
    if not is_there(file.backup):
        if is_there(file.kept) and trash is None:  # it was interrupted
            carry_missing(one.watched, file.old.size, disk=disk)
        return False
    if progress(file) == "old":
        unlink(file.backup, disk)  # a copy of it is in its place
        return False
    is_ours = file.new is not None and file.new.begins(file.path)
    if not is_ours and is_there(file.path) and trash is None:
        raise CannotFinishError(file.path)
    with about(file.path):
        unlink(file.kept, disk)
        if is_there(file.path) and not _is_linked(file.path, file.kept, disk) and trash is not None:
            unlink(trash, disk)
            prepare(trash, copied(file.path)(), target=trash, disk=disk)
        _return(file, disk)
    sync_all((folder_of(file.path), folder_of(file.backup)), disk)
    return is_ours and trash is None and is_there(file.kept)


def _is_linked(path: str, name: str, disk: Disk) -> bool:
    """Give a file a second name, where there are any; say whether it has one."""
    try:
        disk.link(path, name)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        return False
    return True


def _return(file: Swapped, disk: Disk) -> None:
    try:
        disk.replace(file.backup, file.path)
    except OSError as error:
        if error.errno != errno.EXDEV:  # a copy may lie on another file system
            raise
        # By a name of its own: the temporary one would say that the file was never replaced.
        name = near(file)
        unlink(name, disk)
        prepare(name, copied(file.backup)(), target=file.path, disk=disk)
        disk.replace(name, file.path)
        unlink(file.backup, disk)


def near(file: Swapped) -> str:
    """Return the name that a copy of the backup has until it is put back."""
    return f"{file.kept}-copy"


def throw(path: str, trash: str, disk: Disk) -> None:
    """Put a file into the trash."""
    with about(path):
        try:
            disk.replace(path, trash)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            unlink(trash, disk)
            prepare(trash, copied(path)(), target=trash, disk=disk)
            sync_all([folder_of(trash)], disk)
            disk.unlink(path)
