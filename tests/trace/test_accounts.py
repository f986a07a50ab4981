"""What all spans used, and what is in none of them, is what the session used: nothing twice, nothing lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clew.session import subagents
from clew.session.accounts import Question, account
from clew.session.ledger import Ledger
from clew.session.pricing import Tokens
from clew.session.spending import Spent
from clew.session.usage import Folder
from clew.trace.spans import SessionTraces
from tests.builder import Builder, call, text
from tests.trace.recorded import Case, cases

VERSIONS = sorted({case.name.split("/")[0] for case in cases()})


def recorded(version: str) -> list[Case]:
    return [case for case in cases() if case.name.startswith(f"{version}/")]


def counted_plainly(case: Case) -> dict[str, int]:
    """Count the tokens of a session with nothing of clew's: each message once, by its greatest usage."""
    best: dict[str, dict[str, Any]] = {}
    for path in case.files:
        for line in path.read_bytes().splitlines():
            entry: dict[str, Any] = json.loads(line)
            message: dict[str, Any] = entry.get("message") or {}
            if entry.get("type") != "assistant" or entry.get("isApiErrorMessage"):
                continue
            if message.get("model") == "<synthetic>":
                continue
            usage: dict[str, Any] = message.get("usage") or {}
            before = best.get(message["id"])
            if before is None or usage.get("output_tokens", 0) >= before.get("output_tokens", 0):
                best[message["id"]] = usage
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return {name: sum(usage.get(name) or 0 for usage in best.values()) for name in names}


def of_all(traces: SessionTraces) -> Spent:
    total = Spent()
    for turn in traces.turns():
        for generation in turn.generations():
            total += generation.spent
    for left in traces.rest():
        total += left.spent
    return total


@pytest.mark.parametrize("version", VERSIONS)
def test_spans_and_rest_have_the_tokens_that_a_plain_count_finds(version: str) -> None:
    total = 0
    for case in recorded(version):
        tokens = of_all(case.traces()).tokens
        total += tokens.total
        assert counted_plainly(case) == {
            "input_tokens": tokens.input,
            "output_tokens": tokens.output,
            "cache_read_input_tokens": tokens.cache_read,
            "cache_creation_input_tokens": tokens.cache_write_5m + tokens.cache_write_1h,
        }, case.name
    assert total > 1000


@pytest.mark.parametrize("version", VERSIONS)
def test_spans_and_rest_cost_what_usage_says(version: str) -> None:
    for case in recorded(version):
        folder, ledger = Folder("place"), Ledger()
        for path in case.files:
            ledger.add(folder.file(path.name, [path.read_bytes()]))
        answer = account(ledger, Question("session", session_of=lambda _: "s"))
        total = of_all(case.traces())
        assert total.tokens == answer.total.tokens, case.name
        assert total.cost_usd == pytest.approx(answer.total.cost_usd or 0.0, abs=1e-9), case.name


@pytest.mark.parametrize("version", VERSIONS)
def test_the_attributes_of_the_spans_add_up_to_the_generations(version: str) -> None:
    for turn in (turn for case in recorded(version) for turn in case.traces().turns()):
        used = {generation.span_id: generation.spent for generation in turn.generations()}
        spans = {span.span_id: span.attributes for span in turn.spans() if span.type == "generation"}
        assert used.keys() == spans.keys()
        for span_id, spent in used.items():
            told = spans[span_id]
            details = json.loads(str(told["langfuse.observation.usage_details"]))
            kinds = ("input", "output", "cache_read_input_tokens")
            written = ("input_cache_creation_5m", "input_cache_creation_1h")
            assert Tokens(*(details[name] for name in (*kinds, *written))) == spent.tokens
            assert details["total"] == spent.tokens.total
            assert told["gen_ai.usage.input_tokens"] == told["llm.token_count.prompt"] == spent.tokens.prompt
            assert told["gen_ai.usage.output_tokens"] == spent.tokens.output
            assert told["llm.cost.total"] == spent.cost_usd


def test_no_other_span_than_a_generation_tells_tokens_or_money() -> None:
    for case in cases():
        for span in case.spans():
            if span.type != "generation":
                told = [
                    name for name in span.attributes if "token" in name or "usage" in name or "cost" in name
                ]
                assert not told, (case.name, span.name, told)


def test_the_recorded_sessions_have_sub_agents_in_turns_and_some_in_none() -> None:
    traced = [turn for case in cases() for turn in case.traces().turns()]
    below = {generation.agent_id for turn in traced for generation in turn.generations()}
    loose = {left.agent_id for case in cases() for left in case.traces().rest()}
    assert len(below - {None}) > 20
    assert len(loose) > 20


def test_an_adviser_is_part_of_its_message() -> None:
    usage = {
        "input_tokens": 10,
        "output_tokens": 20,
        "iterations": [
            {"type": "message", "input_tokens": 10, "output_tokens": 20},
            {"type": "advisor_message", "model": "claude-opus-4-1", "input_tokens": 5, "output_tokens": 7},
        ],
    }
    message = {"role": "assistant", "id": "m", "model": "claude-sonnet-4-5", "content": [text("So.")]}
    session = Builder().prompt("Ask.").entry("assistant", message={**message, "usage": usage}).session("s1")
    found = next(SessionTraces(session).turns())
    assert [one.spent.tokens for one in found.generations()] == [Tokens(15, 27)]


def test_a_message_that_stands_in_two_files_of_a_session_counts_once_by_its_greatest_usage() -> None:
    main = Builder().prompt("Go.").answer(call("t1", "Task"), message_id="m1", stop="tool_use", output=[5])
    main.result("t1", toolUseResult={"agentId": "a1"}).answer("Done.", message_id="m2")
    own = Builder().prompt("Count.", isSidechain=True, agentId="a1")
    own.answer("Copied.", message_id="m1", isSidechain=True, agentId="a1", output=[9])
    own.answer("Own.", message_id="m3", isSidechain=True, agentId="a1")
    session = main.session("s1")
    agents = subagents.agents(session, [subagents.Source("a1", own.session())])
    traces = SessionTraces(session, agents)
    (turn,) = traces.turns()
    assert {one.message_id: one.spent.tokens.output for one in turn.generations()} == {
        "m1": 9,
        "m2": 1,
        "m3": 1,
    }
    assert [(left.reason, left.message_id, left.spent.tokens.total) for left in traces.rest()] == [
        ("copy", "m1", 0)
    ]


def test_what_the_client_put_in_before_any_prompt_is_listed_with_what_it_used() -> None:
    builder = (
        Builder()
        .answer("Ready.", isMeta=True, message_id="m0")
        .prompt("Go.")
        .answer("Done.", message_id="m1")
    )
    traces = SessionTraces(builder.session("s1"))
    assert [one.message_id for turn in traces.turns() for one in turn.generations()] == ["m1"]
    left = [(one.reason, one.message_id, one.spent.tokens.total) for one in traces.rest()]
    assert left == [("no_turn", "m0", 2)]
