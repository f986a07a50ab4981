"""The user's own files, and git: the only place that touches either.

A file is read when it is asked about, and written where the user names a place that is free. A history is
written into a new repository of its own; the user's repositories, hooks and settings are never used.
"""

from __future__ import annotations

import os
import stat
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import ClewError, RefusedError, UnreadableError, UsageError
from clew.session.git_patches import quoted
from clew.store.disk import DISK
from clew.store.drafts import make_folders, put
from clew.store.source import FileSource, reason
from clew.store.writer import NotWrittenError, TakenError, drop, prepare

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from clew.store.disk import Disk

MOST: Final = 64 << 20
"""Bytes of a file that is looked at; a larger one is no text that somebody wrote."""

_MODE: Final = 0o644
_AUTHOR: Final = b"clew <clew@localhost>"
_BRANCH: Final = "main"
_SETTINGS: Final = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.autocrlf": "false",
    "core.symlinks": "false",
    "core.protectNTFS": "true",
    "core.protectHFS": "true",
    "commit.gpgSign": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "advice.detachedHead": "false",
}
_AS_THEY_ARE: Final = b"* -text -eol -ident -filter -working-tree-encoding\n"
"""Files of the session may tell git to change others on their way out; these come first."""


class GitError(ClewError):
    """Git is not there, or did not do what it was asked."""

    code = "git"


# The user's files -----------------------------------------------------------------------------------------


def read(path: str) -> bytes:
    """Return what a file of the user's holds."""
    with FileSource(path) as source:
        if source.size > MOST:
            raise UnreadableError(path, f"it has more than {MOST >> 20} MB")
        return source.read(0, source.size)


def write(path: str, data: bytes, *, force: bool = False, disk: Disk = DISK) -> str:
    """Write a file where the user said; over another only with `force`, and never through a link."""
    target = Path(path).absolute()
    path, folder, name = str(target), str(target.parent), target.name
    if not target.parent.is_dir():
        raise UsageError(f"there is no folder {folder}", hint=f"mkdir -p {folder}")
    before = _look(path)
    if before is None:
        try:
            return put(folder, name, [data], mode=_MODE, disk=disk)
        except TakenError:
            raise RefusedError(f"{path} is there already") from None
    if not stat.S_ISREG(before.st_mode):
        what = "a link" if stat.S_ISLNK(before.st_mode) else "not a file"
        raise RefusedError(f"{path} is {what}, and is not written over", hint="name another place with -o")
    if not force:
        raise RefusedError(f"{path} is there already")
    beside = str(target.parent / f".{name[:40]}.{os.getpid()}-0.clew")
    prepare(beside, [data], target=path, disk=disk, mode=stat.S_IMODE(before.st_mode))
    try:
        disk.replace(beside, path)
    except OSError as error:
        drop(beside, disk=disk)
        raise NotWrittenError(path, reason(error)) from error
    return path


def _look(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, ValueError):
        return None
    except OSError as error:
        raise UnreadableError(path, reason(error)) from error


# A history ------------------------------------------------------------------------------------------------


class Commit(NamedTuple):
    """One step of a history."""

    message: str
    time: int | None
    """In milliseconds; without one the step has the time of the one before it."""

    files: Mapping[str, bytes | None]
    """What they hold by their places in the repository; None for what is no more."""


@contextmanager
def repository(folder: str, *, disk: Disk = DISK) -> Generator[Repository]:
    """Make a new git repository in a folder that is empty or not there; at the end its files stand in it."""
    git = _git()
    if git is None:
        raise GitError("git is needed for this and is not installed", hint="clew restore needs no git")
    folder = str(Path(folder).absolute())
    _make_place(folder, disk)
    made = Repository(git, folder)
    made.start(disk)
    try:
        yield made
    except BaseException:
        made.stop()
        raise
    made.finish()


def _make_place(folder: str, disk: Disk) -> None:
    before = _look(folder)
    if before is None:
        make_folders(folder, disk=disk)
        return
    if stat.S_ISLNK(before.st_mode) or not stat.S_ISDIR(before.st_mode):
        what = "a link" if stat.S_ISLNK(before.st_mode) else "no folder"
        raise RefusedError(f"{folder} is {what}", hint="name a folder that is not there yet")
    try:
        is_empty = not any(Path(folder).iterdir())
    except OSError as error:
        raise UnreadableError(folder, reason(error)) from error
    if not is_empty:
        raise RefusedError(f"{folder} is not empty", hint="name a folder that is not there yet")


class Repository:
    """A repository being written. Git itself writes the files, and takes no place outside its folder."""

    def __init__(self, git: str, folder: str) -> None:
        self._git = git
        self.folder = folder
        self.commits = 0
        self._importer: subprocess.Popen[bytes] | None = None
        self._time = 0

    def start(self, disk: Disk) -> None:
        """Make the repository and take up what is to come."""
        self._run("init", "--quiet", "--template=", f"--initial-branch={_BRANCH}", self.folder, is_made=False)
        info = str(Path(self.folder, ".git", "info"))
        make_folders(info, disk=disk)
        put(info, "attributes", [_AS_THEY_ARE], disk=disk)
        self._importer = subprocess.Popen(  # noqa: S603  # words of ours; names come by its input
            self._command("fast-import", "--quiet", "--done", "--date-format=raw"),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=self._environment(),
            cwd=self.folder,
        )

    def add(self, commit: Commit) -> None:
        """Write one commit."""
        if commit.time is not None:
            self._time = max(0, min(commit.time // 1000, 2**35))
        when = b"%s %d +0000\n" % (_AUTHOR, self._time)
        message = commit.message.encode("utf-8", "replace").replace(b"\0", b"")
        parts = [
            b"commit refs/heads/%s\nauthor %scommitter %s" % (_BRANCH.encode(), when, when),
            _data(message),
        ]
        for place, data in commit.files.items():
            name = _name(place)
            if data is None:
                parts.append(b"D %s\n" % name)
            else:
                parts += [b"M 100644 inline %s\n" % name, _data(data)]
        self._write(parts)
        self.commits += 1

    def finish(self) -> None:
        """Have git check all of it in, and put the files in the folder."""
        self._write([b"done\n"])
        self._end()
        if self.commits:
            self._run("reset", "--quiet", "--hard", _BRANCH)

    def stop(self) -> None:
        """Give up: what was written so far stays in the repository without a name."""
        importer, self._importer = self._importer, None
        if importer is not None:
            importer.kill()
            importer.communicate()

    def _write(self, parts: Iterable[bytes]) -> None:
        importer = self._importer
        assert importer is not None
        assert importer.stdin is not None
        try:
            for part in parts:
                importer.stdin.write(part)
        except OSError:
            self._end()
            raise GitError("git stopped before all of it was written") from None

    def _end(self) -> None:
        importer, self._importer = self._importer, None
        if importer is None:
            return
        try:
            _, said = importer.communicate()
        except OSError:
            importer.kill()
            _, said = importer.communicate()
        if importer.returncode:
            raise GitError(f"git could not write the history: {_last(said)}")

    def _run(self, *words: str, is_made: bool = True) -> None:
        done = subprocess.run(  # noqa: S603  # words of ours
            self._command(*words, is_made=is_made),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=self._environment(),
            cwd=self.folder,
            check=False,
        )
        if done.returncode:
            raise GitError(f"git {words[0]} failed: {_last(done.stderr)}")

    def _command(self, *words: str, is_made: bool = True) -> list[str]:
        settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        place = [f"--git-dir={self.folder}/.git", f"--work-tree={self.folder}"] if is_made else []
        return [self._git, *settings, *place, *words]

    def _environment(self) -> dict[str, str]:
        """Nothing of the user's: no settings, no identity, no other repository, no way to ask."""
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ}
        return {
            **kept,
            "HOME": self.folder,
            "XDG_CONFIG_HOME": self.folder,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(Path(self.folder).parent),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "LC_ALL": "C",
        }


def _git() -> str | None:
    """Return where git is; a folder that is named from where we happen to stand is not looked into."""
    for folder in os.get_exec_path():
        for name in ("git", "git.exe"):
            program = Path(folder, name)
            if program.is_absolute() and program.is_file() and os.access(program, os.X_OK):
                return str(program)
    return None


def _data(data: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(data), data)


def _name(place: str) -> bytes:
    """Write a place as the importer reads it; anything that is not plainly inside is a mistake of ours."""
    parts = place.split("/")
    if any(part in {"", ".", ".."} or part.casefold() == ".git" for part in parts) or "\0" in place:
        raise ValueError(f"{place!r} is no place inside a repository")
    written = quoted(place)
    return written if written.startswith(b'"') else b'"' + written + b'"'


def _last(said: bytes) -> str:
    words = said.decode("utf-8", "replace").strip().splitlines()
    return words[-1] if words else "it did not say why"
