"""The files a catalog is made from: which there are, which changed, and whose each of them is.

A session file, a sub-agent's file and a tool's output that the client put into a file of its own are each one
source. What the listing says of a file is compared with what was noted when it was read; only where that
differs is it opened.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast

from msgspec import Struct, field

from clew.catalog.place import path_value
from clew.catalog.shards import translated
from clew.catalog.tariff import PRICES
from clew.store.files import SessionFile, Skipped
from clew.tables.strings import whole_characters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from clew.catalog.database import Database
    from clew.store.files import Listing

SESSION: Final = 0
AGENT: Final = 1
SPILLED: Final = 2

SourceKind = Literal[0, 1, 2]

_LARGEST: Final = (1 << 63) - 1
_DEEPEST: Final = 8
_WHOSE: Final = "SELECT session, owner, ids FROM source WHERE path = ?"
_LACKING: Final = "kind < ? AND cursor IS NOT NULL AND (details IS NULL OR details IS NOT cursor)"


class Wanted(NamedTuple):
    """A file as it lies there now. A plain tuple of plain values, so that it can go to another process."""

    path: str
    kind: SourceKind
    root: str
    folder: str
    name: str
    """What it is called, without the ending; of a tool's output the whole name."""

    placed: str | None
    """The session that its place says it belongs to; a session's own file is its own."""

    stamp: tuple[int, int, int, int]
    """Device, inode, size, time of the last change: the same as before means that it was not written to."""

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self.stamp[2]


class Known(NamedTuple):
    """What a shard says of one file."""

    shard: int
    id: int
    stamp: tuple[int, int, int, int]


class Work(NamedTuple):
    """One file that has to be read."""

    wanted: Wanted
    session: str
    """The id of the session it belongs to."""

    owner: str
    """The path of that session's own file, or its own path where there is none."""

    ids: str | None
    """What the first lines of a sub-agent's file say about whose it is, where its place does not."""


class Share(Struct):
    """What is to be done in one shard."""

    number: int
    work: list[Work] = field(default_factory=list[Work])
    gone: list[int] = field(default_factory=list[int])
    moved: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    """Sources that belong to another session than before: source, session, owner."""

    bytes: int = 0

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.work or self.gone or self.moved)


def fit(number: int) -> int:
    """Return an inode as a number SQLite can hold; some file systems have longer ones."""
    return number if number <= _LARGEST else (number ^ (number >> 63)) & _LARGEST


def wanted(listing: Listing, outputs: Sequence[Wanted] | None = None) -> list[Wanted]:
    """Return every file that belongs into the catalog, in the order of their paths within each kind."""
    found = [_of_file(file, SESSION, file.id) for file in listing.sessions]
    found += [_of_file(file, AGENT, file.session) for file in listing.agents]
    found += spilled(listing.sessions) if outputs is None else outputs
    return found


def _of_file(file: SessionFile, kind: SourceKind, placed: str | None) -> Wanted:
    inode = file.inode if file.inode <= _LARGEST else fit(file.inode)
    stamp = (file.device, inode, file.size, file.mtime_ns)
    return Wanted(file.path, kind, file.root or "", file.folder, file.id, placed, stamp)


# --- tools' outputs in files of their own -------------------------------------------------------------------


def spilled(sessions: Iterable[SessionFile]) -> list[Wanted]:
    """Find the outputs of tools that the client put beside a session: what `store.sides` calls tool-result.

    Done for all sessions at once: to look for each of them alone took three times as long as the listing.
    """
    files = tuple(sessions)
    named: dict[str, SessionFile] | None = None
    found: list[Wanted] = []
    for here in {file.path.rpartition(os.sep)[0] for file in files}:
        for entry in _entries(here):
            if entry.name.endswith(".jsonl") or not entry.is_dir(follow_symlinks=False):
                continue
            if named is None:
                # By the folder that would be the session's. One called `..` has none of its own.
                named = {file.path[:-6]: file for file in files if file.id not in {"", ".", ".."}}
            file = named.get(entry.path)
            if file is not None:
                found += _outputs(f"{entry.path}{os.sep}tool-results", file, 1)
    found.sort(key=lambda one: one.path)
    return found


def _outputs(path: str, file: SessionFile, depth: int) -> Iterator[Wanted]:
    for entry in _entries(path):
        try:
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEEPEST:
                    yield from _outputs(entry.path, file, depth + 1)
            elif entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                stamp = (status.st_dev, fit(status.st_ino), status.st_size, status.st_mtime_ns)
                root = file.root or ""
                yield Wanted(entry.path, SPILLED, root, file.folder, entry.name, file.id, stamp)
        except OSError:  # gone since
            continue


def _entries(path: str) -> list[os.DirEntry[str]]:
    try:
        if os.path.islink(path):  # noqa: PTH114  # a Path for each folder would take longer than the rest
            return []
        with os.scandir(path) as entries:
            return list(entries)
    except OSError:
        return []


# --- whose a sub-agent is -----------------------------------------------------------------------------------


class Owners:
    """Finds the session of each file: by the rule of `store.heads.group_agents`, without opening any."""

    def __init__(self, found: Iterable[Wanted]) -> None:
        self._paths: dict[tuple[str, str, str], str] = {}
        self._said: dict[tuple[str, str, str], bool] = {}
        for one in found:
            if one.kind == SESSION:
                key = one.root, one.folder, one.name
                self._paths[key] = one.path
                self._said[key] = one.size > 0

    def of(self, one: Wanted, ids: str | None) -> tuple[str, str]:
        """Return the session's id and the path of its own file, which is this one where it has none."""
        session = one.placed
        if session is None:
            session = self._by_lines(one, ids)
        return whole_characters(session), self._paths.get((one.root, one.folder, session), one.path)

    def _by_lines(self, one: Wanted, ids: str | None) -> str:
        names = _names(ids)
        if names is None:
            return one.name
        # Some carry two ids (2.0.42-2.0.76): that of the client as it started, whose file stays empty, and
        # that of the session it then resumed.
        said = (name for name in names if self._said.get((one.root, one.folder, name)))
        return next(said, names[0] if names else "")


def look_inside(one: Wanted, file: SessionFile | None, before: str | None) -> str | None:
    """Return what the first lines say about whose a file is; `before` is what they said last time."""
    if one.placed is not None or file is None:
        return None
    if before is not None and before.startswith("[true"):
        return before  # it has more lines than are looked at, and those stay
    from clew.store.heads import head  # with its decoder, which most commands need not

    found = head(file, tail=False)
    if isinstance(found, Skipped):
        return None
    return json.dumps([not found.is_whole, *found.session_ids])


def _names(ids: str | None) -> list[str] | None:
    if ids is None:
        return None
    try:
        found: object = json.loads(ids)
    except ValueError:
        return None
    return (
        [one for one in cast("list[object]", found) if isinstance(one, str)]
        if isinstance(found, list)
        else None
    )


# --- what is to be done -------------------------------------------------------------------------------------


def known_sources(shards: Sequence[Database]) -> tuple[dict[str, Known], list[list[int]], list[int]]:
    """Return what the shards hold: by path, what stands in two of them, and how many bytes each is of."""
    known: dict[str, Known] = {}
    twice: list[list[int]] = [[] for _ in shards]
    sizes = [0] * len(shards)
    for number, database in enumerate(shards):
        with translated(number):
            rows = database.execute("SELECT path, id, device, inode, size, mtime_ns FROM source").fetchall()
        for path, source, device, inode, size, mtime_ns in rows:
            if isinstance(path, bytes):
                path = os.fsdecode(path)
            if path in known:
                twice[number].append(source)
                continue
            known[path] = Known(number, source, (device, inode, size, mtime_ns))
            sizes[number] += size
    return known, twice, sizes


def is_same(listing: Listing, outputs: Sequence[Wanted], shards: Sequence[Database]) -> bool:
    """Say whether every file is as it was when it was read, and none is gone: in the least time."""
    known: set[tuple[object, ...]] = set()
    for number, database in enumerate(shards):
        with translated(number):
            known.update(database.execute("SELECT path, device, inode, size, mtime_ns FROM source"))
    found: set[tuple[object, ...]] = {
        (one.path, one.device, one.inode, one.size, one.mtime_ns) for one in listing.sessions
    }
    found.update((one.path, one.device, one.inode, one.size, one.mtime_ns) for one in listing.agents)
    found.update((one.path, *one.stamp) for one in outputs)
    return found == known


def plan_of(files: Sequence[SessionFile], shards: Sequence[Database]) -> list[Share] | None:
    """Plan to look at some known session files that stay whose they are; None where one is not known."""
    shares = [Share(number) for number in range(len(shards))]
    for file in files:
        one = _of_file(file, AGENT, file.session) if file.is_agent else _of_file(file, SESSION, file.id)
        for number, database in enumerate(shards):
            with translated(number):
                row = database.execute(_WHOSE, (path_value(one.path),)).fetchone()
            if row is not None:
                session, owner, ids = row
                shares[number].work.append(Work(one, session, os.fsdecode(owner), ids))
                shares[number].bytes += one.size
                break
        else:
            return None
    return shares


def make_plan(
    found: Sequence[Wanted],
    listing: Listing,
    shards: Sequence[Database],
    *,
    again: frozenset[str] = frozenset(),
) -> list[Share] | None:
    """Compare what is there with what is known; None if nothing has to be done."""
    known, twice, sizes = known_sources(shards)
    changed: list[tuple[Wanted, Known | None]] = []
    is_same = not any(twice) and len(known) == len(found)
    for one in found:
        before = known.pop(one.path, None)
        if before is None or before.stamp != one.stamp or one.path in again:
            changed.append((one, before))
    if not changed and not known and is_same:
        return None
    shares = [Share(number) for number in range(len(shards))]
    for number, sources in enumerate(twice):
        shares[number].gone += sources
    for before in known.values():
        shares[before.shard].gone.append(before.id)
    _deal_out(changed, found, listing, shards, shares, sizes)
    return shares


def _deal_out(
    changed: Sequence[tuple[Wanted, Known | None]],
    found: Sequence[Wanted],
    listing: Listing,
    shards: Sequence[Database],
    shares: Sequence[Share],
    sizes: list[int],
) -> None:
    """Give every file that has to be read to its shard, a new one to the shard with the fewest bytes."""
    noted = _noted(shards)
    owners = Owners(found)
    files = {file.path: file for file in listing.agents if file.session is None}
    read = {one.path for one, _ in changed}
    # The largest first, so that the small ones can even out what is left.
    for one, before in sorted(changed, key=lambda each: (-each[0].size, each[0].path)):
        note = noted.get(one.path)
        ids = look_inside(one, files.get(one.path), note[1] if note else None)
        session, owner = owners.of(one, ids)
        number = sizes.index(min(sizes)) if before is None else before.shard
        sizes[number] += one.size - (before.stamp[2] if before else 0)
        shares[number].work.append(Work(one, session, owner, ids))
        shares[number].bytes += one.size
    for one in found:
        if one.path in read or (note := noted.get(one.path)) is None:
            continue
        session, owner = owners.of(one, note[1])
        if (session, owner) != note[2:]:
            shares[note[0][0]].moved.append((note[0][1], session, owner))


_Noted = tuple[tuple[int, int], str | None, str, str]


def _noted(shards: Sequence[Database]) -> Mapping[str, _Noted]:
    """Return by path where a source is, and whose it was."""
    found: dict[str, _Noted] = {}
    for number, database in enumerate(shards):
        with translated(number):
            rows = database.execute("SELECT path, id, ids, session, owner FROM source").fetchall()
        for path, source, ids, session, owner in rows:
            path, owner = (os.fsdecode(one) if isinstance(one, bytes) else one for one in (path, owner))
            found[path] = ((number, source), ids, session, owner)
    return found


def is_unsettled(shards: Sequence[Database]) -> bool:
    """Say whether something changed since it was worked out last."""
    return any(
        database.execute("SELECT 1 FROM dirty").fetchone() is not None
        or database.execute("SELECT value FROM meta WHERE key = 'prices'").fetchone() != (PRICES,)
        for database in shards
    )


def lacking(database: Database) -> list[tuple[int, int]]:
    """Return the files whose details are not there or no longer hold: source and size."""
    query = f"SELECT id, size FROM source WHERE {_LACKING} ORDER BY id"  # noqa: S608
    return database.execute(query, (SPILLED,)).fetchall()
