"""Export the tables without secrets: session by session, each redacted before rows are made of it.

A session that cannot be read costs only itself. Files of sub-agents whose session is gone are told too, where
all sessions are. The rows wait in files that nobody else can open, until all of them are there.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from clew.actions.exporting_tables import (
    BATCH,
    Asking,
    ExportedTable,
    ExportedTables,
    arrow_table,
    path_of,
    table_writer,
)
from clew.actions.reading import Opened, is_being_written
from clew.actions.redacted import redacted
from clew.actions.redacted_tables import SUMS, USAGE_WORDS, file_tables, session_tables, usage_cells
from clew.actions.sql import Wish
from clew.actions.sql_parquet import library
from clew.errors import ClewError
from clew.store.disk import DISK
from clew.store.files import Skipped
from clew.store.heads import group_agents
from clew.store.outputs import make_output_folder, write_output
from clew.store.reader import open_session
from clew.tables.cells import Home
from clew.tables.schema import TABLES
from clew.tables.strings import whole_characters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import IO, Self

    from clew.actions.export_stories import Cleaning
    from clew.actions.redacted import Redacted
    from clew.actions.redacted_tables import TableRow
    from clew.catalog.catalog import Progress
    from clew.store.files import SessionFile, Store
    from clew.tables.schema import Table

_PIECE: Final = 1 << 20


def export_redacted_tables(
    store: Store,
    folder: str,
    files: Sequence[SessionFile],
    cleaning: Cleaning,
    *,
    is_everything: bool = False,
    force: bool = False,
    no_index: bool = False,
    jobs: int | None = None,
    tell: Callable[[Progress], object] | None = None,
    advance: Callable[[], None] | None = None,
) -> ExportedTables:
    """Write all tables of some sessions into a folder, without secrets; `advance` is called after each.

    `is_everything` says that they are all sessions of the store.
    """
    library()
    where = make_output_folder(folder)
    ids = None if is_everything else [file.id for file in files]
    work = _Work(store, Asking(store, ids, Wish(no_index=no_index, jobs=jobs), tell), cleaning)
    with ExitStack() as stack:
        spools = {table.name: stack.enter_context(_Spool(table)) for table in TABLES.values()}
        for file in files:
            work.take(work.session(file), file, spools)
            if advance is not None:
                advance()
        for file, owner in work.orphans() if is_everything else ():
            work.take(work.orphan(file, owner), file, spools)
        for cells in work.usage():
            spools["usage"].add(cells)
        written = [_written(where, table, spools[table.name], force=force) for table in TABLES.values()]
    asking = work.asking
    skipped = {**asking.skipped, **work.skipped}
    return ExportedTables(
        tuple(written), tuple(asking.notes), tuple(skipped.values()), dict(work.found), work.left
    )


def _written(folder: str, table: Table, spool: _Spool, *, force: bool) -> ExportedTable:
    found = write_output(path_of(folder, table), spool.pieces(), replace=force)
    return ExportedTable(table.name, found.path, spool.count, found.size)


class _Spool:
    """The rows of one table, as they come, in a file without a name."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._held: list[Sequence[object]] = []
        self._file: IO[bytes] = DISK.unnamed()
        self._writer = table_writer(self._file, table)
        self.count = 0

    def add(self, cells: Sequence[object]) -> None:
        """Take a row."""
        self._held.append(cells)
        if len(self._held) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        self.count += len(self._held)
        if self._held:
            self._writer.write_table(arrow_table(self._table, self._held))
        self._held = []

    def pieces(self) -> Iterator[bytes]:
        """Give the table; nothing can be added from here on."""
        self._flush()
        self._writer.close()
        self._file.seek(0)
        while piece := self._file.read(_PIECE):
            yield piece

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()
        self._file.close()


class _Work:
    """Knows what the sessions came to, and takes their secrets out."""

    def __init__(self, store: Store, asking: Asking, cleaning: Cleaning) -> None:
        self._listing = store.listing()
        self._agents = group_agents(self._listing)
        self._cleaning = cleaning
        self.asking = asking
        self.found: Counter[str] = Counter()
        self.left = 0
        self.skipped: dict[str, Skipped] = {}
        self._words: dict[str, dict[str, str]] = {}
        """By session what is left of the words that `usage` has of it."""
        with asking.rows("usage", ("session_id", *USAGE_WORDS), distinct=True) as rows:
            for session, *words in rows:
                told = self._words.setdefault(str(session), {})
                told.update((word, "") for word in words if isinstance(word, str))
        with asking.rows("sessions", ("path", *SUMS)) as rows:
            self._known = {str(row[0]): dict(zip(SUMS, row[1:], strict=True)) for row in rows}
        self._clean: set[str] = set()

    def take(self, rows: Iterable[TableRow], file: SessionFile, spools: Mapping[str, _Spool]) -> None:
        """Put the rows of a file where they belong; one that cannot be read has none from there on."""
        try:
            for table, cells in rows:
                spools[table].add(cells)
        except ClewError as error:
            self.skipped[file.path] = Skipped(file.path, error.message)

    def session(self, file: SessionFile) -> Iterator[TableRow]:
        """Give the rows of a session."""
        clean = self._cleaned(file, self._agents.of(file))
        self._clean_words(whole_characters(file.id), clean)
        yield from session_tables(clean, known=self._known.get(whole_characters(file.path)))

    def orphans(self) -> Iterator[tuple[SessionFile, str]]:
        """Give the files of sub-agents whose session is not there, and the session's id."""
        there = {(file.root, file.folder, file.id) for file in self._listing.sessions}
        for key, files in self._agents.by_session.items():
            if key not in there:
                yield from ((file, key[2]) for file in files)

    def orphan(self, file: SessionFile, owner: str) -> Iterator[TableRow]:
        """Give the rows of a sub-agent whose session is not there."""
        clean = self._cleaned(file, ())
        home = Home(whole_characters(owner), whole_characters(file.id.removeprefix("agent-")))
        self._clean_words(home.session_id, clean)
        yield from file_tables(clean, home)

    def _cleaned(self, file: SessionFile, agents: tuple[SessionFile, ...]) -> Redacted:
        session = open_session(file.path)
        opened = Opened(file, session, agents, False, is_being_written(file, session.fragments))
        clean = redacted(opened, key=self._cleaning.key, own=self._cleaning.own)
        self.found.update(clean.found)
        self.left += clean.left
        return clean

    def _clean_words(self, session: str, clean: Redacted) -> None:
        self._clean.add(session)
        words = self._words.setdefault(session, {})
        for word, known in words.items():
            # Two files may go by one id: what either finds is taken out.
            words[word] = clean.text(known or word)

    def usage(self) -> Iterator[Sequence[object]]:
        """Give the rows of what was paid for, of the sessions that were redacted."""
        with self.asking.rows("usage", TABLES["usage"].names) as rows:
            place = TABLES["usage"].names.index("session_id")
            for row in rows:
                session = str(row[place])
                if session in self._clean:
                    yield usage_cells(row, self._words.get(session, {}))
