"""The engine that is a Spark cluster, spoken to by Spark Connect.

Executors read objects and write files with the same libraries as a laptop does: no jar is needed beside
Spark's own. They need Python with `clew[lake]`'s libraries; clew itself is sent along, so that it is always
the driver's version.
"""

from __future__ import annotations

import io
import tempfile
import warnings
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from clew.lake.asking import Found, QueryError, plain_rows, table_of, tables_in
from clew.lake.builds import visible
from clew.lake.delta import LakeTable, Part
from clew.lake.engines import EngineError
from clew.lake.libraries import arrow, grpc, spark_channels, spark_session
from clew.lake.schemas import COLUMNS, PARTITION
from clew.lake.settling import NEEDED, USED, nothing_used, used_schema
from clew.lake.settling_here import Settled
from clew.lake.spark_parts import Reading, Writing, run_tasks, settled_rows, summed_rows, written

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from clew.lake.files import Written
    from clew.lake.places import Place
    from clew.lake.settling_here import Question

_TYPES: Final = {"text": "string", "integer": "bigint", "real": "double", "boolean": "boolean"}
_ARROW_TYPES: Final = {"string": "string", "int64": "bigint", "double": "double", "bool": "boolean"}


PATIENCE: Final = 20.0
"""Seconds after which nobody is there."""


class SparkEngine:
    """A cluster behind an address such as `sc://host:15002`."""

    def __init__(self, url: str) -> None:
        with _translated():
            _reach(url)
            self._spark = spark_session().builder.remote(url).create()
            self._send_clew()
            # A range without a number of partitions has as many as the cluster does at a time.
            self._width = max(1, self._spark.range(0, 1 << 16).mapInArrow(one_each, "n bigint").count())

    def _send_clew(self) -> None:
        package = Path(__file__).resolve().parent.parent
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(package.rglob("*.py")):
                archive.write(path, str(path.relative_to(package.parent)))
        with tempfile.TemporaryDirectory(prefix="clew-") as folder:
            file = Path(folder) / "clew.zip"
            file.write_bytes(data.getvalue())
            self._spark.addArtifacts(str(file), pyfile=True)

    @property
    def width(self) -> int:
        """How many tasks are done at a time."""
        return self._width

    def run(self, tasks: Sequence[bytes]) -> Iterator[bytes]:
        """Do tasks and give what each of them did, as they end."""
        if not tasks:
            return
        rows = {"n": [*range(len(tasks))], "task": [*tasks]}
        with _translated():
            frame = self._spark.createDataFrame(arrow().table(rows))
            done = frame.repartitionByRange(len(tasks), "n").mapInArrow(run_tasks, "outcome binary")
            for row in done.toLocalIterator():
                yield bytes(row["outcome"])

    def close(self) -> None:
        """Let the cluster go."""
        with _translated():
            self._spark.stop()

    # --- what depends on several ----------------------------------------------------------------------------

    def settle(self, question: Question) -> Settled:
        """Make the rows of `usage` and `sessions` that what changed concerns, and write them."""
        lake = question.lake
        with _translated():
            messages = self._frame(lake, LakeTable(lake, "messages", question.messages), NEEDED)
            facts = self._frame(lake, LakeTable(lake, "facts", question.facts))
            touched: list[str] | None = None
            if question.changed is None:
                chosen = messages
            else:
                touched = self._touched(messages, question)
                sources = self._sources(touched)
                ids = messages.join(sources, "source", "leftsemi").select("message_id").distinct()
                chosen = messages.join(ids, "message_id", "leftsemi").select(*NEEDED)
                facts = facts.join(sources, "source", "leftsemi").select(*_names("facts"))
            usage = (
                chosen.repartition("message_id")
                .sortWithinPartitions("message_id")
                .mapInArrow(settled_rows, _ddl("usage"))
            )
            if touched is not None:
                # What others own, who were not touched, is as it was.
                usage = usage.join(self._sources(touched), "source", "leftsemi").select(*_names("usage"))
            found = self._written(lake, "usage", usage)
            parts = [Part(one.path, one.team, one.day, one.size, one.rows) for one in found]
            sums = (
                self._of_parts(lake, "usage", parts)
                .repartition("source")
                .sortWithinPartitions("source")
                .mapInArrow(summed_rows, _ddl_of(used_schema()))
            )
            facts.createOrReplaceTempView("clew_facts")
            sums.createOrReplaceTempView("clew_sums")
            sessions = self._spark.sql(
                f"SELECT {_columns_of_sessions()} FROM clew_facts f "  # noqa: S608  # our own names
                "LEFT JOIN clew_sums s ON s.source = f.source"
            )
            found += self._written(lake, "sessions", sessions)
        return Settled(touched, found)

    def _touched(self, messages: Any, question: Question) -> list[str]:
        changed = self._sources(question.changed or ())
        ids = messages.join(changed, "source", "leftsemi").select("message_id")
        if question.before is not None:
            table = LakeTable(question.lake, "messages", question.before)
            before = self._frame(question.lake, table, ("source", "message_id"))
            ids = ids.union(before.join(changed, "source", "leftsemi").select("message_id"))
        shared = messages.join(ids.distinct(), "message_id", "leftsemi").select("source")
        found = changed.union(shared).distinct().toArrow().column("source").to_pylist()
        return sorted(found)

    def _sources(self, sources: Sequence[str]) -> Any:
        if not sources:
            return self._spark.createDataFrame([], "source string")
        return self._spark.createDataFrame(arrow().table({"source": [*sources]}))

    def _written(self, lake: Place, table: str, frame: Any) -> list[Written]:
        rows = frame.repartition(*PARTITION).mapInArrow(Writing(lake, table), "written binary")
        return [one for row in rows.toLocalIterator() for one in written(bytes(row["written"]))]

    # --- tables ---------------------------------------------------------------------------------------------

    def ask(self, lake: Place, sql: str) -> Found:
        """Answer a query on the cluster."""
        checkpoint = visible(lake)
        if sql.lstrip("( \n\t").partition(" ")[0].strip().lower() not in {"select", "with"}:
            raise QueryError("a lake is only read here: begin with SELECT or WITH")
        with _translated(is_query=True):
            for name, columns in tables_in(sql).items():
                frame = self._frame(lake, table_of(lake, checkpoint, name), columns)
                frame.createOrReplaceTempView(name)
            found = self._spark.sql(sql).toArrow()
        rows = zip(*(column.to_pylist() for column in found.columns), strict=True)
        return Found(tuple(found.column_names), plain_rows(rows), checkpoint.number)

    def _frame(self, lake: Place, table: LakeTable, columns: Sequence[str] | None = None) -> Any:
        return self._of_parts(lake, table.name, table.parts(), columns)

    def _of_parts(
        self, lake: Place, table: str, parts: Sequence[Part], columns: Sequence[str] | None = None
    ) -> Any:
        """Return the rows of the files that the log names; without any, no rows."""
        names = [*(columns or _names(table))]
        if not parts:
            return self._spark.createDataFrame([], _ddl(table, names))
        rows = {
            "n": [*range(len(parts))],
            "path": [part.path for part in parts],
            "team": [part.team for part in parts],
            "day": [part.day for part in parts],
        }
        frame = self._spark.createDataFrame(arrow().table(rows))
        many = min(len(parts), self._width * 4)
        return frame.repartitionByRange(many, "n").mapInArrow(Reading(lake, table, names), _ddl(table, names))


def _columns_of_sessions() -> str:
    """Return the columns of `sessions`, in SQL, from `facts` f and what was used s."""
    nothing = nothing_used()

    def column(name: str) -> str:
        if name not in USED:
            return f"f.{name}"
        default = nothing[name]
        text = f"'{default}'" if isinstance(default, str) else str(default)
        # Without a price it is null all the same: only who has no sums at all used nothing.
        return f"CASE WHEN s.source IS NULL THEN {text} ELSE s.{name} END AS {name}"

    return ", ".join(column(one.name) for one in COLUMNS["sessions"])


def one_each(batches: Iterable[Any]) -> Iterator[Any]:
    """Give one row for each partition, whatever is in it."""
    for _ in batches:
        pass
    yield arrow().RecordBatch.from_pydict({"n": [1]})


def _names(table: str) -> list[str]:
    return [column.name for column in COLUMNS[table]]


def _ddl(table: str, names: Sequence[str] | None = None) -> str:
    types = {column.name: _TYPES[column.type] for column in COLUMNS[table]}
    return ", ".join(f"`{name}` {types[name]}" for name in names or types)


def _ddl_of(schema: Any) -> str:
    return ", ".join(f"`{field.name}` {_ARROW_TYPES[str(field.type)]}" for field in schema)


def _reach(url: str) -> None:
    """See that somebody answers at an address: Spark itself tries for many minutes, and says nothing."""
    library = grpc()
    channel = spark_channels()(url).toChannel()
    try:
        library.channel_ready_future(channel).result(timeout=PATIENCE)
    except library.FutureTimeoutError:
        raise EngineError(f"nobody answers at {shown(url)}: no connection in {PATIENCE:.0f} s") from None
    finally:
        channel.close()


def shown(url: str) -> str:
    """Return an address without what may be secret in it: tokens stand behind its port."""
    return url.partition("/;")[0].rstrip("/")


@contextmanager
def _translated(*, is_query: bool = False) -> Generator[None]:
    """Make errors of the cluster ours; what it warns of is of its own making."""
    make: Callable[[str], Exception] = QueryError if is_query else EngineError
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        if type(error).__module__.startswith(("pyspark", "grpc")):
            lines = [line for line in str(error).strip().splitlines() if line.strip()]
            raise make(f"Spark: {lines[0] if lines else type(error).__name__}"[:300]) from error
        raise
