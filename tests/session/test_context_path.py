"""Which lines of a file the client goes on from: its end, hints, parents and compactions."""

from __future__ import annotations

from typing import Any

import pytest

from clew.session.drafts import RESULT_MISSING, SESSION_ENDED
from tests.session.story import Story, basic, talk

MISSING = f"TR:%s!:{RESULT_MISSING[:44]}"
ENDED = f"TR:%s!:{SESSION_ENDED[:44]}"


# The leaf ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("system", {"subtype": "turn_duration"}),
        ("system", {"subtype": "informational"}),
        ("attachment", {"attachment": {"type": "frob"}}),
    ],
)
def test_the_last_line_of_the_file_decides_the_branch(kind: str, fields: dict[str, Any]) -> None:
    assert basic().line(kind, "x", "a1", **fields).sent() == "U[Q1] A[A1]"


@pytest.mark.parametrize("kind", ["progress", "frob"])
def test_progress_and_unknown_lines_are_no_ends(kind: str) -> None:
    assert basic().line(kind, "x", "a1", data={"type": "hook_progress"}).sent() == "U[Q1] A[A1] U[Q2] A[A2]"


def test_a_sidechain_line_is_no_end() -> None:
    assert basic().q("x", "a1", isSidechain=True).sent() == "U[Q1] A[A1] U[Q2] A[A2]"


def test_only_sidechain_lines_are_no_conversation() -> None:
    assert Story().q("q1", None, isSidechain=True).sent() == "refused: No conversation found"


def test_a_sidechain_line_on_the_path_is_sent() -> None:
    story = Story().q("q1", None).a("a1").q("s1", isSidechain=True).q("q2").a("a2")
    assert story.sent() == "U[Q1] A[A1] U[S1 | Q2] A[A2]"


def test_where_the_last_line_has_descendants_the_newest_of_them_is_the_end() -> None:
    assert basic().q("x1", "a1").a("y1").again(3).sent() == "U[Q1] A[A1] U[Q2] A[A2]"


def test_a_newer_line_that_is_no_descendant_does_not_count() -> None:
    story = Story().q("q1", None)
    story.time = 50
    story.a("a3", "q1")
    story.time = 2
    story.q("q2", "a1").a("a2")
    story.time = 1
    story.a("a1", "q1")
    assert story.sent() == "U[Q1] A[A1] U[Q2] A[A2]"


def test_up_to_2_1_88_the_greatest_time_is_the_end_and_the_first_on_a_tie() -> None:
    story = Story().q("q1", None).a("a1")
    story.time = 1
    story.a("b1", "q1")
    assert story.sent("2.1.45") == "U[Q1] A[A1]"
    assert story.sent("2.1.150") == "U[Q1] A[B1]"


def test_an_end_without_a_time_is_refused_from_2_1_88_on() -> None:
    story = basic().a("a3", timestamp="(absent)")
    assert story.sent() == "refused: No conversation found"
    assert story.sent("2.1.45").startswith("U[Q1]")


@pytest.mark.parametrize("time", ["2026-03-05", "2026-03-05T10:00:00+02:00"])
def test_any_time_that_can_be_read_will_do(time: str) -> None:
    assert Story().q("q1", None, timestamp=time).a("a1", timestamp=time).sent() == "U[Q1] A[A1]"


@pytest.mark.parametrize("time", ["hello", 17])
def test_a_time_that_cannot_be_read_is_none(time: object) -> None:
    assert Story().q("q1", None).a("a1", timestamp=time).sent() == "refused: No conversation found"


def test_an_end_that_is_the_clients_own_line_brings_what_hangs_beside_it() -> None:
    story = Story().q("q1", None).a("a1")
    talk(talk(story, "l1"), "l2").q("q2").a("a2").q("q3", "a1").a("a3").hint("l1")
    assert story.sent() == "U[Q1] A[A1] U[LC l1 | LC l2]"


def test_lines_behind_the_end_come_depth_first() -> None:
    story = Story().q("q1", None).a("a1")
    talk(story, "l1")
    talk(story, "l2", "a1")
    talk(story, "l3", "l1").q("q3", "q1").a("a3").hint("a1")
    assert story.sent() == "U[Q1] A[A1] U[LC l1 | LC l3 | LC l2]"


def test_a_path_on_which_nothing_was_said_gives_way_to_the_last_message() -> None:
    story = Story().q("q1", None).a("a1")
    story.time += 60
    assert talk(talk(story, "l1", "ZZ"), "l2").sent() == "U[Q1] A[A1]"


def test_without_any_message_there_is_nothing_to_send() -> None:
    found = talk(Story(), "l1", None).context()
    assert [message["role"] for message in found.messages] == ["user"]
    assert found.refused is None


# Hints ------------------------------------------------------------------------------------------


def test_a_hint_at_another_branch_is_followed_even_when_stale() -> None:
    assert basic().hint("a2").q("q3", "a1").a("a3").sent() == "U[Q1] A[A1] U[Q2] A[A2]"
    assert basic().hint("a2").q("q3", "a1").a("a3").sent("2.1.88") == "U[Q1] A[A1] U[Q3] A[A3]"


def test_a_hint_at_the_path_itself_changes_nothing() -> None:
    assert basic().hint("a1").sent() == "U[Q1] A[A1] U[Q2] A[A2]"


def test_an_explicit_hint_at_the_end_is_a_rewind() -> None:
    assert basic().hint("a1", explicit=True).sent() == "U[Q1] A[A1]"


def test_an_explicit_hint_that_something_followed_is_a_plain_one() -> None:
    assert basic().hint("a1", explicit=True).q("q3", "a2").sent().startswith("U[Q1] A[A1] U[Q2] A[A2] U[Q3]")


def test_sidechain_lines_after_an_explicit_hint_do_not_count() -> None:
    assert basic().hint("a1", explicit=True).q("s", None, isSidechain=True).sent() == "U[Q1] A[A1]"


def test_only_the_last_hint_counts() -> None:
    assert basic().q("q3", "a1").a("a3").hint("a2").hint("a3").sent() == "U[Q1] A[A1] U[Q3] A[A3]"
    assert basic().q("q3", "a1").a("a3").hint("a2").hint(None).sent() == "U[Q1] A[A1] U[Q2] A[A2]"


def test_a_hint_at_nothing_is_ignored_and_does_not_bring_back_an_older_one() -> None:
    assert basic().q("q3", "a1").a("a3").hint("a2").hint("ZZ").sent() == "U[Q1] A[A1] U[Q3] A[A3]"


def test_a_hint_at_a_sidechain_line_is_refused() -> None:
    story = basic().q("s", None, isSidechain=True).hint("s")
    assert story.sent() == "refused: No conversation found"


def test_a_compaction_voids_the_hints_before_it() -> None:
    story = basic().q("q3", "a1").a("a3").hint("a2").boundary("b").q("s", "b").a("a4")
    assert story.sent() == "U[S] A[A4]"


def test_a_hint_at_a_prompt_ends_there() -> None:
    assert basic().q("q3", "a1").a("a3").hint("q2").sent() == "U[Q1] A[A1] U[Q2] A[No response requested.]"


def test_a_hint_beside_the_path_in_the_same_answer_is_on_the_path() -> None:
    story = Story().q("q1", None).a("c1", "q1", "t1", mid="m").a("c2", "c1", "t2", mid="m")
    story.r("r1", "t1", parent="c1").r("r2", "t2", parent="c2").a("z").hint("r1")
    assert story.sent() == "U[Q1] A[t1 | t2] U[TR:t1:of t1 | TR:t2:of t2] A[Z]"


def test_a_hint_that_is_not_followed_still_keeps_the_end_where_it_is() -> None:
    assert basic().hint("q1").again(3).sent() == "U[Q1] A[A1] U[Q2] A[No response requested.]"


# Parents ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gap", "sent"), [(5, "U[Q1] A[A1] U[Q2] A[A2]"), (6, "U[Q2] A[A2]")])
def test_a_missing_parent_is_looked_for_in_the_five_seconds_before(gap: int, sent: str) -> None:
    story = Story().q("q1", None).a("a1")
    story.time += gap - 1
    assert story.q("q2", "ZZ").a("a2").sent() == sent


def test_a_missing_parent_cut_history_up_to_2_1_88() -> None:
    assert Story().q("q1", None).a("a1").q("q2", "ZZ").a("a2").sent("2.1.88") == "U[Q2] A[A2]"


def test_the_newest_line_that_is_not_newer_stands_in_wherever_it_is_in_the_file() -> None:
    story = Story().q("q1", None).a("a1")
    story.time = 3
    story.q("x1", "a1")
    story.time = 2
    story.q("y1", "a1")
    story.time = 5
    assert story.q("q2", "ZZ").a("a2").sent() == "U[Q1] A[A1] U[X1 | Q2] A[A2]"
    story = Story().q("q1", None).a("a1")
    story.time = 5
    story.q("q2", "ZZ").a("a2")
    story.time = 5
    assert story.q("x1", "a1").hint("a2").sent() == "U[Q1] A[A1] U[X1 | Q2] A[A2]"


def test_a_line_without_a_time_finds_no_parent() -> None:
    story = Story().q("q1", None).a("a1").q("q2", "ZZ", timestamp="(absent)").a("a2")
    assert story.sent() == "U[Q2] A[A2]"


def test_a_sidechain_line_does_not_stand_in_for_a_parent() -> None:
    story = Story().q("q1", None).a("a1").q("s", None, isSidechain=True).q("q2", "ZZ").a("a2")
    assert story.sent() == "U[Q1] A[A1] U[Q2] A[A2]"


def test_progress_is_walked_through() -> None:
    story = Story().q("q1", None).a("a1").line("progress", "p", data={"type": "hook_progress"})
    assert story.q("x1", "a1").q("q2", "p").a("a2").sent() == "U[Q1] A[A1] U[Q2] A[A2]"


def test_what_hangs_on_progress_without_a_parent_is_judged_by_its_own_time() -> None:
    story = Story().q("q1", None).a("a1").line("progress", "p", "ZZ", data={"type": "hook_progress"})
    story.time += 10
    assert story.q("q2", "p").a("a2").sent() == "U[Q2] A[A2]"


def test_an_unknown_type_is_no_line() -> None:
    story = Story().q("q1", None).a("a1").line("frob", "f", "a1").q("x1", "a1").q("q2", "f").a("a2")
    assert story.sent() == "U[Q1] A[A1] U[X1 | Q2] A[A2]"


def test_a_line_written_twice_counts_with_its_last_words() -> None:
    story = Story().q("q1", None).a("a1").q("q2").a("a2").q("q2", "a1", content="CHANGED").a("a3")
    assert story.sent() == "U[Q1] A[A1] U[CHANGED] A[A3]"


@pytest.mark.parametrize("client", ["1.0.35", "2.0.42", "2.0.76"])
def test_a_cycle_hangs_old_clients(client: str) -> None:
    story = Story().q("q1", "a2").a("a1").q("q2").a("a2")
    assert story.sent(client).startswith("refused: The client does not come back")
    assert story.sent() == "U[Q1] A[A1] U[Q2] A[A2]"


def test_one_can_ask_for_the_context_at_an_entry() -> None:
    assert basic().sent(at="q2") == "U[Q1] A[A1] U[Q2] A[No response requested.]"
    assert basic().context(at="zz").refused is not None


# Compactions ------------------------------------------------------------------------------------


def test_a_compaction_on_the_path_cuts_even_when_it_has_a_parent() -> None:
    assert basic().boundary("b", "a2").q("s").a("a3").sent() == "U[S] A[A3]"


def test_a_compaction_beside_the_path_does_not_cut() -> None:
    assert basic().boundary("b").q("s").q("q5", "a2").a("a5").sent() == "U[Q1] A[A1] U[Q2] A[A2] U[Q5] A[A5]"


def test_a_compaction_that_nothing_follows_is_not_there() -> None:
    assert basic().boundary("b").sent() == "U[Q1] A[A1] U[Q2] A[A2]"


def preserved(uuids: list[str], anchor: str) -> dict[str, Any]:
    return {"preservedMessages": {"uuids": uuids, "anchorUuid": anchor}}


@pytest.mark.parametrize(
    ("metadata", "sent"),
    [
        (preserved(["q2", "a2"], "s"), "U[S | Q2] A[A2] U[Q9] A[A9]"),
        (preserved(["a2", "q2"], "s"), "U[S] A[A2] U[Q2 | Q9] A[A9]"),
        (preserved(["q2", "a2"], "b"), "U[Q2] A[A2] U[S | Q9] A[A9]"),
        (preserved(["q2", "a2"], "q9"), "U[S | Q9 | Q2] A[A2] A[A9]"),
        (preserved(["q2", "zz"], "s"), "U[S | Q9] A[A9]"),
        (
            {"preservedSegment": {"headUuid": "q2", "tailUuid": "a2", "anchorUuid": "s"}},
            "U[S | Q2] A[A2] U[Q9] A[A9]",
        ),
        ({"preservedSegment": {"headUuid": "zz", "tailUuid": "a2", "anchorUuid": "s"}}, "U[S | Q9] A[A9]"),
        ({}, "U[S | Q9] A[A9]"),
    ],
)
def test_what_a_compaction_preserved_comes_back_behind_its_anchor(
    metadata: dict[str, Any], sent: str
) -> None:
    story = basic().boundary("b", None, **metadata).q("s", "b", isCompactSummary=True).q("q9").a("a9")
    assert story.sent() == sent
    assert story.sent("2.1.45") == "U[S | Q9] A[A9]"


def test_with_preserved_messages_the_rest_before_the_compaction_is_gone() -> None:
    story = basic().boundary("b", None, **preserved(["q2", "a2"], "s")).q("s", "b").q("q9").a("a9")
    assert story.q("q5", "a1").a("a5").sent() == "U[S | Q2] A[A2] U[Q5] A[A5]"
    assert story.hint("a1").sent() == "U[S | Q2] A[A2] U[Q5] A[A5]"
