"""Answers that no API should give: the session stays one that can be gone on with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from clew.agent.happenings import Noted
from clew.agent.standin import Reply, text, thinking, tool_use
from clew.agent.tool import Outcome
from tests.agent.looping import Echo, lab
from tests.agent.test_loop import problems, sent

if TYPE_CHECKING:
    from pathlib import Path

    from clew.agent.standin import Block


def echo(words: object = "x", name: str = "1") -> Block:
    return tool_use("Echo", {"words": words}, call_id=f"toolu_{name}")


def nested(depth: int) -> Any:
    found: Any = "x"
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize(
    "blocks",
    [
        (text("a"), echo(), text("b")),
        (echo(), text("b")),
        (text("a"), {"type": "new_thing", "x": 1}, echo()),
        (echo(), echo(name="1")),
        (text(" \n"), echo()),
    ],
)
def test_what_is_sent_next_is_what_the_file_says(tmp_path: Path, blocks: tuple[Block, ...]) -> None:
    with lab(tmp_path, [Reply(blocks), Reply((text("Well."),)), Reply((text("Again."),))]) as one:
        is_new = any(block["type"] == "new_thing" for block in blocks)
        if is_new:  # the API takes none of what it does not know yet: here only that both sides say the same
            with pytest.raises(Exception, match="refuses"):
                one.ask("Go.")
            assert list(one.crew.conversation.messages) == list(one.next_messages())
            return
        assert one.ask("Go.").text == "Well."
        one.agree()
        one.ask("On.")
        one.agree()
        assert problems(one.transcript.path) == []


def test_two_calls_under_one_id_are_one(tmp_path: Path) -> None:
    with lab(tmp_path, [Reply((echo("a"), echo("b"))), Reply((text("Well."),))]) as one:
        assert one.ask("Go.").calls == 1
        one.agree()
        assert [block["content"] for block in sent(one.api.requests[1])[-1]["content"]] == ["a"]
        assert any("under one id" in told.text for told in one.told if isinstance(told, Noted))


@pytest.mark.parametrize("depth", [100, 400, 900])
def test_input_that_nests_too_deep_is_a_failed_call_and_no_lost_session(tmp_path: Path, depth: int) -> None:
    with lab(tmp_path, [Reply((text("So."), echo(nested(depth)))), Reply((text("Well."),))]) as one:
        assert one.ask("Go.").text == "Well."
        one.agree()
        assert problems(one.transcript.path) == []


@pytest.mark.parametrize(
    "odd", [nested(400), object(), {1: 2}, float("nan"), 2**70, b"x", {"a": "\ud800"}, {3}, "\x00\ud800"]
)
def test_results_that_cannot_be_written_as_they_are_do_not_end_the_session(tmp_path: Path, odd: Any) -> None:
    tool = Echo(lambda _given, _work: Outcome("ok \ud800", structured={"a": odd}))
    with lab(tmp_path, [Reply((echo(),)), Reply((text("Well."),))], tools=[tool]) as one:
        assert one.ask("Go.").text == "Well."
        assert not one.api.refusals
        assert problems(one.transcript.path) == []


def test_answers_without_words_are_left_out(tmp_path: Path) -> None:
    script = [
        Reply(()),
        Reply((thinking("Only a thought."),)),
        Reply((text("  "),)),
        Reply((text("Words."),)),
    ]
    with lab(tmp_path, script) as one:
        for number in range(4):
            one.ask(f"Prompt {number}.")
            one.agree()
        assert problems(one.transcript.path) == []
