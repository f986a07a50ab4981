"""The formats for programs: each is judged by those who read it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from anthropic.types import MessageParam, ToolParam
from atif import Trajectory
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from pydantic import TypeAdapter

from clew.session.context import context
from tests.export.contract import ExporterContract, recorded

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
