"""`clew find`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from clew.actions.finding import find
from clew.actions.stores import open_store
from clew.faces.cli.commands.find import show
from clew.faces.cli.main import run
from tests.builder import Builder, call
from tests.faces.stage import stage, write

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion


@pytest.fixture
def root(tmp_path: Path) -> Path:
    talk = Builder("s-0001").prompt("Go").answer(call("toolu_0001"), stop="tool_use").result("toolu_0001")
    write(tmp_path, "-home-ada-lighthouse", {"s-0001": talk.data()})
    return tmp_path


@pytest.mark.parametrize("width", [50, 80, 120])
def test_the_places_look_right_at_every_width(root: Path, width: int, snapshot: SnapshotAssertion) -> None:
    found = find(open_store([root]), "toolu_0001", jobs=1)
    on = stage(width)
    show(on.screen, found)
    # The folder of a test is never the same, and how a path is cut depends on its length.
    shown = [line[: line.index("/")].rstrip() if "/" in line else line for line in on.out.splitlines()]
    assert all(len(line) <= width for line in on.out.splitlines())
    assert shown == snapshot


def test_json_is_a_list_of_places(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["find", "toolu_0001", "--root", str(root), "--json"]) == 0
    path = str(root / "projects" / "-home-ada-lighthouse" / "s-0001.jsonl")
    lines = (root / path).read_bytes().splitlines(keepends=True)
    common = {"id_kind": "tool_use", "path": path, "session": "s-0001"}
    assert json.loads(capsys.readouterr().out) == [
        common | {"line": 2, "offset": len(lines[0]), "type": "assistant"},
        common | {"line": 3, "offset": len(lines[0]) + len(lines[1]), "type": "user"},
    ]


def test_nothing_found_is_no_error_and_says_where_it_looked(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["find", "toolu_9999", "--root", str(root)]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == f"Nothing has the id toolu_9999 in 1 file of {root}.\n"
    assert run(["find", "toolu_9999", "--root", str(root), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_an_id_that_is_too_short_is_wrong_use(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["find", "u1", "--root", str(root)]) == 1
    assert "too short" in capsys.readouterr().err


def test_a_hostile_id_is_shown_harmlessly(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["find", "\x1b]0;evil\x07", "--root", str(root)]) == 0
    assert "\x1b" not in capsys.readouterr().err
