"""A session going on: what is written, what is sent, and that both say the same."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from clew.agent.api_errors import ApiRefusedError, TooLongError
from clew.agent.budget import Budget, BudgetSpentError
from clew.agent.happenings import Answered, CallEnded, Compacted, InAgent, Said
from clew.agent.standin import Failure, Reply, text, thinking, tool_use
from clew.agent.tool import Outcome
from clew.session.check import check
from clew.store.reader import open_session
from tests.agent.looping import Echo, lab

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.agent.standin import Request
    from clew.agent.tool import Work


def sent(request: Request) -> list[Mapping[str, Any]]:
    """The messages of a request, without marks for the cache."""
    found = cast("list[dict[str, Any]]", request.body["messages"])
    return [{**message, "content": [_bare(block) for block in message["content"]]} for message in found]


def _bare(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}


def problems(path: str) -> list[str]:
    return [problem.code for problem in check(Path(path).read_bytes()).problems]


def test_an_answer_is_written_block_by_block_with_what_it_used_at_its_end(tmp_path: Path) -> None:
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 50}
    with lab(tmp_path, [Reply((thinking("Hm."), text("Forty metres.")), usage=usage)]) as one:
        ending = one.ask("How high is the tower?")
        one.agree()
        lines = [
            open_session(one.transcript.path).entry(row)
            for row in range(len(open_session(one.transcript.path)))
        ]
        answers = [line for line in lines if line.type == "assistant"]
        assert [len(line.mapping("message")["content"]) for line in answers] == [1, 1]
        assert [line.mapping("message")["stop_reason"] for line in answers] == [None, "end_turn"]
        assert answers[-1].mapping("message")["usage"]["output_tokens"] == 20
        assert ending.text == "Forty metres."
        assert ending.stop_reason == "end_turn"
        assert ending.tokens == 170
        assert "".join(one.text for one in one.told if isinstance(one, Said)) == "Forty metres."
        assert problems(one.transcript.path) == []


def test_calls_of_one_answer_run_at_once_and_their_results_go_back_together(tmp_path: Path) -> None:
    meet = threading.Barrier(3, timeout=10)

    def act(given: Mapping[str, object], _work: Work) -> Outcome:
        meet.wait()
        return Outcome(f"{given['words']}!")

    calls = tuple(tool_use("Echo", {"words": word}, call_id=f"toolu_{word}") for word in ("a", "b", "c"))
    with lab(tmp_path, [Reply((text("Now."), *calls)), Reply((text("Done."),))], tools=[Echo(act)]) as one:
        ending = one.ask("Say a, b, c.")
        one.agree()
        assert (ending.requests, ending.calls) == (2, 3)
        results = sent(one.api.requests[1])[-1]["content"]
        assert [(block["tool_use_id"], block["content"]) for block in results] == [
            ("toolu_a", "a!"), ("toolu_b", "b!"), ("toolu_c", "c!"),
        ]  # fmt: skip
        assert problems(one.transcript.path) == []


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (tool_use("Nope", {}, call_id="toolu_1"), "No such tool"),
        (tool_use("Echo", {"words": "x"}, call_id="toolu_1"), "ValueError"),
    ],
)
def test_whatever_goes_wrong_in_a_call_is_its_result(
    tmp_path: Path, block: dict[str, Any], words: str
) -> None:
    def act(_given: Mapping[str, object], _work: Work) -> Outcome:
        raise ValueError

    with lab(tmp_path, [Reply((block,)), Reply((text("I see."),))], tools=[Echo(act)]) as one:
        one.ask("Try.")
        one.agree()
        result = sent(one.api.requests[1])[-1]["content"][0]
        assert result["is_error"] is True
        assert words in result["content"]
        assert problems(one.transcript.path) == []


def test_a_wish_to_stop_in_a_call_leaves_a_file_that_can_be_continued(tmp_path: Path) -> None:
    call = tool_use("Echo", {"words": "x"}, call_id="toolu_1")

    def act(_given: Mapping[str, object], work: Work) -> Outcome:
        work.cancel.ask()
        work.cancel.check()
        raise AssertionError

    with lab(tmp_path, [Reply((text("Wait."), call))], tools=[Echo(act)]) as one:
        ending = one.ask("Go.")
        assert ending.is_interrupted
        one.agree()
        path = one.transcript.path
    with lab(tmp_path, [Reply((text("Again."),))], resume=path, start=1000) as two:
        two.ask("Go on.")
        two.agree()
        assert problems(path) == []


def test_what_came_before_a_stop_in_mid_answer_is_kept(tmp_path: Path) -> None:
    with lab(tmp_path, [Reply((text("One. "), text("Two.")))]) as one:
        one.hooks.append(lambda happening: one.cancel.ask() if isinstance(happening, Said) else None)
        ending = one.ask("Count.")
        assert ending.is_interrupted
        one.agree()
        words = [block.get("text") for message in one.next_messages() for block in message["content"]]
        assert "One. " in "".join(filter(None, words))


@pytest.mark.parametrize("status", [400, 401, 529])
def test_a_refusal_of_the_api_is_told_and_the_session_goes_on(tmp_path: Path, status: int) -> None:
    failures = [Failure(status, "an_error", "No.")] * 2
    with lab(tmp_path, [*failures[: 2 if status == 529 else 1], Reply((text("Yes."),))]) as one:
        with pytest.raises(Exception, match="No"):
            one.ask("First.")
        one.agree()
        one.ask("Second.")
        one.agree()
        assert problems(one.transcript.path) == []


def test_the_budget_stops_before_the_next_request(tmp_path: Path) -> None:
    call = tool_use("Echo", {"words": "x"}, call_id="toolu_1")
    usage = {"input_tokens": 1_000_000, "output_tokens": 1000}
    with lab(tmp_path, [Reply((call,), usage=usage)], budget=Budget(max_cost=1.0)) as one:
        with pytest.raises(BudgetSpentError):
            one.ask("Go.")
        assert len([request for request in one.api.requests if request.is_messages]) == 1
        one.agree()
        assert one.budget.cost_usd == pytest.approx(3.015)
        assert [told.cost_usd for told in one.told if isinstance(told, Answered)] == [pytest.approx(3.015)]


def test_a_long_conversation_is_summed_up_before_the_next_request(tmp_path: Path) -> None:
    usage = {"input_tokens": 195_000, "output_tokens": 20}
    script = [
        Reply((text("Long."),), usage=usage),
        Reply((text("<summary>They spoke of towers.</summary>"),)),
        Reply((text("Short."),)),
    ]
    with lab(tmp_path, script) as one:
        one.ask("First.")
        one.ask("Second.")
        one.agree()
        told = [happening for happening in one.told if isinstance(happening, Compacted)]
        assert [(happening.trigger, happening.is_extract) for happening in told] == [("auto", False)]
        last = sent(one.api.requests[-1])
        assert "They spoke of towers." in last[0]["content"][0]["text"]
        assert problems(one.transcript.path) == []


def test_what_the_api_finds_too_long_is_summed_up_without_a_model_if_need_be(tmp_path: Path) -> None:
    too_long = Failure(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum")
    with lab(tmp_path, [Reply((text("Hello."),)), too_long, too_long, Reply((text("So."),))]) as one:
        one.ask("First.")
        one.ask("Second.")
        one.agree()
        assert [told.is_extract for told in one.told if isinstance(told, Compacted)] == [True]


def test_what_stays_too_long_is_told_and_not_summed_up_for_ever(tmp_path: Path) -> None:
    too_long = Failure(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum")
    with lab(tmp_path, [Reply((text("Hello."),)), *[too_long] * 3, Reply((text("No."),))]) as one:
        one.ask("First.")
        with pytest.raises(TooLongError):
            one.ask("Second.")
        one.agree()


def test_a_sub_agent_works_in_a_file_of_its_own_and_its_last_words_are_the_result(tmp_path: Path) -> None:
    start = tool_use("Agent", {"description": "Look", "prompt": "Look around."}, call_id="toolu_agent")
    inner = tool_use("Echo", {"words": "inside"}, call_id="toolu_inner")
    deeper = tool_use("Agent", {"description": "Deep", "prompt": "Dig."}, call_id="toolu_deep")
    script = [
        Reply((start,)),
        Reply((inner,)),
        Reply((deeper,)),
        Reply((text("Earth."),)),
        Reply((text("Nothing but earth."),)),
        Reply((text("So it is."),)),
    ]
    with lab(tmp_path, script) as one:
        ending = one.ask("Send somebody.")
        one.agree()
        assert ending.text == "So it is."
        result = sent(one.api.requests[-1])[-1]["content"][0]
        assert result["content"][0]["text"] == "Nothing but earth."
        files = sorted((tmp_path / "config").rglob("agent-*.jsonl"))
        assert len(files) == 2
        agents = {told.agent_id for told in one.told if isinstance(told, InAgent)}
        assert {path.stem.removeprefix("agent-") for path in files} == agents
        assert [told.name for told in one.told if isinstance(told, CallEnded)] == ["Agent"]
        assert problems(one.transcript.path) == []


def test_a_request_the_api_refuses_in_a_sub_agent_is_the_result_of_the_call(tmp_path: Path) -> None:
    start = tool_use("Agent", {"description": "Look", "prompt": "Look around."}, call_id="toolu_agent")
    with lab(tmp_path, [Reply((start,)), Failure(400, "x", "Never."), Reply((text("Well."),))]) as one:
        one.ask("Send somebody.")
        one.agree()
        result = sent(one.api.requests[-1])[-1]["content"][0]
        assert result["is_error"] is True
        assert "Never." in result["content"]


def test_errors_of_the_api_are_clew_errors() -> None:
    assert ApiRefusedError("x").exit_code == 1
