"""Queries over the tables: right, up to date, and never more than reading."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from clew.actions.sql import Wish, ask, distinct, schema_document
from clew.actions.sql_errors import RefusedError, SlowError, SqlError
from clew.actions.sql_parquet import MissingExtraError, library, write_parquet
from clew.actions.stores import open_store
from clew.catalog.catalog import Catalog
from clew.catalog.place import catalog_folder, shard_paths
from clew.errors import ClewError, UsageError
from clew.faces.cli.main import run
from clew.tables.schema import TABLES
from tests.builder import Builder, call
from tests.faces.stage import demo, write
from tests.session.recorded import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.sql import Row
    from clew.store.files import Store

TOKENS = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
SUMS = ", ".join(f"sum({name}_tokens)" for name in TOKENS)
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return demo(tmp_path)


@pytest.fixture
def store(root: Path) -> Store:
    return open_store([root])


def rows(store: Store, query: str, wish: Wish | None = None) -> list[Row]:
    with ask(store, query, wish) as answer:
        return list(answer.rows())


def said(capsys: pytest.CaptureFixture[str], command: str, roots: Sequence[Path], *options: str) -> Any:
    """What a command prints as JSON, from the files themselves."""
    named = [part for root in roots for part in ("--root", str(root))]
    run([command, "--json", "--no-index", *named, *options])
    return json.loads(capsys.readouterr().out)


# --- the numbers --------------------------------------------------------------------------------------------


@pytest.fixture(params=["demo", "recorded"])
def roots(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    return [demo(tmp_path)] if request.param == "demo" else SCENARIOS


def test_what_was_used_adds_up_to_what_usage_says(
    roots: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(roots)
    total = said(capsys, "usage", roots, "--tz", "UTC")["total"]
    ((count, cost, *tokens),) = rows(store, f"SELECT count(*), sum(cost_usd), {SUMS} FROM usage")
    assert count == total["messages"] > 40
    assert dict(zip(TOKENS, tokens, strict=True)) == total["tokens"]
    assert cost == pytest.approx(total["cost_usd"], rel=1e-12)
    days = {row["key"]: row for row in said(capsys, "usage", roots, "--tz", "UTC", "--by", "day")["rows"]}
    for day, messages, output in rows(
        store, "SELECT day, count(*), sum(output_tokens) FROM usage GROUP BY day"
    ):
        assert (messages, output) == (days[str(day)]["messages"], days[str(day)]["tokens"]["output"])
    models = said(capsys, "usage", roots, "--by", "model")["rows"]
    by_model = rows(
        store, "SELECT model, count(*), sum(output_tokens) FROM usage GROUP BY model ORDER BY model"
    )
    assert by_model == sorted((row["key"], row["messages"], row["tokens"]["output"]) for row in models)


def test_every_session_has_the_counts_that_ls_gives(
    roots: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    listed = {row["path"]: row for row in said(capsys, "ls", roots, "--full")}
    names = ", ".join(f"{name}_tokens" for name in TOKENS)
    query = f"""SELECT path, session_id, title, lines, turns, messages, tool_calls, agents, kind, damaged,
        git_branch, cost_usd, {names} FROM sessions"""
    found = rows(open_store(roots), query)
    assert {row[0] for row in found} == set(listed)
    for path, *facts, cost, inp, out, read, short, long in found:
        row = listed[str(path)]
        keys = (
            "id",
            "title",
            "lines",
            "turns",
            "messages",
            "tool_calls",
            "agents",
            "kind",
            "damaged",
            "git_branch",
        )
        assert facts == [row[key] for key in keys], path
        assert [inp, out, read, short, long] == [row["tokens"][name] for name in TOKENS], path
        assert cost == pytest.approx(row["cost_usd"]), path


def test_entries_and_calls_are_those_that_stats_counts(
    roots: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(roots)
    total = said(capsys, "stats", roots, "--agents")["total"]
    # A sub-agent whose session is gone belongs to none that stats lists.
    ours = "session_id IN (SELECT session_id FROM sessions)"
    kinds = rows(store, f"SELECT kind, count(*) FROM entries WHERE {ours} GROUP BY kind")
    assert sorted(kinds) == sorted(total["entry_types"].items())
    query = f"SELECT count(*), count(*) - count(result_line) FROM calls WHERE {ours}"
    ((calls, unpaired),) = rows(store, query)
    assert calls == total["tool_calls"]
    assert unpaired == total["unpaired_calls"]
    ((turns,),) = rows(store, f"SELECT count(*) FROM turns WHERE agent_id IS NULL AND turn > 0 AND {ours}")
    assert turns == said(capsys, "stats", roots)["total"]["human_turns"]


def test_every_example_of_the_page_runs(store: Store) -> None:
    page = Path(__file__).parents[2] / "docs" / "tables.md"
    examples = re.findall(r"```sql\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) >= 4
    for example in examples:
        assert rows(store, example), example


@pytest.mark.parametrize("table", TABLES)
def test_every_table_has_its_columns_and_can_be_asked_in_every_way(store: Store, table: str) -> None:
    """What a query reads is known from what SQLite says of it, which depends on how it plans the query."""
    with ask(store, f"SELECT * FROM {table}") as answer:
        assert answer.columns == TABLES[table].names
        assert answer.tables == {table}
        all_of_it = list(answer.rows())
    column = TABLES[table].names[-1]
    for query in (
        f"SELECT count(*) FROM {table}",
        f"SELECT count(*) FROM (SELECT DISTINCT session_id, {column}, * FROM {table} ORDER BY {column} DESC)",
        f"WITH one AS (SELECT * FROM {table}) SELECT count(*) FROM one",
        f"WITH one AS MATERIALIZED (SELECT {column} AS a FROM {table} t) SELECT count(*) FROM one x",
        f"SELECT sum(n) FROM (SELECT row_number() OVER (PARTITION BY {column}) AS r, 1 AS n FROM {table})",
        f"SELECT count(*) FROM {table} a WHERE EXISTS (SELECT 1 FROM {table} b WHERE b.day IS a.day)"
        if table != "problems"
        else f"SELECT count(*) FROM {table} a WHERE EXISTS (SELECT 1 FROM {table} b WHERE b.code = a.code)",
        f"SELECT count(*) FROM (SELECT {column} FROM {table} UNION ALL SELECT 1 WHERE 0)",
        f"SELECT count(*) FROM temp.{table}",
        f"SELECT count(*) FROM {table.upper()}",
    ):
        assert rows(store, query) == [(len(all_of_it),)], query
    rows(
        store, f"SELECT x.* FROM {table} x LEFT JOIN sessions USING (session_id) WHERE x.{column} IS NOT NULL"
    )
    rows(
        store, f"EXPLAIN QUERY PLAN SELECT max({column}) FROM {table} GROUP BY session_id HAVING count(*) > 1"
    )


def test_lists_can_be_opened(store: Store) -> None:
    query = "SELECT value, count(*) FROM sessions, json_each(models) GROUP BY value"
    assert all(str(model).startswith("claude") for model, _ in rows(store, query))
    assert rows(store, "SELECT name FROM pragma_table_info('usage')")[0] == ("message_id",)


# --- up to date ---------------------------------------------------------------------------------------------


def test_what_was_written_since_is_there(tmp_path: Path) -> None:
    talk = Builder("s-1").prompt("Go").answer(call("toolu_1", "Bash"), stop="tool_use").result("toolu_1")
    (path,) = write(tmp_path, "-p", {"s-1": talk.data()})
    store = open_store([tmp_path])
    assert rows(store, "SELECT count(*) FROM entries") == [(3,)]
    assert rows(store, "SELECT name FROM calls") == [("Bash",)]
    more = talk.answer(call("toolu_2", "Read"), stop="tool_use").data()
    path.write_bytes(more)
    assert rows(store, "SELECT count(*) FROM entries") == [(4,)]
    assert rows(store, "SELECT name FROM calls ORDER BY line") == [("Bash",), ("Read",)]
    path.unlink()
    assert rows(store, "SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM calls)") == [(0,)]


def details_made(store: Store) -> int:
    with Catalog.open(store) as catalog, catalog.reading() as database:
        return database.execute("SELECT count(details) FROM all_source").fetchall()[0][0]


def test_only_what_a_query_needs_is_brought_up_to_date(store: Store) -> None:
    folder = catalog_folder(store.roots.found)
    assert rows(store, "SELECT 1") == [(1,)]
    with Catalog.open(store) as catalog:
        assert catalog.status().files == 0
    rows(store, "SELECT title FROM sessions")
    rows(store, "SELECT uuid, kind FROM entries")
    assert details_made(store) == 0
    rows(store, "SELECT round FROM entries")
    assert details_made(store) == 12
    assert folder.is_dir()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT name FROM calls",
        "SELECT count(*) FROM turns",
        "WITH a AS (SELECT * FROM files) SELECT count(*) FROM a",
        "SELECT title FROM sessions WHERE session_id IN (SELECT session_id FROM problems)",
        "SELECT * FROM entries",
        "SELECT stop_reason FROM messages",
    ],
)
def test_what_only_whole_sessions_tell_is_made_when_it_is_asked_for(store: Store, query: str) -> None:
    rows(store, query)
    assert details_made(store) == 12


def test_without_the_index_nothing_is_left_behind(store: Store) -> None:
    with_it = rows(store, "SELECT * FROM calls ORDER BY call_id")
    folder = catalog_folder(store.roots.found)
    for path in shard_paths(folder):
        path.unlink()
    assert rows(store, "SELECT * FROM calls ORDER BY call_id", Wish(no_index=True)) == with_it
    assert not any(path.exists() for path in shard_paths(folder))


def test_where_the_cache_cannot_be_used_there_is_an_answer_with_a_note(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(in_the_way))
    with ask(store, "SELECT count(*) FROM sessions") as answer:
        assert list(answer.rows()) == [(10,)]
        assert "the index cannot be used" in answer.notes[0]
        assert "for this query only" in answer.notes[0]


def test_while_another_writes_the_answer_is_what_is_there(store: Store) -> None:
    from clew.catalog.shards import Lock

    rows(store, "SELECT count(*) FROM sessions")
    lock = Lock(catalog_folder(store.roots.found))
    assert lock.take()
    try:
        with ask(store, "SELECT count(*) FROM sessions") as answer:
            assert list(answer.rows()) == [(10,)]
            assert any("another clew" in note for note in answer.notes)
    finally:
        lock.release()


# --- reading and nothing else -------------------------------------------------------------------------------

REFUSED = {
    "INSERT INTO sessions (title) VALUES ('x')": "INSERT",
    "INSERT INTO s0.name (text) VALUES ('x')": "INSERT",
    "REPLACE INTO s0.meta VALUES ('made', 2)": "REPLACE",
    "UPDATE sessions SET title = 'x'": "UPDATE",
    "UPDATE s0.session SET title = 'x'": "UPDATE",
    "DELETE FROM entries": "DELETE",
    "DELETE FROM s1.entry": "DELETE",
    "WITH x AS (SELECT 1) DELETE FROM s1.entry": "DELETE",
    "WITH x AS (SELECT 1) DELETE FROM sessions": "writes",
    "WITH x(a) AS (SELECT 1) INSERT INTO s0.name (text) SELECT a FROM x": "INSERT",
    "EXPLAIN DELETE FROM s0.name": "DELETE",
    "CREATE TABLE x (a)": "CREATE",
    "CREATE TEMP TABLE x (a)": "CREATE",
    "CREATE TABLE s0.x AS SELECT * FROM sessions": "CREATE",
    "CREATE VIEW x AS SELECT 1": "CREATE",
    "CREATE INDEX s0.x ON entry (line)": "CREATE",
    "CREATE TEMP TRIGGER x INSTEAD OF DELETE ON sessions BEGIN SELECT 1; END": "CREATE",
    "CREATE VIRTUAL TABLE x USING fts5 (a)": "CREATE",
    "DROP VIEW sessions": "DROP",
    "DROP TABLE s0.entry": "DROP",
    "ALTER TABLE s0.entry RENAME TO x": "ALTER",
    "ATTACH '/etc/passwd' AS x": "ATTACH",
    "DETACH s0": "DETACH",
    "VACUUM": "VACUUM",
    "VACUUM s0 INTO '/tmp/copy-of-the-index'": "VACUUM",
    "REINDEX": "REINDEX",
    "ANALYZE": "ANALYZE",
    "BEGIN": "BEGIN",
    "COMMIT": "COMMIT",
    "ROLLBACK": "ROLLBACK",
    "SAVEPOINT x": "SAVEPOINT",
    "RELEASE x": "RELEASE",
    "PRAGMA query_only = 0": "PRAGMA query_only",
    "PRAGMA writable_schema = on": "PRAGMA writable_schema",
    "PRAGMA s0.user_version = 7": "PRAGMA user_version",
    "PRAGMA journal_mode = delete": "PRAGMA journal_mode",
    "PRAGMA wal_checkpoint(TRUNCATE)": "PRAGMA wal_checkpoint",
    "PRAGMA temp_store_directory = '/tmp'": "PRAGMA temp_store_directory",
    "SELECT * FROM pragma_wal_checkpoint": "no such table",
    "SELECT load_extension('/tmp/x.so')": "load_extension()",
    "SELECT title FROM sessions WHERE load_extension('/tmp/x.so')": "load_extension()",
    "SELECT fts3_tokenizer('simple')": "fts3_tokenizer()",
    "SELECT 1; DELETE FROM s0.entry": "more than one statement",
    "SELECT 1; SELECT 2": "more than one statement",
    "/* SELECT */ -- SELECT\n ; DROP TABLE s0.entry": "DROP",
    "SELECT * FROM s0.entry": "no such table: entry",
    "WITH x AS (SELECT * FROM s0.state) SELECT * FROM x": "no such table: state",
    "SELECT * FROM all_source": "no such table: all_source",
    "SELECT sql FROM sqlite_schema": "no such table",
    "SELECT * FROM dbstat": "no such table",
}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in shard_paths(folder)}


def test_everything_that_does_more_than_read_is_refused_by_name(store: Store, tmp_path: Path) -> None:
    assert len(REFUSED) >= 30
    folder = catalog_folder(store.roots.found)
    rows(store, "SELECT count(*) FROM calls")
    before = contents(folder)
    for statement, named in REFUSED.items():
        with pytest.raises((RefusedError, SqlError)) as caught:
            rows(store, statement)
        assert named in caught.value.message, statement
        assert caught.value.exit_code == 1
        assert ("refused" in caught.value.message) == (not named.startswith("no such table")), statement
    assert contents(folder) == before
    assert not Path("/tmp/copy-of-the-index").exists()
    assert rows(store, "SELECT count(*) FROM sessions") == [(10,)]


def test_what_only_looks_like_more_is_answered(store: Store) -> None:
    assert rows(store, " ;; SELECT 'DELETE; DROP' -- ; DELETE\n ; /* x */ ;") == [("DELETE; DROP",)]
    assert rows(store, "VALUES (1), (2)") == [(1,), (2,)]
    assert rows(store, "WITH s0(x) AS (SELECT 3) SELECT x FROM s0") == [(3,)]
    assert rows(store, "PRAGMA table_info(usage)")[0][1] == "message_id"


# --- what is wrong with a query -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        ("SELECT titel FROM sessions", "no such column: titel (line 1, character 8)", "did you mean title?"),
        ("SELECT 'é',\n  titel FROM sessions", "(line 2, character 3)", "title"),
        ("-- é\nSELECT x.titel FROM sessions x", "(line 2, character 8)", "did you mean title?"),
        ("SELECT title FROM sesions", "no such table: sesions (line 1, character 19)", "sessions"),
        ('SELECT "titel" FROM sessions', 'no such column: "titel"', "did you mean title?"),
        ("SELECT cost_usd FROM entries", "no such column: cost_usd", "a column of sessions, turns, usage"),
        ("SELECT session_id FROM turns JOIN calls", "ambiguous", "turns.session_id or calls.session_id"),
        ("SELECT title FROM turns JOIN sessions USING (sesion_id)", "sesion_id", "did you mean session_id"),
        ("SELECT cuont(*) FROM sessions", "no such function: cuont", "count"),
        ("SELEC 1", 'near "SELEC": syntax error (line 1, character 1)', None),
        ("SELECT 'x", "unrecognized token", None),
        ("SELECT ?", "parameters", None),
        ("SELECT CAST(x'ff' AS TEXT)", "not UTF-8", "hex"),
        ("SELECT \udcff", "not UTF-8", None),
        ("SELECT abs(-9223372036854775808)", "integer overflow", None),
        ("SELECT json_extract('{', '$')", "malformed JSON", None),
        ("SELECT zeroblob(2000000000)", "too big", None),
    ],
)
def test_an_error_says_where_and_what_was_meant(
    store: Store, query: str, message: str, hint: str | None
) -> None:
    with pytest.raises(SqlError) as caught:
        rows(store, query)
    assert message in caught.value.message
    assert (hint or "") in (caught.value.hint or "")
    assert (caught.value.hint is None) == (hint is None)


@pytest.mark.parametrize("query", ["", "  ", ";", "-- nothing", "/* open", "SELECT 1\0"])
def test_no_query_is_wrong_use(store: Store, query: str) -> None:
    with pytest.raises(UsageError):
        rows(store, query)


def test_a_bad_query_leaves_the_index_alone(store: Store) -> None:
    folder = catalog_folder(store.roots.found)
    rows(store, "SELECT count(*) FROM calls")
    before = contents(folder)
    late = (
        "SELECT json_extract(CASE line WHEN 1 THEN '[]' ELSE '{' END, '$') FROM entries ORDER BY entries.line"
    )
    for query in ("SELECT nothing", "SELECT CAST(x'ff' AS TEXT) FROM entries", late, "SELECT ? FROM entries"):
        with pytest.raises(SqlError):
            rows(store, query)
    assert contents(folder) == before
    assert details_made(store) == 12


def test_an_error_of_whoever_takes_the_rows_is_theirs(store: Store) -> None:
    def full() -> None:
        with ask(store, "SELECT * FROM entries") as answer:
            for _ in answer.rows():
                raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        full()
    assert rows(store, "SELECT count(*) FROM sessions") == [(10,)]


# --- bounds -------------------------------------------------------------------------------------------------


def test_a_query_that_takes_too_long_ends_with_a_message(store: Store) -> None:
    start = time.monotonic()
    with pytest.raises(SlowError, match=r"ended after 0\.2 s"):
        rows(store, ENDLESS, Wish(seconds=0.2))
    assert time.monotonic() - start < 3
    assert rows(store, "SELECT 1", Wish(seconds=5)) == [(1,)]


def test_a_limit_stops_and_says_that_there_was_more(store: Store) -> None:
    total = len(rows(store, "SELECT * FROM entries"))
    for limit in (0, 1, total - 1, total, total + 1):
        with ask(store, "SELECT line FROM entries", Wish(limit=limit)) as answer:
            assert len(list(answer.rows())) == min(limit, total)
            assert answer.was_cut == (limit < total)


def test_rows_are_not_held(store: Store) -> None:
    """An answer without end gives its first rows."""
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
    with ask(store, endless) as answer:
        found = answer.rows()
        assert [next(found) for _ in range(3000)] == [(n,) for n in range(1, 3001)]


def test_ctrl_c_ends_a_query(root: Path) -> None:
    few = "few(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM few WHERE x < 600)"
    query = ENDLESS.replace(
        "SELECT count", f", {few} SELECT printf('%0100d', x) FROM few UNION ALL SELECT count"
    )
    command = [sys.executable, "-m", "clew", "sql", "--jsonl", "--root", str(root), query]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline()  # it runs, and what comes next has no end
            time.sleep(0.3)
            assert process.poll() is None
            os.kill(process.pid, signal.SIGINT)
            process.communicate(timeout=10)
            assert process.returncode in (130, -signal.SIGINT)
        finally:
            process.kill()  # else it would run for ever


# --- other shapes -------------------------------------------------------------------------------------------


def test_names_that_come_twice_get_a_number() -> None:
    assert distinct(["a", "b", "a", "a", "a_2"]) == ["a", "b", "a_2", "a_3", "a_2_2"]


def test_a_parquet_file_holds_the_rows(store: Store, tmp_path: Path) -> None:
    _, parquet = library()
    path = tmp_path / "out.parquet"
    query = """SELECT session_id, line, line / 2.0 AS half, x'00ff' AS bytes, NULL AS empty, NULL AS cost_usd,
        NULL AS turn, CASE WHEN line % 2 THEN line ELSE 'even' END AS mixed,
        CASE WHEN line % 2 THEN line ELSE 0.5 END AS number, line FROM entries"""
    with ask(store, query) as answer:
        assert write_parquet(answer, path) == 191
    table = parquet.read_table(path)
    types = {field.name: str(field.type) for field in table.schema}
    assert types == {
        "session_id": "string", "line": "int64", "half": "double", "bytes": "binary", "empty": "string",
        "cost_usd": "double", "turn": "int64", "mixed": "string", "number": "double", "line_2": "int64",
    }  # fmt: skip
    expected = [(*row[:7], str(row[7]), float(str(row[8])), row[9]) for row in rows(store, query)]
    assert [tuple(row.values()) for row in table.to_pylist()] == expected


def test_a_parquet_column_may_change_its_kind_in_a_later_piece(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, parquet = library()
    monkeypatch.setattr("clew.actions.sql_parquet._BATCH", 2)
    values = "SELECT column1 AS a, column2 AS b, column3 AS c, column4 AS d FROM (VALUES "
    values += "(NULL, 1, 1, x'01'), (NULL, 2, 1.5, x'02'), (1, 0.5, 'x', NULL), (2, NULL, x'0a', 'y'))"
    path = tmp_path / "out.parquet"
    with ask(store, values) as answer:
        write_parquet(answer, path)
    assert parquet.read_table(path).to_pydict() == {
        "a": [None, None, 1, 2],
        "b": [1.0, 2.0, 0.5, None],
        "c": ["1.0", "1.5", "x", "0a"],
        "d": ["01", "02", None, "y"],
    }


def test_an_empty_answer_is_a_parquet_file_with_columns(store: Store, tmp_path: Path) -> None:
    _, parquet = library()
    path = tmp_path / "out.parquet"
    with ask(store, "SELECT session_id, cost_usd, turns FROM sessions WHERE 0") as answer:
        assert write_parquet(answer, path) == 0
    schema = parquet.read_table(path).schema
    assert [(field.name, str(field.type)) for field in schema] == [
        ("session_id", "string"), ("cost_usd", "double"), ("turns", "int64"),
    ]  # fmt: skip


def test_a_parquet_file_that_cannot_be_written_is_not_there(store: Store, tmp_path: Path) -> None:
    with ask(store, "SELECT 1") as answer, pytest.raises(UsageError, match="cannot be written"):
        write_parquet(answer, tmp_path / "no" / "out.parquet")
    with ask(store, "SELECT 1") as answer, pytest.raises(UsageError, match="not a regular file"):
        write_parquet(answer, tmp_path)
    path = tmp_path / "kept.parquet"
    path.write_bytes(b"before")
    late = "SELECT json_extract(CASE line WHEN 1 THEN '[]' ELSE '{' END, '$') FROM entries ORDER BY line"
    with pytest.raises(ClewError), ask(store, late) as answer:
        write_parquet(answer, path)
    assert path.read_bytes() == b"before"
    assert {one.name for one in tmp_path.iterdir() if one.name.startswith(".clew")} == set()


def test_without_pyarrow_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError) as caught:
        library()
    assert caught.value.hint == "pip install 'clew[parquet]'"


def test_the_schema_can_be_asked_for_by_table() -> None:
    assert [table["name"] for table in tables(schema_document())] == list(TABLES)
    assert [table["name"] for table in tables(schema_document(["Usage"]))] == ["usage"]
    with pytest.raises(UsageError, match="no table 'x'"):
        schema_document(["x"])


def tables(document: dict[str, Any]) -> list[dict[str, Any]]:
    return document["tables"]
