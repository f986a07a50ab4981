"""The index itself: what it holds and how far behind it is, and building it anew: `clew index`."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.catalog.catalog import Catalog, Options
from clew.catalog.place import catalog_folder, shard_paths
from clew.catalog.shards import Lock
from clew.catalog.sources import wanted
from clew.format.times import iso

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.catalog.catalog import Progress, Status
    from clew.store.files import Skipped, Store


@dataclass(frozen=True, slots=True)
class Pending:
    """What the next command that uses the index will take in."""

    files: int = 0
    """Files that are new or were written to."""

    gone: int = 0
    bytes: int = 0
    """What there is to read for them at most: a file that only grew is read from where it ended."""

    tools_bytes: int = 0
    """What is still to be read for the words of tools, because a build was interrupted."""

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of the JSON document."""
        return {
            "files": self.files, "gone": self.gone, "bytes": self.bytes, "tools_bytes": self.tools_bytes,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class IndexState:
    """What is known of an index, without bringing it up to date."""

    folder: str
    held: Status | None
    """None where there is no index yet."""

    pending: Pending
    updated_ms: int | None
    """When something was last written to it."""

    is_busy: bool
    """Whether another clew is writing."""

    looked_in: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the JSON document."""
        held = self.held
        return {
            "folder": self.folder,
            "exists": held is not None,
            "files": held.files if held else 0,
            "sessions": held.sessions if held else 0,
            "agents": held.agents if held else 0,
            "outputs": held.outputs if held else 0,
            "entries": held.entries if held else 0,
            "messages": held.messages if held else 0,
            "source_bytes": held.source_bytes if held else 0,
            "index_bytes": held.bytes if held else 0,
            "words_bytes": held.words_bytes if held else 0,
            "pending": self.pending.as_dict(),
            "updated": iso(self.updated_ms),
            "busy": self.is_busy,
            "looked_in": list(self.looked_in),
        }


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What building an index anew came to."""

    state: IndexState
    files_read: int
    seconds: float
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]
    is_done: bool
    """False where another clew was writing, and nothing was done."""

    def as_dict(self) -> dict[str, object]:
        """Return the JSON document: that of the state, and what was done."""
        return self.state.as_dict() | {
            "rebuilt": self.is_done,
            "files_read": self.files_read,
            "seconds": round(self.seconds, 3),
            "skipped": [{"path": one.path, "reason": one.reason} for one in self.skipped],
            "notes": list(self.notes),
        }


def index_state(store: Store, *, cache: Path | None = None) -> IndexState:
    """Tell what the index of a store holds and what it lacks. No session is read, and nothing is made."""
    folder = catalog_folder(store.roots.found, cache=cache)
    looked_in = store.roots.looked_in
    listed = wanted(store.listing())
    if not any(path.exists() for path in shard_paths(folder)):
        pending = Pending(len(listed), 0, sum(one.size for one in listed))
        return IndexState(str(folder), None, pending, None, False, looked_in)
    is_busy = _is_busy(folder)
    with Catalog.open(store, cache=cache) as catalog:
        updated = _updated(folder)  # before the databases are opened, which may touch them
        held = catalog.status()
        with catalog.reading() as database:
            rows = database.execute("SELECT path, device, inode, size, mtime_ns FROM all_source").fetchall()
    known = {os.fsdecode(path): tuple(stamp) for path, *stamp in rows}
    changed = [one for one in listed if known.get(one.path) != one.stamp]
    here = {one.path for one in listed}
    pending = Pending(
        len(changed),
        sum(path not in here for path in known),
        sum(one.size for one in changed),
        held.pending_bytes,
    )
    return IndexState(str(folder), held, pending, updated, is_busy, looked_in)


def rebuild_index(
    store: Store,
    *,
    jobs: int | None = None,
    tell: Callable[[Progress], object] | None = None,
    cache: Path | None = None,
) -> Rebuilt:
    """Throw the index of a store away and build it anew. Interrupted, the next command goes on from there."""
    began = time.monotonic()
    with Catalog.open(store, cache=cache) as catalog:
        done = catalog.rebuild(options=Options(jobs=jobs), tell=tell)
    seconds = time.monotonic() - began
    state = index_state(store, cache=cache)
    return Rebuilt(state, done.files_read, seconds, done.skipped, done.notes, done.is_current)


def _is_busy(folder: Path) -> bool:
    lock = Lock(folder)
    try:
        return not lock.take(wait_ms=0)
    finally:
        lock.release()


def _updated(folder: Path) -> int | None:
    times: list[int] = []
    for path in shard_paths(folder):
        for name in (path, path.with_name(f"{path.name}-wal")):
            try:
                times.append(name.stat().st_mtime_ns)
            except OSError:
                continue
    return max(times) // 1_000_000 if times else None
