"""Open the databases of a catalog, and turn what SQLite may say into what a caller can act on.

There are three answers to trouble: the catalog cannot be used (`CatalogUnavailableError`), a database is
damaged and goes (`DamagedError`), or somebody else is writing (`BusyError`).
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import apsw

from clew.catalog.database import connect
from clew.catalog.place import SHARDS, make_file, remove_database, shard_paths
from clew.catalog.unavailable import BusyError, CatalogUnavailableError, DamagedError
from clew.store.source import reason

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from clew.catalog.database import Database

WAIT_MS: Final = 2_000
"""How long somebody else's writing is waited for."""

_PAGE: Final = 4096
_CACHE_KB: Final = 64 << 10
_LONG_LOG: Final = 1 << 20

NONE: Final = -1
"""The number that stands for no shard in particular."""


@contextmanager
def translated(shard: int = NONE, *, is_writing: bool = False) -> Generator[None]:
    """Turn the errors of SQLite into the three there are.

    Where we write, a value that is not what we wrote before is damage too. Where others read, what they make
    of their rows is their own affair.
    """
    try:
        yield
    except (TypeError, ValueError, LookupError, OverflowError) as error:
        if not is_writing and not isinstance(error, UnicodeDecodeError):
            raise
        raise DamagedError(shard, f"{type(error).__name__}: {error}") from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise BusyError(str(error)) from error
    except apsw.FullError as error:
        raise CatalogUnavailableError("the disk is full") from error
    except (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as error:
        raise CatalogUnavailableError("the cache folder cannot be written to") from error
    except (apsw.CantOpenError, apsw.IOError, apsw.NoMemError, apsw.ProtocolError, apsw.NoLFSError) as error:
        raise CatalogUnavailableError(f"{error or type(error).__name__}") from error
    except apsw.Error as error:
        # Corrupt, no database at all, a table that is not there, a value of another type: all the same.
        raise DamagedError(shard, str(error)) from error
    except OSError as error:
        raise CatalogUnavailableError(reason(error)) from error


def is_mistake(error: DamagedError) -> bool:
    """Say whether the statement may be at fault and not the database: then nothing is thrown away for it.

    A database that lacks a table is found out by the next update, which looks for all of them.
    """
    return isinstance(error.__cause__, apsw.SQLError)


def open_shard(path: Path, number: int) -> Database:
    """Open a database for writing, made where there is none; a damaged one raises `DamagedError`."""
    with translated(number):
        make_file(path)
        database = connect(
            str(path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW | apsw.SQLITE_OPEN_NOMUTEX
        )
        try:
            _prepare(database, number)
        except BaseException:
            database.close()
            raise
    return database


def _prepare(database: Database, number: int) -> None:
    from clew.catalog.schema import DDL, TABLES  # most commands only read

    database.set_busy_timeout(WAIT_MS)
    database.pragma("cell_size_check", True)
    database.pragma("page_size", _PAGE)
    if database.pragma("journal_mode", "wal") != "wal":
        raise CatalogUnavailableError("the file system has no shared memory")
    database.pragma("synchronous", "normal")
    # To move a few pages from the log into the database on every closing took longer than all the rest: it
    # waits for the disk. See `tidy`.
    database.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    database.pragma("temp_store", "memory")
    database.pragma("cache_size", -_CACHE_KB)
    found = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    names = {name for (name,) in found}
    if not names:
        database.execute(f"BEGIN IMMEDIATE; {DDL}; COMMIT")
    elif not names >= TABLES or not _is_complete(database):
        raise DamagedError(number, "tables are missing")


def _is_complete(database: Database) -> bool:
    from clew.catalog.schema import LAYOUT_KEY

    return database.execute("SELECT 1 FROM meta WHERE key = ?", (LAYOUT_KEY,)).fetchone() is not None


def tidy(database: Database, path: Path) -> None:
    """Move what the log holds into the database if it is much: each opening would go through it."""
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size > _LONG_LOG:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def drop_shard(path: Path) -> None:
    """Remove a damaged database; the next opening makes it anew."""
    with translated():
        remove_database(path)


def damaged_shards(folder: Path) -> set[int]:
    """Find the databases that do not hold together; all of them where none can be found."""
    found: set[int] = set()
    for number, path in enumerate(shard_paths(folder)):
        try:
            database = open_shard(path, number)
            try:
                with translated(number):
                    if database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                        found.add(number)
            finally:
                database.close()
        except DamagedError:
            found.add(number)
    return found or set(range(SHARDS))


def open_views(paths: Sequence[Path], statements: str) -> Database:
    """Open all databases of a catalog for reading, as `s0`, `s1`…, and run `statements`: the views."""
    database = connect(
        ":memory:",
        apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI,
    )
    number = NONE
    try:
        with translated():
            database.set_busy_timeout(WAIT_MS)
            database.pragma("temp_store", "memory")
        for number, path in enumerate(paths):
            with translated(number):
                _attach(database, path, f"s{number}")
                database.execute(f"SELECT count(*) FROM s{number}.meta").fetchall()  # noqa: S608  # our own name
        with translated():
            database.execute(statements)
            database.pragma("query_only", True)
    except BaseException:
        database.close()
        raise
    return database


def _attach(database: Database, path: Path, name: str) -> None:
    address = f"file:{quote(os.fspath(path))}?mode=ro"
    try:
        database.execute("ATTACH ? AS " + name, (address,))
        database.pragma("schema_version", schema=name)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # In a folder that cannot be written to there is no place for the files beside a database; without
        # them it can be read as long as nothing waits there.
        wal = Path(f"{path}-wal")
        if not path.exists() or (wal.exists() and wal.stat().st_size):
            raise
        if any(one == name for one in database.db_names()):
            database.execute("DETACH " + name)
        database.execute("ATTACH ? AS " + name, (f"{address}&immutable=1",))


class Lock:
    """A lock between processes; it ends with the process that holds it, however that ends."""

    def __init__(self, folder: Path, name: str = "lock.db") -> None:
        """The lock called `lock.db` is held by the one process that brings a catalog up to date."""
        self._path = folder / name
        self._database: Database | None = None

    def take(self, *, wait_ms: int = WAIT_MS, is_shared: bool = False) -> bool:
        """Wait for the lock, alone or with others, and say whether it was got."""
        for attempt in range(2):
            try:
                return self._take(wait_ms, is_shared=is_shared)
            except DamagedError:
                self.release()
                if attempt:
                    raise CatalogUnavailableError(f"{self._path} is no database") from None
                drop_shard(self._path)
        return False

    def _take(self, wait_ms: int, *, is_shared: bool) -> bool:
        with translated():
            make_file(self._path)
            self._database = connect(str(self._path), apsw.SQLITE_OPEN_READWRITE)
            self._database.set_busy_timeout(wait_ms)
        try:
            with translated():
                # To read is what SQLite takes a shared lock for.
                statement = "BEGIN; SELECT * FROM sqlite_schema" if is_shared else "BEGIN EXCLUSIVE"
                self._database.execute(statement).fetchall()
        except BusyError:
            self.release()
            return False
        return True

    def release(self) -> None:
        """Let others have it."""
        database, self._database = self._database, None
        if database is not None:
            database.close()


def workers(folder: Path) -> Lock:
    """Return the lock that processes share which work for an update.

    Where the one that started them was killed they keep what they read, and end; until then nobody else may
    write.
    """
    return Lock(folder, "workers.db")
