# ruff: noqa: S608
"""Which files have a call that names something, as the index knows it without being brought up to date.

Told is also for which files it knows that: of all others, new ones and those that grew, nothing is said, and
whoever asks looks for himself. More files may be named than there should be, as words are found whatever
stands between them, but none too few.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.catalog.place import SHARDS, catalog_folder, shard_paths
from clew.catalog.shards import open_views, translated
from clew.catalog.sources import SPILLED, fit
from clew.catalog.unavailable import BusyError, CatalogUnavailableError, DamagedError

if TYPE_CHECKING:
    from pathlib import Path

    from clew.catalog.database import Database
    from clew.store.files import Listing, Store

_STAMPS: Final = (
    "SELECT id, path, device, inode, size, mtime_ns FROM {s}.source "
    f"WHERE kind < {SPILLED} AND offset = size AND tools_offset = offset"
)
_LINES: Final = "SELECT rowid FROM {s}.tools WHERE tools MATCH ? ORDER BY rowid"


class Naming(NamedTuple):
    """What the index knows of who names something."""

    known: frozenset[str]
    """The paths of the files that it knows as they are now."""

    naming: frozenset[str]
    """Of these, those with a call whose input may name it."""


NOTHING: Final = Naming(frozenset(), frozenset())


def naming(store: Store, listing: Listing, name: str, *, cache: Path | None = None) -> Naming:
    """Say which files of a listing have a call with a name in its input; where the index cannot, nothing."""
    # Words of other scripts are cut in other ways, and what has no letters is no word.
    if not name.isascii() or not any(map(str.isalnum, name)):
        return NOTHING
    paths = shard_paths(catalog_folder(store.roots.found, cache=cache))
    if not all(map(os.path.exists, paths)):
        return NOTHING
    try:
        database = open_views(paths, "")
        try:
            with translated():
                database.execute("BEGIN")  # what is read from here on is of one moment
                return _asked(database, listing, name)
        finally:
            database.close()
    except (CatalogUnavailableError, DamagedError, BusyError):
        return NOTHING


def _asked(database: Database, listing: Listing, name: str) -> Naming:
    listed = {
        file.path: (file.device, fit(file.inode), file.size, file.mtime_ns)
        for file in (*listing.sessions, *listing.agents)
    }
    match = 'tool_input : "' + name.replace('"', '""') + '"'
    known: set[str] = set()
    found: set[str] = set()
    for shard in range(SHARDS):
        path_of: dict[int, str] = {}
        for number, path, *stamp in database.execute(_STAMPS.replace("{s}", f"s{shard}")):
            whole = os.fsdecode(path)
            if listed.get(whole) == tuple(stamp):
                path_of[number] = whole
        known.update(path_of.values())
        spans = database.execute(f"SELECT first, source FROM s{shard}.span ORDER BY first").fetchall()
        firsts = [first for first, _ in spans]
        for (line,) in database.execute(_LINES.replace("{s}", f"s{shard}"), (match,)):
            at = bisect_right(firsts, line) - 1
            if at >= 0 and spans[at][1] in path_of:
                found.add(path_of[spans[at][1]])
    return Naming(frozenset(known), frozenset(found))
