"""`clew diff`: two sessions, or two branches of one, side by side."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from clew.faces.cli.cells import width as cells
from clew.session.pricing import DATE
from tests.builder import Builder, call
from tests.faces import console as consoles
from tests.faces.hostile_sessions import every_tool
from tests.faces.payloads import PAYLOADS, assert_harmless
from tests.faces.stage import demo, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.console import Console

ONE = "0a0a0a0a-0000-4000-8000-000000000001"
TWO = "0b0b0b0b-0000-4000-8000-000000000002"


@pytest.fixture
def clew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    yield from consoles.console(monkeypatch)


def edited(builder: Builder, path: str, new: str) -> Builder:
    given = {"file_path": f"/home/ada/lighthouse/{path}", "old_string": "a", "new_string": new}
    return builder.answer(call(f"t{path}", "Edit", given), stop="tool_use").result(f"t{path}", "ok")


def start(name: str) -> Builder:
    return Builder(name).user("Light the lamp").answer("Lit.")


def both(root: Path, left: Builder, right: Builder) -> list[Path]:
    return write(root, "-home-ada-lighthouse", {ONE: left.data(), TWO: right.data()})


def test_a_session_and_its_copy_are_the_same(clew: Console, tmp_path: Path) -> None:
    ran = clew("diff", *both(tmp_path, start(ONE), start(TWO)), width=100)
    assert ran.code == 0
    assert ran.lines[-1] == "The same 1 turn on both sides."


def test_json_has_the_documented_shape(clew: Console, tmp_path: Path) -> None:
    left = edited(start(ONE).user("Oil it"), "oil.py", "b\nc").answer("Oiled.")
    right = edited(start(TWO).user("Trim it"), "wick.py", "b").answer("Trimmed.").user("More").answer("Yes.")
    document: dict[str, Any] = json.loads(clew("diff", *both(tmp_path, left, right), "--json").out)
    assert set(document) == {"left", "right", "common_turns", "turns", "files"}
    assert document["common_turns"] == 1
    assert [document[side]["turns"] for side in ("left", "right")] == [2, 3]
    first, second = document["turns"]
    assert (first["left"]["prompt"], first["right"]["prompt"]) == ("Oil it", "Trim it")
    assert first["is_same_prompt"] is False
    assert (second["left"], second["right"]["prompt"]) == (None, "More")
    assert document["files"] == [
        {"path": "oil.py", "left": {"added": 2, "removed": 1}, "right": None},
        {"path": "wick.py", "left": None, "right": {"added": 1, "removed": 1}},
    ]


def test_the_same_question_with_another_answer_is_told(clew: Console, tmp_path: Path) -> None:
    paths = both(tmp_path, start(ONE).user("Why?").answer("Oil."), start(TWO).user("Why?").answer("Wick."))
    (pair,) = json.loads(clew("diff", *paths, "--json").out)["turns"]
    assert pair["is_same_prompt"] is True


def test_branches_are_compared_from_where_they_part(clew: Console, tmp_path: Path) -> None:
    builder = start(ONE)
    fork = builder.leaf
    builder.user("Second").answer("Two.").rewind(fork).user("Third").answer("Three.")
    (path,) = write(tmp_path, "-home-ada-lighthouse", {ONE: builder.data()})
    document = json.loads(clew("diff", path, "--branch", "1", "active", "--json").out)
    assert document["common_turns"] == 1
    (pair,) = document["turns"]
    assert (pair["left"]["prompt"], pair["right"]["prompt"]) == ("Second", "Third")
    assert [document[side]["branch"] for side in ("left", "right")] == ["1", "active"]


SCREEN = """\
A  0a0a0a0a · 2 turns · <$0.01  Light the lamp
B  0b0b0b0b · 2 turns · <$0.01  Light the lamp

1 turn in common

── 2 ── 1 call · 1 file +2 −1 · 3.0s…  │ ── 2 ── 1.0s · <$0.01
› Oil it                               │ › Trim it
  Oiled.                               │   Trimmed.

FILE        A  B
oil.py  +2 −1

after that: A <$0.01, B <$0.01 · prices of DATE
"""


def test_turns_stand_side_by_side(clew: Console, tmp_path: Path) -> None:
    left = edited(start(ONE).user("Oil it"), "oil.py", "b\nc").answer("Oiled.")
    right = start(TWO).user("Trim it").answer("Trimmed.")
    out = clew("diff", *both(tmp_path, left, right), width=80).out
    assert out.replace(DATE, "DATE") == SCREEN


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(clew: Console, tmp_path: Path, width: int) -> None:
    root = demo(tmp_path)
    paths = sorted(root.glob("projects/*/*.jsonl"))
    for left, right in pairwise(paths):
        ran = clew("diff", left, right, "--root", root, width=width)
        assert max(map(cells, ran.lines)) <= width


@pytest.mark.parametrize("asked", [(), ("--branch", "1", "active", "other"), ("--branch", "9", "active")])
def test_wrong_use_has_a_next_step(clew: Console, tmp_path: Path, asked: tuple[str, ...]) -> None:
    (path,) = write(tmp_path, "-home-ada-lighthouse", {ONE: start(ONE).data()})
    ran = clew("diff", path, *asked)
    assert (ran.code, ran.out) == (1, "")
    assert "try: " in ran.err


def test_no_payload_acts(clew: Console, tmp_path: Path) -> None:
    for number, payload in enumerate(PAYLOADS[::4]):
        (path,) = write(tmp_path / str(number), "-x", {ONE: every_tool(payload)})
        (other,) = write(tmp_path / f"b{number}", "-x", {TWO: Builder(TWO).user(payload + "x").data()})
        for options in ((), ("--json",)):
            ran = clew("diff", path, other, *options, width=80)
            assert_harmless(ran.out)
            assert_harmless(ran.err)
