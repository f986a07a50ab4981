"""The Parquet files of a lake: written whole by whoever has rows, and in no table until the driver says so.

A name is never used twice. What a task that died or was run again left behind is in no log, and `vacuum`
takes it away.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from msgspec import Struct

from clew.lake.libraries import arrow, compute, parquet
from clew.lake.schemas import PARTITION, Rows, batch, schema

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew.lake.places import Place

_LARGEST: Final = 128 << 20
"""Bytes of rows in memory from which a file is written out, and another begun."""

_SAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_WRITTEN: Final = {"compression": "zstd", "compression_level": 1, "store_schema": False}
"""Higher levels take longer and make small files no smaller; the schema is the table's, and known."""

_ROWS: Final = 20_000
"""Rows that are held as they are before they become columns."""

_TOLD: Final = ("source", "day", "time_ms")
"""The columns whose least and greatest value the log tells, so that files can be passed over."""


class Written(Struct, frozen=True, array_like=True):
    """One file that was written."""

    table: str
    path: str
    """Below the folder of its table."""

    size: int
    rows: int
    team: str
    day: str
    stats: str


def table_place(lake: Place, table: str) -> Place:
    """Return where a table lies."""
    return lake.below("tables", table)


class Shelf:
    """Gathers the rows of one task by table and partition, and writes a file for each."""

    def __init__(self, lake: Place) -> None:
        self._lake = lake
        self._held: dict[tuple[str, str, str], list[Any]] = {}
        self._sizes: dict[tuple[str, str, str], int] = {}
        self._rows: dict[tuple[str, str, str], list[Rows]] = {}
        """Of many sessions, until there are enough: columns of few rows take as long to make as of many."""
        self._counts: dict[tuple[str, str, str], int] = {}
        self._written: list[Written] = []

    def add_rows(self, table: str, team: str, rows: Rows) -> None:
        """Take rows of one session."""
        key = table, team, rows.day
        self._rows.setdefault(key, []).append(rows)
        self._counts[key] = self._counts.get(key, 0) + len(rows.rows)
        if self._counts[key] >= _ROWS:
            self._columns(key)

    def add(self, table: str, team: str, day: str, batches: Iterable[Any]) -> None:
        """Take rows of one partition that are columns already."""
        key = table, team, day
        self._columns(key)
        self._add(key, batches)

    def _columns(self, key: tuple[str, str, str]) -> None:
        """Make columns of the rows that are held."""
        rows = self._rows.pop(key, None)
        self._counts.pop(key, None)
        if rows:
            self._add(key, [batch(key[0], rows)])

    def _add(self, key: tuple[str, str, str], batches: Iterable[Any]) -> None:
        for one in batches:
            if one.num_rows:
                self._held.setdefault(key, []).append(one)
                self._sizes[key] = self._sizes.get(key, 0) + one.nbytes
        if self._sizes.get(key, 0) > _LARGEST:
            self._write(key)

    def add_mixed(self, table: str, rows: Any) -> None:
        """Take rows of any partitions, which two columns name."""
        inner = rows.drop_columns([*PARTITION])
        where = set(zip(*(rows[name].to_pylist() for name in PARTITION), strict=True))
        for team, day in sorted(where):
            is_there = compute().and_(
                compute().equal(rows["team"], team), compute().equal(rows["session_day"], day)
            )
            self.add(table, team, day, inner.filter(is_there).to_batches())

    def close(self) -> list[Written]:
        """Write what is left, and tell what was written."""
        for key in [*self._rows]:
            self._columns(key)
        for key in [*self._held]:
            self._write(key)
        written, self._written = self._written, []
        return written

    def _write(self, key: tuple[str, str, str]) -> None:
        table, team, day = key
        batches = self._held.pop(key, [])
        self._sizes.pop(key, None)
        if batches:
            rows = arrow().Table.from_batches(batches, schema=schema(table, is_whole=False))
            self._written.append(write(self._lake, table, team, day, rows))


def write(lake: Place, table: str, team: str, day: str, rows: Any) -> Written:
    """Write one file."""
    library = arrow()
    sink = library.BufferOutputStream()
    with parquet().ParquetWriter(sink, rows.schema, **_WRITTEN) as writer:
        writer.write_table(rows.combine_chunks(), row_group_size=1 << 17)
    data = sink.getvalue()
    # What a folder is called says nothing to a reader: the log has the values.
    path = f"team={_folder(team)}/session_day={_folder(day)}/{uuid4().hex}.parquet"
    table_place(lake, table).put_unnamed(path, data)
    return Written(table, path, data.size, rows.num_rows, team, day, _stats(rows))


def _folder(value: str) -> str:
    safe = _SAFE.sub("_", value)[:60]
    if safe == value:
        return safe
    return f"{safe}-{blake2b(value.encode('utf-8', 'surrogatepass'), digest_size=4).hexdigest()}"


def _stats(rows: Any) -> str:
    least: dict[str, object] = {}
    most: dict[str, object] = {}
    nulls: dict[str, int] = {}
    for name in _TOLD:
        if name in rows.schema.names:
            found = compute().min_max(rows[name]).as_py()
            nulls[name] = rows[name].null_count
            if found["min"] is not None:
                least[name], most[name] = found["min"], found["max"]
    return json.dumps(
        {"numRecords": rows.num_rows, "minValues": least, "maxValues": most, "nullCount": nulls}
    )


def opened(lake: Place, table: str, path: str) -> Any:
    """Open one file, to read some columns or all."""
    place = table_place(lake, table)
    # Not by `read_table`, which loads all that there is for many files at once, pandas too.
    return parquet().ParquetFile(
        place.shown(path) if place.is_local else arrow().BufferReader(place.get(path))
    )


def read(lake: Place, table: str, path: str, columns: list[str] | None = None) -> Any:
    """Read one file."""
    with opened(lake, table, path) as file:
        return file.read(columns=columns, use_threads=False)
