"""`clew sql`."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from clew.tables.schema import TABLES
from tests.builder import Builder
from tests.faces.stage import demo, stage, widest, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.console import Console

EVIL = "\x1b]0;owned\x07\x1b[2J\u202eevil\x9b31m\r\nsecond\tline \x00"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return demo(tmp_path)


TITLES = "SELECT title, turns, cost_usd, NULL AS empty FROM sessions ORDER BY turns DESC, title LIMIT 3"


def test_a_table_has_its_names_as_they_are_and_numbers_to_the_right(clew: Console, root: Path) -> None:
    ran = clew("sql", "--root", root, TITLES, width=100)
    assert ran.code == 0
    assert ran.lines == [
        "title                                      turns    cost_usd  empty",
        "Baking list on the night of the power cut      4    0.074268  –",
        "Sold-out loaves stay off the order form        3  0.10674615  –",
        "Water the beds only when they are thirsty      3  0.16695125  –",
        "3 rows",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM sessions",
        "SELECT title, first_prompt, path, turns, cost_usd FROM sessions",
        "SELECT title, count(*) AS 日本語の長い名前です, sum(turns) + sum(turns) + 1 FROM sessions",
        "SELECT * FROM entries LIMIT 20",
    ],
)
def test_nothing_is_wider_than_the_terminal(clew: Console, root: Path, width: int, query: str) -> None:
    ran = clew("sql", "--root", root, query, width=width)
    assert ran.code == 0
    assert widest(ran.lines) <= width


def test_numbers_are_never_cut_and_many_columns_take_a_line_each(clew: Console, root: Path) -> None:
    ran = clew(
        "sql", "--root", root, "SELECT 1234567890123456789 AS a, title, 0.1 + 0.2 FROM sessions", width=40
    )
    assert all("1234567890123456789" in line and " 0.3" in line for line in ran.lines[1:-1])
    wide = clew("sql", "--root", root, "SELECT * FROM usage LIMIT 2", width=60)
    names = [line.split()[0] for line in wide.lines if line]
    assert names == [*TABLES["usage"].names, *TABLES["usage"].names, "2"]


def test_piped_nothing_is_cut_and_there_is_no_footer(clew: Console, root: Path) -> None:
    query = "SELECT first_prompt, path FROM sessions WHERE first_prompt IS NOT NULL"
    ran = clew("sql", "--root", root, query)
    paths = [str(path) for path in (root / "projects").glob("*/*.jsonl")]
    assert all(line.split()[-1] in paths for line in ran.lines[1:])
    assert clew("sql", "--root", root, "SELECT 1 AS a WHERE 0").lines == ["a"]
    assert clew("sql", "--root", root, "SELECT 1 AS a WHERE 0", width=80).lines == ["0 rows"]


def test_csv_is_read_back_by_others(clew: Console, root: Path) -> None:
    values = "'a,\"b\"' AS \"x y\", '', NULL, ' c', 'd' || char(10) || 'e', 1.5, 12, x'00ff', title"
    query = f"SELECT {values} FROM sessions"
    ran = clew("sql", "--root", root, "--csv", query)
    first, *others = csv.reader(io.StringIO(ran.out))
    assert first[0] == "x y"
    assert len(others) == 10
    assert others[0][:8] == ['a,"b"', "", "", " c", "d\ne", "1.5", "12", "00ff"]
    assert ran.lines[1].startswith('"a,""b""","",," c","d')


def test_json_is_a_list_of_objects(clew: Console, root: Path) -> None:
    found = json.loads(clew("sql", "--root", root, "--json", TITLES).out)
    assert [row["turns"] for row in found] == [4, 3, 3]
    assert found[0] == {
        "title": "Baking list on the night of the power cut",
        "turns": 4,
        "cost_usd": 0.074268,
        "empty": None,
    }
    one = json.loads(
        clew("sql", "--root", root, "--json", "SELECT 1 AS a, 2 AS a, 1e999 AS i, x'0f' AS b").out
    )
    assert one == [{"a": 1, "a_2": 2, "i": None, "b": "0f"}]
    assert json.loads(clew("sql", "--root", root, "--json", "SELECT 1 WHERE 0").out) == []
    lines = clew("sql", "--root", root, "--jsonl", TITLES).lines
    assert [json.loads(line) for line in lines] == found


def test_parquet_is_written(clew: Console, root: Path, tmp_path: Path) -> None:
    from clew.actions.sql_parquet import library

    path = tmp_path / "out.parquet"
    ran = clew("sql", "--root", root, "--parquet", path, TITLES)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"Wrote 3 rows into {path}.\n"
    _, parquet = library()
    assert parquet.read_table(path).to_pydict()["turns"] == [4, 3, 3]


def test_without_pyarrow_nothing_is_done(
    clew: Console, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ran = clew("sql", "--root", root, "--parquet", tmp_path / "x", TITLES)
    assert ran.code == 1
    assert "pip install 'clew[parquet]'" in ran.err
    assert not (tmp_path / "x").exists()


# --- hostile text -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--csv"], ["--json"], ["--jsonl"]])
@pytest.mark.parametrize("width", [None, 50, 120])
def test_what_a_session_says_never_acts_on_the_terminal(
    clew: Console, tmp_path: Path, width: int | None, options: list[str]
) -> None:
    talk = Builder("s-1").prompt(EVIL).answer()
    title = {"type": "custom-title", "customTitle": EVIL, "sessionId": "s-1"}
    data = talk.data() + json.dumps(title).encode() + b"\n"
    write(tmp_path, "-p", {"s-1": data})
    said = EVIL[:-1]  # no query can hold a NUL
    query = f"SELECT prompt, s.*, '{said}' AS \"{said}\" FROM turns JOIN sessions s USING (session_id)"
    ran = clew("sql", "--root", tmp_path, *options, query, width=width)
    assert ran.code == 0
    assert "evil" in ran.out
    assert not set(ran.out + ran.err) & set("\x1b\x07\x9b\x00\u202e\r")
    if options and options != ["--csv"]:
        found = json.loads(ran.out if options == ["--json"] else ran.lines[0])
        row = found[0] if options == ["--json"] else found
        assert said in row.values()  # JSON says exactly what was there


def test_an_error_is_shown_harmlessly(clew: Console, root: Path) -> None:
    ran = clew("sql", "--root", root, 'SELECT "\x1b]0;x\x07" FROM sessions')
    assert ran.code == 1
    assert not set(ran.err) & set("\x1b\x07")


# --- the query ----------------------------------------------------------------------------------------------


class _Input:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def test_the_query_comes_from_standard_input_or_a_file(
    clew: Console, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments in (["-"], ["-f", "-"]):
        monkeypatch.setattr(sys, "stdin", _Input(b"\xef\xbb\xbfSELECT count(*) AS n\nFROM sessions;\n"))
        assert clew("sql", "--root", root, "--csv", *arguments).lines == ["n", "10"]
    path = tmp_path / "query.sql"
    path.write_text("-- how many\nSELECT count(*) AS n FROM sessions", encoding="utf-8")
    assert clew("sql", "--root", root, "--csv", "--file", path).lines == ["n", "10"]
    path.write_bytes(b"SELECT '\xff'")
    assert "not UTF-8" in clew("sql", "--root", root, "--file", path).err
    assert "cannot be read" in clew("sql", "--root", root, "--file", tmp_path / "none").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is no query"),
        (["SELECT", "1"], "put it in quotes"),
        (["SELECT 1", "-f", "x"], "given twice"),
        (["SELECT 1", "--csv", "--json"], "different shapes"),
        (["SELECT 1", "--csv", "--parquet", "x"], "different shapes"),
        (["SELECT 1", "--timeout", "0"], "timeout"),
    ],
)
def test_wrong_use_is_told(clew: Console, root: Path, arguments: list[str], message: str) -> None:
    ran = clew("sql", "--root", root, *arguments)
    assert ran.code == 1
    assert ran.out == ""
    assert message in ran.err


def test_an_error_names_the_place_and_what_was_meant(clew: Console, root: Path) -> None:
    ran = clew("sql", "--root", root, "SELECT titel FROM sessions")
    assert ran.code == 1
    assert ran.err == "error: no such column: titel (line 1, character 8)\ntry: did you mean title?\n"
    told = json.loads(clew("sql", "--root", root, "--json", "DROP TABLE sessions").err)["error"]
    assert told["code"] == "refused"
    assert told["message"].startswith("DROP is refused")


def test_bounds_are_told(clew: Console, root: Path) -> None:
    ran = clew("sql", "--root", root, "--limit", 2, "SELECT title FROM sessions", width=80)
    assert ran.lines[-1] == "2 rows"
    assert "more rows than --limit 2" in ran.err
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    ran = clew("sql", "--root", root, "--timeout", 0.1, endless)
    assert ran.code == 1
    assert "ended after 0.1 s" in ran.err


def test_without_the_index_the_answer_is_the_same(clew: Console, root: Path) -> None:
    query = "SELECT name, count(*) FROM calls GROUP BY name ORDER BY name"
    assert clew("sql", "--root", root, query, "--no-index").out == clew("sql", "--root", root, query).out


# --- the schema ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [None, 60, 80, 120])
def test_the_schema_tells_every_column_and_what_it_means(clew: Console, width: int | None) -> None:
    ran = clew("sql", "--schema", width=width)
    assert ran.code == 0
    assert width is None or widest(ran.lines) <= width
    words = " ".join(ran.out.split())
    for table in TABLES.values():
        assert table.name in ran.lines
        for column in table.columns:
            assert f"{column.name} {column.type} {' '.join(column.doc.split())}" in words


def test_the_schema_of_some_tables(clew: Console) -> None:
    found = json.loads(clew("sql", "--schema", "--json", "calls", "usage").out)
    assert [table["name"] for table in found["tables"]] == ["calls", "usage"]
    assert found["tables"][0]["columns"][0].keys() == {"name", "type", "doc"}
    assert clew("sql", "--schema", "cals").code == 1


def test_ascii_only_screens_get_ascii() -> None:
    from clew.faces.cli.sql_table import show

    on = stage(60, ascii_only=True)
    show(on.screen, ["a", "b"], [("x" * 100, None), ("y", 1)])
    assert on.out.isascii()
    assert all(len(line) <= 60 for line in on.out.splitlines())
