"""The formats for programs: each is judged by those who read it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from anthropic.types import MessageParam, ToolParam
from atif import Trajectory
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from pydantic import TypeAdapter

from clew.session.context import context
from tests.builder import Builder, call, image, text, thinking
from tests.export.contract import ExporterContract, recorded
from tests.export.stories import story_from

if TYPE_CHECKING:
    from clew.export.story import Story

MESSAGES = TypeAdapter[Any](list[MessageParam])
TOOLS = TypeAdapter[Any](list[ToolParam])
CHAT = TypeAdapter[Any](list[ChatCompletionMessageParam])
FUNCTIONS = TypeAdapter[Any](list[ChatCompletionToolParam])


def load(data: bytes) -> Any:
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    return json.loads(data)


class TestJson(ExporterContract):
    """One document, as `clew show --json` has it."""

    name = "json"

    def validate(self, data: bytes, story: Story, /) -> None:
        told = load(data)
        assert told["session"] == story.head.session
        assert [turn["n"] for turn in told["turns"]] == [turn.n for turn in story.cuts]


class TestJsonl(ExporterContract):
    """The same, line by line."""

    name = "jsonl"

    def validate(self, data: bytes, story: Story, /) -> None:
        lines = [json.loads(line) for line in data.splitlines()]
        assert lines[0]["kind"] == "session"
        own = [line for line in lines if line["kind"] == "turn" and "agent_id" not in line]
        assert [turn["n"] for turn in own] == [turn.n for turn in story.cuts]


class TestApi(ExporterContract):
    """What the Messages API takes."""

    name = "api"
    step = 1

    def validate(self, data: bytes, story: Story, /) -> None:
        told = load(data)
        assert set(told) <= {"model", "max_tokens", "messages", "tools"}
        assert isinstance(told["model"], str)
        TOOLS.validate_python(told.get("tools", []))
        if story.head.session != "hostile":
            MESSAGES.validate_python(told["messages"])


class TestOpenai(ExporterContract):
    """What the Chat Completions API takes."""

    name = "openai"
    step = 1

    def validate(self, data: bytes, _story: Story, /) -> None:
        told = load(data)
        messages = told["messages"]
        # A list in TypedDict is checked as it is gone through.
        json.dumps(CHAT.dump_python(CHAT.validate_python(messages), warnings="none"), default=list)
        FUNCTIONS.validate_python(told.get("tools", []))
        check_chat(messages, told.get("tools", []))


def check_chat(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> None:
    """Every call is answered at once, by a message of its own, and of a function that is declared."""
    declared = {tool["function"]["name"] for tool in tools}
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            assert isinstance(message["content"], str)
            continue
        assert not waiting
        for one in message.get("tool_calls", ()):
            assert one["id"] not in seen
            seen.add(one["id"])
            waiting.append(one["id"])
            assert isinstance(json.loads(one["function"]["arguments"]), dict)
            assert one["function"]["name"] in declared or not declared or one["function"]["name"]
        assert message.get("content") is not None or message.get("tool_calls")
    assert not waiting


class TestSharegpt(ExporterContract):
    """What training tools take."""

    name = "sharegpt"
    step = 1

    def validate(self, data: bytes, _story: Story, /) -> None:
        [record] = load(data)
        assert set(record) <= {"id", "conversations", "tools"}
        check_sides(record["conversations"])
        assert isinstance(json.loads(record.get("tools", "[]")), list)


def check_sides(entries: list[dict[str, str]]) -> None:
    """As the loaders insist: sides take turns, a prompt first and an answer last, all values are text."""
    given, answers = {"human", "observation"}, {"gpt", "function_call"}
    assert len(entries) % 2 == 0
    for at, entry in enumerate(entries):
        assert entry["from"] in (answers if at % 2 else given)
        assert isinstance(entry["value"], str)
        if entry["from"] == "function_call":
            calls = json.loads(entry["value"])
            assert all(isinstance(one["name"], str) and isinstance(one["arguments"], dict) for one in calls)
    for one, other in pairwise(entries):
        assert (one["from"] == "function_call") == (other["from"] == "observation") or one[
            "from"
        ] != "function_call"


class TestAtif(ExporterContract):
    """What Harbor and its like take."""

    name = "atif"
    step = 1

    def validate(self, data: bytes, _story: Story, /) -> None:
        told = load(data)
        trajectory = Trajectory.model_validate(told)
        here = {one.trajectory_id for one in trajectory.subagent_trajectories or ()}
        named = {
            ref.trajectory_id
            for one in (trajectory, *(trajectory.subagent_trajectories or ()))
            for step in one.steps
            for result in (step.observation.results if step.observation else ())
            for ref in result.subagent_trajectory_ref or ()
        }
        assert named <= here


def test_the_request_has_the_messages_of_the_context() -> None:
    api = TestApi()
    for path in recorded():
        story = api.story(path)
        told = load(api.written(story))
        found = context(story.session)
        assert told["messages"] == json.loads(json.dumps(found.messages)), path
        assert told["model"] == found.model


# By example ---------------------------------------------------------------------------------------------


def lighthouse() -> Builder:
    """A talk with most of what a talk may have."""
    builder = Builder("hostile").prompt([text("Mend the lamp"), image()])
    builder.answer(
        thinking("Hm."),
        text("I look."),
        call("toolu_1", "Read", {"file_path": "/lamp.py"}),
        call("toolu_2", "mcp__sea.chart", {"depth": 3}),
        stop="tool_use",
    )
    builder.result("toolu_1", [text("def lamp(): ..."), image()]).result("toolu_2", "no chart", is_error=True)
    builder.answer(call("toolu_3", "Bash", {"command": "ls"}), stop="tool_use")
    builder.user([text("[Request interrupted by user for tool use]")])
    return builder.prompt("Go on").answer("It is mended.").compact("All was mended.").prompt("Thanks")


def exported(suite: ExporterContract, builder: Builder) -> Any:
    return load(suite.written(suite.made(builder.data())))


def test_openai_tells_a_talk_with_calls_pictures_and_an_interruption() -> None:
    told = exported(TestOpenai(), lighthouse())
    messages = told["messages"]
    assert [one["role"] for one in messages] == [
        *(
            "user",
            "assistant",
            "tool",
            "tool",
            "user",
            "assistant",
            "tool",
            "user",
            "user",
            "assistant",
            "user",
        )
    ]
    assert messages[0]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
    assert messages[1]["content"] == "I look."
    assert [one["function"]["name"] for one in messages[1]["tool_calls"]] == ["Read", "mcp__sea_chart"]
    assert messages[2] == {
        "role": "tool",
        "tool_call_id": "toolu_1",
        "content": "def lamp(): ...\n[image]",
    }
    assert messages[4]["content"][0]["type"] == "image_url"
    assert messages[5]["content"] is None
    assert messages[6]["content"] == "[no result was recorded]"
    assert messages[-1]["content"] == "Thanks"
    assert "All was mended." not in json.dumps(told)
    assert "Hm." not in json.dumps(told)
    assert [one["function"]["name"] for one in told["tools"]] == ["Bash", "Read", "mcp__sea_chart"]


def test_sharegpt_lets_the_sides_take_turns() -> None:
    [record] = exported(TestSharegpt(), lighthouse())
    entries = record["conversations"]
    assert [one["from"] for one in entries] == [
        *("human", "function_call", "observation", "function_call", "observation", "gpt")
    ]
    assert entries[0]["value"] == "Mend the lamp\n[image]"
    assert entries[1]["text"] == "I look."
    assert len(json.loads(entries[1]["value"])) == 2
    # What the person said while no answer came is part of what the next one answers.
    assert entries[4]["value"].endswith("Go on")
    assert entries[5]["value"] == "It is mended."


def test_a_trajectory_has_steps_with_thoughts_calls_and_what_came_back() -> None:
    told = exported(TestAtif(), lighthouse())
    steps = told["steps"]
    assert [one["source"] for one in steps] == [
        *("user", "agent", "agent", "user", "user", "agent", "system", "user")
    ]
    assert steps[1]["reasoning_content"] == "Hm."
    assert [one["source_call_id"] for one in steps[1]["observation"]["results"]] == ["toolu_1", "toolu_2"]
    assert steps[1]["observation"]["results"][1]["extra"] == {"is_error": True}
    assert steps[2]["observation"]["results"] == []
    assert steps[6]["message"] == "All was mended."
    assert steps[1]["metrics"]["completion_tokens"] == 1
    assert told["agent"] == {
        "name": "claude-code",
        "version": "2.1.325",
        "model_name": "claude-sonnet-4-5-20250929",
    }


@pytest.mark.parametrize("suite", [TestOpenai(), TestSharegpt(), TestAtif()], ids=lambda one: one.name)
def test_what_was_gone_back_from_is_not_in_a_conversation(suite: ExporterContract) -> None:
    builder = Builder("hostile").prompt("First").answer("One.")
    fork = builder.leaf
    builder.prompt("Wrong way").answer("Lost.").rewind(fork).prompt("Right way").answer("Found.")
    told = json.dumps(exported(suite, builder))
    assert "Right way" in told
    assert "Wrong way" not in told


def test_calls_with_the_same_id_or_none_are_told_apart() -> None:
    builder = Builder("hostile").prompt("go")
    for _ in range(2):
        builder.answer({"type": "tool_use", "name": "Bash", "input": {}}, stop="tool_use")
    messages = exported(TestOpenai(), builder)["messages"]
    ids = [one["id"] for message in messages for one in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids) == 2


def test_redacted_requests_have_no_thinking_as_its_seal_is_void() -> None:
    builder = (
        Builder("hostile").prompt("password = 'zq7Kx9Lm2Pw4Rt6Yv8Bn'").answer(thinking("Hm."), text("ok"))
    )
    api = TestApi()
    plain = load(api.written(api.made(builder.data())))
    clean = load(api.written(story_from(builder.data(), is_one_way=True, is_redacted=True)))
    assert [block["type"] for block in plain["messages"][1]["content"]] == ["thinking", "text"]
    assert [block["type"] for block in clean["messages"][1]["content"]] == ["text"]
    assert "zq7Kx9" not in json.dumps(clean)
