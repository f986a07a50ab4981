"""Everything that belongs to a session, with the place of each file below the folder that holds them all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import ChangedOnDiskError, UnreadableError
from clew.store.archive_manifest import is_safe
from clew.store.files import SessionFile, Skipped, Store
from clew.store.heads import group_agents
from clew.store.live import liveness
from clew.store.sides import side_files
from clew.store.source import FileSource, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from clew.store.archive_manifest import Kind
    from clew.store.files import Listing

_STEP: Final = 1 << 20
_NO_SESSIONS: Final = frozenset({"memory", "subagents"})
"""Folders of a project that are not called by a session."""


class Part(NamedTuple):
    """One file of a footprint."""

    place: str
    path: str
    kind: Kind
    session: SessionFile | None = None
    """The file itself, if it is one that the client appends lines to."""


class Footprint(NamedTuple):
    """A session and how to find what belongs to it, when that is asked for."""

    file: SessionFile
    base: str
    main: Part | None
    """The session's own file; None if only others are left of it."""

    agents: Callable[[], Sequence[SessionFile]]

    @classmethod
    def of(cls, file: SessionFile, agents: Sequence[SessionFile] = ()) -> Self:
        """Return the footprint of a session with the given sub-agents; those of a live one are looked up."""
        base = file.root or os.path.dirname(file.path)  # noqa: PTH120
        kind: Kind = "agent" if file.is_agent else "session"
        main = Part(_place(file.path, base), file.path, kind, file)
        return cls(file, base, main, lambda: agents)

    def looked_up(self) -> Self:
        """Return it with sub-agents that are looked for anew when they are asked for."""
        file = self.file
        if file.root is None or file.is_agent:
            return self
        root = file.root
        return self._replace(agents=lambda: group_agents(Store.at([root]).listing()).of(file))

    def others(self) -> tuple[list[Part], list[Skipped]]:
        """Return what there is beside the session's own file: sub-agents, then side files."""
        parts: dict[str, Part] = {}
        skipped: list[Skipped] = []
        agents = self.agents()
        for agent in agents:
            parts[agent.path] = Part(_place(agent.path, self.base), agent.path, "agent", agent)
        for file in (self.file, *agents):
            found = side_files(file)
            skipped += found.skipped
            for side in found.files:
                parts.setdefault(side.path, Part(_place(side.path, self.base), side.path, side.kind))
        for path, part in list(parts.items()):
            if not is_safe(part.place):
                skipped.append(Skipped(path, "it is not below the folder of its session"))
                del parts[path]
        return sorted(parts.values(), key=lambda part: part.place), skipped


def remains(store: Store, listing: Listing) -> list[Footprint]:
    """Return what is left in folders of sessions whose own file is gone."""
    sessions = {(file.root, file.folder, file.id) for file in listing.sessions}
    agents = group_agents(listing)
    found: list[Footprint] = []
    for root in store.roots.found:
        for project in _folders(os.path.join(root, "projects")):  # noqa: PTH118
            for folder in _folders(project.path):
                if folder.name in _NO_SESSIONS or (root, project.name, folder.name) in sessions:
                    continue
                own = f"{folder.path}.jsonl"
                file = SessionFile(own, folder.name, project.name, 0, _time(folder), 0, 0, root)
                left = Footprint.of(file, agents.of(file))._replace(main=None)
                if left.others()[0]:
                    found.append(left)
    return found


def _folders(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            found = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:  # told by the listing already
        return []
    return sorted((entry for entry in found if entry.name[:1] != "."), key=lambda entry: entry.name)


def _time(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


def _place(path: str, base: str) -> str:
    return os.path.relpath(path, base).replace(os.sep, "/")


class Opened:
    """A part as it was when it was opened: of a session that is being written, the whole lines."""

    def __init__(self, part: Part, *, now: float) -> None:
        try:
            self.mode = os.stat(part.path).st_mode & 0o777  # noqa: PTH116
        except (OSError, ValueError) as error:
            raise UnreadableError(part.path, reason(error)) from error
        self.source = FileSource(part.path)
        self.size = self.source.size
        try:
            if part.session is not None and self._is_unfinished(part.session, now):
                self.size = self._whole_lines()
        except BaseException:
            self.source.close()
            raise

    def pieces(self) -> Iterator[bytes]:
        """Give its bytes; raise `ChangedOnDiskError` if they are not of one file."""
        for at in range(0, self.size, _STEP):
            yield self.source.read(at, min(_STEP, self.size - at))
        if self.source.change() is not None:
            raise ChangedOnDiskError(self.source.path)

    def _is_unfinished(self, file: SessionFile, now: float) -> bool:
        size = self.source.size
        if not size or self.source.read(size - 1, 1) == b"\n":
            return False
        # Asked only here: a last line that nobody will finish is kept as it is.
        return liveness(file, now=now).is_live

    def _whole_lines(self) -> int:
        end = self.size
        while end:
            start = max(0, end - _STEP)
            found = self.source.read(start, end - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end = start
        return 0
