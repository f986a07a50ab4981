"""A sub-agent's file is read in the order it was said in, whatever the order it was written in."""

from __future__ import annotations

from array import array
from time import process_time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format.lines import BytesSource
from clew.session.fold import Facts, Summary, fold
from clew.session.order import Runs, in_order
from clew.session.session import Session
from clew.session.subagents import Source, agents
from clew.session.turns import main_rows, turns
from clew.session.usage import Folder
from tests.builder import Builder, call
from tests.session.moved import moved, told_files
from tests.session.rows import line, session

if TYPE_CHECKING:
    from clew.session.turns import Turn

TREE = [line("a"), line("b", "a"), line("c", "b"), line("d", "b"), line("e", "d"), line("f", "a")]


@given(st.permutations(range(6)))
def test_every_line_comes_behind_its_parent(places: list[int]) -> None:
    found = session(*(TREE[place] for place in places))
    order = [places[row] for row in in_order(found.table)]
    assert sorted(order) == list(range(6))
    above = [-1, 0, 1, 1, 3, 0]
    assert all(order.index(above[one]) < at for at, one in enumerate(order) if one)
    if all(places.index(above[one]) < at for at, one in enumerate(places) if one):
        assert order == places


@st.composite
def _pieces(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """A tree told by the parent of each line, and where its file is cut in two."""
    count = draw(st.integers(3, 90))
    parents = [-1, *(draw(st.integers(max(0, row - 6), row - 1)) for row in range(1, count))]
    return parents, [draw(st.integers(1, count - 1))]


@given(_pieces())
def test_a_beginning_that_stands_behind_the_end_comes_before_it(tree: tuple[list[int], list[int]]) -> None:
    parents, (first,) = tree
    lines = [line(f"u{row}", f"u{above}" if above >= 0 else None) for row, above in enumerate(parents)]
    found = session(*lines[first:], *lines[:first])
    order = [(row + first) % len(lines) for row in in_order(found.table)]
    assert order == list(range(len(lines)))


def test_what_stands_before_an_end_and_behind_its_beginning_stays_there() -> None:
    end, begin, more = [line("c", "b"), line("d", "c")], [line("a"), line("b", "a")], [line("e", "d")]
    assert list(in_order(session(*end, *begin, *more).table)) == [2, 3, 0, 1, 4]


def test_results_of_parallel_calls_stay_with_their_calls() -> None:
    lines = [line("a"), line("b", "a"), line("c", "b"), line("rb", "b"), line("rc", "c"), line("d", "rc")]
    assert list(in_order(session(*lines[4:], *lines[:4]).table)) == [2, 3, 4, 5, 0, 1]


def test_lines_without_a_uuid_stay_with_the_line_before_or_at_the_very_beginning_with_the_one_behind() -> (
    None
):
    lines = [line(type="x"), line("c", "b"), line(type="y"), line("a"), line("b", "a"), line(type="z")]
    assert list(in_order(session(*lines).table)) == [3, 4, 5, 0, 1, 2]


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [line("a"), line("b", "a")],
        [line("a", "gone"), line("b", "gone"), line("c", "a")],
        [line("a"), line("b", "a"), line("c", "a"), line("a"), line("d", "a")],
        [line("a", "a")],
        [line(type="x"), line(parent="b"), line("b")],
    ],
    ids=["empty", "chain", "missing", "written again", "itself", "without uuid"],
)
def test_a_file_in_which_nothing_comes_too_early_keeps_its_order(lines: list[bytes]) -> None:
    assert [*in_order(session(*lines).table)] == [*range(len(lines))]


def test_lines_that_hang_on_each_other_are_all_there() -> None:
    assert sorted(in_order(session(line("a", "b"), line("b", "a")).table)) == [0, 1]


def test_every_recorded_file_is_in_order() -> None:
    for path in told_files():
        assert isinstance(main_rows(Session.read(path.read_bytes())), range), path


def test_only_a_sub_agents_own_file_is_put_in_order() -> None:
    late = [line("b", "a"), line("a")]
    side = [line("b", "a", isSidechain=True), line("a", isSidechain=True)]
    assert list(main_rows(session(*late))) == [0, 1]
    assert list(main_rows(session(*side))) == [1, 0]
    assert list(main_rows(session(*side, line("m")))) == [2]


def _told(found: Session) -> list[Any]:
    """All that turns tell, the lines in the place of their rows."""

    def raw(row: int | None) -> bytes | None:
        return None if row is None else found.entry(row).raw

    def told(turn: Turn) -> list[Any]:
        answers = [
            (one.id, [*map(raw, one.rows)], raw(one.row), raw(one.usage_row), one.stop_reason, one.started)
            for one in turn.messages
        ]
        called = [(one.id, raw(one.row), raw(one.result_row), one.duration_ms) for one in turn.calls]
        times = (turn.started, turn.ended, turn.duration_ms, turn.is_estimated)
        asked = (turn.n, raw(turn.prompt_row), turn.input_kind, turn.round, turn.status)
        return [*asked, [*map(raw, turn.rows)], answers, called, times]

    return [told(turn) for turn in turns(found)]


def _facts(data: bytes) -> Facts:
    summary = Summary()
    return summary.result(fold(BytesSource(data), summary))


def _used(data: bytes) -> dict[str, Any]:
    """What each message used; without its time, which is that of its first line in the file."""
    return {key: row[1:] for key, row in Folder().file("f", [data]).rows.items()}


def test_moved_recorded_files_have_the_turns_counts_and_usage_of_the_ordered_ones() -> None:
    tried = 0
    for path in told_files():
        data = path.read_bytes()
        whole, facts, used = _told(Session.read(data)), _facts(data), _used(data)
        for other in moved(data):
            assert _told(Session.read(other)) == whole, path
            assert _facts(other) == facts, path
            assert _used(other) == used, path
            tried += 1
    assert tried > 350


def test_a_moved_file_is_told_by_the_prompt_that_began_it() -> None:
    builder = Builder().prompt("x", isSidechain=True).answer("A.", isSidechain=True)
    data = builder.prompt("y", isSidechain=True).answer("B.", isSidechain=True).data()
    for other in (data, *moved(data)):
        main = Builder().prompt("Go.").answer(call("t1", "Task", {"prompt": "x"}), stop="tool_use").session()
        (found,) = agents(main, [Source("a", Session.read(other), "a")])
        assert (found.started_by, found.evidence) == ("t1", "prompt")


def test_putting_a_hostile_file_in_order_takes_linear_time() -> None:
    copies = [line("a")] * 8000
    late = [line(f"u{number}", "a" if number % 2 else f"u{number + 1}") for number in range(8000)]
    found = session(line("a"), *late, *copies)
    begun = process_time()
    assert sorted(in_order(found.table)) == list(range(len(found)))
    assert process_time() - begun < 5


def test_a_parent_far_up_makes_no_difference() -> None:
    lines = [line("a"), *(line(f"u{n}", f"u{n - 1}" if n else "a") for n in range(200)), line("b", "a")]
    runs, uuids = Runs(), array("q")
    for number in range(3):
        runs.add(uuids, number)
        uuids.append(number + 1)
    assert len(runs) == 1
    assert in_order(session(*lines).table) == range(202)
    assert [*in_order(session(*lines[150:], *lines[:150]).table)] == [*range(52, 202), *range(52)]
