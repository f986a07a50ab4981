"""The tables that only a whole session can tell: turns, calls, files written, problems, rounds.

Made on demand, file by file, and again only for files that changed since.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import orjson

from clew.catalog.interning import Interning
from clew.catalog.messages import COLUMNS, Messages
from clew.catalog.schema import DETAILS
from clew.errors import ClewError
from clew.session.growth import COUNTED
from clew.session.rounds import inputs
from clew.session.states import lasting_hash
from clew.session.turns import turns
from clew.session.usage import FileUsage
from clew.store.reader import open_session
from clew.store.source import FileSource
from clew.tables.rows import Home, message_rows, problem_rows
from clew.tables.schema import TABLES
from clew.tables.work_rows import call_rows, file_rows, turn_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew.catalog.database import Database
    from clew.session.session import Session

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
                session = open_session(path)
                try:
                    self._write(source, path, home, session)
                finally:
                    if isinstance(session.source, FileSource):
                        session.source.close()
            except ClewError:
                self._clear(source)
            self._database.execute("UPDATE source SET details = ? WHERE id = ?", (cursor, source))

    def _clear(self, source: int) -> None:
        for name in DETAILS:
            self._database.execute(f"DELETE FROM {name}_of WHERE source = ?", (source,))  # noqa: S608

    def _write(self, source: int, path: str, home: Home, session: Session) -> None:
        cut = turns(session)
        self._insert("turns", source, turn_rows(session, home, found=cut))
        self._insert("calls", source, call_rows(session, home, found=cut))
        self._insert("files", source, file_rows(session, home, found=cut))
        self._insert("problems", source, problem_rows(session, home))
        self._write_inputs(source, session)
        self._write_ends(source, path, home, session)

    def _insert(self, name: str, source: int, rows: Iterable[tuple[object, ...]]) -> None:
        self._database.executemany(_INSERT[name], [(source, *row[1:]) for row in rows])  # pyright: ignore[reportArgumentType]  # cells of the tables

    def _write_inputs(self, source: int, session: Session) -> None:
        """Write what each user entry is, which depends on the lines before and after it."""
        lines = self._database.execute(
            "SELECT e.offset, e.id FROM span p CROSS JOIN entry e ON e.id BETWEEN p.first AND p.last "
            "WHERE p.source = ?",
            (source,),
        )
        ids: dict[int, int] = dict(lines.fetchall())
        rows: list[tuple[int, int]] = []
        for told in inputs(session):
            line = ids.get(session.table.offset[told.row])
            if line is not None:
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
