"""One schema: the rows have its columns, it holds what the commands show, and its page is made from it."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import fields
from typing import get_type_hints

import pytest

from clew.actions import listing
from clew.session.pricing import Tokens
from clew.tables import rows, schema
from clew.tables.schema import TABLES
from scripts import make_table_docs as docs

ROWS = {
    "sessions": rows.SessionRow,
    "entries": rows.EntryRow,
    "messages": rows.MessageRow,
    "turns": rows.TurnRow,
    "calls": rows.CallRow,
    "usage": rows.UsageRow,
    "files": rows.FileRow,
    "problems": rows.ProblemRow,
}
PROMISED_USAGE = [
    *("message_id", "session_id", "project", "agent_id", "model", "day", "time_ms"),
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens"),
    *("web_searches", "web_fetches", "service_tier", "cost_usd"),
]


def test_there_are_the_eight_tables() -> None:
    assert list(TABLES) == ["sessions", "entries", "messages", "turns", "calls", "usage", "files", "problems"]
    assert all(name == table.name for name, table in TABLES.items())


@pytest.mark.parametrize("name", ROWS)
def test_a_row_has_the_columns_of_its_table_in_their_order_and_of_their_types(name: str) -> None:
    row = ROWS[name]
    hints = get_type_hints(row)
    kinds = {"text": str, "integer": int, "real": float, "boolean": bool}
    assert row._fields == TABLES[name].names
    for column in TABLES[name].columns:
        kind = kinds[column.type]
        assert hints[column.name] in (kind, kind | None), column.name


@pytest.mark.parametrize("name", ROWS)
def test_columns_have_plain_names_once_each_and_a_word_about_them(name: str) -> None:
    names = TABLES[name].names
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", one) for one in names)
    assert TABLES[name].doc.endswith(".")
    assert all(column.doc and "|" not in column.doc for column in TABLES[name].columns)


@pytest.mark.parametrize("name", ROWS)
def test_times_are_milliseconds_beside_a_day(name: str) -> None:
    columns = {column.name: column.type for column in TABLES[name].columns}
    times = [one for one in columns if one.endswith("_ms") and one != "duration_ms"]
    assert all(columns[one] == "integer" for one in times)
    assert bool(times) == ("day" in columns)
    assert columns.get("day", "text") == "text"


def test_every_table_can_be_joined_by_session() -> None:
    assert all("session_id" in table.names for table in TABLES.values())


def test_a_database_takes_the_names_as_they_are() -> None:
    """No name is a word of SQL's own, so that nobody has to quote it."""
    with sqlite3.connect(":memory:") as base:
        for table in TABLES.values():
            base.execute(f"CREATE TABLE {table.name} ({', '.join(table.names)})")
            base.execute(f"SELECT {', '.join(table.names)} FROM {table.name}")
    base.close()


def test_usage_begins_with_the_columns_that_were_promised() -> None:
    assert list(TABLES["usage"].names[: len(PROMISED_USAGE)]) == PROMISED_USAGE


def test_sessions_has_what_the_list_of_sessions_shows() -> None:
    renamed = {"id": "session_id", "started": "started_ms", "ended": "ended_ms", "changed": "changed_ms"}
    shown = {renamed.get(name, name) for name in listing.SessionRow._fields} - {"tokens"}
    shown |= {f"{one.name}_tokens" for one in fields(Tokens)}
    assert shown <= set(TABLES["sessions"].names)


def test_the_page_is_up_to_date() -> None:
    page = docs.PAGE.read_text(encoding="utf-8")
    assert docs.render(page) == page, "run scripts/make_table_docs.py"


def test_the_page_shows_every_table_and_the_version() -> None:
    page = docs.PAGE.read_text(encoding="utf-8")
    assert [found[1] for found in docs.MARKED.finditer(page) if found[1] in TABLES] == list(TABLES)
    assert f"version {schema.VERSION}" in page


def test_the_page_s_queries_can_be_run() -> None:
    page = docs.PAGE.read_text(encoding="utf-8")
    queries = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    assert len(queries) >= 4
    with sqlite3.connect(":memory:") as base:
        for table in TABLES.values():
            base.execute(f"CREATE TABLE {table.name} ({', '.join(table.names)})")
        for query in queries:
            base.execute(query)
    base.close()
