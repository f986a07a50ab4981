"""`clew check`: problems on a screen and as JSON, and the exit code."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from clew.faces.cli.cells import width as cells
from tests.builder import Builder, call
from tests.faces import console as consoles
from tests.faces.stage import demo, write
from tests.session.recorded import CORPUS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.console import Console

ID = "0a0a0a0a-0000-4000-8000-00000000000"
SHAPE = {"code", "severity", "line", "offset", "length", "detail", "repair"}


@pytest.fixture
def clew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    yield from consoles.console(monkeypatch)


def good() -> Builder:
    return Builder(f"{ID}1").user("Hi").answer("Hello.")


def one(root: Path, data: bytes) -> Path:
    return write(root, "-home-ada-lighthouse", {f"{ID}1": data})[0]


def test_a_sound_session_has_nothing_wrong(clew: Console, tmp_path: Path) -> None:
    path = one(tmp_path, good().data())
    ran = clew("check", path, width=80)
    assert ran.code == 0
    assert ran.lines[-1] == "nothing wrong in 1 session"
    (row,) = json.loads(clew("check", path, "--json").out)
    assert row == {"id": f"{ID}1", "path": str(path), "resumable": True, "problems": [], "damaged": 0}


def test_each_problem_has_its_place(clew: Console, tmp_path: Path) -> None:
    start = good().data()
    path = one(tmp_path, start + b'{"type":"user","mess\n' + b"\0" * 8 + b"\n")
    ran = clew("check", path, "--json")
    (row,) = json.loads(ran.out)
    assert ran.code == 3
    assert all(set(problem) == SHAPE for problem in row["problems"])
    torn, nul = row["problems"]
    assert (torn["code"], torn["severity"], torn["line"], torn["offset"], torn["length"]) == (
        "torn-line",
        "error",
        3,
        len(start),
        20,
    )
    assert (nul["code"], nul["line"], nul["offset"]) == ("nul-run", 4, len(start) + 21)
    assert row["resumable"] is True
    out = clew("check", path, width=100).out
    assert (
        f"  ✗ torn-line  a line ends in the middle of a record\n      0a0a0a0a:3:{len(start)}  20 B\n" in out
    )
    assert out.endswith("2 problems in 1 session\n")


def test_remarks_alone_are_clean(clew: Console, tmp_path: Path) -> None:
    path = one(tmp_path, b"\xef\xbb\xbf" + good().data())
    ran = clew("check", path, "--json")
    assert ran.code == 0
    assert [problem["severity"] for problem in json.loads(ran.out)[0]["problems"]] == ["info"]


def test_a_warning_is_something_wrong(clew: Console, tmp_path: Path) -> None:
    data = Builder(f"{ID}1").user("Hi").answer("Wait.", call("t1"), stop="tool_use").data()
    ran = clew("check", one(tmp_path, data), "--json")
    assert ran.code == 3
    assert [problem["code"] for problem in json.loads(ran.out)[0]["problems"]] == ["unpaired-call"]


def test_a_session_the_client_refuses_is_not_resumable(clew: Console, tmp_path: Path) -> None:
    data = Builder(f"{ID}1").user("Hi").answer("Hello.", timestamp="never").data()
    ran = clew("check", one(tmp_path, data), "--json")
    (row,) = json.loads(ran.out)
    assert row["resumable"] is False
    assert "not-resumable" in [problem["code"] for problem in row["problems"]]
    assert ran.code == 3


@pytest.mark.parametrize("data", [b"", b"\n", b'{"type":"summary","summary":"x","leafUuid":"y"}\n'])
def test_a_file_in_which_nothing_is_said_is_clean_but_not_resumable(
    clew: Console, tmp_path: Path, data: bytes
) -> None:
    ran = clew("check", one(tmp_path, data), "--json")
    assert ran.code == 0
    assert json.loads(ran.out)[0]["resumable"] is False


def test_a_compaction_or_a_branch_left_behind_is_not_out_of_reach(clew: Console, tmp_path: Path) -> None:
    builder = good()
    fork = builder.leaf
    for number in range(6):
        builder.user(f"Try {number}").answer("No.")
    builder.rewind(fork).user("Another").answer("Yes.").compact("Sum").user("On").answer("Good.")
    (row,) = json.loads(clew("check", one(tmp_path, builder.data()), "--json").out)
    assert row["problems"] == []


def test_a_tree_of_its_own_is_out_of_reach(clew: Console, tmp_path: Path) -> None:
    builder = good()
    for number in range(6):
        builder.user(f"Q {number}").answer("A.")
    builder.wait(3600).rewind(None).user("Alone").answer("Yes.")
    (row,) = json.loads(clew("check", one(tmp_path, builder.data()), "--json").out)
    assert [problem["code"] for problem in row["problems"]] == ["unreachable"]


def test_a_line_that_is_being_written_is_a_remark(clew: Console, tmp_path: Path) -> None:
    path = one(tmp_path, good().data() + b'{"type":"user","mess')
    assert clew("check", path).code == 3
    os.utime(path)
    ran = clew("check", path, "--json")
    assert ran.code == 0
    assert [problem["code"] for problem in json.loads(ran.out)[0]["problems"]] == ["being-written"]


def test_all_checks_every_session_and_says_what_it_left(clew: Console, tmp_path: Path) -> None:
    root = demo(tmp_path)
    ran = clew("check", "--all", "--root", root, width=120)
    assert ran.code == 3
    assert ran.lines[0].endswith("can be resumed")
    assert ran.lines[-2:] == [
        "6 problems in 1 of 10 sessions",
        "2 with no conversation · 2 sub-agents not checked: --agents",
    ]
    rows = json.loads(clew("check", "--all", "--root", root, "--json").out)
    assert len(rows) == 10
    with_agents = json.loads(clew("check", "--all", "--agents", "--root", root, "--json").out)
    assert len(with_agents) == 12


def test_several_sessions_can_be_named(clew: Console, tmp_path: Path) -> None:
    write(tmp_path, "-p", {f"{ID}1": good().data(), f"{ID}2": good().raw(b"x\n").data()})
    rows = json.loads(clew("check", f"{ID}1", f"{ID}2", f"{ID}1", "--root", tmp_path, "--json").out)
    assert [row["id"] for row in rows] == [f"{ID}1", f"{ID}2"]
    lines = clew("check", f"{ID}1", f"{ID}2", "--root", tmp_path, "--jsonl").lines
    assert [json.loads(line)["id"] for line in lines] == [f"{ID}1", f"{ID}2"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_does_not_stop_the_others(clew: Console, tmp_path: Path) -> None:
    write(tmp_path, "-p", {f"{ID}1": good().data(), f"{ID}2": good().data()})[0].chmod(0)
    ran = clew("check", "--all", "--root", tmp_path, "--json")
    assert ran.code == 3
    assert len(json.loads(ran.out)) == 2


@pytest.mark.parametrize("arguments", [(), ("--all", "x"), ("nobody",)])
def test_wrong_use_is_exit_code_1(clew: Console, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ran = clew("check", *arguments, "--root", tmp_path)
    assert (ran.code, ran.out) == (1, "")
    assert "try: " in ran.err


def test_an_empty_store_names_the_folder(clew: Console, tmp_path: Path) -> None:
    ran = clew("check", "--all", "--root", tmp_path)
    assert ran.code == 0
    assert str(tmp_path) in ran.err


@pytest.mark.parametrize(
    "scenario", sorted({path.parent.parent.name for path in CORPUS.glob("*/*/projects")})
)
def test_every_recorded_session_can_be_checked(clew: Console, scenario: str) -> None:
    for store in sorted(CORPUS.glob(f"{scenario}/*/projects")):
        ran = clew("check", "--all", "--agents", "--root", store.parent, "--json")
        rows = json.loads(ran.out)
        assert len(rows) == len(list(store.rglob("*.jsonl")))
        weighty = [problem for row in rows for problem in row["problems"] if problem["severity"] != "info"]
        assert ran.code == (3 if weighty else 0)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(clew: Console, tmp_path: Path, width: int) -> None:
    ran = clew("check", "--all", "-v", "--root", demo(tmp_path), width=width)
    assert max(map(cells, ran.lines)) <= width
