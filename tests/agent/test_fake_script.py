"""A script says what was written, to whom it was written for, and is refused when it makes no sense."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.fake_script import BadScriptError, Script, echo, last_words, named, read_script, slowed
from clew.agent.standin import Failure, Pace, Reply, Request, Silence
from tests.agent.requests import result, text, user


def asked(*content: Any, number: int = 0, **more: Any) -> Request:
    body = {"model": "claude-opus-5", "messages": [user(*content)] if content else [], **more}
    return Request(number, "POST", "/v1/messages", {}, b"", body)


def script(document: object) -> Script:
    return read_script(json.dumps(document))


def said(answer: object) -> list[str]:
    assert isinstance(answer, Reply)
    return [str(block.get("text")) for block in answer.content if block["type"] == "text"]


def test_steps_come_in_order_and_then_an_echo() -> None:
    steps = script(["one", {"text": ["two", "three"]}])
    heard = [said(steps.answer(asked("hi"))) for _ in range(3)]
    assert heard == [["one"], ["two", "three"], ["You said: hi"]]


def test_json_lines_are_steps_too() -> None:
    steps = read_script('"one"\n\n{"text": "two"}\n')
    assert [said(steps.answer(asked("hi"))) for _ in range(2)] == [["one"], ["two"]]
    assert said(read_script('{"text": "only"}').answer(asked("hi"))) == ["only"]


def test_a_step_says_all_that_is_in_it() -> None:
    answer = script(
        [
            {
                "thinking": "hm",
                "text": "I look.",
                "call": [{"name": "Read", "input": {"a": 1}}, {"name": "List", "id": "mine"}],
                "usage": {"input_tokens": 1, "output_tokens": 2},
                "model": "other",
                "stop_reason": "max_tokens",
                "message_id": "msg_9",
                "delay_ms": 100,
                "pause_ms": 20,
                "piece": 3,
                "cut_after": 2,
                "then": "hang",
            }
        ]
    ).answer(asked("x", number=7))
    assert isinstance(answer, Reply)
    assert [block["type"] for block in answer.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert [block["id"] for block in answer.content[2:]] == ["toolu_fake_0007_2", "mine"]
    assert answer.content[0]["signature"]
    assert (answer.usage, answer.model, answer.reason, answer.message_id) == (
        {"input_tokens": 1, "output_tokens": 2}, "other", "max_tokens", "msg_9",
    )  # fmt: skip
    assert answer.pace == Pace(0.1, 0.02, 3, 2, "hang")


def test_failures_and_silence() -> None:
    steps = script(
        [
            {"status": 429, "retry_after": 1.5, "headers": {"x-a": "b"}},
            {"status": 418, "kind": "teapot", "message": "short and stout"},
            {"silence": "hang"},
            {"silence": "drop", "delay_ms": 5},
            {"content": [{"type": "redacted_thinking", "data": "x"}]},
        ]
    )
    assert [steps.answer(asked("x")) for _ in range(4)] == [
        Failure(429, "rate_limit_error", "scripted failure", 1.5, {"x-a": "b"}),
        Failure(418, "teapot", "short and stout"),
        Silence(),
        Silence(drops=True, pace=Pace(before=0.005)),
    ]
    last = steps.answer(asked("x"))
    assert isinstance(last, Reply)
    assert last.content == ({"type": "redacted_thinking", "data": "x"},)


@pytest.mark.parametrize(
    ("when", "request_", "meets"),
    [
        ({"prompt": "h.llo"}, asked("say hello"), True),
        ({"prompt": "h.llo"}, asked("goodbye"), False),
        ({"prompt": "hello"}, asked(result(content="hello")), False),
        ({"result": "hello"}, asked(result(content="hello")), True),
        ({"result": "hello"}, asked(result(content=[text("say hello")])), True),
        ({"result": "hello"}, asked("hello"), False),
        ({"system": "^You"}, asked("x", system="You are"), True),
        ({"system": "^You"}, asked("x", system=[text("a"), text("b")]), False),
        ({"model": "opus"}, asked("x"), True),
        ({"model": "haiku"}, asked("x"), False),
        ({"tools": True}, asked("x", tools=[{}]), True),
        ({"tools": True}, asked("x"), False),
        ({"tools": False}, asked("x"), True),
        ({"number": 3}, asked("x", number=3), True),
        ({"number": 3}, asked("x"), False),
        ({"prompt": "x", "tools": True}, asked("x"), False),
        ({}, asked(), True),
    ],
)
def test_a_step_is_for_whom_it_is_written_for(when: Any, request_: Request, meets: bool) -> None:
    steps = script([{"when": when, "text": "met"}, {"text": "not met"}])
    assert said(steps.answer(request_)) == ["met" if meets else "not met"]


def test_a_step_may_be_used_often_and_a_default_for_ever() -> None:
    steps = script(
        {
            "default": {"text": "default"},
            "steps": [
                {"when": {"prompt": "a"}, "text": "always", "times": "always"},
                {"text": "twice", "times": 2},
                {"text": "never", "times": 0},
            ],
        }
    )
    assert steps.left == 1
    heard = [said(steps.answer(asked(words)))[0] for words in ("a", "b", "a", "b", "b", "b", "a")]
    assert heard == ["always", "twice", "always", "twice", "default", "default", "always"]
    assert steps.left == 0


def test_a_request_without_tools_leaves_the_steps_alone_if_it_should() -> None:
    steps = script({"only_with_tools": True, "default": "title", "steps": ["answer"]})
    assert said(steps.answer(asked("x"))) == ["title"]
    assert said(steps.answer(asked("x", tools=[{}]))) == ["answer"]


NONSENSE: list[tuple[Any, str]] = [
    ([5], "step 1.*neither"),
    (["a", {}], "step 2.*says nothing"),
    ([{"text": "a", "status": 500}], "two things"),
    ([{"txt": "a"}], "says nothing"),
    ([{"text": "a", "retry": 1}], "nobody knows retry"),
    ([{"status": 500, "text_": 1}], "nobody knows"),
    ([{"text": 5}], "text is no text"),
    ([{"call": "Read"}], "name of a call"),
    ([{"call": {"name": "Read", "input": []}}], "an input that is an object"),
    ([{"call": {"nam": "Read"}}], "a call has"),
    ([{"content": "x"}], "list of blocks"),
    ([{"content": [{}]}], "list of blocks"),
    ([{"content": [], "text": "a"}], "stands alone"),
    ([{"status": 200}], "300 to 599"),
    ([{"status": "500"}], "status is a number"),
    ([{"status": 500, "headers": []}], "headers"),
    ([{"status": 500, "headers": {"a\nb": "c"}}], "header"),
    ([{"status": 500, "headers": {"a": "c\r\nx: y"}}], "header"),
    ([{"silence": True}], "hang or drop"),
    ([{"text": "a", "then": "x"}], "then is"),
    ([{"text": "a", "pause_ms": -1}], "pause_ms"),
    ([{"text": "a", "piece": 1.5}], "whole number"),
    ([{"text": "a", "times": True}], "times"),
    ([{"text": "a", "usage": 1}], "usage"),
    ([{"text": "a", "when": {"colour": 1}}], "when is"),
    ([{"text": "a", "when": {"prompt": "("}}], "no pattern"),
    ([{"text": "a", "when": {"tools": 1}}], "true or false"),
    ({"steps": "a"}, "no list"),
    ({"steps": [], "defualt": "a"}, "nobody knows defualt"),
    ("a", "no list"),
    (None, "no list"),
]


@pytest.mark.parametrize(("document", "words"), NONSENSE)
def test_what_makes_no_sense_is_refused(document: Any, words: str) -> None:
    with pytest.raises(BadScriptError, match=words):
        script(document)


@pytest.mark.parametrize("written", ["", "{", '"a"\n{', "[" * 100_000, "a\nb"])
def test_what_is_no_json_is_refused(written: str) -> None:
    with pytest.raises(BadScriptError):
        read_script(written)


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "call", "status", "when", "steps", "times", "x"]), inner)
    ),
    max_leaves=10,
)


@given(JSON)
def test_any_json_is_a_script_or_is_refused(document: Any) -> None:
    try:
        steps = script(document)
    except BadScriptError:
        return
    assert steps.answer(asked("x")) is not None


def test_an_echo_leaves_out_what_the_client_added() -> None:
    request = asked(text("<system-reminder>secret\nrules</system-reminder>"), "hello", result(content="ok"))
    assert last_words(request) == "hello\nok"
    reply = echo(request)
    assert said(reply) == ["You said: hello\nok"]
    assert reply.usage["input_tokens"] > 5
    assert said(echo(asked())) == ["You said nothing."]


def test_an_answer_without_a_pace_is_slowed() -> None:
    paced = Reply(pace=Pace(between=1, piece=3))
    assert slowed(paced, 5) is paced
    assert slowed(Reply(pace=Pace(before=2)), 0.1).pace == Pace(before=2, between=0.1, piece=12)
    assert slowed(Reply(), 0) == Reply()


def test_two_runs_never_give_out_the_same_id() -> None:
    """A session that is gone on with after a restart would else have two answers in one message."""
    own = Reply((text("Hello."),), message_id="msg_mine")
    first, second = (named(Reply((text("Hello."),)), run, 0) for run in ("a1", "b2"))
    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    assert first.message_id != second.message_id
    assert named(own, "a1", 0) is own
    silence = Silence()
    assert named(silence, "a1", 0) is silence
