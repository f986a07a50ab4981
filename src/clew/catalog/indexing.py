"""Put one file into its shard: what is new in it, or all of it where what was read no longer holds.

A file's rows, words, state and cursor change in one transaction. A long file is committed in parts, each with
the cursor to where it was read: the rest is simply what is new the next time. So nothing is lost when it is
interrupted, and nothing is there by half.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from clew.catalog.folds import Folds
from clew.catalog.interning import Interning
from clew.catalog.messages import Messages
from clew.catalog.options import BATCH
from clew.catalog.place import path_value
from clew.catalog.schema import DETAILS, HAS_TOOLS, IS_ABRIDGED, TALK
from clew.catalog.sources import SPILLED, fit
from clew.catalog.statekeeping import clear_state, read_state
from clew.catalog.tokens import prepare
from clew.catalog.words import columns, texts_of
from clew.catalog.writing import FLUSH, INSERT_ENTRY, INSERT_TOOLS, Ids, Writing, is_finished
from clew.errors import ChangedOnDiskError, ClewError
from clew.format.lines import BytesSource
from clew.format.records import Record, scan
from clew.session.states import StateError
from clew.store.files import Skipped
from clew.store.reader import Cursor, read_new
from clew.store.source import FileSource
from clew.tables.cells import Home
from clew.tables.texts import quick_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clew.catalog.database import Database
    from clew.catalog.sources import Work
    from clew.store.reader import Growth
    from clew.tables.texts import Text

_STEP: Final = 1 << 18
_WINDOW: Final = 1 << 20
_OUTPUT: Final = 16 << 20
"""How much of a tool's output in a file of its own is one row."""

_ATTEMPTS: Final = 4
"""How often a file is read that is cut each time while it is read; then it is as it was then."""

_TALK: Final = len(TALK)
_FORGET: Final = ("message", "rollup", "told", "span", "layout", *(f"{name}_of" for name in DETAILS))


class _Source(Struct):
    """What the shard knows of a file when it is opened again."""

    id: int
    cursor: Cursor | None = None
    tools_offset: int = 0
    newest_ms: int | None = None
    is_new: bool = True


class Indexer:
    """Writes into one shard."""

    def __init__(
        self,
        database: Database,
        *,
        advance: Callable[[int], None] = lambda _bytes: None,
        is_stopped: Callable[[], bool] = lambda: False,
        batch: int = BATCH,
    ) -> None:
        self._database = database
        self._advance = advance
        self._is_stopped = is_stopped
        self._batch = batch
        self._taken = 0
        """Bytes since the last commit."""
        self._names = Interning(database)
        # What is told here of the database must be of the transaction that writes: another clew may be at it.
        database.execute("BEGIN IMMEDIATE")
        self._messages = Messages(database, self._names)
        self._ids = Ids(database)
        self.skipped: list[Skipped] = []

    # --- transactions ---------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Go on writing after a commit."""
        self._database.execute("BEGIN IMMEDIATE")
        self._taken = 0

    def commit(self) -> None:
        """Make what was written last."""
        self._database.execute("COMMIT")

    def pause(self) -> None:
        """Commit if much was written, and go on."""
        if self._taken >= self._batch:
            self.commit()
            self.begin()

    def _take(self, size: int) -> None:
        self._taken += size
        self._advance(size)

    # --- whole files ----------------------------------------------------------------------------------------

    def forget(self, source: int) -> None:
        """Remove a file that is gone."""
        self._clear(source)
        self._messages.note_owner(source)
        self._database.execute("DELETE FROM session WHERE source = ?", (source,))
        self._database.execute("DELETE FROM source WHERE id = ?", (source,))

    def move(self, source: int, session: str, owner: str) -> None:
        """Give a file to another session."""
        self._messages.note_owner(source)
        self._database.execute(
            "UPDATE source SET session = ?, owner = ? WHERE id = ?", (session, path_value(owner), source)
        )
        self._messages.note_owner(source)

    def _clear(self, source: int) -> None:
        """Remove all that was read of a file."""
        execute = self._database.execute
        self._messages.note_gone(source)
        for first, last in execute("SELECT first, last FROM span WHERE source = ?", (source,)).fetchall():
            for table in ("talk", "tools"):
                # A contentless table is asked for its rows by their sizes.
                execute(
                    f"DELETE FROM {table} WHERE rowid IN "  # noqa: S608  # our own names
                    f"(SELECT id FROM {table}_docsize WHERE id BETWEEN ? AND ?)",
                    (first, last),
                )
            execute("DELETE FROM entry WHERE id BETWEEN ? AND ?", (first, last))
        execute("INSERT OR IGNORE INTO dirty SELECT 'told', '' FROM told WHERE source = ?", (source,))
        for table in _FORGET:
            execute(f"DELETE FROM {table} WHERE source = ?", (source,))  # noqa: S608  # our own names
        clear_state(self._database, source)
        execute(
            "UPDATE source SET cursor = NULL, offset = 0, tools_offset = 0, newest_ms = NULL, "
            "details = NULL, mtime_ns = -1 WHERE id = ?",
            (source,),
        )

    def index(self, work: Work, *, with_tools: bool) -> None:
        """Read what is new in a file. One that cannot be read is noted in `skipped`, and its rows go."""
        for _ in range(_ATTEMPTS):
            source = self._source(work)
            try:
                if work.wanted.kind == SPILLED:
                    self._output(work, source)
                elif not self._session(work, source, with_tools=with_tools):
                    continue
            except ChangedOnDiskError:
                # What was read of it may be half of one file and half of another.
                self._clear(source.id)
                continue
            except ClewError as error:
                self.skipped.append(Skipped(work.wanted.path, error.message))
                self.forget(source.id)
            return

    def _source(self, work: Work) -> _Source:
        """Find what is known of a file, or enter it."""
        one = work.wanted
        values = (work.session, path_value(work.owner), work.ids)
        row = self._database.execute(
            "SELECT id, cursor, tools_offset, newest_ms, session, owner, ids FROM source WHERE path = ?",
            (path_value(one.path),),
        ).fetchone()
        if row is None:
            found = self._database.execute(
                "INSERT INTO source (path, kind, root, folder, name, session, owner, ids, mtime_ns) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, -1) RETURNING id",
                (path_value(one.path), one.kind, *map(path_value, (one.root, one.folder, one.name)), *values),
            ).fetchall()
            return _Source(found[0][0])
        number, cursor, tools_offset, newest_ms, *before = row
        if tuple(before) != values:
            self._messages.note_owner(number)
            self._database.execute(
                "UPDATE source SET session = ?, owner = ?, ids = ? WHERE id = ?", (*values, number)
            )
        return _Source(number, _cursor(cursor), tools_offset, newest_ms, is_new=False)

    # --- session files --------------------------------------------------------------------------------------

    def _session(self, work: Work, source: _Source, *, with_tools: bool) -> bool:
        """Take in what is new in a session file; False if it was cut meanwhile, and is to be read again."""
        one = work.wanted
        agent = one.name.removeprefix("agent-") if one.kind else None
        folds, growth = self._open(work, source, agent)
        start = growth.cursor
        try:
            writing = Writing(
                self._database,
                self._names,
                self._messages,
                self._ids,
                source=source.id,
                path=one.path,
                home=Home(work.session, agent),
                folds=folds,
                # What was left out of a file before comes before what is new in it.
                with_tools=with_tools and source.tools_offset >= start.offset,
                newest_ms=source.newest_ms,
                is_new=source.is_new,
                name=None if one.kind else one.name,
            )
            try:
                if self._read(growth, writing, start):
                    writing.finish(growth)
            except ClewError:
                writing.name_lines()  # so that they go with the rest
                raise
        finally:
            growth.close()
        return not growth.was_cut

    def _open(self, work: Work, source: _Source, agent: str | None) -> tuple[Folds, Growth]:
        """Open a file where it was left; where that no longer holds, all that was read of it goes."""
        path = work.wanted.path
        if source.cursor is not None:
            growth = read_new(path, source.cursor)
            if not growth.restarted:
                try:
                    return Folds.restore(path, agent, read_state(self._database, source.id)), growth
                except StateError:
                    pass
            growth.close()
        if not source.is_new:
            self._clear(source.id)
            source.tools_offset, source.newest_ms, source.is_new = 0, None, True
        return Folds(path, agent), read_new(path)

    def _read(self, growth: Growth, writing: Writing, start: Cursor) -> bool:
        """Go through what is new, and say whether that was to the end."""
        line, offset = start.number, start.offset
        for item in growth:
            if not is_finished(item):
                # Only finished lines are given: this one was cut off and another end is being written.
                growth.was_cut = True
                break
            if item.number != line:
                line = item.number
                is_stopped = self._is_stopped()
                if is_stopped or self._taken >= self._batch:
                    # Between two lines: the cursor stands before this one, and all before it was taken in.
                    writing.finish(growth, is_part=True)
                    if is_stopped:
                        return False
                    self.commit()
                    self.begin()
            writing.add(item)
            if item.offset - offset >= _STEP:
                self._take(item.offset - offset)
                offset = item.offset
        self._take(growth.cursor.offset - offset)
        return True

    # --- tools' words, later --------------------------------------------------------------------------------

    def pending(self) -> list[tuple[int, str]]:
        """Return the files whose tools' words are still to be read, in the order of their lines' numbers."""
        rows = self._database.execute(
            "SELECT s.id, s.path FROM source s LEFT JOIN span p ON p.source = s.id "
            "WHERE s.tools_offset < s.offset GROUP BY s.id ORDER BY min(p.first)"
        ).fetchall()
        return [(source, os.fsdecode(path)) for source, path in rows]

    def tools(self, source: int, path: str) -> None:
        """Read the tools' words of a file whose lines are known."""
        row = self._database.execute(
            "SELECT cursor, offset, tools_offset FROM source WHERE id = ?", (source,)
        ).fetchone()
        cursor = None if row is None else _cursor(row[0])
        if row is None or cursor is None:
            return
        try:
            with FileSource(path) as file:
                if cursor.mismatch(file) is None:
                    self._tools(source, file, row[2], row[1])
        except ClewError:
            return  # it was cut just now, or is gone: the next update sees that

    def _tools(self, source: int, file: FileSource, start: int, end: int) -> None:
        lines = self._database.execute(
            "SELECT e.id, e.offset, e.length, e.flags FROM span p CROSS JOIN entry e "
            "ON e.id BETWEEN p.first AND p.last "
            "WHERE p.source = ? AND e.offset >= ? AND e.flags & ? ORDER BY e.id",
            (source, start, HAS_TOOLS),
        ).fetchall()
        rows: list[tuple[object, ...]] = []
        at, held = start, 0
        read = _window(file)
        for number, offset, length, flags in lines:
            if held >= FLUSH or self._is_stopped():
                self._write_tools(source, rows, offset)
                held = 0
                if self._is_stopped():
                    return
                self.pause()
            found = _texts_at(file, read, offset, length, is_abridged=bool(flags & IS_ABRIDGED))
            tools = columns(found)[_TALK:]
            if any(one is not None for one in tools):
                rows.append((number, *tools))
            held += length
            self._take(offset - at)
            at = offset
        self._write_tools(source, rows, end)
        self._take(end - at)

    def _write_tools(self, source: int, rows: list[tuple[object, ...]], done: int) -> None:
        self._database.executemany(INSERT_TOOLS, rows)
        self._database.execute("UPDATE source SET tools_offset = ? WHERE id = ?", (done, source))
        rows.clear()

    # --- outputs in files of their own ----------------------------------------------------------------------

    def _output(self, work: Work, source: _Source) -> None:
        if not source.is_new:
            self._clear(source.id)
        sort = self._names.sort(("tool-results", "tool-results", None, None, False, False))
        first = self._ids.next
        with FileSource(work.wanted.path) as file:
            for offset, data in _pieces(file):
                number = self._ids.take()
                entry = (number, source.id, 0, offset, len(data), None, sort, HAS_TOOLS, None, None)
                self._database.execute(INSERT_ENTRY, entry)
                text = prepare(data.decode("utf-8", "replace"))
                self._database.execute(INSERT_TOOLS, (number, text, None))
                self._take(len(data))
            stamp = (file.device, fit(file.inode), file.size, file.mtime_ns, file.size, file.size)
        if self._ids.next > first:
            self._database.execute(
                "INSERT INTO span VALUES (?, ?, ?)", (source.id, first, self._ids.next - 1)
            )
        self._database.execute(
            "UPDATE source SET device = ?, inode = ?, size = ?, mtime_ns = ?, offset = ?, tools_offset = ? "
            "WHERE id = ?",
            (*stamp, source.id),
        )


def _cursor(text: str | None) -> Cursor | None:
    return None if text is None else Cursor.from_json(json.loads(text))


def _window(file: FileSource) -> Callable[[int, int], bytes]:
    """Return what reads from a file in large steps, asked for places one after the other."""
    held, held_at = b"", 0

    def read(offset: int, length: int) -> bytes:
        nonlocal held, held_at
        if not held_at <= offset or offset + length > held_at + len(held):
            held, held_at = file.read(offset, max(length, _WINDOW)), offset
        return held[offset - held_at : offset - held_at + length]

    return read


def _texts_at(
    file: FileSource, read: Callable[[int, int], bytes], offset: int, length: int, *, is_abridged: bool
) -> list[Text]:
    """Read the texts of a record again whose place is known."""
    if is_abridged:
        items = scan(file, start=offset)
    else:
        raw = read(offset, length)
        found = quick_texts(raw)
        if found is not None:
            return found
        items = scan(BytesSource(raw))
    item = next(items, None)
    return texts_of(item) if isinstance(item, Record) else []


def _pieces(file: FileSource) -> Iterator[tuple[int, bytes]]:
    """Cut a tool's output into pieces that can be held, at the ends of lines where there are any."""
    at = 0
    while data := file.read(at, _OUTPUT):
        cut = data.rfind(b"\n") + 1
        if cut and at + len(data) < file.size:
            data = data[:cut]
        yield at, data
        at += len(data)
