"""The tables that only a whole session can tell: turns, calls, files written, problems, rounds.

Made on demand, file by file, and again only for files that changed since.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from clew.catalog.interning import Interning
from clew.catalog.messages import COLUMNS, Messages
from clew.catalog.schema import DETAILS
from clew.errors import ClewError
from clew.format.records import Fragment, scan
from clew.session.check import Checker
from clew.session.growth import COUNTED
from clew.session.rounds import inputs
from clew.session.session import Session
from clew.session.states import lasting_hash
from clew.session.turns import turns
from clew.session.usage import FileUsage
from clew.store.source import FileSource
from clew.tables.rows import Home, found_problems, message_rows
from clew.tables.schema import TABLES
from clew.tables.work_rows import call_rows, file_rows, turn_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew.catalog.database import Database

_INSERT: Final[Mapping[str, str]] = {
    name: f"INSERT INTO {name}_of VALUES ({', '.join('?' * len(TABLES[name].names))})"  # noqa: S608
    for name in DETAILS
}


class Details:
    """Makes the details of the files of one shard."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._names = Interning(database)
        self._messages = Messages(database, self._names)

    def make(self, source: int) -> None:
        """Make the details of one file anew; one that cannot be read has none."""
        rows = self._database.execute(
            "SELECT path, kind, name, session, cursor FROM source WHERE id = ?", (source,)
        ).fetchall()
        for path, kind, name, session_id, cursor in rows:
            self._clear(source)
            path = os.fsdecode(path)
            home = Home(session_id, os.fsdecode(name).removeprefix("agent-") if kind else None)
            try:
                with FileSource(path) as file:
                    self._write(source, path, home, file)
            except ClewError:
                self._clear(source)
            self._database.execute("UPDATE source SET details = ? WHERE id = ?", (cursor, source))

    def _clear(self, source: int) -> None:
        for name in DETAILS:
            self._database.execute(f"DELETE FROM {name}_of WHERE source = ?", (source,))  # noqa: S608

    def _write(self, source: int, path: str, home: Home, file: FileSource) -> None:
        session = self._checked(source, path, home, file)
        cut = turns(session)
        self._insert("turns", source, turn_rows(session, home, found=cut))
        self._insert("calls", source, call_rows(session, home, found=cut))
        self._insert("files", source, file_rows(session, home, found=cut))
        del cut  # of a session of a million lines that is much
        self._write_inputs(source, session)
        self._write_ends(source, path, home, session)

    def _checked(self, source: int, path: str, home: Home, file: FileSource) -> Session:
        """Write what is wrong with a file; the lines are gone through once for that and for their table."""
        name = Path(path).stem
        checker = Checker(name=name, source=file)
        fragments: list[Fragment] = []
        for item in scan(file):
            checker.add(item)
            if isinstance(item, Fragment):
                fragments.append(item)
        session = Session(file, checker.table, fragments, name=name)
        self._insert("problems", source, found_problems(checker, session, home))
        return session

    def _insert(self, name: str, source: int, rows: Iterable[tuple[object, ...]]) -> None:
        # One by one: of a large session there are a million.
        self._database.executemany(_INSERT[name], ((source, *row[1:]) for row in rows))  # pyright: ignore[reportArgumentType]  # cells of the tables

    def _write_inputs(self, source: int, session: Session) -> None:
        """Write what each user entry is, which depends on the lines before and after it."""
        known = self._database.execute(
            "SELECT e.offset, e.id FROM span p CROSS JOIN entry e ON e.id BETWEEN p.first AND p.last "
            "WHERE p.source = ? ORDER BY p.first, e.id",
            (source,),
        )
        lines = iter(known)
        rows: list[tuple[int, int]] = []
        offset, line = -1, 0
        for told in inputs(session):
            # Both go through the file from its beginning to its end.
            wanted = session.table.offset[told.row]
            while offset < wanted and (found := next(lines, None)) is not None:
                offset, line = found
            if offset == wanted:
                rows.append((self._names.name(orjson.dumps([told.kind, told.round]).decode()), line))
        self._database.executemany("UPDATE entry SET input = ? WHERE id = ?", rows)

    def _write_ends(self, source: int, path: str, home: Home, session: Session) -> None:
        """Write how each message ended, and on how many lines."""
        query = f"SELECT {COLUMNS} FROM message WHERE source = ? AND marks & {COUNTED}"  # noqa: S608
        usage = FileUsage(path)
        for row in self._database.execute(query, (source,)):
            usage.rows[row[2]] = self._messages.held(row, path).row
        self._database.executemany(
            "UPDATE message SET stop = ?, lines = ? WHERE source = ? AND hash = ?",
            [
                (self._names.name_or_none(row.stop_reason), row.lines, source, lasting_hash(row.message_id))
                for row in message_rows(usage, home, session)
            ],
        )
