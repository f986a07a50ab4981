"""The catalog of a store: the door to the room.

    catalog = Catalog.open(store)
    catalog.update()
    for row in catalog.connection().execute("SELECT title FROM sessions"): ...

Trouble with the databases is never an error but `CatalogUnavailableError`: then answer without.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from clew.catalog.functions import add_functions
from clew.catalog.place import catalog_folder, make_private, remove_database, shard_paths
from clew.catalog.shards import (
    Lock,
    damaged_shards,
    drop_shard,
    is_mistake,
    open_shard,
    open_views,
    translated,
    workers,
)
from clew.catalog.unavailable import BusyError, CatalogUnavailableError, DamagedError
from clew.catalog.update import BUSY, Options, Progress, Update, update
from clew.catalog.views import views

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from clew.catalog.database import Database
    from clew.store.files import Listing, SessionFile, Store


class Status(Struct, frozen=True):
    """What a catalog holds."""

    folder: str
    files: int
    sessions: int
    agents: int
    outputs: int
    """Tools' outputs in files of their own."""

    entries: int
    messages: int
    source_bytes: int
    """The size of the files it was made from."""

    bytes: int
    """The size of its databases."""

    words_bytes: int
    """How much of that is the full-text index."""

    pending_bytes: int
    """How much is still to be read for what tools said."""


class Catalog:
    """The index of one store."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self.folder = folder
        self._reading: Database | None = None

    @classmethod
    def open(cls, store: Store, *, cache: Path | None = None) -> Self:
        """Open the catalog of a store, in the user's cache folder or in `cache`; its folder is made."""
        folder = catalog_folder(store.roots.found, cache=cache)
        with translated():
            if not all(path.exists() for path in shard_paths(folder)):
                make_private(folder)
        return cls(store, folder)

    # --- writing --------------------------------------------------------------------------------------------

    def update(
        self,
        listing: Listing | None = None,
        *,
        changed: Sequence[SessionFile] | None = None,
        options: Options | None = None,
        tell: Callable[[Progress], object] | None = None,
        wait_ms: int = 2_000,
    ) -> Update:
        """Take in what is new; `changed` are all the files to look at, if somebody knows.

        If another process is at it, wait a little, then leave it, with a note. An exception of `tell`, and
        Ctrl-C, are passed on when what was read is committed.
        """
        self.close()
        with self._locked(wait_ms) as is_mine:
            if not is_mine:
                return Update(notes=(BUSY,), is_current=False)
            found = self._store.listing() if listing is None else listing
            return update(self.folder, found, changed=changed, options=options or Options(), tell=tell)

    def rebuild(
        self,
        *,
        options: Options | None = None,
        tell: Callable[[Progress], object] | None = None,
        wait_ms: int = 2_000,
    ) -> Update:
        """Throw everything away and build it anew."""
        self.close()
        with self._locked(wait_ms) as is_mine:
            if not is_mine:
                return Update(notes=(BUSY,), is_current=False)
            for path in shard_paths(self.folder):
                drop_shard(path)
            return update(self.folder, self._store.listing(), options=options or Options(), tell=tell)

    @contextmanager
    def _locked(self, wait_ms: int) -> Generator[bool]:
        make_private(self.folder)
        lock = Lock(self.folder)
        is_mine = lock.take(wait_ms=wait_ms)
        if is_mine:
            left = workers(self.folder)
            is_mine = left.take(wait_ms=wait_ms)
            left.release()
        try:
            yield is_mine
        finally:
            lock.release()

    # --- reading --------------------------------------------------------------------------------------------

    def connection(self) -> Database:
        """Return a connection that only reads: the documented tables, and the shards as `s0`, `s1`…

        It is of this catalog and ends with it, and with every update. Use it inside `reading`, which turns
        SQLite's errors into ours.
        """
        if self._reading is None:
            self._reading = self._open()
        return self._reading

    def _open(self) -> Database:
        paths = shard_paths(self.folder)
        for attempt in range(2):
            try:
                with translated():
                    missing = [(number, path) for number, path in enumerate(paths) if not path.exists()]
                for number, path in missing:
                    open_shard(path, number).close()
                database = open_views(paths, views())
            except DamagedError as error:
                if attempt:
                    raise CatalogUnavailableError(str(error)) from error
                self._mend()
            except BusyError as error:
                raise CatalogUnavailableError("another clew is writing") from error
            else:
                add_functions(database, self._store.roots.found)
                return database
        raise CatalogUnavailableError("it is damaged")

    @contextmanager
    def reading(self) -> Generator[Database]:
        """Give the connection for reading. One found damaged goes, and the next update makes it anew."""
        try:
            with translated():
                yield self.connection()
        except DamagedError as error:
            self.close()
            if is_mistake(error):
                raise CatalogUnavailableError(str(error)) from error
            self._mend()
            raise CatalogUnavailableError("it was damaged; the next command builds it anew") from error
        except BusyError as error:
            raise CatalogUnavailableError("another clew is writing") from error

    def _mend(self) -> None:
        for number in damaged_shards(self.folder):
            drop_shard(shard_paths(self.folder)[number])

    def status(self) -> Status:
        """Tell what there is, without bringing it up to date."""
        with self.reading() as database:
            kinds = dict(database.execute("SELECT kind, count(*) FROM all_source GROUP BY kind").fetchall())
            size, pending = database.execute(
                "SELECT total(size), total(offset - tools_offset) FROM all_source"
            ).fetchall()[0]
            entries = database.execute("SELECT count(*) FROM all_entry").fetchall()[0][0]
            messages = database.execute("SELECT count(*) FROM all_message").fetchall()[0][0]
            words = 0
            for number in range(len(shard_paths(self.folder))):
                for name, pages in database.execute(f"SELECT name, pgsize FROM dbstat('s{number}', 1)"):  # noqa: S608
                    words += pages if name.startswith(("talk_", "tools_")) else 0
        return Status(
            str(self.folder),
            sum(kinds.values()),
            kinds.get(0, 0),
            kinds.get(1, 0),
            kinds.get(2, 0),
            entries,
            messages,
            int(size),
            sum(_size(path) for path in shard_paths(self.folder)),
            int(words),
            int(pending),
        )

    def close(self) -> None:
        """Let go of the databases."""
        database, self._reading = self._reading, None
        if database is not None:
            database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _size(path: Path) -> int:
    total = 0
    for ending in ("", "-wal"):
        try:
            total += path.with_name(path.name + ending).stat().st_size
        except OSError:
            continue
    return total


__all__ = ["Catalog", "CatalogUnavailableError", "Options", "Progress", "Status", "Update", "remove_database"]
