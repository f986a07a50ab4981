"""Patches, judged by git itself; and the diffs they stand on."""

from __future__ import annotations

import os
import subprocess
from random import Random
from time import process_time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.session.git_patches import patch
from clew.session.line_diffs import changed, counts, cut_bytes, cut_lines, same

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("plain", "two words", 'quo"te', "é", "tab\there", "back\\slash", "deep/er/one", "new\nline", "-dash")
LINES = (b"a", b"b", b"", b"c\r", b"\xff\xfe", b"\0nul", b"@@ -1 +1 @@", b"--- a/x", b"\\ No", b"+", b"-")


def some(random: Random) -> bytes | None:
    """Make up a file, or none."""
    if random.random() < 0.1:
        return None
    rows = [random.choice(LINES) for _ in range(random.randrange(14))]
    return b"\n".join(rows) + random.choice((b"", b"\n"))


def apply(folder: Path, body: bytes) -> None:
    """Apply a patch with git, outside any repository of the user's."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, input=body, cwd=folder, env=environ, capture_output=True, check=False)
    assert done.returncode == 0, (done.stderr, body)


def tried(folder: Path, random: Random, many: int) -> None:
    """Make patches of made-up files, all of them applied at once, and see what git makes of them."""
    folder.mkdir(parents=True)
    bodies: list[bytes] = []
    expected: dict[Path, bytes | None] = {}
    for number in range(many):
        name = f"{number}/{random.choice(NAMES)}"
        before, after = some(random), some(random)
        place = folder / name
        if before is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(before)
        bodies.append(patch(name, before, after))
        expected[place] = after
    apply(folder, b"".join(bodies))
    for place, after in expected.items():
        assert (place.read_bytes() if place.exists() else None) == after, place


@pytest.mark.parametrize("seed", [1, 2])
def test_git_makes_of_the_old_file_the_new_one(tmp_path: Path, seed: int) -> None:
    tried(tmp_path / "work", Random(seed), 120)


def test_a_file_that_did_not_change_has_no_patch() -> None:
    assert patch("a", b"x", b"x") == patch("a", None, None) == b""


def test_a_last_line_without_an_end_is_said_to_have_none() -> None:
    assert patch("a", b"x", b"x\n") == (
        b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n"
    )


ROWS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=30)


@given(ROWS, ROWS)
@settings(max_examples=30)
def test_runs_are_the_same_in_both_and_the_rest_is_all_that_changed(
    before: list[str], after: list[str]
) -> None:
    for run in same(before, after):
        assert run.length
        assert before[run.before : run.before + run.length] == after[run.after : run.after + run.length]
    made: list[str] = []
    at = 0
    for stretch in changed(before, after):
        made += before[at : stretch.old.start] + [after[row] for row in stretch.new]
        at = stretch.old.stop
    assert made + before[at:] == after


def test_a_large_text_is_compared_by_the_lines_that_occur_once() -> None:
    """Neither takes long: a text of unlike lines, and one of lines that are all the same but few."""
    random = Random(5)
    unlike = [f"{number}\n" for number in range(20_000)]
    moved = [*unlike[:5_000], *(f"new {n}\n" for n in range(3_000)), *unlike[5_100:19_000], "end\n"]
    started = process_time()
    added, removed = counts("".join(unlike), "".join(moved))
    assert (added, removed) == (3_001, 1_100)
    alike = [random.choice(("a\n", "b\n")) for _ in range(20_000)]
    assert changed(alike, alike[::-1])
    assert process_time() - started < 3


def test_lines_end_at_newlines_alone() -> None:
    assert cut_lines("a\r\n\u2028b\nc") == ["a\r\n", "\u2028b\n", "c"]
    assert cut_bytes(b"a\n\nb") == [b"a\n", b"\n", b"b"]
    assert cut_lines("") == []
