"""Is the catalog as new as the files, and how to ask it if so: what a list or a sum needs, quickly.

Nothing that reads session files is imported here unless something is new: to load that takes longer than to
answer. Tools' outputs in files of their own are not looked at; neither a list nor a sum depends on them.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.catalog.place import SHARDS, catalog_folder, shard_paths
from clew.catalog.shards import open_views, translated
from clew.catalog.tariff import PRICES
from clew.catalog.unavailable import BusyError, CatalogUnavailableError, DamagedError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path
    from typing import Self

    from clew.catalog.database import Database
    from clew.store.files import Listing, SessionFile, Skipped, Store

NEW: Final = 32_000_000
"""Bytes that are read in passing, for an answer from the catalog; with more that is new it is not used."""

_WAITS: Final = 40
_WAIT: Final = 0.05
"""How often, and how many seconds each time, another process is waited for that is adding up."""

_SPILLED: Final = 2
_LARGEST: Final = (1 << 63) - 1
_KNOWN: Final = " UNION ALL ".join(
    f"SELECT path, device, inode, size, mtime_ns, offset FROM s{number}.source WHERE kind < {_SPILLED}"  # noqa: S608
    for number in range(SHARDS)
)
_NOTED: Final = " UNION ALL ".join(f"SELECT 1 FROM s{number}.dirty" for number in range(SHARDS))  # noqa: S608
_PRICES: Final = " UNION ".join(
    f"SELECT (SELECT value FROM s{number}.meta WHERE key = 'prices')"  # noqa: S608
    for number in range(SHARDS)
)


_noted: Final = itemgetter(0, 1, 2, 3, 4)
_listed: Final = attrgetter("path", "device", "inode", "size", "mtime_ns")


class NotCurrentError(Exception):
    """There is no catalog to answer from: none was built, it is far behind, or what `note` says."""

    def __init__(self, *, is_missing: bool = False, note: str | None = None) -> None:
        super().__init__(note or "there is no index of these folders")
        self.is_missing = is_missing
        self.note = note


class _New(NamedTuple):
    """What changed since the catalog was brought up to date."""

    bytes: int
    changed: tuple[SessionFile, ...] | None = None
    """The files, where all are known ones that stay whose they are."""


class Current:
    """A catalog that is as new as the listing, open for reading as `s0`, `s1`…"""

    def __init__(self, database: Database, notes: tuple[str, ...], skipped: tuple[Skipped, ...]) -> None:
        self.database = database
        self.notes = notes
        """What somebody who asks should know."""
        self.skipped = skipped
        """Files that could not be read."""

    @classmethod
    @contextmanager
    def opened(
        cls, store: Store, listing: Listing, *, most: int = NEW, cache: Path | None = None
    ) -> Generator[Self]:
        """Give the catalog of a store, brought up to date if that is quick; raise `NotCurrentError` if not.

        What goes wrong while it is read is that error too: then answer without.
        """
        paths = shard_paths(catalog_folder(store.roots.found, cache=cache))
        if not all(map(os.path.exists, paths)):
            raise NotCurrentError(is_missing=True)
        try:
            found = cls._fresh(store, listing, paths, most, cache)
            try:
                with translated():
                    yield found
            finally:
                found.database.close()
        except DamagedError as error:
            _mend(store, error, cache)
            raise NotCurrentError(note="the index was damaged and is gone") from error
        except BusyError as error:
            raise NotCurrentError(note="another clew is writing the index") from error
        except CatalogUnavailableError as error:
            raise NotCurrentError(note=error.message) from error

    @classmethod
    def _fresh(cls, store: Store, listing: Listing, paths: list[Path], most: int, cache: Path | None) -> Self:
        database = open_views(paths, "")
        try:
            with translated():
                database.execute("BEGIN")  # what is read from here on is of one moment
                new = _new(database, listing)
        except BaseException:
            database.close()
            raise
        if new is None:
            return cls(database, (), ())
        database.close()
        if new.bytes > most:
            raise NotCurrentError
        from clew.catalog.catalog import Catalog

        with Catalog.open(store, cache=cache) as catalog:
            done = catalog.update(listing, changed=new.changed)
        return cls(_settled(paths), done.notes, done.skipped)


def _settled(paths: list[Path]) -> Database:
    """Open the databases as they were when nobody had written half of something; waits a little for that."""
    for last in (*[False] * _WAITS, True):
        database = open_views(paths, "")
        try:
            with translated():
                database.execute("BEGIN")
                is_settled = last or database.execute(_NOTED).fetchone() is None
        except BaseException:
            database.close()
            raise
        if is_settled:
            return database
        # Another clew began right after our own update.
        database.close()
        time.sleep(_WAIT)
    raise AssertionError  # the last is returned


def _mend(store: Store, error: DamagedError, cache: Path | None) -> None:
    """Let the catalog remove what is damaged, as it does where it finds that itself."""
    from clew.catalog.catalog import Catalog

    try:
        with Catalog.open(store, cache=cache) as catalog, catalog.reading():
            raise error
    except CatalogUnavailableError:
        return


def _new(database: Database, listing: Listing) -> _New | None:
    """Say how much changed; None for nothing."""
    rows = database.execute(_KNOWN).fetchall()
    if set(map(_noted, rows)) == set(map(_listed, (*listing.sessions, *listing.agents))):
        # Nearly always: as little as can be is done for each file.
        return _unsettled(database)
    known: dict[str, tuple[int, ...]] = {}
    for path, *stamp in rows:
        known[os.fsdecode(path) if isinstance(path, bytes) else path] = tuple(stamp)
    size = 0
    changed: list[SessionFile] = []
    is_simple = True
    for one in (*listing.sessions, *listing.agents):
        before = known.pop(one.path, None)
        if before is None:
            is_simple = False
            # What cannot be read will not be read now either.
            size += one.size if os.access(one.path, os.R_OK) else 0
        elif before[3] != one.mtime_ns or before[2] != one.size or not _is_same(before, one):
            changed.append(one)
            # An empty file is nobody's, and a sub-agent without a place may be anybody's.
            is_simple &= bool(one.size and before[2]) and (not one.is_agent or one.session is not None)
            # A file that grew is read from where it was left, if it is still the same.
            is_grown = one.size >= before[4] and _is_same(before, one)
            size += one.size - (before[4] if is_grown else 0)
    is_simple &= not known
    if is_simple and not changed:
        return _unsettled(database)
    return _New(size, tuple(changed) if is_simple else None)


def _unsettled(database: Database) -> _New | None:
    """Say whether something is left to be worked out, where no file is new."""
    if database.execute(_NOTED).fetchone() is not None:
        return _New(0)
    return None if database.execute(_PRICES).fetchall() == [(PRICES,)] else _New(0)


def _is_same(before: tuple[int, ...], file: SessionFile) -> bool:
    inode = file.inode
    if inode > _LARGEST:
        from clew.catalog.sources import fit

        inode = fit(inode)
    return before[1] == inode and before[0] == file.device
