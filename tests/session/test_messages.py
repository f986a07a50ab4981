"""Messages, put together from the lines they were streamed to."""

from __future__ import annotations

from clew.session.messages import blocks_of, messages, text_of
from tests.builder import MODEL, Builder, call, text, thinking


def kinds(builder: Builder) -> list[list[str | None]]:
    session = builder.session()
    return [[block.type for _, block in blocks_of(session, message)] for message in messages(session)]


def test_lines_with_one_message_id_are_one_message_with_its_blocks_in_order() -> None:
    session = (
        Builder().prompt("Tea?").answer(thinking("kettle"), "Yes.", call("t1"), stop="tool_use").session()
    )
    (message,) = messages(session)
    assert (message.id, message.rows, message.row) == ("msg_1", (1, 2, 3), 1)
    assert (message.model, message.stop_reason) == (MODEL, "tool_use")
    assert [block.type for _, block in blocks_of(session, message)] == ["thinking", "text", "tool_use"]
    assert text_of(session, message) == "Yes."


def test_other_lines_may_stand_between_the_lines_of_a_message() -> None:
    builder = Builder().prompt("Both.").answer(call("t1"), message_id="m", stop="tool_use").result("t1")
    builder.answer(call("t2"), message_id="m", stop="tool_use").result("t2").answer("Done.", message_id="n")
    found = messages(builder.session())
    assert [message.rows for message in found] == [(1, 3), (5,)]


def test_two_messages_with_one_request_id_stay_two() -> None:
    builder = (
        Builder().answer("a", message_id="m1", requestId="r").answer("b", message_id="m2", requestId="r")
    )
    assert [message.id for message in messages(builder.session())] == ["m1", "m2"]
    assert [message.request_id for message in messages(builder.session())] == ["r", "r"]


def test_without_a_message_id_the_request_id_holds_the_lines_together() -> None:
    builder = Builder().answer("a", message_id=None, requestId="r").prompt("no")
    builder.answer("b", message_id=None, requestId="r").answer("c", message_id=None, requestId="s")
    assert [message.rows for message in messages(builder.session())] == [(0, 2), (3,)]


def test_a_request_id_spelled_like_a_message_id_is_another_message() -> None:
    builder = Builder().answer("a", message_id="same").answer("b", message_id=None, requestId="same")
    assert len(messages(builder.session())) == 2


def test_without_any_id_adjacent_lines_are_one_message() -> None:
    builder = Builder().answer("a", "b", message_id=None).meta("house rules").answer("c", message_id=None)
    builder.prompt("next").answer("d", message_id=None).answer("e").answer("f", message_id=None)
    assert [message.rows for message in messages(builder.session())] == [(0, 1, 3), (5,), (6,), (7,)]


def test_every_prompt_and_every_message_with_an_id_ends_a_message_without_one() -> None:
    builder = Builder()
    for _ in range(3):
        builder.answer("a", message_id=None).prompt("x").answer("b", message_id=None).answer("c")
    assert [message.rows for message in messages(builder.session())] == [
        (n,) for n in range(12) if n % 4 != 1
    ]


def test_lines_without_uuids_are_lines_of_their_own() -> None:
    (message,) = messages(Builder(loose=True).answer("a", "b", "c").session())
    assert message.rows == (0, 1, 2)


def test_lines_without_id_of_two_sub_agents_are_not_adjacent() -> None:
    builder = Builder()
    for agent in ("a1", "a1", "a2"):
        builder.answer("x", message_id=None, isSidechain=True, agentId=agent)
    builder.answer("x", message_id=None)
    found = messages(builder.session())
    assert [message.rows for message in found] == [(0, 1), (2,), (3,)]
    assert [(message.agent_id, message.is_sidechain) for message in found] == [
        ("a1", True),
        ("a2", True),
        (None, False),
    ]


def test_an_empty_message_id_is_none() -> None:
    builder = Builder().entry("assistant", message={"id": "", "role": "assistant", "content": []}).prompt("x")
    builder.entry("assistant", message={"id": "", "role": "assistant", "content": []})
    assert len(messages(builder.session())) == 2


def test_a_line_written_again_counts_once_and_its_last_copy_is_read() -> None:
    builder = Builder().prompt("Tea?").answer("Yes.", message_id="m", uuid="a").answer("Two.", message_id="m")
    builder.again(2).entry(
        "assistant", uuid="a", message={"id": "m", "role": "assistant", "content": [text("Yes!")]}
    )
    session = builder.session()
    (message,) = messages(session)
    assert (message.rows, message.row) == ((4, 2), 1)
    assert text_of(session, message) == "Yes!\n\nTwo."


def test_a_block_repeated_on_a_later_line_counts_once() -> None:
    twice = Builder().answer(call("t1"), message_id="m").answer(call("t1"), message_id="m")
    assert kinds(twice) == [["tool_use"]]
    sealed = Builder().answer(thinking("hm"), thinking("hm"), thinking("hm", "other"))
    assert kinds(sealed) == [["thinking", "thinking"]]


def test_two_equal_texts_were_both_said() -> None:
    assert kinds(Builder().answer("Tick.", "Tick.", thinking("", ""), thinking("", ""))) == [
        ["text", "text", "thinking", "thinking"]
    ]


def test_the_usage_is_that_of_the_most_output_and_the_later_line_on_a_tie() -> None:
    assert messages(Builder().answer("a", "b", "c", output=(5, 9, 2)).session())[0].usage_row == 1
    assert messages(Builder().answer("a", "b", "c", output=(9, 2, 9)).session())[0].usage_row == 2


def test_a_message_without_usage_has_no_usage_row() -> None:
    builder = Builder().entry("assistant", message={"id": "m", "role": "assistant", "content": "loose"})
    assert messages(builder.session())[0].usage_row is None


def test_a_usage_nobody_can_believe_counts_as_nothing() -> None:
    builder = Builder().answer("a", message_id="m", output=(7,))
    builder.entry("assistant", message={"id": "m", "role": "assistant", "usage": {"output_tokens": "many"}})
    assert messages(builder.session())[0].usage_row == 0


def test_the_last_reason_given_is_the_reason_a_message_stopped() -> None:
    builder = Builder().answer("a", message_id="m", stop="tool_use").answer("b", message_id="m", stop=None)
    assert messages(builder.session())[0].stop_reason == "tool_use"
    builder.answer("c", message_id="m", stop="end_turn")
    assert messages(builder.session())[0].stop_reason == "end_turn"
    assert messages(Builder().answer("a", stop=None).session())[0].stop_reason is None


def test_the_clients_own_messages_are_marked() -> None:
    builder = Builder().answer("No response requested.", model="<synthetic>")
    builder.answer("API Error", model="<synthetic>", isApiErrorMessage=True).answer("hush", isMeta=True)
    found = messages(builder.session())
    assert [m.is_synthetic for m in found] == [True, True, False]
    assert [m.is_api_error for m in found] == [False, True, False]
    assert [m.is_meta for m in found] == [False, False, True]


def test_a_message_lasts_from_its_first_line_to_its_latest() -> None:
    builder = Builder().answer("a", "b", message_id="m").wait(-3600).answer("c", message_id="m")
    (message,) = messages(builder.session())
    assert message.started is not None
    assert message.ended == message.started + 1000


def test_a_message_without_times_has_none() -> None:
    (message,) = messages(Builder().answer("a", timestamp=...).session())
    assert (message.started, message.ended) == (None, None)


def test_only_the_rows_asked_for_are_put_together() -> None:
    session = Builder().prompt("x").answer("a", "b", message_id="m").session()
    assert messages(session, [0, 2])[0].rows == (2,)
