"""The ends of the tree: which leaf is which, where it left the active path, and the compactions."""

from __future__ import annotations

from time import process_time

import pytest

from clew.session.branches import Branch, Leaf, branches, compactions, count_branches, leaves
from clew.session.graph import Graph
from clew.session.session import Session
from tests.fuzz.lines import DATA
from tests.session.rows import boundary, line, session


def ends(*lines: bytes, active: str | None) -> tuple[Session, tuple[Leaf, ...]]:
    one = session(*lines)
    graph = Graph(one)
    row = graph.find(active) if active is not None else None
    found = leaves(one, graph, active=row)
    assert count_branches(one, graph, active=row) == len(branches(one, found))
    return one, found


def model(uuid: str, parent: str, message: str, **block: object) -> bytes:
    content = [{"type": "text", "text": "hm", **block}]
    return line(
        uuid, parent, type="assistant", message={"id": message, "role": "assistant", "content": content}
    )


def result(uuid: str, parent: str, call: str) -> bytes:
    block = {"type": "tool_result", "tool_use_id": call, "content": "done"}
    return line(uuid, parent, message={"role": "user", "content": [block]})


def test_a_prompt_tried_again_makes_a_branch() -> None:
    one, found = ends(
        line("q"),
        model("a", "q", "m1"),
        line("q2", "a"),
        line("q3", "a"),
        model("a3", "q3", "m3"),
        active="a3",
    )
    assert [(leaf.uuid, leaf.why, leaf.turns, leaf.number) for leaf in found] == [
        ("q2", "branch", 2, 3),
        ("a3", "active", 2, 5),
    ]
    assert [leaf.is_active for leaf in found] == [False, True]
    assert branches(one, found) == (Branch(1, "a", found[0]),)


def test_an_answer_tried_again_makes_a_branch() -> None:
    _, found = ends(line("q"), model("a", "q", "m1"), model("b", "q", "m2"), active="b")
    assert [(leaf.why, leaf.leaves_at) for leaf in found] == [("branch", 0), ("active", None)]


def test_results_of_parallel_calls_are_no_branches() -> None:
    one, found = ends(
        line("q"),
        model("c1", "q", "m1", type="tool_use", id="1"),
        model("c2", "c1", "m1", type="tool_use", id="2"),
        result("r1", "c1", "1"),
        result("r2", "c2", "2"),
        line("p", "c2", type="progress", data={"type": "hook_progress"}),
        model("a", "r2", "m2"),
        active="a",
    )
    assert [(leaf.uuid, leaf.why) for leaf in found] == [
        ("r1", "parallel"),
        ("p", "parallel"),
        ("a", "active"),
    ]
    assert branches(one, found) == ()


def test_a_sub_agent_in_the_same_file_ends_by_itself() -> None:
    _, found = ends(
        line("q"), line("s", isSidechain=True), line("t", "s", isSidechain=True), line("r", "q"), active="r"
    )
    assert [leaf.why for leaf in found] == ["sidechain", "active"]
    _, inside = ends(line("s", isSidechain=True), line("t", "s", isSidechain=True), active="t")
    assert [leaf.why for leaf in inside] == ["active"]


def test_a_tree_that_never_met_the_active_path_stands_apart() -> None:
    _, found = ends(line("x"), line("q"), line("r", "q"), active="r")
    assert [(leaf.uuid, leaf.why, leaf.leaves_at) for leaf in found] == [
        ("x", "apart", None),
        ("r", "active", None),
    ]


def test_without_an_active_leaf_every_tree_stands_apart() -> None:
    _, found = ends(line("q"), line("a", "q"), line("s", isSidechain=True), active=None)
    assert [leaf.why for leaf in found] == ["apart", "sidechain"]


def test_the_active_line_is_listed_even_when_lines_hang_on_it() -> None:
    _, found = ends(line("q"), line("a", "q"), line("b", "a"), active="a")
    assert [(leaf.uuid, leaf.why, leaf.leaves_at) for leaf in found] == [
        ("a", "active", None),
        ("b", "branch", 1),
    ]


def test_what_a_compaction_follows_is_no_leaf_and_turns_count_from_the_beginning() -> None:
    one, found = ends(
        line("q"),
        line("r", "q"),
        boundary("cut", "r", compactMetadata={"trigger": "auto", "preTokens": 155_000}),
        line("s", "cut", isCompactSummary=True, isMeta=True),
        line("t", "s"),
        active="t",
    )
    assert [(leaf.uuid, leaf.turns) for leaf in found] == [("t", 3)]
    (only,) = compactions(one, Graph(one))
    assert (only.row, only.uuid, only.number, only.trigger, only.pre_tokens) == (2, "cut", 3, "auto", 155_000)
    assert (only.summary_row, only.summary_uuid, only.follows) == (3, "s", 1)


def test_a_compaction_without_its_summary_or_its_facts_is_listed() -> None:
    one = session(boundary("cut", compactMetadata="odd"), line("x", "cut"))
    (only,) = compactions(one, Graph(one))
    assert (only.trigger, only.pre_tokens, only.summary_uuid, only.follows) == (None, None, None, None)
    plain = session(line("x"))
    assert compactions(plain, Graph(plain)) == ()


def test_what_starts_a_turn_can_be_told_from_outside() -> None:
    one = session(line("q"), line("a", "q"), line("b", "a"))
    (only,) = leaves(one, Graph(one), active=None, is_turn=lambda row: row == 1)
    assert only.turns == 1


def test_a_leaf_has_the_time_of_its_line() -> None:
    _, found = ends(line("q"), line("a", "q", timestamp="2026-01-01T00:00:01.000Z"), active="a")
    assert found[0].ended == 1_767_225_601_000
    _, untimed = ends(line("q", timestamp=None), active="q")
    assert untimed[0].ended is None


@pytest.mark.parametrize(
    ("version", "expected"),
    [("2.0.42", 1), ("2.0.76", 1), ("2.1.45", 1), ("2.1.150", 1)],
)
def test_the_rewind_of_each_recorded_interactive_session_is_its_one_branch(
    version: str, expected: int
) -> None:
    count = 0
    for path in (DATA / "corpus" / version / "interactive" / "projects").rglob("*.jsonl"):
        one = Session.read(path.read_bytes(), name=path.stem)
        graph = Graph(one)
        talk = [row for row in graph.nodes() if one.table.kind_of(row) in {"user", "assistant"}]
        active = talk[-1] if talk else None
        found = branches(one, leaves(one, graph, active=active))
        assert count_branches(one, graph, active=active) == len(found)
        count += len(found)
    assert count == expected


@pytest.mark.no_cover  # it is about time
def test_a_comb_of_branches_takes_linear_time() -> None:
    teeth = 20_000
    made = [line("u0")]
    for n in range(1, teeth):
        made += [line(f"u{n}", f"u{n - 1}"), line(f"t{n}", f"u{n - 1}")]
    one = session(*made)
    graph = Graph(one)
    started = process_time()
    found = leaves(one, graph, active=graph.find(f"u{teeth - 1}"))
    assert len(branches(one, found)) == teeth - 1
    assert process_time() - started < 15
