"""Sub-agents: what they have, what they share, and that nothing of theirs harms the session above."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any, cast

import pytest

from clew.agent import crew
from clew.agent.budget import Budget, BudgetSpentError
from clew.agent.crew import DEEPEST
from clew.agent.happenings import CallEnded, InAgent
from clew.agent.standin import Failure, Reply, text, tool_use
from clew.agent.tool import Outcome
from clew.session.check import check
from tests.agent.looping import Echo, lab
from tests.agent.test_loop import problems, sent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from clew.agent.standin import Block, Request
    from clew.agent.tool import Work
    from tests.agent.looping import Lab


def send(number: int = 1, **given: object) -> Block:
    task = {"description": "A task", "prompt": f"Task {number}.", **given}
    return tool_use("Agent", task, call_id=f"toolu_{number}")


def tools_of(request: Request) -> set[str]:
    return {tool["name"] for tool in cast("list[dict[str, Any]]", request.body["tools"])}


def results(one: Lab) -> list[dict[str, Any]]:
    """The results the session's own model was told last."""
    return [block for block in sent(one.api.requests[-1])[-1]["content"] if block["type"] == "tool_result"]


def agent_lines(root: Path) -> dict[str, list[dict[str, Any]]]:
    """What stands in the files of sub-agents, by the task each was given."""
    found = [
        [json.loads(raw) for raw in path.read_bytes().splitlines()]
        for path in sorted((root / "config").rglob("agent-*.jsonl"))
    ]
    return {str(lines[0]["message"]["content"]): lines for lines in found}


def test_a_sub_agent_sees_nothing_of_the_conversation_and_the_session_only_its_last_words(
    tmp_path: Path,
) -> None:
    inner = tool_use("Echo", {"words": "inside"}, call_id="toolu_inner")
    script = [
        Reply((send(),)),
        Reply((text("Looking."), inner)),
        Reply((text("Found."),)),
        Reply((text("So."),)),
    ]
    with lab(tmp_path, script) as one:
        one.ask("A secret question.")
        one.agree()
        asked = one.api.requests[1]
        assert "secret" not in json.dumps(asked.body["messages"])
        assert sent(asked) == [{"role": "user", "content": [{"type": "text", "text": "Task 1."}]}]
        assert results(one)[0]["content"] == [{"type": "text", "text": "Found."}]
        assert "inside" not in json.dumps(one.api.requests[-1].body["messages"])
        (lines,) = agent_lines(tmp_path).values()
        assert all(line["isSidechain"] and line["sessionId"] == one.transcript.session_id for line in lines)
        assert problems(one.transcript.path) == []


def test_sub_agents_end_somewhere(tmp_path: Path) -> None:
    """So deep below the session none can be sent."""
    script = [Reply((send(number),)) for number in range(DEEPEST)]
    with lab(tmp_path, [*script, Reply((text("Deep."),))]) as one:
        one.ask("Go.")
        offered = ["Agent" in tools_of(request) for request in one.api.requests]
        assert offered[: DEEPEST + 1] == [True] * DEEPEST + [False]
        assert len(agent_lines(tmp_path)) == DEEPEST


def test_one_that_only_looks_has_no_other_tools(tmp_path: Path) -> None:
    read = Echo()
    read.name = "Read"
    script = [Reply((send(subagent_type="Explore"),)), Reply((text("Seen."),)), Reply((text("So."),))]
    with lab(tmp_path, script, tools=[Echo(), read]) as one:
        one.ask("Go.")
        assert tools_of(one.api.requests[0]) == {"Echo", "Read", "Agent"}
        assert tools_of(one.api.requests[1]) == {"Read"}


@pytest.mark.parametrize(
    "given", [{"prompt": " "}, {"prompt": 7}, {"subagent_type": "Nobody"}, {"subagent_type": ["x"]}]
)
def test_a_task_that_is_none_is_an_error_result(tmp_path: Path, given: dict[str, Any]) -> None:
    with lab(tmp_path, [Reply((send(**given),)), Reply((text("Well."),))]) as one:
        one.ask("Go.")
        one.agree()
        assert results(one)[0]["is_error"] is True
        assert not agent_lines(tmp_path)


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "gpt-x", None, 7])
def test_another_model_is_asked_only_if_it_can_be_one(tmp_path: Path, model: object) -> None:
    with lab(tmp_path, [Reply((send(model=model),)), Reply((text("a"),)), Reply((text("b"),))]) as one:
        one.ask("Go.")
        first, second, third = (request.body["model"] for request in one.api.requests)
        assert first == third
        assert second == ("claude-haiku-4-5" if model == "claude-haiku-4-5" else first)


def test_one_that_says_nothing_is_told_as_such(tmp_path: Path) -> None:
    with lab(tmp_path, [Reply((send(),)), Reply(()), Reply((text("Well."),))]) as one:
        one.ask("Go.")
        one.agree()
        assert results(one)[0]["content"] == [{"type": "text", "text": "(the sub-agent said nothing)"}]


def test_several_work_at_once_each_in_a_file_of_its_own(tmp_path: Path) -> None:
    meet = threading.Barrier(3, timeout=20)

    def act(given: Mapping[str, object], _work: Work) -> Outcome:
        meet.wait()
        return Outcome(str(given["words"]))

    def answer(request: Request) -> Reply:
        messages = sent(request)
        first = messages[0]["content"][0]["text"]
        name = f"msg_{request.number}"
        if first == "Go.":
            calls = tuple(send(number) for number in range(3))
            return Reply(calls if len(messages) == 1 else (text("All back."),), message_id=name)
        if len(messages) == 1:
            call = tool_use("Echo", {"words": first}, call_id=f"toolu_{request.number}i")
            return Reply((call,), message_id=name)
        return Reply((text(f"Done: {first}"),), message_id=name)

    with lab(tmp_path, [answer] * 8, tools=[Echo(act)]) as one:
        ending = one.ask("Go.")
        one.agree()
        assert ending.text == "All back."
        found = [block["content"][0]["text"] for block in results(one)]
        assert found == [f"Done: Task {number}." for number in range(3)]
        agents: dict[str, set[str]] = {}
        for told in one.told:
            if isinstance(told, InAgent):
                agents.setdefault(told.call_id, set()).add(told.agent_id)
        assert {call: len(ids) for call, ids in agents.items()} == {f"toolu_{n}": 1 for n in range(3)}
    files = sorted((tmp_path / "config").rglob("agent-*.jsonl"))
    assert len(files) == 3
    assert all(not check(path.read_bytes()).problems for path in files)


def test_a_wish_to_stop_ends_the_sub_agent_and_the_turn_above_it(tmp_path: Path) -> None:
    inner = tool_use("Echo", {"words": "x"}, call_id="toolu_inner")

    def act(_given: Mapping[str, object], work: Work) -> Outcome:
        work.cancel.ask()
        work.cancel.check()
        raise AssertionError

    with lab(tmp_path, [Reply((send(),)), Reply((inner,))], tools=[Echo(act)]) as one:
        ending = one.ask("Go.")
        assert ending.is_interrupted
        one.agree()
        path = one.transcript.path
        assert problems(path) == []
    for file in (tmp_path / "config").rglob("agent-*.jsonl"):
        assert not check(file.read_bytes()).problems
    with lab(tmp_path, [Reply((text("On."),))], resume=path, start=1000) as two:
        two.ask("Go on.")
        two.agree()


def test_what_a_sub_agent_costs_is_spent_but_its_requests_do_not_count(tmp_path: Path) -> None:
    dear = {"input_tokens": 100_000, "output_tokens": 0}
    inner = [Reply((tool_use("Echo", {"words": "x"}, call_id=f"toolu_i{n}"),), usage=dear) for n in range(3)]
    script = [Reply((send(),)), *inner, Reply((text("Done."),)), Reply((text("So."),))]
    with lab(tmp_path, script, budget=Budget(max_turns=2)) as one:
        assert one.ask("Go.").text == "So."
        assert one.budget.cost_usd > 0.9


def test_a_budget_that_is_spent_in_a_sub_agent_ends_the_turn_with_all_written(tmp_path: Path) -> None:
    dear = {"input_tokens": 1_000_000, "output_tokens": 0}
    inner = tool_use("Echo", {"words": "x"}, call_id="toolu_i")
    with lab(tmp_path, [Reply((send(),)), Reply((inner,), usage=dear)], budget=Budget(max_cost=1.0)) as one:
        with pytest.raises(BudgetSpentError):
            one.ask("Go.")
        one.agree()
        assert len(one.api.requests) == 2
        (ended,) = [told for told in one.told if isinstance(told, CallEnded)]
        assert ended.outcome.is_error
        assert problems(one.transcript.path) == []


def test_one_that_never_ends_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "_STEPS", 3)

    def again(request: Request) -> Reply:
        call = tool_use("Echo", {"words": "x"}, call_id=f"toolu_i{request.number}")
        return Reply((text(f"Step {request.number}."), call), message_id=f"msg_{request.number}")

    with lab(tmp_path, [Reply((send(),)), again, again, again, Reply((text("So."),))]) as one:
        assert one.ask("Go.").text == "So."
        one.agree()
        assert results(one)[0]["content"] == [{"type": "text", "text": "Step 3."}]
    (file,) = (tmp_path / "config").rglob("agent-*.jsonl")
    assert not check(file.read_bytes()).problems


def test_where_a_sub_agent_goes_the_session_does_not_follow(tmp_path: Path) -> None:
    inner = tool_use("Echo", {"words": "x"}, call_id="toolu_i")

    def act(_given: Mapping[str, object], work: Work) -> Outcome:
        work.cwd = "/elsewhere"
        return Outcome("moved")

    script = [Reply((send(),)), Reply((inner,)), Reply((text("a"),)), Reply((text("b"),))]
    with lab(tmp_path, script, tools=[Echo(act)]) as one:
        before = one.transcript.cwd
        one.ask("Go.")
        assert one.transcript.cwd == before
        (lines,) = agent_lines(tmp_path).values()
        assert lines[-1]["cwd"] == "/elsewhere"


def test_an_api_that_is_lost_in_a_sub_agent_is_the_result_of_its_call(tmp_path: Path) -> None:
    busy = [Failure(529, "overloaded_error", "busy")] * 2
    with lab(tmp_path, [Reply((send(),)), *busy, Reply((text("Well."),))]) as one:
        assert one.ask("Go.").text == "Well."
        one.agree()
        assert results(one)[0]["is_error"] is True
        assert problems(one.transcript.path) == []
