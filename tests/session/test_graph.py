"""The tree of a session is found whatever the file did to it, in linear time."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.session.graph import Graph, is_same_content
from clew.session.ids import IdIndex
from clew.session.session import Session
from tests.fuzz.laws import sound
from tests.session.rows import boundary, line, session


def tree(*lines: bytes) -> Graph:
    return Graph(session(*lines))


def test_each_line_hangs_on_its_parent() -> None:
    graph = tree(line("a"), line("b", "a"), line("c", "b"), line("d", "b"))
    assert list(graph.parent) == [-1, 0, 1, 1]
    assert list(graph.roots()) == [0]
    assert list(graph.children(1)) == [2, 3]
    assert graph.has_children(1)
    assert not graph.has_children(3)
    assert graph.path(3) == [0, 1, 3]
    assert (graph.find("c"), graph.find("x"), len(graph)) == (2, None, 4)


def test_a_parent_may_come_later_in_the_file() -> None:
    ordered = tree(line("a"), line("b", "a"), line("c", "b"))
    shuffled = tree(line("c", "b"), line("b", "a"), line("a"))
    assert ordered.path(2) == [0, 1, 2]
    assert shuffled.path(0) == [2, 1, 0]


def test_a_line_whose_parent_is_missing_hangs_on_the_line_before_and_says_so() -> None:
    graph = tree(line("a"), line("b", "a"), line("c", "lost"), line("d", "c"))
    assert graph.parent[2] == 1
    assert graph.is_inferred(2)
    assert graph.is_parent_missing(2)
    assert not graph.is_inferred(3)
    assert graph.path(3) == [0, 1, 2, 3]


def test_the_first_line_has_nothing_to_hang_on() -> None:
    graph = tree(line("a", "lost"), line("b", "a"))
    assert list(graph.roots()) == [0]
    assert graph.is_parent_missing(0)
    assert not graph.is_inferred(0)


def test_a_sub_agents_line_that_lost_its_parent_stays_with_the_sub_agent() -> None:
    graph = tree(
        line("a"),
        line("s", isSidechain=True),
        line("b", "a"),
        line("t", "lost", isSidechain=True),
        line("c", "lost"),
    )
    assert list(graph.parent) == [-1, -1, 0, 1, 2]


def test_the_last_of_several_lines_with_one_uuid_is_the_node() -> None:
    graph = tree(line("a"), line("b", "a"), line("a"), line("c", "a"), line("b", "a"))
    assert list(graph.nodes()) == [2, 3, 4]
    assert graph.copies(2) == (0, 2)
    assert graph.copies(3) == (3,)
    assert list(graph.duplicates()) == [2, 4]
    assert [graph.is_node(row) for row in range(5)] == [False, False, True, True, True]
    assert graph.parent[3] == 2
    assert graph.parent[1] == -1


def test_same_content_is_told_from_different_content() -> None:
    one = session(line("a"), line("a").rstrip() + b"\r\n", line("a", x=1))
    assert is_same_content(one, (0, 1))
    assert not is_same_content(one, (0, 1, 2))


def test_a_cycle_is_cut_at_its_last_line_and_told() -> None:
    graph = tree(line("a", "c"), line("b", "a"), line("c", "b"), line("d", "c"))
    assert graph.cycles == ((2, 1, 0),)
    assert graph.is_cut(2)
    assert list(graph.roots()) == [2]
    assert graph.path(3) == [2, 3]
    assert graph.path(1) == [2, 0, 1]


def test_a_line_that_is_its_own_parent_is_a_cycle() -> None:
    graph = tree(line("a", "a"), line("b", "a"))
    assert graph.cycles == ((0,),)
    assert graph.path(1) == [0, 1]


def test_a_guess_is_taken_back_rather_than_called_a_cycle() -> None:
    # The node of `a` is its second line, which hangs on `b`: `b` cannot hang on the line before it.
    graph = tree(line("a"), line("b", "lost"), line("a", "b"))
    assert graph.cycles == ()
    assert list(graph.roots()) == [1]
    assert graph.path(2) == [1, 2]
    assert not graph.is_inferred(1)
    alone = tree(line("a"), line("a", "lost"))
    assert list(alone.roots()) == [1]
    assert not alone.is_inferred(1)


def test_lines_without_a_uuid_are_no_nodes_and_ids_of_snapshots_are_none_of_the_graphs() -> None:
    graph = tree(line("a"), line(type="file-history-snapshot", messageId="a"), line("b", "a"))
    assert list(graph.nodes()) == [0, 2]
    assert graph.copies(0) == (0,)
    assert graph.parent[2] == 0


def test_progress_lines_are_part_of_the_way() -> None:
    graph = tree(line("a"), line("p", "a", type="progress", data={"type": "hook_progress"}), line("b", "p"))
    assert graph.path(2) == [0, 1, 2]


def test_a_compaction_is_a_root_and_joined_to_what_it_follows() -> None:
    graph = tree(line("a"), line("b", "a"), boundary("cut", "b"), line("s", "cut"), line("c", "s"))
    assert graph.path(4) == [2, 3, 4]
    assert graph.history(4) == [0, 1, 2, 3, 4]
    assert graph.joins == {2: 1}
    assert graph.loose_joins == frozenset()


@pytest.mark.parametrize(("follows", "loose"), [(None, set[int]()), ("lost", {2})])
def test_a_compaction_that_does_not_say_what_it_follows_is_joined_by_order(
    follows: str | None, loose: set[int]
) -> None:
    graph = tree(line("a"), line("b", "a"), boundary("cut", follows), line("c", "cut"))
    assert graph.history(3) == [0, 1, 2, 3]
    assert graph.loose_joins == loose


def test_a_compaction_with_a_parent_needs_no_join() -> None:
    graph = tree(line("a"), boundary("cut", "a", parent="a"), line("c", "cut"))
    assert graph.joins == {}
    assert graph.history(2) == graph.path(2) == [0, 1, 2]


def test_a_compaction_that_follows_its_own_future_is_not_joined() -> None:
    graph = tree(boundary("cut", "c"), line("b", "cut"), line("c", "b"), boundary("self", "self"))
    assert graph.history(2) == [0, 1, 2]
    assert 0 not in graph.joins
    assert graph.joins.get(3) in {None, 2}
    first = tree(boundary("cut"), line("a", "cut"))
    assert first.joins == {}


ids = st.sampled_from([None, *"abcdefgh"])


@given(st.lists(st.tuples(ids, ids, st.booleans(), st.booleans()), max_size=14))
def test_every_tangle_becomes_a_forest(rows: list[tuple[str | None, str | None, bool, bool]]) -> None:
    made = [
        boundary(uuid or "z", parent) if is_cut else line(uuid, parent, isSidechain=is_side)
        for uuid, parent, is_side, is_cut in rows
    ]
    graph = tree(*made)
    sound(graph)
    for row in graph.nodes():
        assert len(set(history := graph.history(row))) == len(history)
        if graph.is_inferred(row):
            assert graph.is_parent_missing(row)
    for cycle in graph.cycles:
        assert cycle[0] == max(cycle)


@given(st.lists(st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)))
def test_the_index_finds_the_last_row_of_each_id(keys: list[int]) -> None:
    index = IdIndex(keys)
    for row, key in enumerate(keys):
        rows = [at for at, other in enumerate(keys) if other == key and key]
        assert index.last(key) == (rows[-1] if rows else -1)
        assert index.earlier[row] == max((at for at in rows if at < row), default=-1)
    assert index.last(12345678901234) == -1


def test_the_way_up_is_the_history_backwards() -> None:
    graph = tree(line("a"), line("b", "a"), boundary("c", "b"), line("d", "c"), line("e", "d"))
    assert list(graph.upwards(4)) == [4, 3, 2, 1, 0]
    assert [list(graph.children(row)) for row in range(5)] == [[1], [], [3], [4], []]
    assert [graph.has_children(row) for row in range(5)] == [True, False, True, True, False]


@pytest.mark.no_cover  # it is about time
def test_three_hundred_thousand_records_children_first_and_each_twice_take_linear_time() -> None:
    count = 300_000
    made: list[bytes] = []
    for n in range(count - 1, -1, -1):
        parent = b'"u%d"' % (n - 1) if n else b"null"
        made += [b'{"type":"user","uuid":"u%d","parentUuid":%b}\n' % (n, parent)] * 2
    started = process_time()
    chain = Session.read(b"".join(made))
    graph = Graph(chain)
    leaf = graph.find(f"u{count - 1}")
    assert leaf is not None
    assert len(graph.path(leaf)) == count
    assert sum(1 for _ in graph.duplicates()) == count
    assert process_time() - started < 60


@pytest.mark.no_cover  # it is about time
@pytest.mark.parametrize("parent", ["same", "lost", "self", "ring"])
def test_no_shape_of_a_large_tree_takes_more_than_linear_time(parent: str) -> None:
    count = 40_000
    names = {"same": "u0", "lost": "lost", "self": None, "ring": None}
    made = [
        line(f"u{n}", names[parent] or (f"u{n}" if parent == "self" else f"u{(n + 1) % count}"))
        for n in range(count)
    ]
    one = session(*made)
    started = process_time()
    graph = Graph(one)
    sound(graph)
    assert process_time() - started < 10
