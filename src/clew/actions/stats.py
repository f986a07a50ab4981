"""Count what a session is made of, or every session: entry types, versions, blocks, calls, damage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from clew.actions.glances import glance
from clew.actions.listing import CONVERSATIONS
from clew.actions.opening import agent_files, find_file
from clew.actions.passes import Pass, sweep
from clew.errors import ClewError, UnreadableError
from clew.format.records import Fragment
from clew.session.inventory import Counts, Inventory, total
from clew.store.files import Skipped
from clew.store.heads import group_agents
from clew.store.live import liveness, running

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew.session.fold import SessionKind as Kind
    from clew.store.files import SessionFile, Store


@dataclass(frozen=True, slots=True)
class Counted:
    """The inventory of one session: its own file, and its sub-agents' where they were asked for."""

    id: str
    path: str
    files: int
    counts: Counts
    kind: Kind
    """What its first lines say it is."""

    def as_dict(self) -> dict[str, object]:
        """Return the inventory in the shape of `clew stats --json`."""
        return {
            "id": self.id,
            "path": self.path,
            "kind": self.kind,
            "files": self.files,
            **self.counts.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class Stats:
    """The inventory of one or more sessions, newest first."""

    sessions: tuple[Counted, ...]
    total: Counts
    skipped: tuple[Skipped, ...]
    was_cut: tuple[str, ...]
    looked_in: tuple[str, ...]

    @property
    def files(self) -> int:
        """How many files were counted."""
        return sum(session.files for session in self.sessions)

    @property
    def conversations(self) -> int:
        """How many of the sessions hold a conversation, as `clew ls` counts them."""
        return sum(session.kind in CONVERSATIONS for session in self.sessions)

    @property
    def is_damaged(self) -> bool:
        """Whether something could not be read as it should."""
        return bool(self.total.damaged or self.was_cut)

    def as_dict(self) -> dict[str, object]:
        """Return all of them in the shape of `clew stats --json` without a session."""
        return {
            "sessions": [session.as_dict() for session in self.sessions],
            "total": {"files": self.files, **self.total.as_dict()},
        }


@dataclass(frozen=True, slots=True)
class FileCounts:
    """The inventory of one file."""

    path: str
    counts: Counts
    is_unfinished: bool
    was_cut: bool
    kind: Kind


def count_file(file: SessionFile) -> FileCounts | Skipped:
    """Go through one file and count."""
    inventory = Inventory()
    last = None
    try:
        one = Pass(file.path)
        for last in one.items():
            inventory.add(last)
    except ClewError as error:
        return Skipped(file.path, error.message)
    is_unfinished = isinstance(last, Fragment) and last.is_last
    look = glance(file)
    kind = "empty" if isinstance(look, Skipped) else look.alone.kind
    return FileCounts(file.path, inventory.result(one.extent), is_unfinished, one.was_cut, kind)


def stats(
    store: Store,
    name: str | None = None,
    *,
    agents: bool = False,
    now: float,
    jobs: int | None = None,
    start: Callable[[int], Callable[[], None]] | None = None,
) -> Stats:
    """Count the session that `name` names, or every one; `agents` adds the sub-agents to their sessions."""
    listing = store.listing()
    groups: Mapping[str, Sequence[SessionFile]]
    if name is not None:
        session = find_file(store, name, listing=listing)
        sessions = [session]
        groups = {session.path: agent_files(store, session, listing=listing) if agents else ()}
    else:
        sessions = listing.newest()
        found = group_agents(listing) if agents else None
        groups = {file.path: found.of(file) if found else () for file in sessions}
    files = [file for session in sessions for file in (session, *groups[session.path])]
    results = sweep(count_file, files, jobs=jobs, advance=None if start is None else start(len(files)))
    if name is not None and isinstance(results[0], Skipped):
        raise UnreadableError(results[0].path, results[0].reason)
    processes = running(store.roots.found)
    counted = {result.path: result for result in results if isinstance(result, FileCounts)}
    by_file = {
        file.path: _unless_live(file, counted[file.path], now=now, processes=processes)
        for file in files
        if file.path in counted
    }
    rows: list[Counted] = []
    for session in sessions:
        if session.path in counted:
            own = [by_file[file.path] for file in (session, *groups[session.path]) if file.path in by_file]
            rows.append(Counted(session.id, session.path, len(own), total(own), counted[session.path].kind))
    return Stats(
        tuple(rows),
        total(row.counts for row in rows),
        (*(listing.skipped if name is None else ()), *(one for one in results if isinstance(one, Skipped))),
        tuple(result.path for result in counted.values() if result.was_cut),
        store.roots.looked_in,
    )


def _unless_live(file: SessionFile, found: FileCounts, *, now: float, processes: Mapping[str, int]) -> Counts:
    # The unfinished end of a live session is being written, not damaged.
    if found.is_unfinished and liveness(file, now=now, processes=processes).is_live:
        return structs.replace(found.counts, damaged=found.counts.damaged - 1)
    return found.counts
