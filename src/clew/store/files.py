"""Find the session files of a store.

Nothing is opened here. What a file is called says only where it lies; what it is, is told by what is in it
(`heads`). `sessions-index.json` goes stale and is never read. Side files are found in `sides`.
"""

from __future__ import annotations

import os
import stat
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.store.roots import Roots, find_roots
from clew.store.source import reason, what_is

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

_ENDING: Final = ".jsonl"
_AGENT: Final = "agent-"
_SUBAGENTS: Final = "subagents"
_DEEPEST: Final = 8
"""How far folders are gone into; the deepest layout known has two."""


class Skipped(NamedTuple):
    """Something in a store that was passed over, and why."""

    path: str
    reason: str


class SessionFile(NamedTuple):
    """One session file as it lay there: a conversation, a sub-agent's, or another. Not opened yet."""

    path: str
    id: str
    """Its name without the ending: what the client's `--resume` takes."""

    folder: str
    """The name of its project folder; ambiguous, see `slugs`."""

    size: int
    mtime_ns: int
    inode: int
    device: int
    root: str | None = None
    """The config folder it was found in."""

    is_agent: bool = False
    """It lies where, or is called as, the client puts sub-agents."""

    session: str | None = None
    """The session a sub-agent's place says it belongs to."""


class Listing(NamedTuple):
    """What was found in a store: the same for the same tree, in the order of paths."""

    sessions: tuple[SessionFile, ...]
    agents: tuple[SessionFile, ...]
    skipped: tuple[Skipped, ...]

    def beside(self, file: SessionFile) -> tuple[SessionFile, ...]:
        """Return the other sessions of the same project folder: where a summary's message may be."""
        place = (file.root, file.folder)
        return tuple(
            other for other in self.sessions if (other.root, other.folder) == place and other != file
        )

    def newest(self) -> list[SessionFile]:
        """Return the sessions, the one written last first."""
        return sorted(self.sessions, key=lambda file: (-file.mtime_ns, file.path))


class Store(NamedTuple):
    """The config folders whose sessions are looked at."""

    roots: Roots

    @classmethod
    def at(
        cls,
        explicit: Sequence[str] = (),
        *,
        environ: Mapping[str, str] | None = None,
        home: str | None = None,
    ) -> Self:
        """Return the store of the given config folders, or of the user's own without any."""
        return cls(find_roots(explicit, environ=environ, home=home))

    def listing(self) -> Listing:
        """Find every session file. What is odd in the tree is passed over and listed with the reason."""
        search = _Search()
        for root in self.roots.found:
            search.projects(root)
        return search.listing()


class _Search:
    """Goes through config folders. Thousands of files are listed for every answer: each step counts."""

    def __init__(self) -> None:
        self.files: list[SessionFile] = []
        self.links: list[SessionFile] = []
        self.skipped: list[Skipped] = []
        self.folders: set[tuple[int, int]] = set()
        self.root: str | None = None

    def listing(self) -> Listing:
        seen = {(file.device, file.inode) for file in self.files}
        for link in sorted(self.links, key=_by_path):
            # Two hard links are two sessions; a symbolic link to a session that is listed anyway is not.
            if (link.device, link.inode) in seen:
                self.skipped.append(Skipped(link.path, "a link to a file that is listed already"))
            else:
                seen.add((link.device, link.inode))
                self.files.append(link)
        self.files.sort(key=_by_path)
        return Listing(
            tuple(file for file in self.files if not file.is_agent),
            tuple(file for file in self.files if file.is_agent),
            tuple(sorted(self.skipped, key=lambda note: (note.path, note.reason))),
        )

    def projects(self, root: str) -> None:
        self.root = root
        top = f"{root}{os.sep}projects"
        for entry in self._entries(top):
            if entry.name.endswith(_ENDING):
                self._add(entry, "", is_agent=entry.name.startswith(_AGENT))
            elif self._is_folder(entry):
                self._project(entry.path, entry.name)

    def _project(self, path: str, folder: str) -> None:
        for entry in self._entries(path):
            name = entry.name
            if name.endswith(_ENDING):
                self._add(entry, folder, is_agent=name.startswith(_AGENT))
            elif self._is_folder(entry):
                if name == _SUBAGENTS:
                    self._agents(entry.path, folder, session=None)
                else:
                    self._agents(f"{entry.path}{os.sep}{_SUBAGENTS}", folder, session=name)

    def _agents(self, path: str, folder: str, *, session: str | None, depth: int = 0) -> None:
        for entry in self._entries(path):
            if entry.name.endswith(_ENDING):
                self._add(entry, folder, is_agent=True, session=session)
            elif depth < _DEEPEST and entry.is_symlink():
                # It may lead anywhere, and all that is below would be gone through.
                self.skipped.append(Skipped(entry.path, "a link among the sub-agents"))
            elif depth < _DEEPEST and self._is_folder(entry):
                self._agents(entry.path, folder, session=session, depth=depth + 1)

    def _entries(self, path: str) -> list[os.DirEntry[str]]:
        """List a folder once, real things before links, hidden ones left out."""
        try:
            status = os.stat(path)  # noqa: PTH116  # a Path for each folder takes longer than to ask
            if (status.st_dev, status.st_ino) in self.folders:
                self.skipped.append(Skipped(path, "a folder that was listed already"))
                return []
            with os.scandir(path) as entries:
                found = [entry for entry in entries if entry.name[:1] != "."]
        except FileNotFoundError:
            if os.path.islink(path):  # noqa: PTH114
                self.skipped.append(Skipped(path, "a link to nothing"))
            return []
        except (OSError, ValueError) as error:
            self.skipped.append(Skipped(path, reason(error)))
            return []
        self.folders.add((status.st_dev, status.st_ino))
        if len(found) > 1:
            found.sort(key=_name)
            links = [entry for entry in found if entry.is_symlink()]
            if links:
                found = [entry for entry in found if not entry.is_symlink()] + links
        return found

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        try:
            if entry.is_dir():
                return True
            if not entry.is_symlink():
                return False
            status = (
                entry.stat()
            )  # raises for a loop or a link to nothing; a link to some other file is no matter
        except OSError as error:
            self.skipped.append(Skipped(entry.path, _why(entry, error)))
            return False
        return stat.S_ISDIR(status.st_mode)

    def _add(
        self, entry: os.DirEntry[str], folder: str, *, is_agent: bool, session: str | None = None
    ) -> None:
        try:
            status = entry.stat()
        except OSError as error:
            self.skipped.append(Skipped(entry.path, _why(entry, error)))
            return
        what = what_is(status.st_mode)
        if what is not None:
            self.skipped.append(Skipped(entry.path, what))
            return
        found = SessionFile(
            entry.path,
            entry.name[: -len(_ENDING)],
            folder,
            status.st_size,
            status.st_mtime_ns,
            status.st_ino,
            status.st_dev,
            self.root,
            is_agent,
            session,
        )
        (self.links if entry.is_symlink() else self.files).append(found)


_by_path = itemgetter(0)


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _why(entry: os.DirEntry[str], error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "a link to nothing" if entry.is_symlink() else "gone"
    return reason(error)


def at_path(path: str | os.PathLike[str]) -> SessionFile | Skipped:
    """Return the session file at `path`, wherever that is; its place tells what it is part of."""
    whole = os.path.normpath(Path(path).absolute())
    try:
        status = Path(whole).stat()
    except (OSError, ValueError) as error:
        return Skipped(whole, reason(error))
    what = what_is(status.st_mode)
    if what is not None:
        return Skipped(whole, what)
    *above, name = Path(whole).parts
    folder, root, session = above[-1], None, None
    is_agent = name.startswith(_AGENT)
    top = max((at for at, part in enumerate(above) if part == "projects"), default=len(above))
    inside = above[top + 1 :]
    if len(inside) == 1 or _SUBAGENTS in inside[1:3]:
        folder, root = inside[0], str(Path(*above[:top]))
        if len(inside) > 1:
            is_agent = True
            session = inside[1] if inside[1] != _SUBAGENTS else None
    return SessionFile(
        whole,
        name.removesuffix(_ENDING),
        folder,
        status.st_size,
        status.st_mtime_ns,
        status.st_ino,
        status.st_dev,
        root,
        is_agent,
        session,
    )
