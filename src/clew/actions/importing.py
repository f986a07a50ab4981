"""Take a session out of a bundle and put it where the client finds it on this machine.

Everything is laid out and looked at first. Then it is written as the new session of any edit is: the files
beside it first, its own last, with the journal, so that `clew undo` takes it back. Nothing is written over.
"""

from __future__ import annotations

import os
from functools import partial
from hashlib import sha256
from operator import add
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from clew.actions.import_outcomes import Imported
from clew.edit.clone import Agent, clone
from clew.edit.ids import sorted_after
from clew.edit.mapping import Folders, first_folder, map_folders
from clew.edit.plan import Counts, FilePlan
from clew.edit.woven import Result
from clew.errors import RefusedError, UsageError
from clew.store.archive_restore import is_there
from clew.store.bundle import unpack
from clew.store.cleanup import period
from clew.store.commit import Job, NewFile, commit, copied
from clew.store.journal import recover
from clew.store.locks import hold
from clew.store.reader import open_session
from clew.store.slugs import folder_name
from clew.store.source import FileSource
from clew.store.stage import staging

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clew.actions.editing import Pieces, Wish
    from clew.session.session import Session
    from clew.store.archive_manifest import ArchivedFile
    from clew.store.bundle_manifest import BundleManifest
    from clew.store.files import Store
    from clew.store.stage import Stage

_DAY_NS: Final = 86_400 * 1_000_000_000
_LINES: Final = frozenset({"session", "agent"})


class Landing(NamedTuple):
    """Where a session is to go."""

    to: str | None = None
    """The folder of its project on this machine; None for the one it had."""

    folders: tuple[tuple[str, str], ...] = ()
    """Other folders that are elsewhere here: the old and the new one of each."""

    as_new: bool = False
    """Whether it is to be a session of its own, under a new id."""


def import_bundle(
    store: Store,
    path: str,
    wish: Wish,
    *,
    landing: Landing = Landing(),  # noqa: B008  # a value
    seed: bytes,
    read: Callable[[int], bytes] | None = None,
) -> Imported:
    """Import the bundle at a path, or the one that `read` gives, into the first config folder of a store.

    `seed` makes the ids of the lines if it is to be a new session. `wish.force` takes a bundle that grows
    beyond all measure.
    """
    if not wish.is_dry:
        recover(wish.state)
    root = _root(store)
    with staging(wish.state) as stage:
        if read is not None:
            about = unpack(read, stage, path=path, unlimited=wish.force)
        else:
            with FileSource(path) as source:
                about = unpack(_reader(source), stage, path=path, unlimited=wish.force)
        work = _Work(about, stage, root, wish, landing, seed)
        outcome = work.outcome(path)
        if not work.new or wish.is_dry:
            return outcome
        with hold(work.target, state=wish.state):
            job = Job(wish.command, work.target, work.target, new=tuple(work.new))
            return outcome._replace(done=commit(job, state=wish.state, now_ms=wish.now_ms))


def _root(store: Store) -> str:
    """Return the config folder that a session goes into: the only one, or the first of the user's own."""
    found = store.roots.found or store.roots.looked_in
    if not found:
        raise UsageError("there is no config folder to import into", hint="name one with --root")
    return found[0]


def _reader(source: FileSource) -> Callable[[int], bytes]:
    at = 0

    def read(most: int) -> bytes:
        nonlocal at
        data = source.read(at, most)
        at += len(data)
        return data

    return read


class _Work:
    """An import worked out: what would be written, and what is there already."""

    def __init__(
        self, about: BundleManifest, stage: Stage, root: str, wish: Wish, landing: Landing, seed: bytes
    ) -> None:
        self._about, self._stage, self._root = about, stage, root
        self._wish, self._landing, self._seed = wish, landing, seed
        self._manifest = about.manifest
        self._main = open_session(stage.path(self._manifest.main.place))
        self._old = first_folder(self._main)
        self._folders = Folders(self._pairs())
        self._days = period(root).days
        self.cwd = self._place()
        self.folder = self._folder()
        self.notes: list[str] = []
        self.new: list[NewFile] = []
        self.there: list[str] = []
        self._counts = Counts()
        self._plan()

    def _pairs(self) -> list[tuple[str, str]]:
        pairs = [(old, _absolute(new)) for old, new in self._landing.folders]
        if self._landing.to is not None and self._old is not None:
            pairs = [(old, new) for old, new in pairs if old != self._old]
            pairs.append((self._old, _absolute(self._landing.to)))
        return pairs

    def _place(self) -> str | None:
        """Return the folder of its project on this machine, if it tells of one."""
        if self._landing.to is not None:
            return _absolute(self._landing.to)
        return self._old and (self._folders.mapped(self._old) or self._old)

    def _folder(self) -> str:
        """Return the name of the project folder it goes into: the one it had if nothing is mapped."""
        if self.cwd is None or (self.cwd == self._old and self._landing.to is None):
            return self._manifest.folder
        return folder_name(self.cwd)

    @property
    def id(self) -> str:
        """What the session is to be called."""
        old = self._manifest.session
        return sorted_after(self._wish.new_id, old) if self._landing.as_new else old

    @property
    def target(self) -> str:
        """Its own file."""
        return self._path(f"projects/{self.folder}/{self.id}.jsonl")

    def outcome(self, path: str) -> Imported:
        """Return what came of it, as long as nothing is written."""
        notes = [*self.notes]
        if self._landing.folders and not self._landing.as_new and not self._counts.patched:
            notes.append("No line tells of a folder that is said to be elsewhere.")
        if self.cwd is not None and not os.path.isdir(self.cwd):  # noqa: PTH112
            notes.append(f"There is no folder {self.cwd} here; --to DIR lets it belong to one that is.")
        return Imported(
            path,
            self._about,
            self.id,
            self.target,
            self.cwd,
            self._counts,
            tuple(file.target for file in self.new),
            tuple(self.there),
            None,
            tuple(notes),
        )

    # --- what is written ------------------------------------------------------------------------------------

    def _plan(self) -> None:
        """Find out what becomes of each file."""
        contents = self._cloned() if self._landing.as_new else self._mapped()
        is_aged = False
        for file in self._manifest.files:
            place, pieces = self._target(file.place), contents.get(file.place)
            pieces = pieces or copied(self._stage.path(file.place))
            if is_there(self._root, place, partial(_measured, pieces), trusted=1, hint=_AS_NEW):
                self.there.append(self._path(place))
                continue
            time = self._time(file)
            is_aged |= time is None
            self.new.append(NewFile(self._path(place), pieces, (file.mode & 0o755) | 0o600, time))
        if any(file.target == self.target for file in self.new):
            self._refuse_elsewhere()
        if is_aged and not self._landing.as_new:
            self.notes.append(_OLD)

    def _mapped(self) -> dict[str, Pieces]:
        """Return what becomes of the files that have lines, if it is not what they were."""
        found: dict[str, Pieces] = {}
        for file in self._manifest.files:
            if file.kind not in _LINES:
                continue
            plan = self._plan_of(file)
            counts = plan.counts()
            self._counts = Counts(*map(add, self._counts, counts))
            if counts.patched:
                found[file.place] = partial(self._pieces, file)
            if plan.session is not self._main:
                _close(plan.session)  # there may be more of them than files can be open
        return found

    def _plan_of(self, file: ArchivedFile) -> FilePlan:
        is_main = file is self._manifest.main
        session = self._main if is_main else open_session(self._stage.path(file.place))
        if not self._folders.pairs:
            return FilePlan(session, file.place)
        return map_folders(session, self._folders, file.place)

    def _pieces(self, file: ArchivedFile) -> Iterator[bytes]:
        plan = self._plan_of(file)
        yield from plan.pieces()
        if plan.session is not self._main:
            _close(plan.session)

    def _cloned(self) -> dict[str, Pieces]:
        """Return the files that have lines as those of a new session."""
        plans = {file.place: self._plan_of(file) for file in self._manifest.files if file.kind in _LINES}
        # What is mapped is read before it is written: the new ids are given on top of it.
        made = {
            place: Result(plan).session if self._folders.pairs else plan.session
            for place, plan in plans.items()
        }
        main = made[self._manifest.main.place]
        agents = [Agent(_stem(place), session) for place, session in made.items() if session is not main]
        plan = clone(main, new_id=self.id, seed=self._seed, agents=agents)
        self._counts = plan.counts()
        return {place: new.pieces for place, new in zip(made, plan.files, strict=True)}

    def _path(self, place: str) -> str:
        return os.path.join(self._root, *place.split("/"))  # noqa: PTH118

    def _target(self, place: str) -> str:
        """Return where a file goes below the config folder of this machine."""
        project = f"projects/{self._manifest.folder}/"
        if place.startswith(project):
            place = f"projects/{self.folder}/{place[len(project) :]}"
        return self._renamed(place) if self._landing.as_new else place

    def _renamed(self, place: str) -> str:
        """Return where a file of the session goes when that has another id."""
        old, new, project = self._manifest.session, self.id, f"projects/{self.folder}/"
        if place.startswith("todos/"):
            return place.replace(old, new)  # the session's own list is called by its id twice
        for start in (project, "file-history/", "tasks/"):
            if place.startswith((f"{start}{old}/", f"{start}{old}.jsonl")):
                return start + new + place[len(start) + len(old) :]
        # Sub-agents that lay beside it go into its own folder, or they would be taken for the old one's.
        return f"{project}{new}/subagents/{place.rpartition('/')[2]}"

    def _time(self, file: ArchivedFile) -> int | None:
        """Return when a file was last written; None for now, if the client would delete it as it is."""
        now = self._wish.now_ms * 1_000_000
        is_old = self._days is not None and file.mtime_ns < now - (self._days - 1) * _DAY_NS
        return None if is_old or self._landing.as_new else min(file.mtime_ns, now)

    def _refuse_elsewhere(self) -> None:
        """Refuse if a session of that id is in another project: the client would not know which."""
        for path in _others(self._root, f"{self.id}.jsonl"):
            if path != self.target:
                raise RefusedError(f"the session {self.id} is there already, in {path}", hint=_AS_NEW)


_AS_NEW: Final = "--as-new makes it a session of its own, under a new id"
_OLD: Final = (
    "What is older than the client keeps has the time of now, or the client would delete it at once."
)


def _absolute(folder: str) -> str:
    """Return a folder of this machine by its whole name, as the client would call it."""
    return os.path.realpath(os.path.expanduser(folder))  # noqa: PTH111


def _stem(place: str) -> str:
    return place.rpartition("/")[2].removesuffix(".jsonl")


def _others(root: str, name: str) -> Iterator[str]:
    projects = os.path.join(root, "projects")  # noqa: PTH118
    try:
        folders = sorted(os.listdir(projects))  # noqa: PTH208
    except OSError:
        return
    for folder in folders:
        path = os.path.join(projects, folder, name)  # noqa: PTH118
        if os.path.lexists(path):
            yield path


def _measured(pieces: Pieces) -> tuple[int, str]:
    """Return the size and the sha256 of what is to be written."""
    size, whole = 0, sha256()
    for piece in pieces():
        size += len(piece)
        whole.update(piece)
    return size, whole.hexdigest()


def _close(session: Session) -> None:
    source: Any = session.source
    source.close()
