"""The lines the client takes for lines, where a uuid is written several times."""

from __future__ import annotations

from time import process_time

import pytest

from clew.session.eras import rules
from clew.session.nodes import Nodes
from tests.session.rows import line, session


def nodes(*lines: bytes) -> Nodes:
    return Nodes(session(*lines), rules())


def test_of_several_lines_with_one_uuid_the_last_is_taken_at_the_place_of_the_first() -> None:
    found = nodes(line("a"), line("b", "a"), line("a"), line("a"))
    assert list(found.walked()) == [1, 3]
    assert found.named("a") == 3
    assert found.first_place(3) == 0
    assert found.children(3) == [1]


def test_a_copy_that_is_no_line_to_the_client_does_not_take_the_place_of_one() -> None:
    odd = line("a", type="odd")
    found = nodes(odd, line("a"), odd, line("b", "a"), odd)
    assert list(found.walked()) == [1, 3]
    assert found.named("a") == 1
    assert found.parent(3) == 1
    assert found.first_place(1) == 1


def test_a_line_after_copies_that_are_none_takes_the_place_of_the_line_before_them() -> None:
    odd = line("a", type="odd")
    found = nodes(line("a"), odd, odd, line("a"), odd, line("b", "a"))
    assert list(found.walked()) == [3, 5]
    assert found.named("a") == 3
    assert found.first_place(3) == 0


def test_a_uuid_that_only_other_lines_have_is_not_known() -> None:
    odd = line("a", type="odd")
    found = nodes(odd, odd, line("b", "a"))
    assert list(found.walked()) == [2]
    assert found.named("a") is None
    assert found.parent(2) is None


@pytest.mark.no_cover  # it is about time
def test_copies_without_number_that_are_no_lines_take_linear_time() -> None:
    count = 20_000
    one = session(
        line("a"),
        *[line("a", type="odd")] * count,
        *(line(f"u{n}", "a") for n in range(count)),
    )
    started = process_time()
    found = Nodes(one, rules())
    assert len(found.children(0)) == count
    assert process_time() - started < 10
