"""Thinking that comes back: as it was given out, or not."""

from __future__ import annotations

import copy

import pytest

from clew.agent.thinking_memory import ThinkingMemory
from tests.agent.requests import Json, answer, call, result, text, thinking, user

TALK = [
    user("hi"),
    answer(thinking("one", "s1"), call()),
    user(result()),
    answer(thinking("two", "s2"), text("so"), thinking("three", "s3"), call("t2")),
    user(result("t2"), "on"),
]


@pytest.fixture
def memory() -> ThinkingMemory:
    """A memory that knows the talk."""
    found = ThinkingMemory()
    found.learn(TALK)
    return found


def said(memory: ThinkingMemory, messages: list[Json], *, binds: bool = True) -> str | None:
    found = memory.refusal(messages, binds=binds)
    return found and found.message


def changed(at: int, block: int, **fields: object) -> list[Json]:
    """The talk with other fields in one block."""
    talk = copy.deepcopy(TALK)
    talk[at]["content"][block] |= fields
    return talk


def test_what_was_learnt_is_accepted_and_may_go_on(memory: ThinkingMemory) -> None:
    assert said(memory, TALK) is None
    assert said(memory, [*TALK, answer("done"), user("more")]) is None
    assert said(memory, TALK[:2]) is None


def test_what_the_system_says_amid_the_messages_does_not_matter(memory: ThinkingMemory) -> None:
    hint = {"role": "system", "content": "14999985 tokens left"}
    assert said(memory, [*TALK[:1], hint, *TALK[1:3], hint, *TALK[3:]]) is None


def test_thinking_never_heard_of_is_accepted(memory: ThinkingMemory) -> None:
    assert said(memory, [user("other"), answer(thinking("x", "s9"), text("y")), user("z")]) is None
    assert said(ThinkingMemory(), changed(0, 0, text="other")) is None


def test_how_the_same_messages_are_written_does_not_matter(memory: ThinkingMemory) -> None:
    marked = changed(0, 0, cache_control={"type": "ephemeral"})
    marked[0]["content"] = [dict(reversed(block.items())) for block in marked[0]["content"]]
    assert said(memory, marked) is None
    plain = [{"role": "user", "content": "hi"}, *TALK[1:3], answer(thinking("two", "s2")), answer(text("so"))]
    plain.append(answer(thinking("three", "s3"), call("t2")))
    assert said(memory, plain) is None


@pytest.mark.parametrize(
    ("talk", "where"),
    [
        (changed(0, 0, text="ho"), "messages.1.content.0"),
        (changed(2, 0, content="cut"), "messages.3.content.0"),
        (changed(1, 1, input={}), "messages.3.content.0"),
        (changed(3, 1, text="then"), "messages.3.content.2"),
        ([user("before"), answer("a"), *TALK], "messages.3.content.0"),
        (TALK[2:], "messages.1.content.0"),
    ],
)
def test_thinking_is_refused_when_anything_before_it_changed(
    memory: ThinkingMemory, talk: list[Json], where: str
) -> None:
    words = said(memory, talk)
    assert words is not None
    assert words.startswith(
        f"{where}: Invalid `signature` in `thinking` block. The block is bound to a different conversation."
    )
    assert words.endswith("The `messages` before it differ from the ones this block was created with.")
    assert said(memory, talk, binds=False) is None


def test_a_change_behind_all_thinking_is_no_matter(memory: ThinkingMemory) -> None:
    assert said(memory, changed(4, 1, text="off")) is None
    assert said(memory, changed(3, 3, input={})) is None


def test_thinking_may_be_left_out_from_some_place_on_but_not_before_other_thinking(
    memory: ThinkingMemory,
) -> None:
    later = copy.deepcopy(TALK)
    del later[3]["content"][2]
    assert said(memory, later) is None
    del later[3]["content"][0]
    assert said(memory, later) is None
    earlier = copy.deepcopy(TALK)
    del earlier[1]["content"][0]
    words = said(memory, earlier)
    assert words is not None
    assert words.startswith("messages.3.content.0: Invalid `signature` in `thinking` block.")
    assert words.endswith(
        "The `thinking` block that preceded this one when it was created is missing from this request."
    )


def test_other_words_under_a_known_signature_are_refused(memory: ThinkingMemory) -> None:
    assert said(memory, changed(3, 0, thinking="2"), binds=False) == (
        "messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message "
        "cannot be modified. These blocks must remain as they were in the original response."
    )
    assert said(memory, changed(1, 0, thinking="1"), binds=False) == (
        "messages.1.content.0: Invalid `signature` in `thinking` block"
    )


def test_a_thought_may_be_known_from_two_conversations(memory: ThinkingMemory) -> None:
    other = changed(0, 0, text="ho")
    assert said(memory, other) is not None
    memory.learn(other)
    assert said(memory, other) is None
    assert said(memory, TALK) is None


def test_redacted_thinking_is_bound_by_its_data() -> None:
    sealed = {"type": "redacted_thinking", "data": "abc"}
    memory = ThinkingMemory()
    memory.learn([user("hi"), answer(sealed, "a")])
    assert said(memory, [user("hi"), answer(sealed, "a"), user("b")]) is None
    words = said(memory, [user("ho"), answer(sealed, "a"), user("b")])
    assert words is not None
    assert words.startswith(
        "messages.1.content.0: Invalid `signature` in `redacted_thinking` block. The block is"
    )
