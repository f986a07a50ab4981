"""A session with everything that belongs to it, opened to be edited; and where all of it goes when copied."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from clew.actions.opening import agent_files, find_file
from clew.edit.ids import sorted_after
from clew.errors import UnknownSessionError, UnreadableError
from clew.store.reader import open_session
from clew.store.sides import side_files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew.session.session import Session
    from clew.store.files import SessionFile, Skipped, Store
    from clew.store.sides import SideFile


class Footprint(NamedTuple):
    """A session's own file, its sub-agents' and what lies beside them."""

    file: SessionFile
    session: Session
    agents: tuple[tuple[SessionFile, Session], ...]
    sides: tuple[SideFile, ...]
    skipped: tuple[Skipped, ...]

    @property
    def folder(self) -> str:
        """The project folder."""
        return os.path.dirname(self.file.path)  # noqa: PTH120


def open_footprint(store: Store, name: str, *, whole_lines: bool = False) -> Footprint:
    """Open the session that a name stands for, with all that belongs to it.

    What cannot be read is an error: it would be missing from what is made of the session. `whole_lines`
    leaves out last lines that have no end yet.
    """
    listing = store.listing()
    try:
        file = find_file(store, name, listing=listing)
    except UnknownSessionError:
        insist(listing.skipped)  # it may be in what cannot be read
        raise
    agents = agent_files(store, file, listing=listing)
    folder = os.path.dirname(file.path)  # noqa: PTH120
    own = file.path.removesuffix(".jsonl")
    insist(one for one in listing.skipped if one.path in {folder, own} or one.path.startswith(own + os.sep))
    # First the session, then what its lines speak of: that is written before them.
    session = open_session(file.path, whole_lines=whole_lines)
    sides: dict[str, SideFile] = {}
    skipped: list[Skipped] = []
    for one in (file, *agents):
        found = side_files(one)
        sides |= {side.path: side for side in found.files}
        skipped += found.skipped
    insist(skipped)
    return Footprint(
        file,
        session,
        tuple((agent, open_session(agent.path, whole_lines=whole_lines)) for agent in agents),
        tuple(sides.values()),
        tuple(skipped),
    )


def insist(skipped: Iterable[Skipped]) -> None:
    """Raise an error for what could not be read; links, pipes and the like are no part of a session."""
    for one in skipped:
        try:
            mode = os.lstat(one.path).st_mode
        except FileNotFoundError:
            continue  # gone meanwhile
        except OSError:
            mode = 0
        if not mode or stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            raise UnreadableError(one.path, one.reason)


class Destination(NamedTuple):
    """Where a new session goes."""

    folder: str
    """The project folder."""

    id: str
    root: str | None
    """The config folder."""

    @classmethod
    def beside(cls, footprint: Footprint, new_id: str) -> Destination:
        """Return the place beside a session."""
        return cls(footprint.folder, sorted_after(new_id, footprint.file.id), footprint.file.root)

    @property
    def path(self) -> str:
        """The session's own file."""
        return os.path.join(self.folder, f"{self.id}.jsonl")  # noqa: PTH118

    def agent(self, agent: SessionFile) -> str:
        """Return where a sub-agent's file goes: always into the session's own folder."""
        return os.path.join(self.folder, self.id, "subagents", f"{agent.id}.jsonl")  # noqa: PTH118

    def side(self, footprint: Footprint, path: str) -> str | None:
        """Return where a side file goes; None if it has no place in a new session."""
        old = footprint.file.id
        inside = _below(path, os.path.join(footprint.folder, old))  # noqa: PTH118
        if inside is not None:
            return os.path.join(self.folder, self.id, inside)  # noqa: PTH118
        for agent, _ in footprint.agents:
            if path == f"{agent.path.removesuffix('.jsonl')}.meta.json":
                return self.agent(agent).removesuffix(".jsonl") + ".meta.json"
        if footprint.file.root is None or self.root is None:
            return None
        for name in ("file-history", "tasks"):
            inside = _below(path, os.path.join(footprint.file.root, name, old))  # noqa: PTH118
            if inside is not None:
                return os.path.join(self.root, name, self.id, inside)  # noqa: PTH118
        inside = _below(path, os.path.join(footprint.file.root, "todos"))  # noqa: PTH118
        if inside is not None and inside.startswith(f"{old}-agent-"):
            # The session's own list is called by its id twice.
            return os.path.join(self.root, "todos", inside.replace(old, self.id))  # noqa: PTH118
        return None


def _below(path: str, folder: str) -> str | None:
    start = folder + os.sep
    return path[len(start) :] if path.startswith(start) else None
