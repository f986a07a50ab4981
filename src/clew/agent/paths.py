"""Find out which file a path means, and open that file and no other.

A permission is given for a path with all links followed (`resolve`). What is opened later is walked to from
the root, name by name, and no name on the way may be a link: whoever puts one there between the check and
the use gets a refusal, not another file. Only regular files are opened: a pipe hangs, a device does things.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Generator

_CLOSED_ON_EXEC: Final = getattr(os, "O_CLOEXEC", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: Final = (
    getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _NO_LINK | _CLOSED_ON_EXEC
)
_READ: Final = (
    os.O_RDONLY | _NO_LINK | _CLOSED_ON_EXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_WALKS: Final = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd and os.name == "posix"
"""Whether a path can be walked name by name here; elsewhere it is opened in one go."""

_PIECE: Final = 1 << 20

_PROCESSES: Final = "/proc"
"""Here the environment of programs can be read, with the keys they were given: ours, too."""

_KINDS: Final = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class BadPathError(ClewError):
    """No file can have this path."""

    code = "bad-path"


class NotAFileError(ClewError):
    """What is there is no regular file, or a link was put in the way."""

    code = "not-a-file"

    def __init__(self, path: str, what: str) -> None:
        super().__init__(f"{path} is {what}, not a file")
        self.path = path
        self.what = what


class TooLargeError(ClewError):
    """The file holds more than anybody here wants to read."""

    code = "too-large"

    def __init__(self, path: str, size: int, most: int) -> None:
        super().__init__(f"{path} holds {size:,} bytes; {most:,} are the most")
        self.path = path
        self.size = size
        self.most = most


class Data(NamedTuple):
    """What a file holds, and what the system says of it."""

    data: bytes
    facts: os.stat_result


def absolute(path: str, cwd: str) -> str:
    """Return a path from the root on, without `.` and `..`; links stay. `~` is the home."""
    try:
        os.fsencode(path)
        if not path or "\0" in path:
            raise BadPathError("the path is empty" if not path else "the path holds a NUL")
        return os.path.normpath(os.path.join(cwd, _at_home(path)))  # noqa: PTH118
    except UnicodeEncodeError:
        raise BadPathError("the path holds half a character (a lone surrogate)") from None


def _at_home(path: str) -> str:
    return os.path.expanduser(path) if path == "~" or path.startswith(("~/", "~\\")) else path  # noqa: PTH111


def resolve(path: str, cwd: str) -> str:
    """Return the file a path means, from the root on, with links followed as far as they are there."""
    absolute(path, cwd)
    try:
        # Not of the normal form: `link/..` is the folder above what the link leads to.
        return os.path.realpath(os.path.join(cwd, _at_home(path)))  # noqa: PTH118
    except (OSError, ValueError) as error:
        raise BadPathError(f"the path leads nowhere: {error}") from None


def is_inside(path: str, folder: str) -> bool:
    """Say whether a path is a folder or something in it. Both are taken as they are written."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


@contextmanager
def opened_folder(path: str, *, make: bool = False) -> Generator[int | None]:
    """Open a folder, no name of whose path may be a link; with `make` what is missing is made.

    What is given can stand for the folder in calls that take a `dir_fd`; it is None where there are none.
    """
    if not _WALKS:
        if make:
            os.makedirs(path, exist_ok=True)  # noqa: PTH103
        yield None
        return
    here = os.open(os.sep, _FOLDER)
    try:
        for name in filter(None, path.split(os.sep)):  # noqa: PTH206
            there = _step(here, name, path, make=make)
            os.close(here)
            here = there
        yield here
    finally:
        os.close(here)


def _step(here: int, name: str, path: str, *, make: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=here)
    except FileNotFoundError:
        if not make:
            raise
        with suppress(FileExistsError):  # somebody else made it just now
            os.mkdir(name, dir_fd=here)
        return os.open(name, _FOLDER, dir_fd=here)
    except OSError as error:
        # A link to a folder is told as "not a directory" or as a link, whichever the system looks at first.
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            found = os.stat(name, dir_fd=here, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                raise NotAFileError(path, "reached by a link that was not there before") from None
        raise


def place(path: str, folder: int | None) -> str:
    """Return how a file is called beside an open folder: by its name, or whole where there is none open."""
    return path if folder is None else os.path.basename(path)  # noqa: PTH119


def look(path: str) -> os.stat_result | None:
    """Return what the system says of a resolved path; None if nothing is there."""
    try:
        with opened_folder(os.path.dirname(path)) as folder:  # noqa: PTH120
            return os.stat(place(path, folder) or ".", dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None


def kind(facts: os.stat_result) -> str | None:
    """Say what is there if it is no regular file: `a directory`, `a pipe` and so on."""
    if stat.S_ISREG(facts.st_mode):
        return None
    return next((words for is_that, words in _KINDS if is_that(facts.st_mode)), "something odd")


@contextmanager
def opened(path: str) -> Generator[tuple[int, os.stat_result]]:
    """Open a resolved path for reading: its descriptor, and what the system says of it.

    Raise `NotAFileError` for anything but a regular file, and what `os.open` raises.
    """
    if is_inside(path, _PROCESSES):
        raise NotAFileError(path, "about a process")
    with opened_folder(os.path.dirname(path)) as folder:  # noqa: PTH120
        name = place(path, folder) or "."
        # Looked at before it is opened: to open some devices is already to do something.
        what = kind(os.stat(name, dir_fd=folder, follow_symlinks=False))
        if what is not None:
            raise NotAFileError(path, what)
        descriptor = os.open(name, _READ, dir_fd=folder)
    try:
        facts = os.fstat(descriptor)
        what = kind(facts)
        if what is not None:
            raise NotAFileError(path, what)
        yield descriptor, facts
    finally:
        os.close(descriptor)


def read(path: str, *, most: int) -> Data:
    """Read a resolved path whole. A file that grows while it is read is not read for ever."""
    with opened(path) as (descriptor, facts):
        if facts.st_size > most:
            raise TooLargeError(path, facts.st_size, most)
        pieces: list[bytes] = []
        size = 0
        while piece := os.read(descriptor, _PIECE):
            size += len(piece)
            if size > most:  # files of /proc say they are empty, and others grow
                raise TooLargeError(path, size, most)
            pieces.append(piece)
        return Data(b"".join(pieces), facts)
