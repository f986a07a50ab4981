"""`clew stats`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from clew.actions.stats import stats
from clew.actions.stores import open_store
from clew.faces.cli.commands.stats import show
from clew.faces.cli.main import run
from tests.builder import Builder
from tests.faces.stage import NOW, demo, stage, widest, write

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion


def screen(root: Path, width: int | None, name: str | None = None, *, agents: bool = False) -> str:
    found = stats(open_store([root]), name, agents=agents, now=NOW.timestamp(), jobs=1)
    on = stage(width)
    show(on.screen, found, named=name is not None, agents=agents)
    return on.out


@pytest.mark.parametrize("width", [60, 80, 120])
def test_all_sessions_look_right_at_every_width(
    tmp_path: Path, width: int, snapshot: SnapshotAssertion
) -> None:
    shown = screen(demo(tmp_path), width)
    assert widest(shown.splitlines()) <= width
    assert shown == snapshot


@pytest.mark.parametrize("width", [60, 100])
def test_one_session_looks_right(tmp_path: Path, width: int, snapshot: SnapshotAssertion) -> None:
    assert screen(demo(tmp_path), width, "4a01") == snapshot


def test_a_session_with_its_sub_agents_says_how_many_files(tmp_path: Path) -> None:
    assert "2 files in all" in screen(demo(tmp_path), 100, "f947", agents=True)


def test_piped_every_name_is_given(tmp_path: Path) -> None:
    talk = Builder("s")
    for number in range(40):
        talk.line({"type": f"kind-{number:02}"})
    write(tmp_path, "-p", {"s": talk.data()})
    assert "28 more" in screen(tmp_path, 100, "s")
    piped = screen(tmp_path, None, "s")
    assert "more" not in piped
    assert "kind-39" in piped


def test_names_from_a_session_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    talk = Builder("\x1b[31mid", version="\x1b[5m").prompt("Hi").line({"type": "\x1b[2J" + "x" * 900})
    write(tmp_path, "-p", {"s": talk.data()})
    for width in (60, 100, None):
        shown = screen(tmp_path, width, "s")
        assert "\x1b" not in shown
        assert width is None or widest(shown.splitlines()) <= width


def test_json_of_one_is_a_row_and_of_all_rows_and_a_total(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(demo(tmp_path))
    assert run(["stats", "@1", "--root", root, "--json"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert run(["stats", "--root", root, "--json"]) == 3
    every = json.loads(capsys.readouterr().out)
    assert every["sessions"][0] == one
    assert every["total"]["lines"] == sum(row["lines"] for row in every["sessions"])
    assert every["total"]["files"] == 10


def test_an_unknown_session_is_an_error_with_a_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["stats", "nobody", "--root", str(demo(tmp_path)), "--json"]) == 1
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "unknown-session"


def test_no_sessions_names_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stats", "--root", str(tmp_path)]) == 0
    assert str(tmp_path) in capsys.readouterr().err
