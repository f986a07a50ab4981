"""Archive sessions: put them aside, list what was put aside, put it back, and see that all of it is well."""

from __future__ import annotations

import difflib
import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from clew.actions.glances import Glance, glance, glances, told_elsewhere
from clew.actions.opening import agent_files, find_file
from clew.errors import AmbiguousSessionError, ClewError, RefusedError, UnknownSessionError, UsageError
from clew.format.times import iso
from clew.store.archive import Archive, Snapshot, Told, archive_folder, stored_bytes
from clew.store.archive_footprint import Footprint, remains
from clew.store.archive_restore import restore
from clew.store.cleanup import doomed
from clew.store.disk import DISK
from clew.store.files import Skipped, Store
from clew.store.heads import group_agents
from clew.store.names import SHORTEST
from clew.store.signs import signs_of_life
from clew.store.writer import NotWrittenError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from clew.store.archive import Added, Verified
    from clew.store.archive_packs import Damage
    from clew.store.archive_restore import Restored
    from clew.store.cleanup import Doomed
    from clew.store.disk import Disk
    from clew.store.files import Listing, SessionFile

MTIME_NOTE: Final = "The time of what was put back is now, or the client would delete it again at once."


class Put(NamedTuple):
    """What came of adding sessions to an archive."""

    archive: str
    added: tuple[Added, ...]
    skipped: tuple[Skipped, ...]
    """What could not be read, and so is in no snapshot."""

    bytes_written: int
    is_lasting: bool
    """Whether the disk has confirmed all of it."""

    @property
    def new(self) -> tuple[Added, ...]:
        """The sessions that were not there as they are."""
        return tuple(one for one in self.added if one.is_new)

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of `clew archive add --json`."""
        return {
            "archive": self.archive,
            "sessions": [
                _snapshot_document(one.snapshot)
                | {"path": one.footprint.file.path, "new": one.is_new, "new_bytes": one.new_bytes}
                for one in self.added
            ],
            "bytes_written": self.bytes_written,
            "durable": self.is_lasting,
            "skipped": [{"path": one.path, "reason": one.reason} for one in self.skipped],
        }


def add_sessions(
    store: Store,
    names: Sequence[str] = (),
    *,
    now_ms: int,
    everything: bool = False,
    archive: Path | None = None,
    disk: Disk = DISK,
    advance: Callable[[], None] | None = None,
) -> Put:
    """Put sessions aside with all that belongs to them: those named, or `everything` there is.

    Of a session that somebody writes, the whole lines that are there now. What is in the archive already
    as it is, is not written again. `advance` is called after each session.
    """
    place = _archive(archive, store, disk)
    listing = store.listing()
    footprints = _everything(store, listing) if everything else _named(store, names, listing)
    told = _told(footprints, listing, everything=everything)
    is_live = signs_of_life(store, now=now_ms / 1000)
    added: list[Added] = []
    skipped = [*listing.skipped] if everything else []
    with place.adding(now_ms=now_ms) as adding:
        for footprint in footprints:
            file = footprint.file
            if is_live(file):
                footprint = footprint.looked_up()
            try:
                one = adding.add(footprint, told(file))
            except NotWrittenError:
                raise
            except ClewError as error:
                if not everything:
                    raise
                skipped.append(Skipped(file.path, error.message))
            else:
                added.append(one)
                skipped += one.skipped
            if advance is not None:
                advance()
    return Put(place.path, tuple(added), tuple(skipped), adding.written, adding.is_lasting)


def _archive(path: Path | None, store: Store | None, disk: Disk = DISK) -> Archive:
    archive = Archive(archive_folder() if path is None else path, disk=disk)
    real = os.path.realpath(archive.path)
    for root in () if store is None else store.roots.found:
        if os.path.commonpath([real, os.path.realpath(root)]) == os.path.realpath(root):
            raise UsageError(
                f"{archive.path} is inside {root}, where the client deletes",
                hint="an archive belongs somewhere else",
            )
    return archive


def _everything(store: Store, listing: Listing) -> list[Footprint]:
    """Return all sessions, and what is left of those that are gone, the oldest first: they go first."""
    agents = group_agents(listing)
    found = [Footprint.of(file, agents.of(file)) for file in listing.sessions]
    found += remains(store, listing)
    owned = {agent.path for one in found for agent in one.agents()}
    found += [Footprint.of(agent) for agent in listing.agents if agent.path not in owned]
    return sorted(found, key=lambda one: (one.file.mtime_ns, one.file.path))


def _named(store: Store, names: Sequence[str], listing: Listing) -> list[Footprint]:
    if not names:
        raise UsageError("no session is named", hint="name some, or ask for all of them")
    files = [find_file(store, name, listing=listing) for name in names]
    return [
        Footprint.of(file, agent_files(store, file, listing=listing))
        for file in {file.path: file for file in files}.values()
    ]


def _told(
    footprints: Sequence[Footprint], listing: Listing, *, everything: bool
) -> Callable[[SessionFile], Told | None]:
    """Return what tells what a session is called: with all files looked at, by what others say of it too."""
    seen = glances(listing.sessions) if everything else (glance(one.file) for one in footprints)
    by_path = {one.file.path: one for one in seen if isinstance(one, Glance)}
    summaries = told_elsewhere(list(by_path.values()))

    def told(file: SessionFile) -> Told | None:
        one = by_path.get(file.path)
        if one is None:
            return None
        facts = one.facts(summaries)
        return Told(facts.cwd, facts.title, iso(facts.started), iso(facts.ended))

    return told


InStore = Literal["same", "changed", "gone"]


class ArchivedSession(NamedTuple):
    """A session of an archive."""

    snapshots: tuple[Snapshot, ...]
    """The oldest first."""

    in_store: InStore
    """What is there of it now: as in its last snapshot, as far as sizes tell, or otherwise, or nothing."""

    @property
    def last(self) -> Snapshot:
        """Its last snapshot."""
        return self.snapshots[-1]

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of `clew archive ls --json`."""
        manifest = self.last.manifest
        return {
            "id": manifest.session,
            "project": manifest.cwd or manifest.folder,
            "folder": manifest.folder,
            "root": manifest.base if manifest.is_in_store else None,
            "title": manifest.title,
            "started": manifest.started,
            "ended": manifest.ended,
            "bytes": manifest.size,
            "in_store": self.in_store,
            "snapshots": [_snapshot_document(one) for one in self.snapshots],
        }


class ArchiveListing(NamedTuple):
    """What is in an archive: the session put aside last first."""

    archive: str
    sessions: tuple[ArchivedSession, ...]
    stored_bytes: int
    """What the archive takes on the disk."""

    damage: tuple[Damage, ...]
    """Snapshots that cannot be read."""

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of `clew archive ls --json`."""
        return {
            "archive": self.archive,
            "sessions": [one.as_dict() for one in self.sessions],
            "stored_bytes": self.stored_bytes,
            "damage": [_damage_document(one) for one in self.damage],
        }


def list_archive(store: Store, *, archive: Path | None = None) -> ArchiveListing:
    """List the sessions of an archive, with their snapshots and what is still in the store."""
    place = _archive(archive, None)
    found = place.snapshots()
    sessions = [
        ArchivedSession(snapshots, _in_store(store, snapshots[-1])) for snapshots in _grouped(found.found)
    ]
    sessions.sort(key=lambda one: (-one.last.manifest.archived_ms, one.last.manifest.key))
    return ArchiveListing(place.path, tuple(sessions), stored_bytes(place), found.damage)


def _grouped(snapshots: Sequence[Snapshot]) -> list[tuple[Snapshot, ...]]:
    groups: dict[tuple[str, str, str], tuple[Snapshot, ...]] = {}
    for snapshot in snapshots:
        key = snapshot.manifest.key
        groups[key] = (*groups.get(key, ()), snapshot)
    return list(groups.values())


def _in_store(store: Store, snapshot: Snapshot) -> InStore:
    manifest = snapshot.manifest
    roots = store.roots.found
    for base in (manifest.base,) if manifest.base in roots or not manifest.is_in_store else roots:
        sizes = [_size(base, file.place) for file in manifest.files]
        if sizes[-1] is not None:
            return "same" if sizes == [file.size for file in manifest.files] else "changed"
    return "gone"


def _size(base: str, place: str) -> int | None:
    try:
        return os.stat(os.path.join(base, *place.split("/"))).st_size  # noqa: PTH116, PTH118
    except (OSError, ValueError):
        return None


def get_session(
    store: Store,
    name: str,
    *,
    at: str | None = None,
    to: str | None = None,
    archive: Path | None = None,
    partly: bool = False,
    disk: Disk = DISK,
) -> Restored:
    """Put a session back where it was, or below the config folder `to`: its last snapshot, or the one `at`.

    Nothing is written over: where a file is that differs, all of it is refused. `partly` puts back what is
    left of files that the archive has lost a part of. The time of what is put back is now.
    """
    place = _archive(archive, store, disk)
    snapshot = _chosen(place, name, at)
    return restore(snapshot, place.packs(), to=to or _home(store, snapshot), partly=partly, disk=disk)


def get_everything(
    store: Store,
    *,
    to: str | None = None,
    archive: Path | None = None,
    partly: bool = False,
    disk: Disk = DISK,
) -> Iterator[Restored | Skipped]:
    """Put back every session that is gone from the store, and what is gone of others, one after the other.

    A session that went on since keeps what it has: of it only files that are not there are put back.
    """
    place = _archive(archive, store, disk)
    put_back = partial(restore, packs=place.packs(), partly=partly, disk=disk)
    for snapshots in _grouped(place.snapshots().found):
        last = snapshots[-1]
        try:
            home = to or _home(store, last)
            gone = tuple(file for file in last.manifest.files if _size(home, file.place) is None)
            if not gone:
                continue
            try:
                yield put_back(last, to=home)
            except RefusedError:
                if last.manifest.main in gone:
                    raise
                some = last._replace(manifest=replace(last.manifest, files=gone))
                yield put_back(some, to=home)._replace(snapshot=last)
        except NotWrittenError:
            raise
        except ClewError as error:
            yield Skipped(last.manifest.session, error.message)


def verify_archive(*, archive: Path | None = None) -> Verified:
    """Read all of an archive back, and name what is not as it was."""
    return _archive(archive, None).verify()


def mend_archive(*, archive: Path | None = None, disk: Disk = DISK) -> tuple[str, ...]:
    """Set damaged packs aside, so that the next `add` puts in again what they lost; return where they are."""
    return _archive(archive, None, disk).mend()


class Endangered(NamedTuple):
    """A session that the client will delete, and whether a copy of it as it is now is in the archive."""

    doomed: Doomed
    is_archived: bool


def endangered(
    store: Store, *, now: float, within_days: float | None = None, archive: Path | None = None
) -> tuple[Endangered, ...]:
    """Return what the client will delete next, sub-agents with their sessions, the first to go first."""
    known: dict[str, tuple[int, int]] = {}
    for snapshot in _archive(archive, None).snapshots().newest().values():
        main = snapshot.manifest.main
        path = os.path.join(snapshot.manifest.base, *main.place.split("/"))  # noqa: PTH118
        known[path] = (main.size, main.mtime_ns)
    return tuple(
        Endangered(one, known.get(one.file.path) == (one.file.size, one.file.mtime_ns))
        for one in doomed(store, now=now, within_days=within_days)
        if not (one.file.is_agent and one.file.session is not None)
    )


def restored_document(restored: Restored) -> dict[str, object]:
    """Return it in the shape of `clew archive get --json`."""
    return {
        "snapshot": _snapshot_document(restored.snapshot),
        "to": restored.to,
        "path": restored.path,
        "put": [*restored.put],
        "kept": [*restored.kept],
        "lost": [
            {"place": one.place, "reason": one.reason, "bytes": one.bytes, "partial": one.is_partial}
            for one in restored.lost
        ],
        "durable": restored.is_lasting,
        "resume": f"claude --resume {restored.snapshot.manifest.session}",
        "notes": [MTIME_NOTE] if restored.put else [],
    }


def verified_document(verified: Verified) -> dict[str, object]:
    """Return it in the shape of `clew archive verify --json`."""
    return {
        "snapshots": verified.snapshots,
        "chunks": verified.chunks,
        "bytes_stored": verified.bytes_stored,
        "damage": [_damage_document(one) for one in verified.damage],
        "lost": [
            {"session": snapshot.manifest.session, "snapshot": snapshot.id, "place": place}
            for snapshot, place in verified.lost
        ],
    }


def _home(store: Store, snapshot: Snapshot) -> str:
    """Return where a session is put back unless a place is named: never just where a snapshot says."""
    base, roots = snapshot.manifest.base, store.roots.looked_in
    if snapshot.manifest.is_in_store:
        if base in roots:
            return base
        if len(store.roots.found) == 1:
            return store.roots.found[0]
    raise UsageError(f"it was in {base}, which is not looked in", hint="say which folder to put it in")


def _chosen(archive: Archive, name: str, at: str | None) -> Snapshot:
    found = archive.snapshots().found
    if at is not None:
        found = tuple(one for one in found if one.id.startswith(at.lower()))
        if not found or len(at) < SHORTEST:
            raise UsageError(f"no snapshot is called {at!r}", hint="clew archive ls --json lists them")
    groups = _grouped(found)
    for wanted in _ways(name):
        fitting = [snapshots for snapshots in groups if wanted(snapshots[-1])]
        if len(fitting) > 1:
            ids = [snapshots[-1].manifest.session for snapshots in fitting]
            alike = len(set(ids)) < len(ids)
            raise AmbiguousSessionError(name, [one[-1].id[:12] for one in fitting] if alike else ids)
        if fitting:
            return fitting[0][-1]
    called = [one for one in found if len(name) >= SHORTEST and one.id.startswith(name.lower())]
    if len(called) > 1:
        raise AmbiguousSessionError(name, [one.id[:12] for one in called])
    if called:
        return called[0]
    known = [one.manifest.session for one in found] + [one.manifest.title or "" for one in found]
    nearest = difflib.get_close_matches(name, [*filter(None, dict.fromkeys(known))], n=3)
    raise UnknownSessionError(name, nearest=nearest, looked_in=(archive.path,))


def _ways(name: str) -> Iterator[Callable[[Snapshot], bool]]:
    """Give the ways in which a name may fit, the surest first."""
    low = name.lower()
    plain = " ".join(low.split())
    yield lambda one: one.manifest.session == name
    if len(name) >= SHORTEST:
        yield lambda one: one.manifest.session.lower().removeprefix("agent-").startswith(low)
    yield lambda one: bool(plain) and " ".join((one.manifest.title or "").lower().split()) == plain


def _snapshot_document(snapshot: Snapshot) -> dict[str, object]:
    manifest = snapshot.manifest
    return {
        "snapshot": snapshot.id,
        "session": manifest.session,
        "archived": iso(manifest.archived_ms),
        "bytes": manifest.size,
        "files": len(manifest.files),
    }


def _damage_document(damage: Damage) -> dict[str, object]:
    return {"path": damage.path, "offset": damage.offset, "detail": damage.detail}
