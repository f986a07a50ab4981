"""Ask a lake: by name or in SQL, of the versions that the last finished build names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from clew.errors import ClewError, RefusedError, UsageError
from clew.lake.builds import visible
from clew.lake.delta import LakeTable
from clew.lake.libraries import duckdb
from clew.lake.queries import QUERIES
from clew.lake.schemas import COLUMNS
from clew.tables.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew.lake.builds import Checkpoint
    from clew.lake.places import Place

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_COUNTED: Final = re.compile(r"(?i)\bcount\s*\(\s*\*\s*\)")


class QueryError(ClewError):
    """The query makes no sense to the engine."""

    code = "sql"

    def __init__(self, cause: str) -> None:
        tables = ", ".join(TABLES)
        super().__init__(cause, hint=f"the tables are {tables}; clew sql --schema lists their columns")


class Found(NamedTuple):
    """The answer to a query."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]
    checkpoint: int


def query_text(text: str) -> str:
    """Return the SQL of a query by its name, or as it was given."""
    named = QUERIES.get(text)
    if named is not None:
        return named.sql
    if not text.strip():
        raise UsageError("an empty query", hint=f"one of: {', '.join(QUERIES)}; or SQL")
    if _WORD.fullmatch(text.replace("-", "_")):
        raise UsageError(f"no query is called {text!r}", hint=f"one of: {', '.join(QUERIES)}; or SQL")
    return text


def tables_in(sql: str) -> dict[str, list[str]]:
    """Return the tables that a query may mean, each with the columns it may mean: those it has words for."""
    words = {word.lower() for word in _WORD.findall(sql)}
    is_all = "*" in _COUNTED.sub("", sql)
    return {
        name: [one.name for one in COLUMNS[name] if is_all or one.name in words or one.name == "source"]
        for name in TABLES
        if name in words
    }


def ask_here(lake: Place, sql: str, *, threads: int | None = None) -> Found:
    """Answer a query with DuckDB, on this machine."""
    library = duckdb()
    checkpoint = visible(lake)
    config: dict[str, object] = {"python_enable_replacements": False}
    if threads:
        config["threads"] = threads
    with library.connect(config=config) as connection:
        try:
            _only_reads(library, connection, sql)
            for name in tables_in(sql):
                connection.register(name, table_of(lake, checkpoint, name).dataset())
            connection.execute("SET enable_external_access = false; SET lock_configuration = true")
            cursor = connection.execute(sql)
            columns = tuple(str(one[0]) for one in cursor.description or ())
            return Found(columns, cursor.fetchall(), checkpoint.number)
        except library.Error as error:
            raise QueryError(_first_line(error)) from error


def table_of(lake: Place, checkpoint: Checkpoint, name: str) -> LakeTable:
    """Return a table as readers see it."""
    return LakeTable(lake, name, checkpoint.versions[name])


def _only_reads(library: Any, connection: Any, sql: str) -> None:
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise QueryError("give one statement")
    if statements[0].type not in {library.StatementType.SELECT, library.StatementType.EXPLAIN}:
        raise RefusedError("a lake is only read here: begin with SELECT or WITH", hint=None)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:300]


def plain_rows(rows: Iterable[Sequence[object]]) -> list[tuple[object, ...]]:
    """Return rows in values that every engine has: no decimals, no dates."""
    return [tuple(_plain(value) for value in row) for row in rows]


def _plain(value: object) -> object:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    from decimal import Decimal

    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return str(value)
