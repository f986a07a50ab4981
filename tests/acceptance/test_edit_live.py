"""Edits in place of a session to which a client adds a thousand lines a second: none is lost, none invented.

Judged by what the client itself knows it wrote; nothing of clew has a part in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.faults.appender import SESSION, is_bulk, line

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parent.parent.parent
RATE = 1000
HOLDS = {"opens it for every line": 0.0, "holds it for two seconds": 2.0, "holds it all along": 25.0}


@dataclass(frozen=True)
class Found:
    """What was written, and what is there."""

    lines: int
    data: bytes
    edits: int
    carried: int

    def judge(self) -> str:
        """Raise if a line is missing, there twice or nobody's; return the figures."""
        there = Counter(self.data.splitlines(keepends=True))
        numbers = {line(number): number for number in range(self.lines)}
        invented = [one[:120] for one in there if one not in numbers]
        twice = [one[:120] for one, many in there.items() if many > 1]
        lost = [number for one, number in numbers.items() if one not in there and not is_bulk(number)]
        assert not invented, f"{len(invented)} invented: {invented[:3]}"
        assert not twice, f"{len(twice)} twice: {twice[:3]}"
        assert not lost, f"{len(lost)} of {self.lines} lost: {lost[:5]}"
        order = [numbers[one] for one in self.data.splitlines(keepends=True)]
        late = sum(one > other for one, other in pairwise(order))
        dropped = self.lines - len(there)
        return (
            f"{self.lines:,} lines, {self.edits} edits, {dropped:,} lines dropped by them, "
            f"{self.carried} edits carried lines over, {late} places out of order"
        )


def environ(folder: Path) -> Mapping[str, str]:
    given = {
        "HOME": str(folder),
        "CLAUDE_CONFIG_DIR": str(folder / "config"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "XDG_STATE_HOME": str(folder / "state"),
        "PYTHONPATH": str(ROOT),
    }
    return {**os.environ, **given}


def run(folder: Path, seconds: float, hold: float) -> Found:
    """Let a client write, and edit the session in place again and again meanwhile."""
    path = folder / "config" / "projects" / "-home-ada-lighthouse" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    words = [sys.executable, "-m", "tests.acceptance.faults.appender", str(path)]
    words += [str(seconds), str(hold), str(RATE)]
    edit = [sys.executable, "-m", "clew", "strip", SESSION, "--bulk", "--in-place", "--force"]
    edits = carried = 0
    with subprocess.Popen(words, env=environ(folder), stdout=subprocess.PIPE, text=True) as writer:
        try:
            while not path.exists() or path.stat().st_size < 20_000:
                assert writer.poll() is None
            while writer.poll() is None:
                done = subprocess.run(edit, env=environ(folder), capture_output=True, text=True, check=False)
                assert done.returncode == 0, done.stderr
                assert "still writing into the old file" not in done.stderr
                edits += "Changed" in done.stdout
                carried += "carried over" in done.stderr
        finally:
            writer.kill()
        assert writer.stdout is not None
        lines = int(writer.stdout.read())
    return Found(lines, path.read_bytes(), edits, carried)


@pytest.mark.acceptance
@pytest.mark.parametrize("hold", HOLDS.values(), ids=HOLDS)
def test_an_edit_in_place_loses_no_line_of_a_client_that_writes(tmp_path: Path, hold: float) -> None:
    found = run(tmp_path, 6, hold)
    print(f"\n{found.judge()}")
    assert found.lines > 2000
    assert found.edits
    assert found.carried


@pytest.mark.soak
@pytest.mark.parametrize("hold", HOLDS.values(), ids=HOLDS)
def test_edits_in_place_lose_no_line_of_a_client_that_writes_for_a_minute(
    tmp_path: Path, hold: float
) -> None:
    found = run(tmp_path, 60, hold)
    print(f"\n{found.judge()}")
    assert found.lines > 30_000
    assert found.edits > 1
    assert found.carried


def test_the_judge_of_edits_finds_what_is_wrong() -> None:
    lines = [line(number) for number in range(9)]
    assert len(set(lines)) == 9
    kept = [one for number, one in enumerate(lines) if not is_bulk(number)]
    for fine in (lines, kept, [*kept[1:], kept[0]]):
        Found(9, b"".join(fine), 1, 1).judge()
    for wrong, why in (
        (kept[1:], "lost"),
        ([*kept, kept[3]], "twice"),
        ([*kept, b'{"type":"user"}\n'], "invented"),
        ([*kept[:-1], kept[-1][:-1]], "invented"),
        ([*kept[:2], kept[2] + kept[3][:-1], *kept[4:]], "invented"),
    ):
        with pytest.raises(AssertionError, match=why):
            Found(9, b"".join(wrong), 1, 1).judge()
