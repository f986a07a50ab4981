"""Ask the tables a question in SQL: `clew sql`.

    with ask(store, "SELECT title FROM sessions") as answer:
        print(answer.columns)
        for row in answer.rows(): ...

The index is brought up to date first, and only as far as the query needs it. The rows are read as they are
asked for: an answer of millions of them is never held.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from clew.actions.sql_errors import SlowError, SqlError, explained
from clew.actions.sql_guard import checked, guarded
from clew.catalog.catalog import Catalog, CatalogUnavailableError, Options
from clew.errors import UsageError
from clew.tables.schema import TABLES, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from clew.actions.sql_errors import Connection
    from clew.actions.sql_guard import Guard, Statement
    from clew.catalog.catalog import Progress
    from clew.catalog.database import Database
    from clew.store.files import Skipped, Store

Value = str | int | float | bytes | None
Row = tuple[Value, ...]

__all__ = ["Answer", "SqlError", "Wish", "ask", "distinct", "schema_document"]

_BATCH: Final = 512
_STEPS: Final = 20_000
"""Steps of SQLite's machine, well under a millisecond, after which the clock is looked at."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How to answer."""

    limit: int | None = None
    """Rows after which to stop; None for all."""

    seconds: float | None = None
    """How long the query may take, once the index is up to date; None for as long as it takes."""

    no_index: bool = False
    """Whether to leave the index alone and make one for this query only."""

    jobs: int | None = None


@dataclass(slots=True)
class Answer:
    """The answer to a query."""

    columns: tuple[str, ...]
    """The names of the columns, as SELECT gives them."""

    tables: frozenset[str] = frozenset()
    """The documented tables that were read."""

    notes: tuple[str, ...] = ()
    """What somebody who asks should know: that the answer may be old."""

    skipped: tuple[Skipped, ...] = ()
    """Files that could not be read."""

    was_cut: bool = False
    """Whether there were more rows than the limit; known when all rows were taken."""

    _batches: Iterator[list[Row]] = field(default_factory=lambda: iter(()), repr=False)
    _limit: int | None = None

    def rows(self) -> Iterator[Row]:
        """Give the rows, once."""
        left = self._limit
        for batch in self._batches:
            if left is None:
                yield from batch
                continue
            yield from batch[:left]
            if len(batch) > left:
                self.was_cut = True
                return
            left -= len(batch)


class _Brought(NamedTuple):
    """How the index was brought up to date."""

    notes: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@contextmanager
def ask(
    store: Store, query: str, wish: Wish | None = None, *, tell: Callable[[Progress], object] | None = None
) -> Generator[Answer]:
    """Answer a query. `tell` is told how far the index is.

    What is no SQL is a `SqlError`, what would do more than read a `RefusedError`, what takes too long a
    `SlowError`. Where the index cannot be used, one is made for this query, with a note.
    """
    wish = wish or Wish()
    note: tuple[str, ...] = ()
    if not wish.no_index:
        try:
            catalog = Catalog.open(store)
            answer = _answer(catalog, query, wish, tell)
        except CatalogUnavailableError as error:
            note = (f"{error.message}; one was made for this query only",)
        else:
            with catalog:
                yield answer
            return
    with (
        tempfile.TemporaryDirectory(prefix="clew-", ignore_cleanup_errors=True) as folder,
        Catalog.open(store, cache=Path(folder)) as catalog,
    ):
        answer = _answer(catalog, query, wish, tell)
        yield replace(answer, notes=(*note, *answer.notes))


def _answer(catalog: Catalog, query: str, wish: Wish, tell: Callable[[Progress], object] | None) -> Answer:
    try:
        with catalog.reading() as database:
            statement = checked(_whole(database), query)
        brought = _bring(catalog, statement, wish, tell)
        run = _Run(catalog, statement, wish.seconds)
        first = run.batch()
    except BaseException:
        catalog.close()
        raise
    return Answer(
        statement.columns,
        statement.tables,
        brought.notes,
        brought.skipped,
        False,
        run.batches(first),
        wish.limit,
    )


def _bring(
    catalog: Catalog, statement: Statement, wish: Wish, tell: Callable[[Progress], object] | None
) -> _Brought:
    """Bring the index up to date as far as a statement needs it; one that reads no table needs nothing."""
    if not statement.tables:
        return _Brought()
    options = Options(jobs=wish.jobs, details=statement.needs_details)
    update = catalog.update(options=options, tell=tell)
    return _Brought(update.notes, update.skipped)


def _whole(database: Database) -> Connection:
    """Return a connection of the catalog with all that a connection can do."""
    return cast("Connection", cast("object", database))


class _Run:
    """A statement that runs. Errors of the consumer of its rows are never taken for errors of the index."""

    def __init__(self, catalog: Catalog, statement: Statement, seconds: float | None) -> None:
        self._catalog = catalog
        self._text = statement.text
        self._seconds = seconds
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._is_late = False
        with catalog.reading() as found:
            # The connection is a new one since the update.
            database = _whole(found)
            self._guard: Guard = guarded(database)
            # Python sees Ctrl-C in here too, so there is always something to call.
            database.set_progress_handler(self._is_over, _STEPS)
            self._database = database
            self._cursor = database.cursor()
            with self._explained():
                self._cursor.execute(self._text)

    def _is_over(self) -> bool:
        self._is_late = self._ends is not None and time.monotonic() >= self._ends
        return self._is_late

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            with explained(self._database, self._text, self._guard):
                yield
        except SqlError as error:
            if self._is_late and self._seconds is not None:
                raise SlowError(self._seconds) from error
            raise

    def batch(self) -> list[Row]:
        """Return the next rows; none when there are no more."""
        with self._catalog.reading(), self._explained():
            return list(islice(self._cursor, _BATCH))

    def batches(self, first: list[Row]) -> Iterator[list[Row]]:
        """Give all rows in batches, beginning with one that was read already."""
        batch = first
        while batch:
            yield batch
            batch = self.batch()


def distinct(names: Iterable[str]) -> list[str]:
    """Return the names, those that were there before with a number: `a`, `a_2`."""
    found: list[str] = []
    for name in names:
        number, other = 1, name
        while other in found:
            number += 1
            other = f"{name}_{number}"
        found.append(other)
    return found


def schema_document(names: Iterable[str] = ()) -> dict[str, object]:
    """Return what tables there are, or some of them, with their columns and what those mean."""
    wanted = [name.lower() for name in names] or list(TABLES)
    for name in wanted:
        if name not in TABLES:
            raise UsageError(f"there is no table {name!r}", hint=f"one of: {', '.join(TABLES)}")
    return {
        "version": VERSION,
        "tables": [
            {
                "name": name,
                "doc": TABLES[name].doc,
                "columns": [
                    {"name": column.name, "type": column.type, "doc": column.doc}
                    for column in TABLES[name].columns
                ],
            }
            for name in wanted
        ],
    }
