"""Is the catalog as new as the files, and how to ask it if so: what a list or a sum needs, quickly.

Nothing that reads session files is imported here unless something is new: to load that takes longer than to
answer. Tools' outputs in files of their own are not looked at; neither a list nor a sum depends on them.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
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


class NotCurrentError(Exception):
    """There is no catalog to answer from: none was built, it is far behind, or what `note` says."""

    def __init__(self, *, is_missing: bool = False, note: str | None = None) -> None:
        super().__init__(note or "there is no index of these folders")
        self.is_missing = is_missing
        self.note = note


class _New(NamedTuple):
    """What changed since the catalog was brought up to date."""

    files: int
    bytes: int


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
            done = catalog.update(listing)
        return cls(open_views(paths, ""), done.notes, done.skipped)


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
    known: dict[str, tuple[int, ...]] = {}
    for path, *stamp in database.execute(_KNOWN):
        known[os.fsdecode(path) if isinstance(path, bytes) else path] = tuple(stamp)
    files = size = 0
    for one in (*listing.sessions, *listing.agents):
        before = known.pop(one.path, None)
        if before is None:
            files += 1
            # What cannot be read will not be read now either.
            size += one.size if os.access(one.path, os.R_OK) else 0
        elif before[3] != one.mtime_ns or before[2] != one.size or not _is_same(before, one):
            files += 1
            # A file that grew is read from where it was left, if it is still the same.
            is_grown = one.size >= before[4] and _is_same(before, one)
            size += one.size - (before[4] if is_grown else 0)
    files += len(known)
    if not files and database.execute(_NOTED).fetchone() is None:
        return None if database.execute(_PRICES).fetchall() == [(PRICES,)] else _New(0, 0)
    return _New(files, size)


def _is_same(before: tuple[int, ...], file: SessionFile) -> bool:
    inode = file.inode
    if inode > _LARGEST:
        from clew.catalog.sources import fit

        inode = fit(inode)
    return before[1] == inode and before[0] == file.device
