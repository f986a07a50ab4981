"""How much of a conversation hangs on the path to its end."""

from __future__ import annotations

import pytest

from clew.session.chain import chain
from clew.session.eras import rules
from clew.session.graph import Graph
from clew.session.reach import has_conversation, is_said, reach_of
from tests.session.rows import boundary, line, session


def reach(*lines: bytes) -> tuple[int, int]:
    """How many lines of the conversation hang on the path to its end, and how many there are."""
    found = session(*lines)
    return reach_of(found, chain(found, rules()), Graph(found))


def test_all_of_a_straight_conversation_is_reached() -> None:
    assert reach(line("a"), line("b", "a", type="assistant"), line("c", "b")) == (3, 3)


def test_a_branch_that_was_left_hangs_on_the_path() -> None:
    assert reach(line("a"), line("left", "a"), line("b", "a", timestamp="2026-01-01T00:00:01.000Z")) == (3, 3)


def test_a_tree_of_its_own_does_not() -> None:
    other = [line("x"), line("y", "x"), line("z", "y")]
    assert reach(*other, line("a", timestamp="2026-01-02T00:00:00.000Z"), line("b", "a")) == (2, 5)


def test_what_a_compaction_took_out_is_reached_and_what_hangs_beside_that() -> None:
    before = [line("a"), line("b", "a", type="assistant"), line("left", "a")]
    after = [boundary("c", follows="b"), line("d", "c", isCompactSummary=True), line("e", "d")]
    assert reach(*before, *after) == (5, 5)


def test_sub_agents_and_lines_of_other_kinds_do_not_count() -> None:
    agent = line("s", isSidechain=True)
    assert reach(line("a"), agent, line("t", "a", type="system", subtype="info"), line("b", "a")) == (2, 2)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (line("a"), True),
        (line("a", type="assistant"), True),
        (line("a", isSidechain=True), False),
        (line("a", type="system", subtype="info"), False),
        (line(type="summary", summary="words"), False),
    ],
)
def test_something_is_said_by_the_user_and_the_assistant_alone(one: bytes, expected: bool) -> None:
    found = session(one)
    assert is_said(found, 0) == has_conversation(found) == expected


def test_nothing_is_said_in_an_empty_file() -> None:
    assert not has_conversation(session())
