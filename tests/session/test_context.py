"""What the client sends on resume, rule by rule. Each example was measured with the real client."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clew.session.context import asked_model, estimate_tokens
from clew.session.drafts import GO_ON, NO_CONTENT, ORPHANS_REMOVED, RESULT_MISSING, SESSION_ENDED, is_foreign
from clew.session.eras import MEASURED, MODEL, rules, version_key
from tests.session.story import Story, basic, say, talk

MISSING = f"TR:%s!:{RESULT_MISSING[:44]}"
ENDED = f"TR:%s!:{SESSION_ENDED[:44]}"


# Parallel calls ---------------------------------------------------------------------------------


def tree() -> Story:
    story = Story().q("q1", None).a("c1", "q1", "t1", mid="m").a("c2", "c1", "t2", mid="m")
    return story.r("r1", "t1", parent="c1").r("r2", "t2", parent="c2").a("z")


def test_calls_beside_the_path_are_put_back_with_their_results() -> None:
    assert tree().sent() == "U[Q1] A[t1 | t2] U[TR:t1:of t1 | TR:t2:of t2] A[Z]"
    assert tree().sent("2.1.45") == "U[Q1] A[t2] U[TR:t2:of t2] A[Z]"


def test_a_result_beside_the_path_is_found_for_a_call_on_it() -> None:
    story = Story().q("q1", None).a("c1", "q1", "t1").r("r1", "t1").q("q2", "c1").a("z")
    assert story.sent() == "U[Q1] A[t1] U[TR:t1:of t1 | Q2] A[Z]"


def test_results_stand_in_the_order_of_the_file() -> None:
    story = Story().q("q1", None).a("c1", "q1", "t1", mid="m").r("r1", "t1").a("c2", "c1", "t2", mid="m")
    story.r("r2", "t2").a("z")
    assert story.sent() == "U[Q1] A[t1 | t2] U[TR:t1:of t1 | TR:t2:of t2] A[Z]"
    story = Story().q("q1", None).a("c1", "q1", "t1", mid="m").a("c2", "c1", "t2", mid="m")
    story.r("r1", "t1", parent="c1").a("z", "r1").r("r2", "t2", parent="c2").hint("z")
    assert story.sent() == "U[Q1] A[t1 | t2] U[TR:t1:of t1 | TR:t2:of t2] A[Z]"


def test_a_result_written_twice_keeps_its_first_place() -> None:
    story = Story().q("q1", None).a("c1", "q1", "t1", mid="m").a("c2", "c1", "t2", mid="m")
    story.r("r1", "t1", parent="c1").r("r2", "t2", parent="c2").again(4).a("z", "r2")
    assert story.sent() == "U[Q1] A[t1 | t2] U[TR:t1:of t1 | TR:t2:of t2] A[Z]"


def test_lines_a_compaction_took_out_are_not_put_back() -> None:
    for above, sent in (("c0", "U[S] A[new]"), (None, "U[S] A[new | old]")):
        story = Story().q("q1", None).a("c0", "q1", "old", mid="m").boundary("b", above)
        assert story.q("s").a("c1", "s", "new", mid="m").sent() == sent


# Messages ---------------------------------------------------------------------------------------


def test_lines_of_one_message_are_merged_over_others_and_over_results() -> None:
    story = (
        Story()
        .q("q1", None)
        .a("c1", "q1", "X1", mid="m")
        .a("o", "c1", "O", mid="n")
        .a("c2", "o", "X2", mid="m")
    )
    assert story.sent() == "U[Q1] A[X1 | X2] A[O]"
    story = (
        Story()
        .q("q1", None)
        .a("c1", "q1", "t1", mid="m")
        .r("r1", "t1")
        .a("c2", "r1", "t2", mid="m")
        .r("r2", "t2")
    )
    assert story.a("z").sent() == "U[Q1] A[t1 | t2] U[TR:t1:of t1 | TR:t2:of t2] A[Z]"
    assert story.sent("2.0.42") == "U[Q1] A[t1] U[TR:t1:of t1] A[t2] U[TR:t2:of t2] A[Z]"


def test_merging_stops_at_a_prompt() -> None:
    story = Story().q("q1", None).a("c1", "q1", "X1", mid="m").q("q2").a("c2", "q2", "X2", mid="m")
    assert story.sent() == "U[Q1] A[X1] U[Q2] A[X2]"


def test_answers_without_an_id_stay_apart() -> None:
    story = Story().q("q1", None)
    for uuid in ("a1", "a2"):
        story.line(
            "assistant", uuid, message={"role": "assistant", "content": [{"type": "text", "text": uuid}]}
        )
    assert story.sent() == "U[Q1] A[a1] A[a2]"


def test_calls_stand_behind_everything_else_an_answer_says() -> None:
    story = Story().q("q1", None).a("c", "q1", "x", "t1", "y", "~hm", "t2").r("r", "t1", "t2").a("z")
    assert story.sent() == "U[Q1] A[x | y | TH:hm | t1 | t2] U[TR:t1:of t1 | TR:t2:of t2] A[Z]"


def test_joined_prompts_are_set_apart_by_a_newline() -> None:
    found = Story().q("q1", None).q("q2").q("q3").a("a1").context()
    assert [block["text"] for block in found.messages[0]["content"]] == ["Q1\n", "Q2\n", "Q3"]


def test_results_come_first_when_lines_are_joined_and_stay_put_within_one() -> None:
    story = Story().q("q1", None).a("c", "q1", "t1").q("m", isMeta=True).r("r", "t1", parent="m").a("z")
    assert story.sent() == "U[Q1] A[t1] U[TR:t1:of t1 | M] A[Z]"
    both = [{"type": "text", "text": "T"}, {"type": "tool_result", "tool_use_id": "t1", "content": "of t1"}]
    story = Story().q("q1", None).a("c", "q1", "t1").q("r", content=both).a("z")
    assert story.sent() == "U[Q1] A[t1] U[T | TR:t1:of t1] A[Z]"


def test_meta_lines_and_local_commands_are_sent_and_other_system_lines_are_not() -> None:
    story = Story().q("q1", None).q("m", isMeta=True).a("a1").system("i", "informational", content="I")
    assert talk(story, "l").q("q2").a("a2").sent() == "U[Q1 | M] A[A1] U[LC l | Q2] A[A2]"
    assert story.sent("2.1.45") == "U[Q1 | M] A[A1] U[Q2] A[A2]"


def test_an_api_error_is_not_sent_but_counts_as_an_answer() -> None:
    story = Story().q("q1", None).a("e", isApiErrorMessage=True)
    assert story.sent() == "U[Q1]"
    assert story.q("q2").a("a2").sent() == "U[Q1 | Q2] A[A2]"


def test_a_string_is_a_text_and_content_that_is_nothing_says_so() -> None:
    story = Story().q("q1", None)
    story.line("assistant", "a1", message={"id": "m", "role": "assistant", "content": "plain"})
    assert story.sent() == "U[Q1] A[plain]"
    empty = Story().q("q1", None).a("a1")
    empty.line("assistant", "a2", message={"id": "m", "role": "assistant", "content": []})
    assert empty.sent() == f"U[Q1] A[A1] A[{NO_CONTENT}]"


def test_answers_of_nothing_but_thinking_or_white_space_are_not_sent() -> None:
    story = Story().q("q1", None).a("h", "q1", "~hm").q("q2").a("w", "q2", "\n\n").q("q3").a("a3")
    assert story.sent() == "U[Q1 | Q2 | Q3] A[A3]"
    assert story.sent("2.0.76").startswith("U[Q1] A[TH:hm] U[Q2] A[")


def test_a_thinking_line_stays_with_the_rest_of_its_message_and_a_blank_one_does_not() -> None:
    story = (
        Story()
        .q("q1", None)
        .a("h", "q1", "~hm", mid="m")
        .a("w", "h", "\n", mid="m")
        .a("a", "w", "A", mid="m")
    )
    assert story.sent() == "U[Q1] A[TH:hm | A]"


def test_thinking_of_another_model_is_not_sent_from_2_1_220_on() -> None:
    story = Story().q("q1", None).a("h", "q1", "~hm", mid="m", model="claude-opus-4-1-20250805")
    story.a("a", "h", "A", mid="m")
    assert story.sent() == "U[Q1] A[A]"
    assert story.sent("2.1.150") == "U[Q1] A[TH:hm | A]"
    assert story.sent(model="claude-opus-4-1") == "U[Q1] A[TH:hm | A]"


def test_a_model_is_the_same_under_its_alias_and_synthetic_ones_are_nobodys() -> None:
    assert not is_foreign("claude-sonnet-4-5", MODEL)
    assert not is_foreign("<synthetic>", MODEL)
    assert is_foreign(None, MODEL)
    assert is_foreign("claude-sonnet-4-20250514", MODEL)


def test_the_model_asked_is_what_the_session_last_asked_for() -> None:
    story = basic().a("a3", requestedModel="claude-opus-5")
    assert asked_model(story.session(), range(5)) == "claude-opus-5"
    story.line("attachment", "m", attachment={"type": "model", "identity": {"modelId": "claude-haiku-5"}})
    assert asked_model(story.session(), range(6)) == "claude-haiku-5"
    assert asked_model(basic().session(), range(4)) == MODEL


def test_empty_texts_beside_others_are_left_out() -> None:
    assert Story().q("q1", None).a("a", "q1", "", "x", " ").context().messages[1]["content"] == [
        {"type": "text", "text": "x"},
        {"type": "text", "text": " "},
    ]


def test_an_empty_block_of_a_prompt_says_that_it_is_empty() -> None:
    empty = [{"type": "text", "text": ""}]
    assert Story().q("q1", None, content=empty).a("a1").sent() == f"U[{NO_CONTENT}] A[A1]"
    assert Story().q("q1", None, content="").a("a1").sent() == "U[] A[A1]"
    assert Story().q("q1", None, content=[]).a("a1").sent() == "A[A1]"


def test_images_are_taken_out_of_failed_results() -> None:
    inner: list[dict[str, Any]] = [{"type": "text", "text": "x"}, {"type": "image", "source": {}}]
    failed: dict[str, Any] = {"type": "tool_result", "tool_use_id": "t1", "content": inner, "is_error": True}
    for block, kept in ((failed, 1), ({**failed, "is_error": False}, 2)):
        found = Story().q("q1", None).a("c", "q1", "t1").q("r", content=[block]).a("z").context()
        assert len(found.messages[2]["content"][0]["content"]) == kept


def test_old_tool_names_are_sent_as_new_ones() -> None:
    task: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "Task", "input": {}}
    story = Story().q("q1", None).a("c", "q1", task).r("r", "t1").a("z")
    assert "TU:Agent:t1" in story.sent()
    assert "TU:Task:t1" in story.sent("2.1.45")


# Pairs ------------------------------------------------------------------------------------------


def test_a_line_whose_calls_all_lack_results_is_dropped_whole() -> None:
    story = Story().q("q1", None).a("x", "q1", "x", mid="m").a("c", "x", "y", "t1", mid="m").q("q2").a("z")
    assert story.sent() == "U[Q1] A[x] U[Q2] A[Z]"


def test_a_missing_result_beside_a_real_one_is_made_and_stands_first() -> None:
    story = Story().q("q1", None).a("c", "q1", "t1", "t2").r("r", "t1").a("z")
    assert story.sent() == f"U[Q1] A[t1 | t2] U[{MISSING % 't2'} | TR:t1:of t1] A[Z]"


def test_a_result_that_comes_too_late_does_not_count() -> None:
    story = Story().q("q1", None).a("c", "q1", "t1").a("o").r("r", "t1").a("z")
    assert story.sent() == f"U[Q1] A[t1] U[{MISSING % 't1'}] A[O] U[{NO_CONTENT}] A[Z]"


def test_a_second_result_for_a_call_is_removed() -> None:
    story = Story().q("q1", None).a("c", "q1", "t1").r("r", "t1").r("s", "t1").a("z")
    assert story.sent() == "U[Q1] A[t1] U[TR:t1:of t1] A[Z]"


def test_a_result_without_a_call_leaves_a_note_when_nothing_else_is_left() -> None:
    story = Story().q("q1", None).a("a1").r("r", "t9").a("z")
    assert story.sent() == f"U[Q1] A[A1] U[{NO_CONTENT}] A[Z]"
    assert story.sent("2.1.45") == "U[Q1] A[A1] A[Z]"
    assert story.sent("2.0.76") == "U[Q1] A[A1] U[TR:t9:of t9] A[Z]"
    assert Story().r("r", "t9", parent=None).a("z").sent() == f"U[{ORPHANS_REMOVED}] A[Z]"


def test_a_call_under_a_used_id_is_interrupted() -> None:
    story = Story().q("q1", None).a("c", "q1", "t1").r("r", "t1").a("d", "r", "t1").r("s", "t1").a("z")
    assert story.sent() == f"U[Q1] A[t1] U[TR:t1:of t1] A[[Tool use interrupted]] U[{NO_CONTENT}] A[Z]"


# The end ----------------------------------------------------------------------------------------


def test_a_session_that_ended_in_a_call_gets_a_result_that_says_so() -> None:
    story = Story().q("q1", None).a("c", "q1", "t1", "t2").r("r", "t1")
    ended = f"U[TR:t1:of t1 | {ENDED % 't2'}] A[No response requested.]"
    assert story.sent() == f"U[Q1] A[t1 | t2] {ended}"
    assert talk(story, "l").sent() == f"U[Q1] A[t1 | t2] {ended} U[LC l]"
    assert story.sent("2.1.220").startswith(f"U[Q1] A[t1 | t2] U[{MISSING % 't2'} | TR:t1:of t1")


@pytest.mark.parametrize("fields", [{"isMeta": True}, {}])
def test_a_prompt_after_the_call_means_it_was_given_up(fields: dict[str, Any]) -> None:
    story = Story().q("q1", None).a("c", "q1", "t1").q("m", **fields)
    assert story.sent() == "U[Q1 | M] A[No response requested.]"


def test_an_api_error_after_the_call_means_it_was_given_up() -> None:
    assert Story().q("q1", None).a("c", "q1", "t1").a("e", isApiErrorMessage=True).sent() == "U[Q1]"


def test_in_an_interrupted_turn_earlier_calls_without_results_are_kept() -> None:
    story = Story().q("q1", None).a("c", "q1", "t1").a("d", "c", "t2").r("r", "t2")
    assert story.sent() == (f"U[Q1] A[t1] U[{MISSING % 't1'}] A[t2] U[TR:t2:of t2] A[No response requested.]")
    story.a("e", "r", "t3")
    assert story.sent().endswith(f"A[t3] U[{ENDED % 't3'}] A[No response requested.]")


def test_in_a_turn_that_brought_no_result_only_the_last_calls_are_kept() -> None:
    story = Story().q("q1", None).a("c", "q1", "t1").a("d", "c", "t2")
    assert story.sent() == f"U[Q1] A[t2] U[{ENDED % 't2'}] A[No response requested.]"


def test_bare_lines_at_the_end_do_not_hide_an_interruption() -> None:
    story = Story().q("q1", None).a("c", "q1", "t1", mid="m").a("w", "c", " ", mid="n")
    assert story.sent() == f"U[Q1] A[t1] U[{ENDED % 't1'}] A[No response requested.]"


def test_a_local_command_needs_no_answer() -> None:
    assert talk(Story().q("q1", None), "l").sent() == "U[Q1] A[No response requested.] U[LC l]"


@pytest.mark.parametrize("client", ["2.1.88", "2.1.150", "2.1.220"])
def test_up_to_2_1_220_a_turn_that_had_begun_is_told_to_go_on(client: str) -> None:
    asked = Story().q("q1", None)
    assert asked.sent(client) == "U[Q1] A[No response requested.]"
    begun = asked.line("attachment", "x", attachment={"type": "skill_listing"})
    goes_on = f"U[Q1 | {GO_ON}] A[No response requested.]"
    assert begun.sent(client) == goes_on
    assert begun.a("e", isApiErrorMessage=True).sent(client) == goes_on
    assert Story().q("q1", None).a("e", isApiErrorMessage=True).sent(client) == "U[Q1]"


def test_in_2_1_45_too_unless_an_api_error_answered_it() -> None:
    begun = Story().q("q1", None).line("attachment", "x", attachment={"type": "skill_listing"})
    assert begun.sent("2.1.45") == f"U[Q1 | {GO_ON}] A[No response requested.]"
    assert begun.a("e", isApiErrorMessage=True).sent("2.1.45") == "U[Q1]"
    called = Story().q("q1", None).a("c", "q1", "t1").r("r", "t1")
    assert called.sent("2.1.45") == f"U[Q1] A[t1] U[TR:t1:of t1 | {GO_ON}] A[No response requested.]"
    assert called.a("e", isApiErrorMessage=True).sent("2.1.45") == "U[Q1] A[t1] U[TR:t1:of t1]"


def test_from_2_1_325_on_it_is_not() -> None:
    begun = Story().q("q1", None).line("attachment", "x", attachment={"type": "skill_listing"})
    assert begun.sent() == "U[Q1] A[No response requested.]"


def test_2_1_45_sends_a_word_for_an_image_of_a_prompt_but_not_of_a_result() -> None:
    image: dict[str, object] = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    story = Story().q("q1", None, [image, say("Q1")]).a("c", "q1", "t1")
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [image]}
    story.line("user", "r", message={"role": "user", "content": [result]}).a("z")
    for client in ("2.0.76", "2.1.88"):
        assert story.context(client).messages[0]["content"][0] == image
    sent = story.context("2.1.45").messages
    assert sent[0]["content"] == [say("[image]"), say("Q1")]
    assert sent[2]["content"][0]["content"] == [image]


@pytest.mark.parametrize(
    ("client", "unsent"),
    [
        ("2.0.42", set[str]()),
        ("2.0.76", {"plan"}),
        ("2.1.45", {"plan"}),
        ("2.1.88", {"plan", "planFilePath"}),
        ("2.1.150", {"plan", "planFilePath"}),
        ("2.1.220", set[str]()),
        ("2.1.325", set[str]()),
    ],
)
def test_a_plan_that_was_shown_to_the_user_was_once_not_sent(client: str, unsent: set[str]) -> None:
    given: dict[str, object] = {"plan": "# A plan", "planFilePath": "/p", "allowedPrompts": [], "other": 1}
    call: dict[str, object] = {"type": "tool_use", "id": "t1", "name": "ExitPlanMode", "input": given}
    sent = Story().q("q1", None).a("c", "q1", call).r("r", "t1").a("z").context(client).messages
    assert set(sent[1]["content"][0]["input"]) == set(given) - unsent


# What is told beside it ---------------------------------------------------------------------------


def test_every_line_of_the_conversation_is_sent_or_left_out_with_a_reason() -> None:
    story = basic().q("x", "a1").q("s", None, isSidechain=True)
    talk(story, "l", "a2").raw('{"type":"user","uuid":"g"}{"type":"user","uuid":"h"}').boundary("b", "l")
    story.q("sum").a("a3").hint("a3")
    found = story.context()
    session = story.session()
    kinds = {"user", "assistant", "system/local_command"}
    talked = [row for row in range(len(session)) if session.table.kind_of(row) in kinds]
    sent = {row for rows in found.rows for row in rows}
    out = {left.row: left.reason for left in found.left_out}
    assert sent | set(out) == set(talked)
    assert not sent & set(out)
    assert found.reachable_lines == len(sent)
    assert found.conversation_lines == len(talked)
    by_uuid = {left.uuid: left.reason for left in found.left_out}
    assert by_uuid["x"] == "on another branch"
    assert by_uuid["s"] == "belongs to a sub-agent"
    assert by_uuid["q1"] == "before the compaction"
    assert by_uuid["g"] == by_uuid["h"] == "on a damaged line the client does not read"
    assert [left.line for left in found.left_out if left.uuid == "x"] == [5]


def test_what_a_compaction_follows_is_left_out_as_before_it() -> None:
    story = basic().q("x", "a1").system("b", "compact_boundary", None, logicalParentUuid="a2").q("s").a("a3")
    reasons = {left.uuid: left.reason for left in story.context().left_out}
    assert reasons == {
        "q1": "before the compaction",
        "a1": "before the compaction",
        "q2": "before the compaction",
        "a2": "before the compaction",
        "x": "on another branch",
    }


def test_dropped_lines_say_why() -> None:
    story = (
        Story()
        .q("q1", None)
        .a("e", isApiErrorMessage=True)
        .a("h", "e", "~hm")
        .a("c", "h", "t1")
        .q("q2")
        .a("z")
    )
    story.line("attachment", "at", attachment={"type": "date"})
    reasons = {left.uuid: left.reason for left in story.context().left_out}
    assert reasons["e"] == "an API error, not an answer"
    assert reasons["h"] == "nothing but thinking or white space"
    assert reasons["c"] == "a call that never got a result"
    assert reasons["at"] == "a reminder of the client's own, made anew"


def test_the_leaf_and_the_client_are_named() -> None:
    found = basic().context("2.1.200")
    assert (found.leaf, found.client, found.model) == ("a2", "2.1.150", MODEL)
    assert basic().context().client == "2.1.325"


def test_an_empty_file_is_a_conversation_only_for_2_0_42() -> None:
    assert Story().sent("2.0.42") == ""
    assert Story().sent("2.0.76").startswith("refused")
    assert Story().raw('{"type":"summary","summary":"S","leafUuid":"x"}').sent("2.0.42").startswith("refused")


def test_tokens_are_estimated_from_what_is_sent() -> None:
    """A rough count is enough; how near it comes is judged by another count in the acceptance tests."""
    words = "The quick brown fox jumps over the lazy dog. "
    assert 10 <= estimate_tokens(words) <= 12
    assert estimate_tokens(words * 100) == pytest.approx(100 * estimate_tokens(words), rel=0.1)
    said = estimate_tokens({"type": "text", "text": words})
    assert estimate_tokens([{"type": "text", "text": words}, {"type": "image"}]) == said + 1500
    result = {"type": "tool_result", "content": [{"type": "text", "text": words}]}
    assert estimate_tokens(result) == said + 8
    assert estimate_tokens({"type": "tool_use", "input": {"command": words * 4}}) > 4 * said
    assert estimate_tokens({"type": "thinking", "thinking": words}) == said
    assert basic().context().tokens_estimate == 24


# Eras -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "measured"),
    [
        (None, "2.1.325"),
        ("2.1.325", "2.1.325"),
        ("9.9.9", "2.1.325"),
        ("2.1.324", "2.1.220"),
        ("2.1.89", "2.1.88"),
        ("2.0.99", "2.0.76"),
        ("0.9", "1.0.35"),
        ("2.1.150-beta.1", "2.1.150"),
    ],
)
def test_a_version_follows_the_nearest_measured_one_at_or_below(asked: str | None, measured: str) -> None:
    assert rules(asked).version == measured


def test_the_measured_versions_are_in_order() -> None:
    keys = [version_key(era.version) for era in MEASURED]
    assert keys == sorted(keys)
    assert len(keys) == 8


# Odd values -------------------------------------------------------------------------------------


@pytest.mark.parametrize("odd", [[], {}, 5, None, True, [["x"]], {"a": {"b": []}}])
@pytest.mark.parametrize("client", ["1.0.35", "2.1.88", "2.1.325"])
def test_no_value_of_a_block_raises(odd: object, client: str) -> None:
    """Ids, kinds, names and contents of any type are passed over."""
    blocks: list[dict[str, Any]] = [
        {"type": odd, "text": "x"},
        {"type": "text", "text": odd},
        {"type": "tool_use", "id": odd, "name": odd, "input": odd},
        {"type": "tool_result", "tool_use_id": odd, "content": odd, "is_error": odd},
        {"type": "thinking", "thinking": odd, "signature": odd},
    ]
    story = (
        Story()
        .q("q1", None, content=blocks)
        .a("a1", "q1", *blocks)
        .q("q2", content=odd)
        .a("a2", "q2", *blocks)
    )
    story.line("user", "m", message=odd).line("assistant", "n", message=odd).boundary(
        "b", preservedMessages=odd
    )
    assert story.context(client).client == client


def test_deep_nesting_is_passed_over() -> None:
    text = json.dumps({"type": "assistant", "uuid": "a", "timestamp": "2026-03-01T10:00:01Z"})[:-1]
    inner = "[" * 1000 + "]" * 1000
    call = f'{{"type":"tool_use","id":"t1","name":"x","input":{{"a":{inner}}}}}'
    story = Story().raw(f'{text},"message":{{"id":"m","role":"assistant","content":[{call},{inner}]}}}}')
    assert story.context().tokens_estimate >= 0
