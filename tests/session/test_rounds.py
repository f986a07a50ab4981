"""The round of every user entry."""

from __future__ import annotations

import pytest

from clew.session.drafts import SESSION_ENDED
from clew.session.rounds import Rounds, inputs
from clew.session.session import Session
from tests.builder import Builder, call


def rounds(builder: Builder, *, pause_ms: int = 300_000) -> list[str]:
    return [found.round for found in inputs(builder.session(), pause_ms=pause_ms)]


def test_the_first_prompt_begins_the_session_and_the_next_a_round() -> None:
    assert rounds(Builder().prompt("a").answer("b").prompt("c")) == ["new_session", "new_round"]


def test_results_and_the_clients_own_entries_continue() -> None:
    builder = Builder().meta("caveat").prompt("a").answer(call("t1")).result("t1").meta("rules").answer("b")
    builder.user("[Request interrupted by user]")
    assert rounds(builder) == ["continue", "new_session", "continue", "continue", "continue"]
    assert [found.kind for found in inputs(builder.session())] == [
        "meta",
        "text",
        "tool_result",
        "meta",
        "interrupt",
    ]


def test_a_prompt_after_a_pause_is_a_return() -> None:
    assert rounds(Builder().prompt("a").answer("b").wait(300).prompt("c"))[1] == "resume"
    assert rounds(Builder().prompt("a").answer("b").wait(299).prompt("c"))[1] == "new_round"


def test_the_length_of_a_pause_can_be_set() -> None:
    assert rounds(Builder().prompt("a").answer("b").wait(30).prompt("c"), pause_ms=10_000)[1] == "resume"


def test_what_the_client_writes_on_resuming_does_not_end_the_pause() -> None:
    builder = Builder().prompt("a").answer("b").wait(3600).meta("Continue from where you left off.")
    builder.answer("No response requested.", model="<synthetic>").entry(
        "attachment", attachment={"type": "date"}
    )
    assert rounds(builder.prompt("c"))[-1] == "resume"


def test_a_result_the_client_wrote_on_resuming_does_not_end_the_pause() -> None:
    begun = Builder().prompt("One.").answer(call("t1"), call("t2"), stop="tool_use").wait(86_400)
    resumed = begun.result("t1", SESSION_ENDED, is_error=True).result("t2", SESSION_ENDED, is_error=True)
    assert rounds(resumed.prompt("Two."))[-1] == "resume"


def test_a_local_command_just_before_means_the_person_was_there() -> None:
    builder = Builder().prompt("a").answer("b").wait(3600).user("<command-name>/cost</command-name>")
    assert rounds(builder.prompt("c"))[-1] == "new_round"


def test_a_prompt_written_over_the_first_one_begins_the_session_too() -> None:
    builder = Builder().prompt("a").answer("b").rewind(None).prompt("a, better")
    assert rounds(builder) == ["new_session", "new_session"]


def test_after_a_rewind_the_pause_is_counted_from_where_it_went_back_to() -> None:
    builder = Builder().prompt("a").answer("b", uuid="here").wait(290).prompt("c").answer("d")
    assert rounds(builder.wait(10).rewind("here").prompt("e")) == ["new_session", "new_round", "resume"]


def test_a_compaction_begins_no_session() -> None:
    builder = Builder().prompt("a").answer("b").compact().prompt("c")
    assert rounds(builder) == ["new_session", "continue", "new_round"]


def test_the_pause_is_counted_over_a_compaction() -> None:
    assert rounds(Builder().prompt("a").answer("b").compact().wait(3600).prompt("c"))[-1] == "resume"


def test_a_file_that_begins_with_a_compaction_begins_no_session() -> None:
    assert rounds(Builder().compact().prompt("c")) == ["continue", "new_round"]
    summary_only = Builder().user("So far: tea.", isCompactSummary=True).prompt("c")
    assert rounds(summary_only) == ["continue", "new_round"]


def test_an_old_summary_without_a_boundary_follows_the_line_before_it() -> None:
    builder = Builder().prompt("a").answer("b").user("So far.", isCompactSummary=True, parentUuid=None)
    assert rounds(builder.wait(3600).prompt("c")) == ["new_session", "continue", "resume"]


def test_a_missing_parent_is_the_line_before() -> None:
    builder = Builder().prompt("a").answer("b").rewind("gone").prompt("c")
    assert rounds(builder) == ["new_session", "new_round"]


def test_lines_without_uuids_follow_one_another() -> None:
    assert rounds(Builder(loose=True).prompt("a").answer("b").prompt("c")) == ["new_session", "new_round"]


def test_a_sub_agent_has_a_first_prompt_of_its_own() -> None:
    builder = (
        Builder().prompt("a").user("sub", isSidechain=True, parentUuid=None).answer("x", isSidechain=True)
    )
    assert rounds(builder) == ["new_session", "new_session"]


def test_a_line_written_again_is_in_the_same_round() -> None:
    builder = Builder().prompt("a").answer("b").prompt("c").answer("d").again(3)
    assert rounds(builder) == ["new_session", "new_round", "new_round"]


def test_without_times_nobody_can_tell_a_return() -> None:
    builder = Builder().prompt("a").answer("b").wait(3600).prompt("c", timestamp=None)
    assert rounds(builder)[-1] == "new_round"


@pytest.mark.parametrize("cycle", [["u1"], ["u3", "u2"]])
def test_a_cycle_of_parents_is_survived(cycle: list[str]) -> None:
    builder = Builder()
    for parent in [*cycle, "u1", "u2"]:
        builder.rewind(parent).prompt("x")
    assert set(rounds(builder)) <= {"new_session", "new_round"}


def test_parents_that_come_after_their_children_are_found() -> None:
    data = Builder().prompt("a").answer("b").prompt("c").answer("d").data().splitlines(keepends=True)
    session = Session.read(b"".join(reversed(data)))
    told = Rounds(session)
    assert [told.of(row) for row in (1, 3)] == ["new_round", "new_session"]
