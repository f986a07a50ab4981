"""No edit of a session that can be resumed makes it one that cannot."""

from __future__ import annotations

import pytest

from tests.edit.resumable import Tally, check_seeds, checks, resumable

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


@pytest.mark.parametrize(
    ("seed", "way"),
    [
        (40013, "trim --keep-turns"),  # compactions among the turns that go
        (40017, "trim --keep-turns"),
        (40209, "strip --bulk"),  # the last prompt is written twice
        (40279, "strip --bulk"),
        (40604, "strip --thinking"),
        (40882, "strip --thinking"),  # a compaction is written twice
        (40815, "uncompact"),  # the compaction is named as the end
        (2494, "uncompact"),  # a compaction stands a second time on a damaged line
        (4651, "trim --results-only"),  # it was rewound to a thought, behind which the client wrote
        (40180, "merge"),  # a line of the first part is written again in the second
        (40242, "merge"),  # what a compaction kept stands right before the turn
    ],
)
def test_what_loses_nothing_is_not_refused(seed: int, way: str) -> None:
    source = resumable(seed)
    assert source is not None
    assert checks(source, seed)[way]() == "changed"


@pytest.mark.soak
@pytest.mark.parametrize("start", range(0, 5200, 100))
def test_every_edit_of_every_session_that_can_be_resumed_can_be_resumed(start: int) -> None:
    judge(check_seeds(range(start, start + 100)))
