"""A session's turns as traces: what hangs where, and what is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from clew.session import subagents
from clew.session.turns import turns
from clew.trace.spans import turn_spans
from tests.builder import START_MS, Builder, call, text
from tests.trace.recorded import cases
from tests.trace.stories import NS, agent_file, only, started, tree, with_agents

if TYPE_CHECKING:
    from clew.session.session import Session

VERSIONS = sorted({case.name.split("/")[0] for case in cases()})


@pytest.mark.parametrize("version", VERSIONS)
def test_in_every_version_each_span_has_its_parent_before_it_and_an_id_of_its_own(version: str) -> None:
    seen: set[str] = set()
    for case in (case for case in cases() if case.name.startswith(f"{version}/")):
        for turn in case.traces().turns():
            spans = list(turn.spans())
            known: set[str] = set()
            assert spans[0].parent_id is None
            assert spans[0].span_id == turn.root_id
            for span in spans:
                assert span.trace_id == turn.trace_id
                assert span.span_id not in known
                assert span is spans[0] or span.parent_id in known
                assert START_MS * NS < span.start_ns <= span.end_ns
                known.add(span.span_id)
                seen.add(span.type)
    assert seen == {"agent", "generation", "tool"}


@pytest.mark.parametrize("version", VERSIONS)
def test_in_every_version_each_call_and_answer_of_the_main_line_has_one_span(version: str) -> None:
    for case in (case for case in cases() if case.name.startswith(f"{version}/")):
        made = {turn.n: list(turn.spans()) for turn in case.traces().turns()}
        for turn in turns(case.session):
            here = [span.attributes.get("tool.id") for span in made[turn.n] if span.type == "tool"]
            assert {one.id for one in turn.calls} <= set(here), case.name
            said = [span.attributes.get("gen_ai.response.id") for span in made[turn.n]]
            wanted = [one.id for one in turn.messages if not one.is_synthetic and not one.is_api_error]
            assert all(said.count(one) == 1 for one in wanted), case.name


def test_parallel_calls_hang_under_the_answer_that_made_them() -> None:
    builder = Builder().prompt("Go.").answer(text("Both."), call("t1"), call("t2", "Bash"), stop="tool_use")
    turn = only(builder.result("t2").result("t1").answer("Done."))
    model = "claude-sonnet-4-5-20250929"
    assert tree(list(turn.spans())) == [
        "agent Turn 1",
        f"  generation {model}",
        "    tool Read",
        "    tool Bash",
        f"  generation {model}",
    ]


def test_a_call_whose_line_comes_after_the_next_prompt_stays_with_its_answer() -> None:
    builder = Builder().prompt("Go.").answer(text("One."), message_id="m1", stop=None)
    builder.prompt("And?").answer(call("t1"), message_id="m1", stop="tool_use").result("t1").answer("Done.")
    first, second = turn_spans(builder.session("s1"))
    assert [span.type for span in first.spans()] == ["agent", "generation", "tool"]
    assert [span.type for span in second.spans()] == ["agent", "generation"]


def test_sub_agents_hang_under_the_call_that_started_them_to_any_depth() -> None:
    builder = Builder().prompt("Go.").answer(call("t1", "Task"), stop="tool_use")
    builder.result("t1", toolUseResult={"agentId": "a1", "agentType": "counter"}).answer("Done.")
    turn = with_agents(builder, a1=agent_file("a1", calls="t9"), a2=agent_file("a2"))
    # The second has no call that names it; the first one's call does once its result does.
    inner = Builder().prompt("Work, a1.", isSidechain=True, agentId="a1")
    inner.answer(call("t9", "Task"), stop="tool_use", message_id="a1-m1", isSidechain=True, agentId="a1")
    inner.result("t9", isSidechain=True, agentId="a1", toolUseResult={"agentId": "a2"})
    inner.answer("Counted.", message_id="a1-m2", isSidechain=True, agentId="a1")
    turn = with_agents(builder, a2=agent_file("a2"), a1=inner.session())
    model = "claude-sonnet-4-5-20250929"
    assert tree(list(turn.spans())) == [
        "agent Turn 1",
        f"  generation {model}",
        "    tool Task",
        f"  generation {model}",
        "      agent counter",
        f"        generation {model}",
        "          tool Task",
        f"        generation {model}",
        "            agent agent",
        f"              generation {model}",
        "                tool Read",
        f"              generation {model}",
    ]


def test_a_sub_agent_that_is_woken_again_works_for_the_turn_that_woke_it() -> None:
    builder = Builder().prompt("Go.").answer(call("t1", "Task"), stop="tool_use", message_id="m1")
    builder.result("t1", toolUseResult={"agentId": "a1"}).answer("Done.", message_id="m2").wait(60)
    builder.prompt("More.").answer(call("t2", "Task"), stop="tool_use", message_id="m3")
    builder.result("t2", toolUseResult={"agentId": "a1"}).answer("Done.", message_id="m4")
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}
    own = Builder().wait(1.5).prompt("Work.", **side).answer("One.", message_id="a1", **side).wait(62)
    own.prompt("Again.", **side).answer("Two.", message_id="a2", **side)
    session = builder.session("s1")
    agents = subagents.agents(session, [subagents.Source("a1", own.session())])
    first, second = turn_spans(session, agents)
    assert [one.message_id for one in first.generations()] == ["m1", "m2", "a1"]
    assert [one.message_id for one in second.generations()] == ["m3", "m4", "a2"]


def test_sub_agents_that_are_said_to_have_started_each_other_end() -> None:
    side: dict[str, Any] = {"isSidechain": True}
    files: dict[str, Session] = {}
    for name, other in (("a1", "a2"), ("a2", "a1")):
        own = Builder().prompt("Work.", agentId=name, **side)
        own.answer(call(f"by-{name}", "Task"), stop="tool_use", message_id=f"{name}-m", agentId=name, **side)
        own.result(f"by-{name}", toolUseResult={"agentId": other}, agentId=name, **side)
        files[name] = own.session()
    builder = Builder().prompt("Go.").answer(call("t1", "Task"), stop="tool_use")
    builder.result("t1", toolUseResult={"agentId": "a1"}).answer("Done.")
    spans = list(with_agents(builder, **files).spans())
    assert len({span.span_id for span in spans}) == len(spans)
    assert {"a1-m", "a2-m"} <= {span.attributes.get("gen_ai.response.id") for span in spans}


def test_compactions_and_errors_of_the_api_are_events_of_the_turn() -> None:
    builder = Builder().prompt("Go.")
    builder.system("api_error", error={"status": 529, "message": "Overloaded"}, retryAttempt=2)
    builder.answer("Half.").system(
        "compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 9000, "postTokens": 500}
    )
    error = {"role": "assistant", "id": "e1", "model": "<synthetic>", "content": [text("API Error: 400")]}
    builder.entry("assistant", message=error, isApiErrorMessage=True)
    turn = only(builder)
    root = next(turn.spans())
    assert [(event.name, dict(event.attributes)) for event in root.events] == [
        ("api_error", {"error.type": "529", "clew.retry_attempt": 2, "exception.message": "Overloaded"}),
        (
            "compaction",
            {
                "clew.compaction.trigger": "auto",
                "clew.compaction.pre_tokens": 9000,
                "clew.compaction.post_tokens": 500,
            },
        ),
        ("api_error", {"error.type": "api_error", "exception.message": "API Error: 400"}),
    ]
    assert (root.status, root.status_message, turn.is_complete) == ("error", "API Error: 400", True)
    assert [span.type for span in turn.spans()] == ["agent", "generation"]


def test_recorded_compactions_and_errors_are_events_too() -> None:
    told = {
        (event.name, case.name.split("/")[0])
        for case in cases()
        for span in case.spans()
        for event in span.events
    }
    for version in VERSIONS:
        assert ("api_error", version) in told
    assert {version for name, version in told if name == "compaction"} >= {"2.0.76", "2.1.325"}


@pytest.mark.parametrize(
    ("builder", "reason"),
    [
        (Builder().prompt("Go."), "no_answer"),
        (started(), "unanswered_call"),
        (started().result("t1"), "running"),
        (started().result("t1").answer("Done."), None),
        (started().user([text("[Request interrupted by user]")]), "interrupted"),
        (Builder().prompt("Go.").answer("So much", stop="max_tokens"), None),
    ],
)
def test_a_turn_says_whether_it_is_complete_and_why_not(builder: Builder, reason: str | None) -> None:
    turn = only(builder)
    assert (turn.is_complete, turn.reason, turn.is_last) == (reason is None, reason, True)
    assert turn.is_settled is (reason is None)
    root = next(turn.spans()).attributes
    assert root["clew.turn.is_complete"] is turn.is_complete
    assert root.get("clew.turn.reason") == reason


def test_an_unfinished_turn_is_settled_when_another_prompt_follows() -> None:
    first, second = turn_spans(started().prompt("Never mind.").answer("Fine.").session("s1"))
    assert (first.is_complete, first.is_last, first.is_settled) == (False, False, True)
    assert (second.is_complete, second.is_last, second.is_settled) == (True, True, True)


@pytest.mark.parametrize(("ends", "reason"), [(False, "agent_unfinished"), (True, "news_awaited")])
def test_a_turn_waits_for_the_sub_agents_it_sent_to_the_background(ends: bool, reason: str) -> None:
    builder = Builder().prompt("Go.").answer(call("t1", "Agent"), stop="tool_use")
    builder.result("t1", toolUseResult={"agentId": "a1", "status": "async_launched"}).answer("It runs.")
    turn = with_agents(builder, a1=agent_file("a1", ends=ends))
    assert (turn.is_complete, turn.reason, turn.is_settled) == (False, reason, False)
    builder.user("<task-notification>\n<task-id>a1</task-id>\n</task-notification>").answer("It is done.")
    assert with_agents(builder, a1=agent_file("a1")).is_complete


def test_a_sub_agent_whose_call_came_back_is_done_however_its_file_ends() -> None:
    builder = Builder().prompt("Go.").answer(call("t1", "Task"), stop="tool_use")
    builder.result("t1", "Stopped.", is_error=True, toolUseResult={"agentId": "a1"}).answer("Done.")
    assert with_agents(builder, a1=agent_file("a1", ends=False)).is_complete


def test_queued_prompts_are_turns_of_their_own() -> None:
    builder = (
        Builder().prompt("One.").line({"type": "queue-operation", "operation": "enqueue", "content": "Two."})
    )
    builder.answer("First.").line({"type": "queue-operation", "operation": "dequeue"})
    builder.prompt("Two.").prompt("Three.").answer("Both.")
    found = [(turn.is_complete, turn.reason) for turn in turn_spans(builder.session("s1"))]
    assert found == [(True, None), (False, "no_answer"), (True, None)]


def test_answers_before_any_prompt_are_a_turn_of_their_own() -> None:
    builder = Builder().meta("Wake up.").answer("Good morning.").prompt("Hello.").answer("Hi.")
    first, second = turn_spans(builder.session("s1"))
    assert (first.n, first.prompt_uuid, first.is_complete, second.n) == (0, None, True, 1)
    assert first.trace_id != second.trace_id
