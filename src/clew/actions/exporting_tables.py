"""Export the tables of `clew sql` as Parquet, a file for each table. Needs pyarrow, as `clew sql` does."""

from __future__ import annotations

import os
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from clew.actions.sql import Wish, ask
from clew.actions.sql_parquet import library
from clew.store.outputs import make_output_folder, write_output
from clew.tables.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence

    from clew.actions.sql import Row
    from clew.catalog.catalog import Progress
    from clew.store.files import Skipped, Store
    from clew.tables.schema import Column, Table

BATCH: Final = 20_000
"""Rows that are held before they are written."""


class ExportedTable(NamedTuple):
    """A table that was written."""

    name: str
    path: str
    rows: int
    size: int


class ExportedTables(NamedTuple):
    """The tables that were written."""

    tables: tuple[ExportedTable, ...]
    notes: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    redacted: Mapping[str, int] | None = None
    """How many secrets were taken out, by their sort; None where they were left in."""

    left: int = 0
    """How many stay, as they hold a session together."""


def export_tables(
    store: Store,
    folder: str,
    *,
    sessions: Iterable[str] | None = None,
    force: bool = False,
    no_index: bool = False,
    jobs: int | None = None,
    tell: Callable[[Progress], object] | None = None,
) -> ExportedTables:
    """Write all tables into a folder, of all sessions or of those with some ids."""
    library()
    where = make_output_folder(folder)
    asking = Asking(store, sessions, Wish(no_index=no_index, jobs=jobs), tell)
    written: list[ExportedTable] = []
    for table in TABLES.values():
        with asking.rows(table.name, table.names) as rows:
            counted = _Counted(rows)
            found = write_output(path_of(where, table), _pieces(table, counted), replace=force)
        written.append(ExportedTable(table.name, found.path, counted.count, found.size))
    return ExportedTables(tuple(written), tuple(asking.notes), tuple(asking.skipped.values()))


class Asking:
    """Asks for the rows of tables, and keeps what is told beside them."""

    def __init__(
        self,
        store: Store,
        sessions: Iterable[str] | None,
        wish: Wish,
        tell: Callable[[Progress], object] | None,
    ) -> None:
        self._store = store
        self._chosen = (
            "" if sessions is None else f" WHERE session_id IN ({', '.join(map(_quoted, sessions))})"
        )
        self._wish = wish
        self._tell = tell
        self.notes: dict[str, None] = {}
        self.skipped: dict[str, Skipped] = {}

    @contextmanager
    def rows(self, table: str, columns: Sequence[str], *, distinct: bool = False) -> Generator[Iterator[Row]]:
        """Give some columns of the chosen rows of a table."""
        which = "SELECT DISTINCT" if distinct else "SELECT"
        query = f"{which} {', '.join(map(_name, columns))} FROM {table}{self._chosen}"
        with ask(self._store, query, self._wish, tell=self._tell) as answer:
            self.notes |= dict.fromkeys(answer.notes)
            self.skipped |= {one.path: one for one in answer.skipped}
            yield answer.rows()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(column: str) -> str:
    return f'"{column}"'


class _Counted:
    """Rows, counted as they go by."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self.count = 0

    def batches(self) -> Iterator[list[Row]]:
        """Give them in batches."""
        while batch := list(islice(self._rows, BATCH)):
            self.count += len(batch)
            yield batch


class _Sink:
    """Takes what is written to it, until it is taken away; it cannot be gone back in."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> int:
        """Take a piece."""
        self._held.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: nothing is held back."""

    def close(self) -> None:
        """Be over."""
        self.closed = True

    def taken(self) -> Iterator[bytes]:
        """Give what was written since."""
        held, self._held = self._held, []
        yield from held


def _pieces(table: Table, rows: _Counted) -> Iterator[bytes]:
    sink = _Sink()
    with table_writer(sink, table) as writer:
        for batch in rows.batches():
            writer.write_table(arrow_table(table, batch))
            yield from sink.taken()
    yield from sink.taken()


# Parquet ------------------------------------------------------------------------------------------------


def path_of(folder: str, table: Table) -> str:
    """Return where in a folder a table goes."""
    return os.path.join(folder, f"{table.name}.parquet")  # noqa: PTH118


def table_writer(out: object, table: Table) -> Any:
    """Return what writes a table to a file that is open; it is closed in the end."""
    arrow, parquet = library()
    return parquet.ParquetWriter(arrow.PythonFile(out, mode="w"), _schema(arrow, table), compression="zstd")


def arrow_table(table: Table, rows: Sequence[Sequence[object]]) -> Any:
    """Return some rows of a table as the writer takes them."""
    arrow, _ = library()
    columns = [
        arrow.array([_cell(row[at], column) for row in rows], _type(arrow, column))
        for at, column in enumerate(table.columns)
    ]
    return arrow.table(columns, schema=_schema(arrow, table))


def _schema(arrow: Any, table: Table) -> Any:
    return arrow.schema([(column.name, _type(arrow, column)) for column in table.columns])


def _type(arrow: Any, column: Column) -> Any:
    types = {"text": arrow.string, "integer": arrow.int64, "real": arrow.float64, "boolean": arrow.bool_}
    return types[column.type]()


def _cell(value: object, column: Column) -> object:
    return bool(value) if column.type == "boolean" and value is not None else value
