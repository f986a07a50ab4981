"""`clew drift`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from clew.actions.drift import drift
from clew.actions.stores import open_store
from clew.faces.cli.commands.drift import show
from clew.faces.cli.main import run
from tests.builder import Builder
from tests.faces.stage import demo, stage, widest, write

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    talk = (
        Builder("s", version="9.1.0").prompt("Hi", zork=1).line({"type": "zorp\x1b[31m"}).prompt("Ho", zork=2)
    )
    write(tmp_path, "-p", {"s": talk.data()})
    return tmp_path


def screen(root: Path, width: int | None) -> str:
    on = stage(width)
    show(on.screen, drift(open_store([root]), jobs=1))
    return on.out


@pytest.mark.parametrize("width", [50, 60, 80, 120, 200])
def test_unknown_things_are_a_table_that_fits(root: Path, width: int) -> None:
    shown = screen(root, width)
    assert widest(shown.splitlines()[:-2]) <= width
    assert "user.zork" in shown
    assert "zorp␛[31m" in shown
    assert "newer clients than clew was measured with: 9.1.0" in shown


def test_piped_the_example_is_whole(root: Path) -> None:
    heading, first, *_ = screen(root, None).splitlines()
    assert heading.split() == ["WHAT", "NAME", "LINES", "VERSIONS", "EXAMPLE"]
    assert first.split() == ["field", "user.zork", "2", "9.1.0", f"{root}/projects/-p/s.jsonl:1"]


def test_nothing_unknown_says_in_how_much(tmp_path: Path) -> None:
    assert screen(demo(tmp_path), 80) == "Nothing unknown in 192 lines of 12 files.\n"


def test_json_has_the_unknown_things_and_jsonl_one_a_line(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["drift", "--root", str(root), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(one["what"], one["name"], one["count"]) for one in document["unknown"]] == [
        ("field", "user.zork", 2),
        ("type", "zorp\x1b[31m", 1),
    ]
    assert document["newer_versions"] == {"9.1.0": 3}
    assert run(["drift", "--root", str(root), "--jsonl"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["user.zork", "zorp\x1b[31m"]


def test_damage_is_told_by_the_exit_code(tmp_path: Path) -> None:
    assert run(["drift", "--root", str(demo(tmp_path)), "--json"]) == 3


def test_no_sessions_names_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["drift", "--root", str(tmp_path)]) == 0
    assert str(tmp_path) in capsys.readouterr().err
