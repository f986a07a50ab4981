"""`clew show` of some turns: by number, the last, those that match, one way through the history."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.builder import Builder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.console import Console
from tests.faces.show_lab import ID, branched, one, small


@pytest.mark.parametrize(
    ("asked", "shown"), [("1", [1]), ("2", [2]), ("1-2", [1, 2]), ("2-", [2]), ("2-9", [2])]
)
def test_turns_are_chosen_by_number(clew: Console, tmp_path: Path, asked: str, shown: list[int]) -> None:
    ran = clew("show", one(tmp_path, small().data()), "--turn", asked, "--json")
    assert [turn["n"] for turn in json.loads(ran.out)["turns"]] == shown


@pytest.mark.parametrize("asked", ["0", "3", "x", "2-1", "-1", "", "1,2", "99999999999999999999"])
def test_turns_that_are_not_there_are_wrong_use(clew: Console, tmp_path: Path, asked: str) -> None:
    ran = clew("show", one(tmp_path, small().data()), f"--turn={asked}")
    assert (ran.code, ran.out) == (1, "")
    assert "try:" in ran.err


@pytest.mark.parametrize(("asked", "shown"), [("1", [2]), ("2", [1, 2]), ("9", [1, 2])])
def test_the_last_turns_are_shown_however_many_there_are(
    clew: Console, tmp_path: Path, asked: str, shown: list[int]
) -> None:
    ran = clew("show", one(tmp_path, small().data()), "--last", asked, "--json")
    assert [turn["n"] for turn in json.loads(ran.out)["turns"]] == shown


def test_the_last_turns_of_a_way_are_those_of_that_way(clew: Console, tmp_path: Path) -> None:
    ran = clew("show", one(tmp_path, branched()), "--branch", "1", "--last", "1", "--json")
    assert [turn["prompt"] for turn in json.loads(ran.out)["turns"]] == ["Second"]


def test_a_session_in_which_nothing_was_said_has_no_last_turns(clew: Console, tmp_path: Path) -> None:
    ran = clew("show", one(tmp_path, b""), "--last", "1")
    assert (ran.code, ran.err) == (0, "Nothing was said in this session.\n")


@pytest.mark.parametrize("asked", [("--last", "0"), ("--last", "x"), ("--last", "1", "--turn", "1")])
def test_last_turns_that_make_no_sense_are_wrong_use(
    clew: Console, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    ran = clew("show", one(tmp_path, small().data()), *asked)
    assert (ran.code, ran.out) == (1, "")


def test_grep_shows_the_turns_that_match(clew: Console, tmp_path: Path) -> None:
    path = one(tmp_path, small().data())
    for pattern, shown in (("OIL IT|oil it", [2]), ("make.light", [1]), ("line 29", [1]), ("nowhere", [])):
        ran = clew("show", path, "--grep", pattern, "--json")
        assert [turn["n"] for turn in json.loads(ran.out)["turns"]] == shown
        assert ran.code == 0
    assert clew("show", path, "--grep", "nowhere").err == "No turn matches.\n"


def test_grep_marks_what_it_finds_and_nothing_else(clew: Console, tmp_path: Path) -> None:
    path = one(tmp_path, small().data())
    out = clew("show", path, "--grep", "oil", width=80, color=True).out
    assert re.findall(r"\x1b\[(?:\d+;)*7m([^\x1b]*)\x1b", out) == ["oil", "oil", "oil"]


def test_a_pattern_that_would_run_for_ever_is_stopped(clew: Console, tmp_path: Path) -> None:
    path = one(tmp_path, Builder(ID).user("a" * 60 + "!").answer("Hm.").data())
    ran = clew("show", path, "--grep", "(a+)+$")
    assert ran.code == 1
    assert "took longer than 1 s" in ran.err


def test_a_pattern_that_is_none_is_wrong_use(clew: Console, tmp_path: Path) -> None:
    ran = clew("show", one(tmp_path, small().data()), "--grep", "(")
    assert ran.code == 1
    assert "is not a pattern" in ran.err


def test_branches_are_marked_in_the_history(clew: Console, tmp_path: Path) -> None:
    out = clew("show", one(tmp_path, branched()), width=100).out
    rules = [line for line in out.splitlines() if line.startswith("── ")]
    assert "goes back" not in rules[0]
    assert "off the active path" not in rules[0]
    assert "off the active path" in rules[1]
    assert "goes back to turn 1" in rules[2]
    assert "off the active path" not in rules[2]


@pytest.mark.parametrize(
    ("options", "prompts"),
    [
        ((), ["First", "Second", "Third"]),
        (("--branch", "1"), ["First", "Second"]),
        (("--branch", "u4xx"), None),
        (("--at", "u6"), ["First", "Third"]),
        (("--at", "u3"), ["First", "Second"]),
        (("--at", "u2"), ["First"]),
        (("--at", "nothing"), None),
        (("--branch", "2"), None),
        (("--branch", "1", "--at", "u2"), None),
    ],
)
def test_one_way_through_the_history_can_be_read(
    clew: Console, tmp_path: Path, options: tuple[str, ...], prompts: list[str] | None
) -> None:
    ran = clew("show", one(tmp_path, branched()), "--json", *options)
    if prompts is None:
        assert ran.code == 1
        assert json.loads(ran.err)["error"]["code"] == "usage"
    else:
        assert [turn["prompt"] for turn in json.loads(ran.out)["turns"]] == prompts
