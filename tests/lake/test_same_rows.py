"""The rows of a lake are those of `clew sql`, made from the same files by another way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from clew.actions.usage import Request, usage
from clew.lake.asking import ask_here, query_text
from clew.lake.places import Place
from clew.tables.schema import TABLES
from tests.lake.lab import CORPUS, asked, built, copied, documented, forked

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT = {"sessions": ("live", "title", "title_source")}
"""Whether somebody writes it now is not known here; a title that another file tells is not looked for."""


def check(source: Path, lake: Path, roots: list[Path]) -> None:
    """Compare every table, and the sums by day and by model."""
    assert not built(source, lake).unread
    for table in TABLES:
        without = WITHOUT.get(table, ())
        found, wanted = documented(lake, table, without=without), asked(roots, table, without=without)
        assert len(found) == len(wanted), table
        for one, other in zip(found, wanted, strict=True):
            assert one == other, table
    days = {row["key"]: row for row in usage(Request(roots=[*map(str, roots)], tz="UTC")).rows()}
    told = ask_here(Place.parse(str(lake)), query_text("usage-by-team-day"))
    sums: dict[str, list[object]] = {}
    for row in told.rows:
        one = dict(zip(told.columns, row, strict=True))
        day = sums.setdefault(str(one["day"] or "unknown"), [0, 0, 0.0])
        day[0] += one["messages"]  # pyright: ignore[reportOperatorIssue]  # numbers
        day[1] += one["output_tokens"]  # pyright: ignore[reportOperatorIssue]  # numbers
        day[2] += one["cost_usd"] or 0.0  # pyright: ignore[reportOperatorIssue]  # numbers
    assert sums.keys() == days.keys()
    for day, (messages, output, cost) in sums.items():
        wanted = json.loads(json.dumps(days[day]))
        assert (messages, output) == (wanted["messages"], wanted["tokens"]["output"])
        assert cost == pytest.approx(wanted["cost_usd"] or 0.0)


def test_recorded_sessions_give_the_rows_that_sql_gives(tmp_path: Path) -> None:
    check(tmp_path / "source", tmp_path / "lake", copied(tmp_path / "source", CORPUS[::12]))


def test_a_message_that_several_sessions_have_is_counted_once_and_belongs_to_the_oldest(
    tmp_path: Path,
) -> None:
    check(tmp_path / "source", tmp_path / "lake", forked(tmp_path / "source"))


@pytest.mark.acceptance
def test_all_recorded_sessions_give_the_rows_that_sql_gives(tmp_path: Path) -> None:
    check(tmp_path / "source", tmp_path / "lake", copied(tmp_path / "source"))
