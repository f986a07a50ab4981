"""The file of the ledger: how it is begun, opened and, when it is damaged, put aside; and whose a request is.

What is in it is `trace.ledger`'s.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from clew.errors import ClewError
from clew.store.disk import DISK
from clew.store.locks import Process
from clew.store.state import make_private

PLANNED: Final = 0
SENT: Final = 1
UNKNOWN: Final = 2
ACKNOWLEDGED: Final = 3
REFUSED: Final = 4

VERSION: Final = 1
_WAIT: Final = 10_000
"""Milliseconds that another process may hold the file; it holds it for a moment only."""

_TABLES: Final = f"""
CREATE TABLE IF NOT EXISTS endpoint (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, label TEXT NOT NULL, backend TEXT NOT NULL,
  service TEXT NOT NULL, answered_ms INTEGER, error TEXT, error_ms INTEGER,
  rejected INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS request (
  id INTEGER PRIMARY KEY AUTOINCREMENT, endpoint INTEGER NOT NULL, state INTEGER NOT NULL,
  owner TEXT NOT NULL, sent_ms INTEGER
);
CREATE INDEX IF NOT EXISTS open_request ON request (endpoint, state) WHERE state <> {ACKNOWLEDGED};
CREATE TABLE IF NOT EXISTS span (
  endpoint INTEGER NOT NULL, trace BLOB NOT NULL, span BLOB NOT NULL, request INTEGER NOT NULL,
  PRIMARY KEY (endpoint, trace, span)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS span_of_request ON span (request);
CREATE TABLE IF NOT EXISTS seen (
  endpoint INTEGER NOT NULL, path BLOB NOT NULL, stamp TEXT NOT NULL, turns INTEGER NOT NULL,
  unready INTEGER NOT NULL, PRIMARY KEY (endpoint, path)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS waiting (
  endpoint INTEGER NOT NULL, path BLOB NOT NULL, since_ms INTEGER NOT NULL, turns INTEGER NOT NULL,
  PRIMARY KEY (endpoint, path)
) WITHOUT ROWID;
PRAGMA user_version = {VERSION};
"""

_AGAIN: Final = "what was sent before is sent again, with the same ids"

_guard: Final = threading.Lock()
_senders: Final[set[str]] = set()
"""The senders of this process that are at work."""


class LedgerError(ClewError):
    """The ledger cannot be used, and nothing is sent without it."""

    code = "trace-ledger"


class DamagedLedgerError(LedgerError):
    """What is in the file is no ledger any more: put it aside, and begin another."""


class OpenFile(NamedTuple):
    """The database, and what a person should know of it."""

    database: sqlite3.Connection
    note: str | None


def ledger_path(state: Path) -> Path:
    """Return where the ledger lies."""
    return state / "trace" / "ledger.sqlite3"


def open_file(state: Path) -> OpenFile:
    """Open the ledger of a state folder, or begin one; a damaged one is put aside."""
    path = ledger_path(state)
    # It stays when the ledger is gone, and tells that there was one.
    mark = path.with_name("began")
    try:
        make_private(path.parent, DISK)
        note = f"the ledger of traces is gone; {_AGAIN}" if mark.exists() and not path.exists() else None
        os.close(os.open(mark, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError as error:
        raise LedgerError(f"{path.parent} cannot be used: {error.strerror or error}") from None
    try:
        return OpenFile(_opened(path), note)
    except DamagedLedgerError:
        note = put_aside(state)
    return OpenFile(_opened(path), note)


def put_aside(state: Path) -> str:
    """Put a damaged ledger aside; return what to tell of it."""
    path = ledger_path(state)
    aside = path.with_name(f"{path.name}.damaged-{secrets.token_hex(4)}")
    for ending in ("-wal", "-shm"):
        with suppress(OSError):
            Path(f"{path}{ending}").unlink()
    try:
        path.replace(aside)
    except FileNotFoundError:
        pass  # another process was quicker
    except OSError as error:
        raise LedgerError(f"{path} is damaged and cannot be moved: {error.strerror or error}") from None
    return f"the ledger of traces was damaged and is now {aside}; {_AGAIN}"


def translated(error: sqlite3.Error, what: str) -> LedgerError:
    """Return an error of the database as one of ours."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return DamagedLedgerError(f"{what}: {error}")
    return LedgerError(f"{what}: {error}")


def _opened(path: Path) -> sqlite3.Connection:
    what = f"{path} cannot be used"
    # Made here, so that nobody else may read it from the first moment on; SQLite gives its others the same.
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
    try:
        database = sqlite3.connect(path, timeout=_WAIT / 1000, isolation_level=None)
    except sqlite3.Error as error:
        raise translated(error, what) from None
    try:
        version = _prepared(database)
    except sqlite3.Error as error:
        database.close()
        raise translated(error, what) from None
    if version > VERSION:
        database.close()
        raise LedgerError(f"{path} was written by a newer clew", hint="update this one")
    return database


def _prepared(database: sqlite3.Connection) -> int:
    """Set the database up, with its tables where it has none; return the version it is of."""
    database.execute(f"PRAGMA busy_timeout = {_WAIT}")
    _patiently(database, "PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    version = int(database.execute("PRAGMA user_version").fetchone()[0])
    if version < VERSION:
        _patiently(database, "BEGIN IMMEDIATE")
        for statement in _TABLES.split(";"):
            database.execute(statement)
        database.execute("COMMIT")
    if version <= VERSION:
        # What is damaged is found now and not in the middle of sending, as far as that is quick.
        for table in ("endpoint", "seen", "waiting"):
            database.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
        database.execute("SELECT * FROM span LIMIT 1").fetchone()
    return version


def _patiently(database: sqlite3.Connection, statement: str) -> None:
    """Run what SQLite does not wait for by itself: two that begin a file at once."""
    ends = time.monotonic() + _WAIT / 1000
    while True:
        try:
            database.execute(statement)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                raise
            time.sleep(0.02)
        else:
            return


# --- senders ------------------------------------------------------------------------------------------------


def begin_sender() -> str:
    """Return a name for whoever plans and sends, by which others can tell whether it is still at work."""
    process = Process.this()
    owner = f"{process.pid} {process.start or '-'} {process.space or '-'} {secrets.token_hex(8)}"
    with _guard:
        _senders.add(owner)
    return owner


def end_sender(owner: str) -> None:
    """Take note that a sender is done."""
    with _guard:
        _senders.discard(owner)


def is_at_work(owner: str) -> bool:
    """Say whether a sender may still be waiting for its answer."""
    with _guard:
        if owner in _senders:
            return True
    try:
        pid, start, space, _ = owner.split(" ")
        process = Process(int(pid), "" if start == "-" else start, "" if space == "-" else space)
    except ValueError:
        return False
    if process == Process.this():
        return False  # it was this process's, and is over
    return process.is_running() is True
