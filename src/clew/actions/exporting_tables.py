"""Export the tables of `clew sql` as Parquet, a file for each table. Needs pyarrow, as `clew sql` does."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from clew.actions.sql import Wish, ask
from clew.actions.sql_parquet import library
from clew.store.outputs import make_output_folder, write_output
from clew.tables.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from clew.actions.sql import Row
    from clew.catalog.catalog import Progress
    from clew.store.files import Skipped, Store
    from clew.tables.schema import Column, Table

_BATCH: Final = 20_000


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
    arrow, parquet = library()
    where = make_output_folder(folder)
    chosen = "" if sessions is None else f" WHERE session_id IN ({', '.join(map(_quoted, sessions))})"
    written: list[ExportedTable] = []
    notes: dict[str, None] = {}
    skipped: dict[str, Skipped] = {}
    for table in TABLES.values():
        query = f"SELECT {', '.join(map(_name, table.names))} FROM {table.name}{chosen}"  # noqa: S608
        with ask(store, query, Wish(no_index=no_index, jobs=jobs), tell=tell) as answer:
            notes |= dict.fromkeys(answer.notes)
            skipped |= {one.path: one for one in answer.skipped}
            rows = _Counted(answer.rows())
            path = os.path.join(where, f"{table.name}.parquet")  # noqa: PTH118
            found = write_output(path, _pieces(arrow, parquet, table, rows), replace=force)
        written.append(ExportedTable(table.name, found.path, rows.count, found.size))
    return ExportedTables(tuple(written), tuple(notes), tuple(skipped.values()))


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
        while batch := list(islice(self._rows, _BATCH)):
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


def _pieces(arrow: Any, parquet: Any, table: Table, rows: _Counted) -> Iterator[bytes]:
    schema = arrow.schema([(column.name, _type(arrow, column)) for column in table.columns])
    sink = _Sink()
    with parquet.ParquetWriter(arrow.PythonFile(sink, mode="w"), schema, compression="zstd") as writer:
        for batch in rows.batches():
            columns = [
                arrow.array([_cell(row[at], column) for row in batch], _type(arrow, column))
                for at, column in enumerate(table.columns)
            ]
            writer.write_table(arrow.table(columns, schema=schema))
            yield from sink.taken()
    yield from sink.taken()


def _type(arrow: Any, column: Column) -> Any:
    types = {"text": arrow.string, "integer": arrow.int64, "real": arrow.float64, "boolean": arrow.bool_}
    return types[column.type]()


def _cell(value: object, column: Column) -> object:
    return bool(value) if column.type == "boolean" and value is not None else value
