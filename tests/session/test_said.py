"""What is gathered in one pass is what two passes gather, and what lines say beside their content is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from clew.session.calls import pairs
from clew.session.messages import messages
from clew.session.said import said
from clew.session.session import Session, TableBuilder
from clew.session.turns import main_rows
from tests.builder import Builder, call
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CORPUS = sorted((ROOT / "tests" / "data" / "corpus").rglob("*.jsonl"))


@pytest.mark.parametrize("path", CORPUS[::4], ids=lambda path: f"{path.parent.name}/{path.name[:12]}")
def test_one_pass_gathers_what_two_do(path: Path) -> None:
    session = Session.read(path.read_bytes())
    for rows in (None, main_rows(session), list(range(0, len(session), 2))):
        assert said(session, rows) == (messages(session, rows), pairs(session, rows))


def test_a_result_that_comes_before_its_call_finds_it() -> None:
    made = Builder("s").user("go").result("t1", "early").answer(call("t1", "Bash", {"command": "ls"}))
    found = said(Session.read(made.data())).pairs
    assert [(one.id, one.result_row is not None) for one in found.calls] == [("t1", True)]
    assert not found.unpaired_results


def test_all_lines_are_gathered_once() -> None:
    session = Session.read(Builder("s").user("go").answer(call("t1", "Bash", {})).data())
    assert said(session) is said(session) is said(session, range(len(session)))
    assert said(session, [0]) is not said(session, [0])


def test_what_is_worked_out_holds_for_as_many_lines_as_there_were() -> None:
    data = Builder("s").user("go").answer(call("t1", "Bash", {})).data()
    builder = TableBuilder()
    first, rest = data.split(b"\n", 1)
    lines = iter((first + b"\n", b""))
    builder.read(lambda _limit: next(lines))
    session = Session(Session.read(data).source, builder.table)
    assert not said(session).messages
    more = iter((*rest.splitlines(keepends=True), b""))
    builder.read(lambda _limit: next(more), start=len(first) + 1, number=2)
    assert said(session).messages


def test_names_of_lines_are_kept_in_their_order() -> None:
    said_of = [
        {"version": "2.0.1", "sessionId": "a", "cwd": "/x", "gitBranch": "main"},
        {"version": "2.0.1", "sessionId": "a", "cwd": "/y", "gitBranch": "other", "slug": "calm-sea"},
        {"version": "2.0.3", "sessionId": "b"},
        {"version": "2.0.1", "sessionId": "a", "gitBranch": "", "slug": 7},
        {"version": 3, "sessionId": ["a"], "cwd": None},
    ]
    lines = [orjson.dumps({"type": "user", "uuid": f"u{at}", **one}) for at, one in enumerate(said_of)]
    names = Session.read(b"\n".join(lines)).table.names
    assert names is not None
    assert [*names.versions] == ["2.0.1", "2.0.3"]
    assert [*names.session_ids] == ["a", "b"]
    assert (names.cwd, names.branch, names.slug) == ("/x", "other", "calm-sea")


def test_a_new_name_on_each_line_does_not_pile_up() -> None:
    lines = b"".join(orjson.dumps({"type": "user", "version": f"1.{n}"}) + b"\n" for n in range(300))
    names = Session.read(lines).table.names
    assert names is not None
    assert [*names.versions] == [f"1.{n}" for n in range(100)]
    assert Session.read(lines).table.beginning(5).names is None
