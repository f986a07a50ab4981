"""The Delta tables of a lake: which files are rows, and which were. Each commit is whole or not there.

Files are written by tasks; here their names go into the log of their table, and others out of it.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from clew.lake.files import table_place
from clew.lake.libraries import arrow, datasets, delta_files, deltalake, file_systems, parquet, transactions
from clew.lake.places import PlaceError
from clew.lake.schemas import PARTITION, schema

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Iterator, Sequence

    from clew.lake.files import Written
    from clew.lake.places import Place


_AT_ONCE: Final = 16
"""Files of an object store that are read at a time."""


class Part(Struct, frozen=True, array_like=True):
    """One file that a table is made of."""

    path: str
    team: str
    day: str
    size: int
    rows: int
    first: str | None = None
    last: str | None = None
    """The least and the greatest source in it."""


class LakeTable:
    """One table, at its newest version or at another."""

    def __init__(self, lake: Place, name: str, version: int | None = None) -> None:
        self.name = name
        self._place = table_place(lake, name)
        self._version = version
        self._parts: tuple[int, list[Part]] | None = None
        """Those of a version, once they were asked for."""

    @cached_property
    def _table(self) -> Any:
        with _translated(self._place.url):
            return deltalake().DeltaTable(
                self._place.url, version=self._version, storage_options=self._place.environment or None
            )

    @property
    def is_there(self) -> bool:
        """Whether it was made."""
        with _translated(self._place.url):
            return bool(
                deltalake().DeltaTable.is_deltatable(self._place.url, self._place.environment or None)
            )

    def create(self) -> None:
        """Make it, with no rows."""
        with _translated(self._place.url):
            deltalake().DeltaTable.create(
                self._place.url,
                schema=deltalake().Schema.from_arrow(schema(self.name)),
                mode="ignore",
                partition_by=[*PARTITION],
                storage_options=self._place.environment or None,
                configuration={"delta.enableExpiredLogCleanup": "true"},
            )

    @property
    def version(self) -> int:
        """Its version."""
        return int(self._table.version())

    def dataset(self, partitions: Collection[tuple[str, str]] | None = None) -> Any:
        """Return it as an Arrow dataset: rows are read when they are asked for, and only as needed.

        With `partitions` only those, each by its team and day.
        """
        # Not deltalake's own: it takes a column without a least value for one without any (1.6.6).
        library = datasets()
        form, places = library.ParquetFileFormat(), self._files()
        fragments = [
            form.make_fragment(
                part.path,
                filesystem=places,
                partition_expression=(library.field("team") == part.team)
                & (library.field("session_day") == part.day),
            )
            for part in self.parts()
            if partitions is None or (part.team, part.day) in partitions
        ]
        return library.FileSystemDataset(fragments, schema(self.name), form, places)

    def rows(self, columns: Sequence[str], partitions: Collection[tuple[str, str]] | None = None) -> Any:
        """Return some columns of all its rows, or of those of some partitions."""
        found = [rows for _, rows in self.read(columns, partitions)]
        return arrow().concat_tables([_no_rows(self.name, columns), *found])

    def read(
        self, columns: Sequence[str], partitions: Collection[tuple[str, str]] | None = None
    ) -> Iterator[tuple[Part, Any]]:
        """Read its files one after the other, and give some columns of each.

        Not by `dataset`: for so few columns what that takes to set up is most of it.
        """
        wanted = [one for one in self.parts() if partitions is None or (one.team, one.day) in partitions]
        reading = partial(_read, self._files(), self.name, [*columns])
        if self._place.is_local:
            yield from zip(wanted, map(reading, wanted), strict=True)
            return
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for at in range(0, len(wanted), _AT_ONCE):
                few = wanted[at : at + _AT_ONCE]
                yield from zip(few, pool.map(reading, few), strict=True)

    def _files(self) -> Any:
        systems = file_systems()
        if self._place.is_local:
            return systems.SubTreeFileSystem(self._place.url, systems.LocalFileSystem())
        return systems.PyFileSystem(
            delta_files().DeltaStorageHandler(self._place.url, options=self._place.environment or None)
        )

    def parts(self) -> list[Part]:
        """Return the files it is made of."""
        if self._parts is None or self._parts[0] != self.version:
            self._parts = self.version, self._read_parts()
        return [*self._parts[1]]

    def _read_parts(self) -> list[Part]:
        with _translated(self._place.url):
            told = self._table.get_add_actions(flatten=True)
            # Not `table(told)`, which loads pandas to ask whether it is one of its tables.
            found = arrow().RecordBatchReader.from_stream(told).read_all().to_pylist()
        return [
            Part(
                one["path"],
                one["partition.team"],
                one["partition.session_day"],
                one["size_bytes"],
                one["num_records"],
                one.get("min.source"),
                one.get("max.source"),
            )
            for one in found
        ]

    def commit(
        self, written: Sequence[Written], removed: Iterable[Part], *, build: int, is_change: bool = True
    ) -> int:
        """Put files in and take others out, at once; return the version since.

        `is_change` says that the rows are others than before, and not only in other files.
        """
        library = transactions()
        now = int(time.time() * 1000)
        actions: list[Any] = [
            library.AddAction(
                one.path, one.size, {"team": one.team, "session_day": one.day}, now, is_change, one.stats
            )
            for one in written
        ]
        actions += [
            library.RemoveAction(
                one.path, is_change, now, one.size, {"team": one.team, "session_day": one.day}
            )
            for one in removed
        ]
        if not actions:
            return self.version
        table, before = self._table, self.version
        with _translated(self._place.url):
            table.create_write_transaction(
                actions,
                "append",
                table.schema(),
                [*PARTITION],
                commit_properties=library.CommitProperties(custom_metadata={"clew_build": str(build)}),
            )
            table.update_incremental()
        self._alone(before, 1)
        return self.version

    def _alone(self, before: int, steps: int) -> None:
        if self.version != before + steps:
            raise PlaceError(self._place.url, "another build writes into this lake at the same time")

    def rewind(self, version: int) -> int:
        """Let it be as it was at a version, as a new one: what a build that was cut short put in goes."""
        before = self.version
        if before == version:
            return before
        with _translated(self._place.url):
            self._table.restore(version)
            self._table.update_incremental()
        self._alone(before, 1)
        return self.version

    def vacuum(self, *, hours: float, keep: Sequence[int], dry_run: bool) -> list[str]:
        """Delete files that no version of those to be kept needs, and that are older than so many hours."""
        with _translated(self._place.url):
            return list(
                self._table.vacuum(
                    retention_hours=int(hours),
                    dry_run=dry_run,
                    enforce_retention_duration=False,
                    full=True,
                    keep_versions=[*keep],
                )
            )


def _no_rows(table: str, columns: Sequence[str]) -> Any:
    return schema(table).empty_table().select([*columns])


def _read(files: Any, table: str, columns: Sequence[str], part: Part) -> Any:
    library, made = arrow(), schema(table)
    named = {"team": part.team, "session_day": part.day}
    with (
        _translated(part.path),
        parquet().ParquetFile(part.path, filesystem=files, pre_buffer=True) as file,
    ):
        # Not in several threads: they wait for each other longer than a few columns take.
        rows = file.read([name for name in columns if name not in named], use_threads=False)
    found = [
        library.repeat(library.scalar(named[name], library.string()), rows.num_rows)
        if name in named
        else rows[name]
        for name in columns
    ]
    return library.table(found, schema=library.schema([made.field(name) for name in columns]))


@contextmanager
def _translated(place: str) -> Generator[None]:
    try:
        yield
    except deltalake().exceptions.DeltaError as error:
        raise PlaceError(place, str(error).strip().partition("\n")[0][:300]) from error
    except (OSError, ValueError) as error:
        raise PlaceError(place, str(error).strip().partition("\n")[0][:300]) from error
