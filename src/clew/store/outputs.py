"""Files that a person asked for, where they asked for them: the door by which exports are written.

A file appears when it is whole. Nothing that is there is written over unless the caller says that it may be,
a link is never followed, and only the owner may read what is written.
"""

from __future__ import annotations

import os
import stat
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import RefusedError, UsageError
from clew.store.disk import DISK
from clew.store.drafts import Draft, clean, make_folders, sync_names
from clew.store.source import FileSource, reason
from clew.store.writer import NotWrittenError, TakenError, claim, drop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew.store.disk import Disk

_PIECE: Final = 1 << 20
_DIGEST: Final = 16
_GATHERED: Final = 1 << 18
"""Small pieces are written together, so many bytes of them."""


class Written(NamedTuple):
    """A file that was written."""

    path: str
    size: int


class Digested:
    """Pieces of a file, whose digest is known when all of them were given."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = pieces
        self._digest = blake2b(digest_size=_DIGEST)

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            self._digest.update(piece)
            yield piece

    @property
    def digest(self) -> str:
        """The digest of what was given so far, as `digest_of` has it."""
        return self._digest.hexdigest()


class _Output(Draft):
    """A draft that may take the place of a file."""

    def take_place(self, name: str) -> None:
        """Put it in the place of what goes by that name, when all of it is on the disk."""
        target = os.path.join(self._folder, name)  # noqa: PTH118
        try:
            self._disk.sync(self._descriptor)
            self._close()
            self._disk.replace(self._path, target)
            self._path = ""
        except OSError as error:
            raise NotWrittenError(target, reason(error)) from error
        finally:
            self.drop()


def write_output(path: str, pieces: Iterable[bytes], *, replace: bool = False, disk: Disk = DISK) -> Written:
    """Write a file; over another one only with `replace`, and over nothing but a file or a link to one."""
    path = os.path.abspath(path)  # noqa: PTH100
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):  # noqa: PTH112
        raise UsageError(f"there is no folder {folder}", hint=f"mkdir -p {folder}")
    before = _status(path)
    if before is not None:
        if not stat.S_ISREG(before.st_mode) and not stat.S_ISLNK(before.st_mode):
            raise UsageError(f"{path} is no regular file", hint="-o - writes to standard output")
        if not replace:
            raise RefusedError(f"{path} is there already")
    clean(folder, disk=disk)
    output = _drafted(folder, name, pieces, disk)
    if replace:
        output.take_place(name)
    else:
        try:
            output.finish(name)
        except TakenError:
            raise RefusedError(f"{path} is there already") from None
    sync_names(folder, disk=disk)
    return Written(path, output.size)


def write_aside(path: str, pieces: Iterable[bytes], *, disk: Disk = DISK) -> Written:
    """Write a file under a name that is not yet its own, for `take_over`; `clean` knows it for ours."""
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100
    output = _drafted(folder, name, pieces, disk)
    output.take_place(name)
    return Written(path, output.size)


def _drafted(folder: str, name: str, pieces: Iterable[bytes], disk: Disk) -> _Output:
    output = _Output(folder, name, disk=disk)
    try:
        for piece in _gathered(pieces):
            output.write(piece)
    except BaseException:
        output.drop()
        raise
    return output


def _gathered(pieces: Iterable[bytes]) -> Iterable[bytes]:
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= _GATHERED:
            yield b"".join(held)
            held.clear()
            size = 0
    if held:
        yield b"".join(held)


def beside(path: str) -> str:
    """Return a name beside a file, for one that is to take its place; `clean` knows it for ours."""
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100
    return os.path.join(folder, f".{name[:40]}.{os.getpid()}-0.clew")  # noqa: PTH118


def take_over(
    temporary: str, path: str, *, replace: bool = True, settles: bool = True, disk: Disk = DISK
) -> str:
    """Give a file that is whole its name, in the place of another only with `replace`; return where it is.

    Unless it `settles`, whoever gives many their names waits until those are on the disk, once for all.
    """
    target = os.path.abspath(path)  # noqa: PTH100
    try:
        if replace:
            disk.replace(temporary, target)
        elif claim(temporary, target, disk=disk):
            drop(temporary, disk=disk)
    except TakenError:
        drop(temporary, disk=disk)
        raise RefusedError(f"{target} is there already") from None
    except NotWrittenError:
        drop(temporary, disk=disk)
        raise
    except OSError as error:
        drop(temporary, disk=disk)
        raise NotWrittenError(target, reason(error)) from error
    if settles:
        sync_names(os.path.dirname(target), disk=disk)  # noqa: PTH120
    return target


def give_up(temporary: str, *, disk: Disk = DISK) -> None:
    """Remove a file that is whole and gets no name; if it cannot be, the next writer does so."""
    drop(temporary, disk=disk)


def add_line(path: str, line: bytes, *, disk: Disk = DISK) -> None:
    """Put a line at the end of a file of ours; it is made if it is not there."""
    try:
        try:
            descriptor = disk.create(path)
        except FileExistsError:
            descriptor = disk.open_end(path)
        try:
            disk.write(descriptor, line)
        finally:
            disk.close(descriptor)
    except OSError as error:
        raise NotWrittenError(path, reason(error)) from error


def make_output_folder(path: str, *, disk: Disk = DISK) -> str:
    """Make the folder that exports go to, without what was left in it unfinished; return its whole path."""
    path = os.path.abspath(path)  # noqa: PTH100
    make_folders(path, disk=disk)
    clean(path, disk=disk)
    return path


def is_folder(path: str) -> bool:
    """Say whether a path is a folder, or a link to one."""
    return os.path.isdir(path)  # noqa: PTH112


def size_of(path: str) -> int | None:
    """Return how large a regular file is; None where there is none."""
    found = _status(path)
    return found.st_size if found is not None and stat.S_ISREG(found.st_mode) else None


def is_there(path: str) -> bool:
    """Say whether anything goes by a name."""
    return _status(path) is not None


def digest_of(path: str) -> str:
    """Return the digest of a file, as `Digested` has it."""
    digest = blake2b(digest_size=_DIGEST)
    with FileSource(path) as source:
        for at in range(0, source.size, _PIECE):
            digest.update(source.read(at, _PIECE))
    return digest.hexdigest()


def read_output(path: str, *, most: int) -> bytes:
    """Return a small file of ours; nothing where there is none, or one that is larger than that."""
    size = size_of(path)
    if size is None or size > most:
        return b""
    with FileSource(path) as source:
        return source.read(0, size)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        cause = reason(error) if isinstance(error, OSError) else str(error)
        raise NotWrittenError(path, cause) from error
