"""Export many sessions into a folder, a file each: again only what changed since.

A session that cannot be read costs only itself. What is no more stays in the folder and is marked in its
index. Files that somebody else wrote there, or changed, are left alone unless they are to go.
"""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

import clew
from clew.actions.export_manifest import NAME, Entry, Manifest, source_name
from clew.actions.exporting import check
from clew.actions.exporting_team import Missed, Order, Source, make_all, processes
from clew.actions.opening import AgentFiles
from clew.errors import ClewError, RefusedError
from clew.export.file_names import file_name
from clew.export.listed import Listed
from clew.store.outputs import (
    Digested,
    digest_of,
    give_up,
    is_there,
    make_output_folder,
    size_of,
    take_over,
    write_output,
)
from clew.store.sides import side_files
from clew.store.source import reason
from clew.store.writer import NotWrittenError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from clew.actions.exporting import Wish
    from clew.actions.exporting_team import Made
    from clew.export.registry import Index
    from clew.store.files import Listing, SessionFile, Store
    from clew.view.parts import Head


@dataclass(frozen=True, slots=True)
class Failure:
    """A session that was not exported."""

    session: str
    path: str
    reason: str


@dataclass(slots=True)
class Folder:
    """What became of a folder."""

    path: str
    written: list[Entry] = field(default_factory=list["Entry"])
    unchanged: list[Entry] = field(default_factory=list["Entry"])
    failed: list[Failure] = field(default_factory=list["Failure"])
    damaged: int = 0
    """Sessions of whose files some could not be read."""

    gone: int = 0
    """Exports whose sessions are no more."""

    index: str | None = None
    """The file that lists all."""

    @property
    def is_whole(self) -> bool:
        """Whether all was exported, and nothing was damaged."""
        return not self.failed and not self.damaged

    def as_dict(self) -> dict[str, object]:
        """Return it for programs."""
        return {
            "folder": self.path,
            "written": [entry.as_dict() for entry in self.written],
            "unchanged": len(self.unchanged),
            "gone": self.gone,
            "failed": [
                {"session": one.session, "path": one.path, "reason": one.reason} for one in self.failed
            ],
            "index": self.index,
        }


def export_folder(
    store: Store,
    files: Sequence[SessionFile],
    wish: Wish,
    folder: str,
    *,
    listing: Listing,
    force: bool = False,
    jobs: int | None = 1,
    advance: Callable[[], None] | None = None,
) -> Folder:
    """Export sessions into a folder; `advance` is called after each.

    `jobs` says how many processes make them, None as many as pay; the folder is the same.
    """
    check(wish)
    if not files and not is_there(os.path.join(folder, NAME)):  # noqa: PTH118
        return Folder(os.path.abspath(folder))  # noqa: PTH100  # nothing came of it, so nothing is written
    where = make_output_folder(folder)
    manifest = Manifest.read(where)
    result = Folder(where)
    agents = AgentFiles(store, listing)
    work = _Work(wish, manifest, agents, force, result)
    tell = advance or (lambda: None)
    try:
        wanted: list[_Wanted] = []
        for file in files:
            found: _Wanted | None = None
            with work.alone(file):
                found = work.look(file)
            if found is None:
                tell()
            else:
                wanted.append(found)
        order = Order(wish, where, os.getpid())
        todo = [Source(one.file, agents.of(one.file)) for one in wanted]
        many = processes([one.file for one in wanted], wish, jobs)
        with closing(make_all(order, todo, jobs=many)) as made:
            for one, done in zip(wanted, made, strict=True):
                with work.alone(one.file):
                    work.keep(one, done)
                tell()
        present = {source_name(one.path) for one in (*listing.sessions, *listing.agents)}
        result.gone = sum(entry.source not in present for entry in manifest.of(wish.exporter.name))
        if wish.exporter.index is not None:
            result.index = work.index(wish.exporter.index, present)
    finally:
        manifest.save()
    return result


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A session that is to be exported."""

    file: SessionFile
    known: Entry | None
    stamp: str


class _Work:
    """Knows what is in the folder, and puts there what was made."""

    def __init__(
        self, wish: Wish, manifest: Manifest, agents: AgentFiles, force: bool, result: Folder
    ) -> None:
        self._wish = wish
        self._manifest = manifest
        self._agents = agents
        self._force = force
        self._result = result

    @contextmanager
    def alone(self, file: SessionFile) -> Generator[None]:
        """Let what goes wrong with a session cost only that one."""
        try:
            yield
        except NotWrittenError:
            raise  # the disk is full or the folder gone: so it would be for all
        except ClewError as error:
            self._result.failed.append(Failure(file.id, file.path, error.message))
        except OSError as error:
            self._result.failed.append(Failure(file.id, file.path, reason(error)))
        except Exception as error:  # one session must never stop the others
            told = f"{type(error).__name__}: {error}"
            self._result.failed.append(Failure(file.id, file.path, told))

    def look(self, file: SessionFile) -> _Wanted | None:
        """Return what is to be made of a session if it changed since it was exported last."""
        known = self._manifest.find(file.path, self._wish.exporter.name)
        stamp = self._stamp(file)
        if known is not None:
            if known.stamp == stamp and size_of(self._path(known.name)) == known.size:
                self._result.unchanged.append(known)
                self._result.damaged += known.is_damaged
                return None
            self._may_replace(known.name, known)  # said before it is made, which may take long
        return _Wanted(file, known, stamp)

    def keep(self, wanted: _Wanted, made: Made | Missed) -> None:
        """Give what was made of a session its name."""
        file, format_ = wanted.file, self._wish.exporter.name
        if isinstance(made, Missed):
            if made.unwritten is not None:
                raise NotWrittenError(made.unwritten, made.reason)
            self._result.failed.append(Failure(file.id, file.path, made.reason))
            return
        try:
            name = wanted.known.name if wanted.known is not None else self._free_name(made.head)
            may_replace = self._may_replace(name, wanted.known)
            # Noted before it is there: should this process be killed, the next one knows the file for ours.
            self._manifest.plan(name, source_name(file.path), format_)
        except BaseException:
            give_up(made.temporary)
            raise
        # The names are on the disk when the manifest is, which is written when all are there.
        take_over(made.temporary, self._path(name), replace=may_replace, settles=False)
        entry = Entry(
            name,
            source_name(file.path),
            format_,
            wanted.stamp,
            made.size,
            made.digest,
            head=made.head,
            redacted=made.redacted,
            is_redacted=self._wish.key is not None,
            is_damaged=made.is_damaged,
            left=made.left,
        )
        self._manifest.put(entry)
        self._result.written.append(entry)
        self._result.damaged += entry.is_damaged

    def _path(self, name: str) -> str:
        return os.path.join(self._result.path, name)  # noqa: PTH118

    def _free_name(self, head: Head) -> str:
        """Return a name that no other session has here, however alike their titles and ids are."""
        suffix = self._wish.exporter.suffix
        name, number = file_name(head, suffix), 1
        while self._manifest.is_taken(name):
            number += 1
            name = f"{file_name(head, '')}-{number}{suffix}"
        return name

    def _may_replace(self, name: str, known: Entry | None) -> bool:
        path = self._path(name)
        if not is_there(path):
            return False
        if self._force or self._manifest.is_planned(name):
            return True
        if known is None:
            raise RefusedError(f"{name} is there already, and clew did not write it")
        if size_of(path) != known.size or digest_of(path) != known.digest:
            raise RefusedError(f"{name} was changed since clew wrote it")
        return True

    def _stamp(self, file: SessionFile) -> str:
        """Return what an export depends on, in short: if that is as it was, so is the export."""
        wish = self._wish
        parts: list[object] = [clew.__version__, wish.exporter.name, wish.options, wish.chosen]
        for one in (file, *self._agents.of(file)):
            parts.append((one.path, one.size, one.mtime_ns, one.inode))
            if wish.key is not None:
                # What is found beside a session is taken out of it, too.
                parts += [(side.path, side.size, side.mtime_ns) for side in side_files(one).files]
        if wish.key is not None:
            parts += [blake2b(wish.key, digest_size=8).hexdigest(), wish.patterns]
        return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=16).hexdigest()

    def index(self, index: Index, present: set[str]) -> str:
        """Write the list of all that is in the folder."""
        listed = [
            Listed(entry.name, entry.head, entry.redacted, entry.is_redacted, entry.source not in present)
            for entry in self._manifest.of(self._wish.exporter.name)
            if entry.head is not None
        ]
        listed.sort(key=lambda one: (-(one.head.ended or one.head.started or 0), one.name))
        path = self._path(index.name)
        is_ours = self._force or self._manifest.is_planned(index.name) or not is_there(path)
        if not is_ours:
            known = self._manifest.named(index.name)
            is_ours = known is not None and size_of(path) == known.size and digest_of(path) == known.digest
        if not is_ours:
            raise RefusedError(f"{index.name} is there already, and clew did not write it")
        self._manifest.plan(index.name, "", "")
        page = Digested(index.write(listed, version=clew.__version__))
        written = write_output(path, page, replace=True)
        self._manifest.put(Entry(index.name, "", "", "", written.size, page.digest))
        return path
