"""Odd and hostile sources: nothing stops a build, and every byte of them is data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clew.errors import UsageError
from clew.lake.asking import QueryError, ask_here, query_text
from clew.lake.places import Place, PlaceError
from clew.lake.queries import QUERIES
from tests.lake.lab import KEY, built, conversation, put

if TYPE_CHECKING:
    from pathlib import Path

HALVES = b'"uuid":"\\ud800","message":{"role":"assistant","id":"\\udc00","model":"\\ud83d","content":[]}'
HUGE = b'"message":{"id":"m","model":{},"usage":{"output_tokens":1e999}}'
ODD = (
    b"",
    b"\n\n\n",
    b"\x00" * 5000,
    b"\xff\xfe\x00garbage\n" * 10,
    b'{"type":"user"',
    b'{"type":5,"message":[],"timestamp":{}}\n',
    b'{"type":"assistant","timestamp":"9999-99-99",' + HUGE + b"}\n",
    b'{"type":"assistant","timestamp":"+99999-01-01T00:00:00Z",' + HALVES + b"}\n",
    b'{"type":"user","timestamp":"0001-01-01T00:00:00Z","message":{"role":"user","content":"\\ud800 x"}}\n',
    b"[" * 100_000 + b"\n",
    b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"\n",
)


def test_sessions_of_any_bytes_become_rows(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for number, data in enumerate(ODD):
        put(source / "te am%2F;'ü" / 'de\tv"', f"odd {number} '\u202e", data)
    put(source / "te am%2F;'ü" / "eve", "..", conversation("x").data())  # hidden: not the client's
    put(source / "ok" / "ada", "fine", conversation("fine").data())
    report = built(source, tmp_path / "lake", key=KEY)
    assert not report.unread
    lake = Place.parse(str(tmp_path / "lake"))
    assert ask_here(lake, "SELECT count(*) FROM sessions").rows == [(len(ODD) + 1,)]
    assert ask_here(lake, "SELECT DISTINCT team FROM sessions ORDER BY team").rows == [
        ("ok",),
        ("te am%2F;'ü",),
    ]
    for name in QUERIES:
        ask_here(lake, query_text(name))
    assert built(source, tmp_path / "lake", key=KEY).mapped == 0


def test_links_that_lead_elsewhere_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "outside" / "mallory", "secret", conversation("secret").data())
    put(tmp_path / "source" / "ada", "s1", conversation("s1").data())
    (tmp_path / "source" / "loop").symlink_to(tmp_path / "source")
    (tmp_path / "source" / "mallory").symlink_to(tmp_path / "outside" / "mallory")
    assert built(tmp_path / "source", tmp_path / "lake").sessions == 1


@pytest.mark.parametrize("text", ["", "ftp://x/y", "nothing://"])
def test_a_place_that_is_none_is_told(text: str) -> None:
    with pytest.raises(UsageError):
        Place.parse(text)


def test_a_source_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(PlaceError, match="no such folder"):
        built(tmp_path / "nowhere", tmp_path / "lake")


def test_a_query_reads_the_lake_and_nothing_else(tmp_path: Path) -> None:
    put(tmp_path / "source" / "ada", "s1", conversation("s1").data())
    built(tmp_path / "source", tmp_path / "lake")
    lake = Place.parse(str(tmp_path / "lake"))
    (tmp_path / "private.csv").write_text("a,b\n1,2\n")
    for query in (
        f"SELECT * FROM read_csv('{tmp_path}/private.csv')",
        f"SELECT * FROM '{tmp_path}/private.csv'",
        f"COPY (SELECT 1) TO '{tmp_path}/new.csv'",
        "SELECT 1; SELECT 2",
        "CREATE TABLE t (a INT)",
        "SELECT * FROM lake",
        "SELECT nothing FROM usage",
        "SELEC",
    ):
        with pytest.raises(Exception) as error:  # noqa: PT011  # refused, or no sense to the engine
            ask_here(lake, query)
        assert error.type.__name__ in {"QueryError", "RefusedError"}, query
    assert not (tmp_path / "new.csv").exists()
    with pytest.raises(UsageError, match="no query is called"):
        query_text("usage-by-tem")
    assert issubclass(QueryError, Exception)
