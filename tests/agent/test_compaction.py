"""Summing up: when it is due, what is asked, and that it comes to an end whatever the API says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from clew.agent.api_checks import refusal
from clew.agent.api_errors import ApiBusyError, ApiError
from clew.agent.budget import Budget, BudgetSpentError
from clew.agent.cancel import Cancel, CancelledError
from clew.agent.compaction import is_due, summary_in, summary_request, tokens_of, told_as_summary, window_of
from clew.agent.happenings import Compacted, Compacting
from clew.agent.standin import Failure, Reply, Silence, text, thinking, tool_use
from clew.errors import UsageError
from tests.agent.looping import lab
from tests.agent.test_loop import problems, sent
from tests.agent.told import MODEL

if TYPE_CHECKING:
    from pathlib import Path

    from tests.agent.looping import Lab

TOO_LONG = Failure(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum")


def compact(one: Lab, *, cancel: Cancel | None = None, more: str | None = None) -> int:
    loop = one.crew.loop
    return one.crew.compactor.compact(
        model=loop.model,
        system=(),
        trigger="manual",
        tokens=loop.tokens,
        cancel=cancel or Cancel(),
        more=more,
    )


@pytest.mark.parametrize(
    ("tokens", "model", "window", "due"),
    [
        (0, "claude-x", None, False),
        (186_999, "claude-x", None, False),
        (187_000, "claude-x", None, True),
        (187_000, "claude-x[1m]", None, False),
        (987_000, "claude-x[1m]", None, True),
        (800, "claude-x", 1000, True),
        (799, "claude-x", 1000, False),
    ],
)
def test_a_conversation_is_summed_up_shortly_before_it_is_too_long(
    tokens: int, model: str, window: int | None, due: bool
) -> None:
    assert is_due(tokens, model, window=window) is due
    assert window_of(model) in {200_000, 1_000_000}


@pytest.mark.parametrize(
    ("content", "summary"),
    [
        ([text("<summary> All. </summary>")], "All."),
        ([text("Well: <summary>All</summary> bye")], "All"),
        ([text("<summary>cut sho")], "cut sho"),
        ([text("No marks.")], "No marks."),
        ([text("<summary>in "), {"type": "thinking", "thinking": "x"}, text("two</summary>")], "in two"),
        ([], ""),
        ([{"type": "text", "text": None}], ""),
    ],
)
def test_the_summary_is_what_stands_between_the_marks(content: list[dict[str, Any]], summary: str) -> None:
    assert summary_in(content) == summary


def test_what_is_asked_is_the_conversation_without_thoughts_and_with_the_wish_last() -> None:
    hidden = {"type": "redacted_thinking", "data": "eA=="}
    said = [
        {"role": "user", "content": [text("Go.")]},
        {"role": "assistant", "content": [thinking("Hm."), hidden, tool_use("Bash", {}, call_id="toolu_1")]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}]},
        {"role": "assistant", "content": [thinking("Only a thought.")]},
    ]
    before = json.dumps(said)
    request = summary_request(MODEL, said, more="keep the numbers")
    assert json.dumps(said) == before
    assert refusal(request, needs_tools=True) is None
    kinds = [[block["type"] for block in message["content"]] for message in request["messages"]]
    assert kinds == [["text"], ["tool_use"], ["tool_result", "text"]]
    assert "keep the numbers" in request["messages"][-1]["content"][-1]["text"]
    assert request["tool_choice"] == {"type": "none"}
    assert told_as_summary("All.").endswith("All.")


@pytest.mark.parametrize("usage", [{}, {"input_tokens": None}, {"input_tokens": "x"}])
def test_odd_usage_is_no_length(usage: dict[str, Any]) -> None:
    assert tokens_of(usage) == 0


def test_the_summary_takes_the_place_of_all_before_in_the_file_and_in_what_is_sent(tmp_path: Path) -> None:
    script = [
        Reply((text("Forty."),)),
        Reply((text("<summary>Towers.</summary>"),)),
        Reply((text("Two more."),)),
    ]
    with lab(tmp_path, script) as one:
        one.ask("How high?")
        left = compact(one, more="keep the numbers")
        one.agree()
        asked = sent(one.api.requests[1])
        assert "keep the numbers" in asked[-1]["content"][-1]["text"]
        assert not one.api.requests[1].body.get("tools")
        one.ask("And the lamp?")
        one.agree()
        assert "How high?" not in str(one.api.requests[2].body["messages"])
        assert 0 < left < 200
        happened = [type(told) for told in one.told if isinstance(told, Compacting | Compacted)]
        assert happened == [Compacting, Compacted]
        assert problems(one.transcript.path) == []


def test_a_conversation_that_ends_in_results_is_summed_up_with_them(tmp_path: Path) -> None:
    usage = {"input_tokens": 190_000, "output_tokens": 5}
    call = tool_use("Echo", {"words": "x"}, call_id="toolu_1")
    script = [
        Reply((call,), usage=usage),
        Reply((text("<summary>S.</summary>"),)),
        Reply((text("Done."),)),
    ]
    with lab(tmp_path, script) as one:
        one.ask("Go.")
        one.agree()
        asked = sent(one.api.requests[1])[-1]["content"]
        assert [block["type"] for block in asked] == ["tool_result", "text"]
        assert problems(one.transcript.path) == []


def test_there_is_nothing_to_sum_up_at_the_beginning(tmp_path: Path) -> None:
    with lab(tmp_path, []) as one, pytest.raises(UsageError, match="nothing to sum up"):
        compact(one)


@pytest.mark.parametrize("answer", [TOO_LONG, Reply((text("  "),)), Reply(())])
def test_without_a_summary_of_the_model_the_turns_are_told_as_they_were(
    tmp_path: Path, answer: Failure | Reply
) -> None:
    with lab(tmp_path, [Reply((text("Forty metres."),)), answer]) as one:
        one.ask("How high is the tower?")
        compact(one)
        one.agree()
        assert [told.is_extract for told in one.told if isinstance(told, Compacted)] == [True]
        assert "How high is the tower?" in str(one.next_messages())


def test_a_summary_that_fails_leaves_the_conversation_as_it_was(tmp_path: Path) -> None:
    busy = Failure(529, "overloaded_error", "busy")
    with lab(tmp_path, [Reply((text("Forty."),)), busy, busy, Reply((text("Two."),))]) as one:
        one.ask("How high?")
        before = one.next_messages()
        with pytest.raises(ApiBusyError):
            compact(one)
        assert one.next_messages() == before
        one.agree()
        one.ask("And the lamp?")
        one.agree()


def test_a_wish_to_stop_ends_it_at_once(tmp_path: Path) -> None:
    with lab(tmp_path, [Reply((text("Forty."),)), Silence()]) as one:
        one.ask("How high?")
        cancel = Cancel()
        one.hooks.append(lambda told: cancel.ask() if isinstance(told, Compacting) else None)
        with pytest.raises(CancelledError):
            compact(one, cancel=cancel)
        one.agree()


def test_it_costs_and_is_not_done_when_all_is_spent(tmp_path: Path) -> None:
    usage = {"input_tokens": 100_000, "output_tokens": 0}
    budget = Budget(max_cost=0.5)
    script = [Reply((text("Forty."),), usage=usage), Reply((text("<summary>S.</summary>"),), usage=usage)]
    with lab(tmp_path, script, budget=budget) as one:
        one.ask("How high?")
        compact(one)
        assert budget.cost_usd == pytest.approx(0.6)
        with pytest.raises(BudgetSpentError):
            compact(one)
        one.agree()


def test_an_api_that_finds_everything_too_long_is_not_asked_for_ever(tmp_path: Path) -> None:
    """Not the conversation is too long then, but what goes with it."""
    with lab(tmp_path, [Reply((text("Hello."),)), *[TOO_LONG] * 20]) as one:
        one.ask("First.")
        with pytest.raises(ApiError, match="too long"):
            one.ask("Second.")
        assert len(one.api.requests) == 4
        one.agree()
