"""`clew show` of what is damaged, empty, unknown or not there."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.builder import Builder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.console import Console
from tests.faces.show_lab import ID, one, small


def test_damage_stands_in_its_place_and_the_exit_code_says_so(clew: Console, tmp_path: Path) -> None:
    torn = b'{"type":"user","uuid":"x","mess\n{"type":"assi\n'
    builder = Builder(ID).user("First").answer("One.").raw(torn).user("Second").answer("Two.")
    ran = clew("show", one(tmp_path, builder.data()), width=100)
    assert ran.code == 3
    assert ran.out.index("One.") < ran.out.index("could not be read") < ran.out.index("Second")
    assert f"! 2 lines could not be read (lines 3–4, {len(torn) - 2} B): cut off mid-record" in ran.out


def test_a_record_that_the_client_skips_is_marked(clew: Console, tmp_path: Path) -> None:
    lines = Builder(ID).user("First").answer("One.").data().split(b"\n")
    ran = clew("show", one(tmp_path, lines[0] + lines[1] + b"\n"), width=100)
    assert ran.code == 3
    assert ran.out.count("recovered from line 1, which the client skips") == 1
    assert "› First" in ran.out


def test_a_line_that_is_being_written_is_no_damage(clew: Console, tmp_path: Path) -> None:
    path = one(tmp_path, small().data() + b'{"type":"user","uuid":"u99","mess')
    assert clew("show", path).code == 3
    os.utime(path)
    ran = clew("show", path)
    assert ran.code == 0
    assert "could not be read" not in ran.out


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_a_session_without_turns(clew: Console, tmp_path: Path, data: bytes) -> None:
    path = one(tmp_path, data)
    ran = clew("show", path)
    assert (ran.code, ran.err) == (0, "Nothing was said in this session.\n")
    assert json.loads(clew("show", path, "--json").out)["turns"] == []


def test_an_unknown_type_is_told_once(clew: Console, tmp_path: Path) -> None:
    builder = Builder(ID).user("Hi")
    for _ in range(5):
        builder.line({"type": "dream", "content": "sheep"})
    out = clew("show", one(tmp_path, builder.answer("Hello.").data()), width=80).out
    assert out.count("a line of a type clew does not know: dream") == 1


@pytest.mark.parametrize("name", ["nobody", "@7", "/nowhere/x.jsonl", ""])
def test_a_wrong_name_is_an_error_with_a_next_step(clew: Console, tmp_path: Path, name: str) -> None:
    one(tmp_path, small().data())
    ran = clew("show", name, "--root", tmp_path)
    assert (ran.code, ran.out) == (1, "")
    assert "error: " in ran.err
    assert "try: " in ran.err
