"""A request is what the API takes, and the conversation it was made of is as it was."""

from __future__ import annotations

import json
from copy import deepcopy
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.api_checks import refusal
from clew.agent.requests import INTERLEAVED, build, encoded, room_of, stand_in_tools, thinking_of
from tests.agent.requests import Json, answer, call, image, png, result, text, thinking, user, without

MODEL = "claude-sonnet-4-6"
TOOL = {"name": "Read", "description": "d", "input_schema": {"type": "object"}}

# What the client 2.1.325 sends for a model: room, thinking.
MEASURED = {
    "claude-3-5-haiku-20241022": (8_192, None),
    "claude-3-7-sonnet-20250219": (32_000, None),
    "claude-sonnet-4-20250514": (32_000, "enabled"),
    "claude-sonnet-4-5-20250929": (32_000, "enabled"),
    "claude-haiku-4-5": (32_000, "enabled"),
    "claude-opus-4-5": (32_000, "enabled"),
    "claude-sonnet-4-6": (32_000, "adaptive"),
    "claude-opus-4-6": (64_000, "adaptive"),
    "claude-opus-5": (64_000, "adaptive"),
    "claude-fable-5-1": (64_000, "adaptive"),
    "claude-sonnet-5-5": (128_000, "adaptive"),
    "claude-haiku-5-5": (128_000, "adaptive"),
    "claude-opus-5-5": (128_000, "adaptive"),
}


@pytest.mark.parametrize("model", MEASURED)
@pytest.mark.parametrize("form", ["{}", "us.anthropic.{}-v1:0", "anthropic/{}", "{}@20260101"])
def test_a_model_is_asked_as_the_client_asks_it(model: str, form: str) -> None:
    room, kind = MEASURED[model]
    name = form.format(model)
    assert room_of(name) == room
    told = thinking_of(name, room)
    assert (told and told["type"]) == kind
    if kind == "enabled":
        assert told == {"type": "enabled", "budget_tokens": room - 1}


@pytest.mark.parametrize("model", ["gpt-9", "", "claude", "claude-instant", "claude-next", "local/llama-3"])
def test_a_model_nobody_knows_is_asked_plainly(model: str) -> None:
    assert (room_of(model), thinking_of(model, 32_000)) == (32_000, None)


def test_too_little_room_to_think_in_is_none() -> None:
    assert thinking_of("claude-haiku-4-5", 1000) is None


def test_what_is_asked_for_is_in_the_request() -> None:
    request = build(
        model=MODEL, messages=[user("a")], system="s", tools=[TOOL], max_tokens=5, thinking="off",
        betas=["x", "x"], cache=False, more={"stop_sequences": ["E"]},
    )  # fmt: skip
    assert request == {
        "model": MODEL, "max_tokens": 5, "messages": [user("a")], "system": [{"type": "text", "text": "s"}],
        "tools": [TOOL], "betas": ["x"], "stop_sequences": ["E"],
    }  # fmt: skip
    wanted = {"type": "enabled", "budget_tokens": 2000}
    chosen = build(model=MODEL, messages=[], thinking=wanted, tools=[TOOL])
    assert chosen["thinking"] == wanted
    assert chosen["betas"] == [INTERLEAVED]
    assert "betas" not in build(model=MODEL, messages=[], tools=[TOOL])


def marks(request: dict[str, Any]) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    for place in ("system", "tools"):
        for at, block in enumerate(request.get(place, [])):
            found += [(place, 0, at)] if "cache_control" in block else []
    for number, message in enumerate(request["messages"]):
        for at, block in enumerate(message["content"] if isinstance(message["content"], list) else []):
            found += [("message", number, at)] if "cache_control" in (block or ()) else []
    return found


def test_marks_stand_behind_what_comes_again() -> None:
    messages = [user("a"), answer("b"), user("c"), answer(call()), user(result(), text("d"))]
    request = build(model=MODEL, messages=messages, system=[text("s"), text("t")], tools=[TOOL])
    assert marks(request) == [("system", 0, 1), ("message", 2, 0), ("message", 4, 1)]
    without = build(model=MODEL, messages=messages, tools=[TOOL, TOOL])
    assert marks(without)[0] == ("tools", 0, 1)


def test_the_next_request_begins_with_what_this_one_marked() -> None:
    """Else the API would find nothing to take up."""
    messages = [user("a")]
    for n in range(4):
        now = build(model=MODEL, messages=messages)
        messages = [*messages, answer(f"b{n}"), user(f"c{n}")]
        after = build(model=MODEL, messages=messages)
        assert set(marks(now)) & set(marks(after))


def test_words_alone_become_a_block_to_bear_a_mark() -> None:
    request = build(model=MODEL, messages=[{"role": "user", "content": "hi"}])
    assert request["messages"][0]["content"] == [
        {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    ]


@pytest.mark.parametrize("content", [[], [text("")], [thinking()], None, "", 5, [None, "x"]])
def test_what_cannot_bear_a_mark_has_none(content: Any) -> None:
    request = build(model=MODEL, messages=[{"role": "assistant", "content": content}], system=[text("")])
    assert marks(request) == []


def test_marks_that_are_there_already_count() -> None:
    marked = {**text("a"), "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    messages = [user(marked), answer("x"), user(marked), answer("y"), user(marked), answer("z"), user("w")]
    request = build(model=MODEL, messages=messages, system=[text("s")])
    assert len(marks(request)) == 4
    assert request["messages"][0] == user(marked)


BLOCK = st.sampled_from([text("a"), text(""), thinking(), result(), call(), image(png())])
CONTENT: st.SearchStrategy[Any] = st.one_of(st.text(), st.lists(BLOCK))
MESSAGE: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]), "content": CONTENT}
)


@given(st.lists(MESSAGE), st.lists(BLOCK), st.integers(0, 3))
def test_the_conversation_is_not_touched_and_four_marks_are_never_passed(
    messages: list[Any], system: list[Any], tools: int
) -> None:
    before = deepcopy((messages, system))
    request = build(model=MODEL, messages=messages, system=system, tools=[TOOL] * tools)
    assert (messages, system) == before
    assert len(marks(request)) <= 3
    for sent, given_ in zip(request["messages"], messages, strict=True):
        said: Any = given_["content"]
        if isinstance(said, str) and sent["content"] != said:
            said = [text(said)]
        if sent["content"] != said:
            assert [without(block, "cache_control") for block in sent["content"]] == said


def test_a_request_is_one_the_api_takes() -> None:
    messages = [user("a"), answer(thinking(), text("b"), call()), user(result())]
    request = build(model=MODEL, messages=messages, system="s", tools=[TOOL])
    assert refusal(request) is None


@pytest.mark.parametrize(
    ("called", "named"),
    [
        ([], []),
        (["Read", "Bash", "Read"], ["Read", "Bash"]),
        (["a b", "Read", "ü"], ["Read"]),
        (["a.b"], ["tool"]),
        (["x" * 65], ["tool"]),
        (["Read\n"], ["tool"]),
    ],
)
def test_tools_are_made_up_of_the_names_that_a_tool_can_have(called: list[str], named: list[str]) -> None:
    messages = [user("a"), answer("b", *({**call(f"t{at}"), "name": one} for at, one in enumerate(called)))]
    if called:
        messages.append(user(*(result(f"t{at}") for at in range(len(called)))))
    tools = stand_in_tools(messages)
    assert [tool["name"] for tool in tools] == named
    request = build(model=MODEL, messages=[*messages, user("c")], tools=tools)
    assert refusal(request, needs_tools=True) is None


@given(st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.booleans(), st.none())))
def test_a_request_is_written_as_json(value: dict[str, Any]) -> None:
    assert json.loads(encoded(value)) == value


def test_what_the_quick_writer_refuses_is_written_all_the_same() -> None:
    odd = {"half": "a\ud83d", "pair": "\ud83d\ude00", "big": 10**30, "view": MappingProxyType({"a": 1})}
    written = {"half": "a\ufffd", "pair": "\U0001f600", "big": 10**30, "view": {"a": 1}}
    assert json.loads(encoded(odd)) == written
