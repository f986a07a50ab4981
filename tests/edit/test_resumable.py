"""No edit of a session that can be resumed makes it one that cannot."""

from __future__ import annotations

import pytest

from tests.edit.resumable import Tally, check_seeds

NEVER_IN_VAIN = 0.9
"""How many of the edits that were tried must be done: one that is refused shows nothing."""

ALL = 16
"""How many ways there are."""


def judge(found: Tally) -> None:
    """Nothing failed, every edit was really done, and what is refused is the exception."""
    print(f"\n{found.table()}")
    assert not found.failed, found.table()
    assert len(found.fates) == ALL
    for way, fates in found.fates.items():
        assert fates["changed"], way
        assert fates["refused"] <= (1 - NEVER_IN_VAIN) * fates.total() + 3, way  # some have but one turn


# Of 5,000 sessions each tenth seed; the others are for `make soak`.
@pytest.mark.parametrize("start", range(0, 5000, 1000))
def test_an_edit_of_a_session_that_can_be_resumed_can_be_resumed(start: int) -> None:
    found = check_seeds(range(start, start + 1000, 10), some=2)
    assert found.sessions > 90
    judge(found)


@pytest.mark.soak
@pytest.mark.parametrize("start", range(0, 5200, 100))
def test_every_edit_of_every_session_that_can_be_resumed_can_be_resumed(start: int) -> None:
    judge(check_seeds(range(start, start + 100)))
