"""Conversations made at random: a good one is always answered, any single fault in it always refused."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.agent.api_checks import refusal
from tests.agent.requests import Json, answer, body, call, image, jpeg, png, result, text, thinking, user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

words = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=12)
pictures = st.sampled_from([image(png(30, 7)), image(jpeg(500, 8000), "image/jpeg")])


@st.composite
def conversations(draw: st.DrawFn) -> list[Json]:
    """Turns of a prompt, steps of calls with their results, and an answer; a prompt at the end."""
    messages: list[Json] = [
        user("hi", draw(pictures)),
        answer(thinking(), "let me", call("toolu_first")),
        user(result("toolu_first")),
    ]
    count = 0
    for _ in range(draw(st.integers(1, 4))):
        prompt = [text(draw(words)), *([draw(pictures)] if draw(st.booleans()) else [])]
        if messages and messages[-1]["role"] == "user" and draw(st.booleans()):
            messages[-1]["content"] += (
                prompt  # a turn that was interrupted: the prompt comes behind its results
            )
        else:
            messages.append(user(*prompt))
        for _ in range(draw(st.integers(0, 3))):
            names = [f"toolu_{count + n}" for n in range(draw(st.integers(1, 3)))]
            count += len(names)
            thought = [thinking(draw(words | st.just("")))] if draw(st.booleans()) else []
            said = [text(draw(words))] if draw(st.booleans()) else []
            messages.append(answer(*thought, *said, *map(call, names)))
            got = st.one_of(st.just(""), words, words.map(lambda each: [text(each), image(png())]))
            messages.append(user(*(result(name, draw(got)) for name in draw(st.permutations(names)))))
        if draw(st.booleans()):
            messages.append(answer(*([thinking()] if draw(st.booleans()) else []), text(draw(words))))
    messages.append(user(draw(words)))
    return messages


def blocks(messages: list[Json], kind: str) -> Iterator[tuple[Json, int]]:
    """The messages with a block of a kind, and where it stands in them."""
    for message in messages:
        for n, block in enumerate(message["content"]):
            if block["type"] == kind:
                yield message, n


def drop(message: Json, n: int) -> None:
    del message["content"][n]


def put(**fields: Any) -> Callable[[Json, int], None]:
    def change(message: Json, n: int) -> None:
        message["content"][n] = {**message["content"][n], **fields}

    return change


def lose(name: str) -> Callable[[Json, int], None]:
    def change(message: Json, n: int) -> None:
        message["content"][n].pop(name)

    return change


def repeat(message: Json, n: int) -> None:
    message["content"].insert(n, message["content"][n])


def words_first(message: Json, n: int) -> None:
    message["content"].insert(n, text())


def enlarge(message: Json, n: int) -> None:
    message["content"][n] = image(png(8001, 1))


def in_two(message: Json, n: int) -> None:
    message["content"][n]["text"] += "\ud83d"


FAULTS: dict[str, tuple[str, Callable[[Json, int], None]]] = {
    "a result dropped": ("tool_result", drop),
    "a call dropped": ("tool_use", drop),
    "a result of another call": ("tool_result", put(tool_use_id="toolu_other")),
    "a call under another id": ("tool_use", put(id="toolu_other")),
    "a call twice": ("tool_use", repeat),
    "a result twice": ("tool_result", repeat),
    "words before a result": ("tool_result", words_first),
    "an empty text": ("text", put(text="")),
    "half a character": ("text", in_two),
    "an image enlarged": ("image", enlarge),
    "thinking unsigned": ("thinking", lose("signature")),
    "thinking signed with nothing": ("thinking", put(signature="")),
    "a block of another kind": ("text", put(type="words")),
    "an input that is a text": ("tool_use", put(input="{}")),
}


@given(conversations())
def test_a_good_conversation_is_never_refused(messages: list[Json]) -> None:
    assert refusal(body(*messages)) is None


@pytest.mark.parametrize(("kind", "fault"), FAULTS.values(), ids=FAULTS.keys())
@given(messages=conversations(), pick=st.randoms())
@settings(max_examples=30)
def test_every_single_fault_is_refused(kind: str, fault: Any, messages: list[Json], pick: Any) -> None:
    broken = copy.deepcopy(messages)
    fault(*pick.choice(list(blocks(broken, kind))))
    found = refusal(body(*broken))
    assert found is not None
    assert found.kind == "invalid_request_error"


@given(conversations(), st.randoms())
def test_a_call_swapped_with_its_result_is_refused(messages: list[Json], pick: Any) -> None:
    broken = copy.deepcopy(messages)
    places = [
        n for n, message in enumerate(broken) if any(b["type"] == "tool_use" for b in message["content"])
    ]
    at = pick.choice(places)
    broken[at], broken[at + 1] = broken[at + 1], broken[at]
    assert refusal(body(*broken)) is not None


@given(conversations(), st.integers(0, 10_000))
def test_a_conversation_cut_off_anywhere_in_its_bytes_is_refused(messages: list[Json], at: int) -> None:
    whole = json.dumps(body(*messages)).encode()
    assert refusal(body(*messages), raw=whole) is None
    assert refusal({}, raw=whole[: at % len(whole)]) is not None


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "type", "text", "id", "tool_use_id", "input", "source", "data", "x"]
            ),
            inner
            | st.sampled_from(["user", "assistant", "text", "tool_use", "tool_result", "image", "thinking"]),
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(junk)
def test_anything_at_all_is_judged_without_an_error(found: object) -> None:
    for messages in (
        found,
        [found],
        [{"role": "user", "content": found}],
        [user({"type": "image", "source": found})],
    ):
        answered = refusal({"model": "m", "max_tokens": 1, "messages": messages})
        assert answered is None or answered.status == 400
