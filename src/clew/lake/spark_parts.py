"""What executors run: plain functions from batches to batches, which come to them by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from clew.lake.files import Shelf, Written, read
from clew.lake.libraries import arrow
from clew.lake.places import Place
from clew.lake.schemas import PARTITION, schema
from clew.lake.settling import settled, summed
from clew.lake.tasks import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Batches = "Iterable[Any]"


def run_tasks(batches: Iterable[Any]) -> Iterator[Any]:
    """Do the tasks that come in a column."""
    for batch in batches:
        for task in batch.column("task").to_pylist():
            yield arrow().RecordBatch.from_pydict({"outcome": arrow().array([run(task)], arrow().binary())})


def settled_rows(batches: Iterable[Any]) -> Iterator[Any]:
    """Make the rows of `usage` of messages that come sorted."""
    yield from settled(batch for batch in batches if batch.num_rows)


def summed_rows(batches: Iterable[Any]) -> Iterator[Any]:
    """Add up what sessions used; the rows come sorted by source."""
    yield from summed(batches)


class Reading:
    """Reads files of a table, whose names come in a column."""

    def __init__(self, lake: Place, table: str, names: Sequence[str]) -> None:
        self._place = (lake.url, lake.options)
        self._table = table
        self._names = tuple(names)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Give their rows, with what the log says of each file."""
        lake, library = Place(*self._place), arrow()
        made = library.schema([schema(self._table).field(name) for name in self._names])
        inside = [name for name in self._names if name not in PARTITION]
        for batch in batches:
            for one in batch.to_pylist():
                rows = read(lake, self._table, one["path"], inside)
                named = {"team": one["team"], "session_day": one["day"]}
                columns = [
                    library.array([named[name]] * rows.num_rows, library.string())
                    if name in named
                    else rows[name]
                    for name in self._names
                ]
                yield from library.table(columns, names=[*self._names]).cast(made).to_batches()


class Writing:
    """Writes rows into files of a table, one for each partition, and tells which."""

    def __init__(self, lake: Place, table: str) -> None:
        self._place = (lake.url, lake.options)
        self._table = table

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Write them."""
        shelf, library = Shelf(Place(*self._place)), arrow()
        for batch in batches:
            if batch.num_rows:
                rows = library.Table.from_batches([batch]).cast(schema(self._table))
                shelf.add_mixed(self._table, rows)
        found = msgspec.msgpack.encode(shelf.close())
        yield library.RecordBatch.from_pydict({"written": library.array([found], library.binary())})


def written(data: bytes) -> list[Written]:
    """Read what was written."""
    return msgspec.msgpack.decode(data, type=list[Written])
