"""Ask a lake a question: `clew lake query`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.errors import UsageError
from clew.lake.asking import Found, ask_here, plain_rows, query_text
from clew.lake.places import Place
from clew.lake.queries import QUERIES

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Found", "ask_lake", "named_queries"]


def ask_lake(
    query: str, place: str, *, engine: str = "duckdb", options: Sequence[str] = (), jobs: int | None = None
) -> Found:
    """Answer a query, given by its name or as SQL, of what the last finished build left."""
    lake, sql = Place.parse(place, options), query_text(query)
    if engine == "duckdb":
        found = ask_here(lake, sql, threads=jobs)
        return found._replace(rows=plain_rows(found.rows))
    if not engine.startswith("sc://"):
        raise UsageError(
            f"there is no engine {engine!r}", hint="--engine duckdb, or --engine sc://host:15002"
        )
    from clew.lake.spark import SparkEngine

    cluster = SparkEngine(engine)
    try:
        return cluster.ask(lake, sql)
    finally:
        cluster.close()


def named_queries() -> list[tuple[str, str]]:
    """Return the queries that have a name, and what each tells."""
    return [(one.name, one.doc) for one in QUERIES.values()]
