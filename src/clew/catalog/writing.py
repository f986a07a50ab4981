"""One reading of one session file: its lines go into the shard as they come, its facts when it ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import msgspec

from clew.catalog.interning import pack_uuid
from clew.catalog.schema import HAS_TOOLS, IS_ABRIDGED, TALK, TOOLS
from clew.catalog.sources import fit
from clew.catalog.statekeeping import write_state
from clew.catalog.words import columns, is_of_tools, texts_of
from clew.errors import ChangedOnDiskError, ClewError
from clew.format.records import Record
from clew.session.fold import Extent
from clew.session.session import Session, TableBuilder
from clew.tables.cells import clean
from clew.tables.passing_rows import entry_row, session_row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.catalog.database import Database
    from clew.catalog.folds import Folds
    from clew.catalog.interning import Interning
    from clew.catalog.messages import Messages
    from clew.format.records import Fragment
    from clew.session.fold import Facts
    from clew.session.growth import Held
    from clew.store.reader import Cursor, Growth
    from clew.tables.cells import Home

INSERT_ENTRY: Final = (
    "INSERT INTO entry (id, source, line, offset, length, time_ms, sort, flags, uuid, parent) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_TALK: Final = f"INSERT INTO talk (rowid, {', '.join(TALK)}) VALUES (?{', ?' * len(TALK)})"  # noqa: S608
INSERT_TOOLS: Final = f"INSERT INTO tools (rowid, {', '.join(TOOLS)}) VALUES (?{', ?' * len(TOOLS)})"  # noqa: S608

FLUSH: Final = 4 << 20
"""How many bytes of lines are gathered before they are written."""

_TALK: Final = len(TALK)
_NO_WORDS: Final = [None] * len(TALK)
_NO_TOOLS: Final = [None] * len(TOOLS)
_RECENT: Final = 4096
_LAID_OUT: Final = 200_000
"""Lines of a file up to which it is worked out where each stands."""

_SESSION: Final = (
    "source", "own_title", "own_source", "title", "title_source", "first_prompt", "started_ms", "ended_ms",
    "oldest_ms", "turns", "messages", "tool_calls", "failed_calls", "models", "git_branch", "client_versions",
    "session_ids", "first_session_id", "agent_id", "slug", "cwd", "kind", "damaged", "is_unfinished", "bytes",
    "lines", "prs",
)  # fmt: skip
_WRITE_SESSION: Final = (
    f"INSERT INTO session ({', '.join(_SESSION)}) VALUES ({', '.join('?' * len(_SESSION))}) "  # noqa: S608
    f"ON CONFLICT (source) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _SESSION[1:])}"
)


class Ids:
    """Numbers for new lines: each greater than all before it in the shard."""

    def __init__(self, database: Database) -> None:
        row = database.execute("SELECT max(id) FROM entry").fetchone()
        self.next = (row[0] or 0) + 1 if row else 1

    def take(self) -> int:
        """Return the next one."""
        number = self.next
        self.next += 1
        return number


class Writing:
    """Takes in the items of one file."""

    def __init__(
        self,
        database: Database,
        names: Interning,
        messages: Messages,
        ids: Ids,
        *,
        source: int,
        path: str,
        home: Home,
        folds: Folds,
        with_tools: bool,
        newest_ms: int | None,
        is_new: bool,
        name: str | None,
    ) -> None:
        """`is_new` says that the shard holds nothing of the file yet, `name` is that of a session."""
        self._database = database
        self._names = names
        self._messages = messages
        self._ids = ids
        self._source = source
        self._path = path
        self._home = home
        self._folds = folds
        self._with_tools = with_tools
        self._newest = newest_ms
        self._is_new = is_new
        self._name = name
        self._table = TableBuilder() if is_new and name is not None else None
        self._first = ids.next
        self._recent: dict[str, int] = {}
        self._entries: list[tuple[object, ...]] = []
        self._talk: list[tuple[object, ...]] = []
        self._tools: list[tuple[object, ...]] = []
        self._held = 0
        self._is_undone = False

    def add(self, item: Record | Fragment) -> None:
        """Take in the next record or fragment."""
        self._folds.add(item)
        self._held += item.length
        if isinstance(item, Record):
            self._record(item)
        if self._held >= FLUSH:
            self.flush()

    def _record(self, item: Record) -> None:
        if self._table is not None and self._table.add(item) >= _LAID_OUT:
            self._table = None  # so many that it would be held for nothing
        row = entry_row(item, self._home)
        number = self._ids.take()
        flags = IS_ABRIDGED if item.is_abridged else 0
        if is_of_tools(item):
            flags |= HAS_TOOLS
        if self._with_tools or not flags & HAS_TOOLS:
            cells = columns(texts_of(item), with_tools=self._with_tools)
            talk, tools = cells[:_TALK], cells[_TALK:]
            if talk != _NO_WORDS:
                self._talk.append((number, *talk))
            if tools != _NO_TOOLS:
                flags |= HAS_TOOLS
                if self._with_tools:
                    self._tools.append((number, *tools))
        time = row.time_ms
        if time is not None and (self._newest is None or time > self._newest):
            self._newest = time
        sort = self._names.sort((row.kind, row.type, row.role, row.agent_id, row.is_sidechain, row.is_meta))
        self._entries.append(
            (
                number,
                self._source,
                row.line,
                row.offset,
                row.length,
                time,
                sort,
                flags,
                pack_uuid(row.uuid),
                self._parent(number, row.parent_uuid),
            )
        )
        if row.uuid is not None:
            if len(self._recent) >= _RECENT:
                self._recent.clear()
            self._recent[row.uuid] = number

    def _parent(self, number: int, uuid: str | None) -> int | str | bytes | None:
        """Tell the parent by how many lines before it stands: in a byte instead of 17."""
        before = None if uuid is None else self._recent.get(uuid)
        return pack_uuid(uuid) if before is None else number - before

    def flush(self) -> None:
        """Write the lines gathered so far."""
        for statement, rows in (
            (INSERT_ENTRY, self._entries),
            (INSERT_TALK, self._talk),
            (INSERT_TOOLS, self._tools),
        ):
            if rows:
                self._database.executemany(statement, rows)
                rows.clear()
        self._held = 0
        self._folds.flush()

    def name_lines(self) -> None:
        """Note which lines are of the file: those that were written since the last time."""
        if self._ids.next > self._first:
            last = self._ids.next - 1
            self._database.execute("INSERT INTO span VALUES (?, ?, ?)", (self._source, self._first, last))
            self._first = self._ids.next

    # --- what is told when a reading ends -------------------------------------------------------------------

    def finish(self, growth: Growth, *, is_part: bool = False) -> None:
        """Write what is known of the file so far; `is_part` says that there is more to read."""
        self.flush()
        cursor = growth.cursor
        unfinished = [] if is_part or growth.was_cut else _unfinished(growth)
        held_back = 0 if is_part or growth.was_cut else growth.held_back
        extent = Extent(cursor.size, cursor.number - 1 + (held_back > 0))
        facts, tail = self._folds.facts(extent, unfinished)
        undo = self._write_messages(tail.messages if tail is not None else {})
        is_older = self._is_new or self._oldest() != facts.oldest
        self._write_facts(facts)
        self.name_lines()
        self._folds.count_broken(growth.source.read)
        # A time that no file has: it is looked into again the next time.
        mtime_ns = -1 if is_part or growth.was_cut else cursor.mtime_ns
        self._database.execute(
            "UPDATE source SET device = ?, inode = ?, size = ?, mtime_ns = ?, cursor = ?, offset = ?, "
            "newest_ms = ?, damaged = ?, client_cost = ? WHERE id = ?",
            (
                cursor.device,
                fit(cursor.inode),
                cursor.size,
                mtime_ns,
                _cursor_text(cursor),
                cursor.offset,
                self._newest,
                self._folds.damaged,
                self._folds.client_cost if tail is None else tail.client_cost,
                self._source,
            ),
        )
        if not is_part and not held_back and not growth.was_cut:
            self._write_layout(growth, cursor)
        write_state(self._database, self._source, self._folds.state(undo), is_new=self._is_new)
        if self._with_tools:
            self._database.execute("UPDATE source SET tools_offset = offset WHERE id = ?", (self._source,))
        self._messages.note_owner(self._source, is_older=is_older)
        self._is_new = False

    def _write_layout(self, growth: Growth, cursor: Cursor) -> None:
        """Note where all lines stand, if all were read just now: it takes a part of what reading does."""
        built, self._table = self._table, None
        if built is None or not 0 < len(built.table) <= _LAID_OUT:
            return
        from clew.session.layout import Layout  # with all that branches need; most updates read no new file

        try:
            runs = Layout(Session(growth.source, built.table, name=self._name)).runs()
        except ClewError:  # it was cut just now: the next update sees that
            return
        self._database.execute(
            "INSERT OR REPLACE INTO layout VALUES (?, ?, ?)",
            (self._source, _cursor_text(cursor), msgspec.msgpack.encode(runs)),
        )

    def _oldest(self) -> int | None:
        """Return the time of the oldest line as it was known before."""
        row = self._database.execute("SELECT oldest_ms FROM session WHERE source = ?", (self._source,))
        found = row.fetchone()
        return None if found is None else found[0]

    def _write_messages(self, tail: Mapping[str, Held]) -> bytes | None:
        messages, folds = self._messages, self._folds
        if not self._is_undone:
            messages.undo(self._source, folds.undo)
            self._is_undone = True
        is_same = self._is_new and not folds.told and not tail
        messages.onto(self._source, self._path, folds.told)
        folds.told = {}
        undo = messages.onto_tail(self._source, self._path, tail)
        if not is_same:
            messages.roll_up(self._source)
        return undo

    def _write_facts(self, facts: Facts) -> None:
        row = session_row(facts, session_id="", path="", folder="", changed_ms=0)
        self._database.execute(
            _WRITE_SESSION,
            (
                self._source,
                row.title,
                row.title_source,
                row.title,
                row.title_source,
                row.first_prompt,
                row.started_ms,
                row.ended_ms,
                facts.oldest,
                row.turns,
                row.messages,
                row.tool_calls,
                row.failed_calls,
                row.models,
                row.git_branch,
                row.client_versions,
                row.session_ids,
                clean(facts.first_session_id),
                clean(facts.agent_id),
                row.slug,
                clean(facts.cwd),
                row.kind,
                facts.damaged,
                facts.is_unfinished,
                row.bytes,
                row.lines,
                row.prs,
            ),
        )
        if self._is_new and not facts.summaries:
            return
        database = self._database
        told = {clean(leaf): clean(text) for leaf, text in facts.summaries.items()}
        known = dict(
            database.execute("SELECT leaf, text FROM told WHERE source = ?", (self._source,)).fetchall()
        )
        if told != known:
            database.execute("DELETE FROM told WHERE source = ?", (self._source,))
            database.executemany(
                "INSERT INTO told VALUES (?, ?, ?)",
                [(self._source, leaf, text) for leaf, text in told.items()],
            )
            database.execute("INSERT OR IGNORE INTO dirty VALUES ('told', '')")


def is_finished(item: Record | Fragment) -> bool:
    """Say whether an item is of a line that has its end."""
    return item.is_terminated if isinstance(item, Record) else not item.is_last


def _unfinished(growth: Growth) -> list[Record | Fragment]:
    """Return what the unfinished last line tells; nothing if it was cut or another is there by now."""
    try:
        found = growth.unfinished()
    except ChangedOnDiskError:
        found = []
        growth.was_cut = True
    if found and (is_finished(found[-1]) or found[0].number != found[-1].number):
        growth.was_cut = True
    return [] if growth.was_cut else found


def _cursor_text(cursor: Cursor) -> str:
    return json.dumps(cursor.as_json())
