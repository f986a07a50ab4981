"""The tables as Parquet are those of `clew sql`, for each of two readers."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from clew.actions.exporting_tables import export_tables
from clew.actions.sql import ask
from clew.errors import RefusedError
from clew.store.files import Store
from clew.tables.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable

parquet: Any = importlib.import_module("pyarrow.parquet")  # it has no types
CORPUS = Path(__file__).parent.parent / "data" / "corpus"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of sessions of several clients."""
    found = tmp_path_factory.mktemp("store")
    for scenario in ("2.0.42/agent", "2.1.325/compact", "2.1.45/errors"):
        if (CORPUS / scenario).exists():
            shutil.copytree(CORPUS / scenario, found, dirs_exist_ok=True)
    return found


def as_sql(rows: Iterable[Iterable[Any]]) -> list[tuple[Any, ...]]:
    """Rows as SQLite has them: it knows no yes and no."""
    return sorted(
        (tuple(int(one) if isinstance(one, bool) else one for one in row) for row in rows), key=repr
    )


def test_every_table_is_what_sql_answers_for_both_readers(root: Path, tmp_path: Path) -> None:
    store = Store.at([str(root)])
    done = export_tables(store, str(tmp_path / "out"))
    assert [one.name for one in done.tables] == list(TABLES)
    assert sum(one.rows for one in done.tables) > 100
    for one in done.tables:
        with ask(store, f"SELECT * FROM {one.name}") as answer:
            expected = as_sql(answer.rows())
            columns = list(answer.columns)
        assert len(expected) == one.rows
        table = parquet.read_table(one.path)
        assert table.column_names == columns
        assert as_sql(zip(*(column.to_pylist() for column in table.columns), strict=True)) == expected
        with duckdb.connect() as connection:
            found = connection.sql(f"SELECT * FROM '{one.path}'")
            assert found.columns == columns
            assert as_sql(found.fetchall()) == expected


def test_types_are_the_documented_ones_even_of_columns_without_a_value(root: Path, tmp_path: Path) -> None:
    store = Store.at([str(root)])
    done = export_tables(store, str(tmp_path / "none"), sessions=["nobody's"])
    types = {"text": "string", "integer": "int64", "real": "double", "boolean": "bool"}
    for one in done.tables:
        assert one.rows == 0
        schema = parquet.read_schema(one.path)
        assert {field.name: str(field.type) for field in schema} == {
            column.name: types[column.type] for column in TABLES[one.name].columns
        }


def test_some_sessions_are_some_rows_and_nothing_is_written_over(root: Path, tmp_path: Path) -> None:
    store = Store.at([str(root)])
    session = store.listing().sessions[0].id
    done = export_tables(store, str(tmp_path), sessions=[session])
    table = parquet.read_table(done.tables[1].path)
    assert set(table.column("session_id").to_pylist()) == {session}
    with pytest.raises(RefusedError):
        export_tables(store, str(tmp_path), sessions=[session])
    assert export_tables(store, str(tmp_path), sessions=[session], force=True).tables == done.tables
