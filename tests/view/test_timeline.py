"""A session is a row of turns, each read when it is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from clew.view import parts
from tests.view.sessions import files, timeline

if TYPE_CHECKING:
    from pathlib import Path

SOME = files()[::10]


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.name[:20])
def test_every_turn_can_be_read_again_and_says_the_same(path: Path) -> None:
    time = timeline(path.read_bytes())
    encode = msgspec.json.Encoder().encode
    for view in time.turns():
        assert [encode(one) for one in view.flow()] == [encode(one) for one in view.flow()]


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.name[:20])
def test_at_most_one_answer_of_a_turn_is_its_last(path: Path) -> None:
    for view in timeline(path.read_bytes()).turns():
        answers = [one for one in view.flow() if isinstance(one, parts.Answer)]
        assert sum(one.is_last for one in answers) <= 1
