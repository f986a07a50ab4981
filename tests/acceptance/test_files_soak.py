"""The laws of files by the thousand: patches through git, edits against a simulation, lines by turn."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.actions.test_file_changes import assert_every_line_is_known
from tests.session.test_file_versions import assert_rebuilt
from tests.session.test_git_patches import tried

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.soak

WHAT = ("write", "edit", "every", "bash", "read", "fail", "prompt")
WORDS = ("", "a", "b", "\tc", "  d", "é", "“q”", "$&", "x\\y", "-", "+z", "@@", "\\ No")


def test_patches_go_through_git(tmp_path: Path) -> None:
    for seed in range(100, 120):
        tried(tmp_path / str(seed), Random(seed), 120)


def test_edits_are_rebuilt() -> None:
    for seed in range(3_000):
        random = Random(seed)

        def text(random: Random = random) -> str:
            return "\n".join(random.choice(WORDS) for _ in range(random.randrange(9)))

        steps = [(random.choice(WHAT), text(), random.randrange(99)) for _ in range(random.randrange(25))]
        assert_rebuilt(steps, random.choice(("\n", "\r\n")), text())


def test_lines_have_their_turns(tmp_path: Path) -> None:
    for seed in range(100, 140):
        assert_every_line_is_known(tmp_path / str(seed), seed)
