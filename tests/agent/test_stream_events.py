"""What a stream tells, put together, is the message; whatever is unknown is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from clew.agent.stream_events import (
    BadStreamError,
    BlockEnded,
    BlockStarted,
    Ended,
    Event,
    Folding,
    OtherEvent,
    Piece,
    Started,
    StreamFailedError,
    told_by,
)
from tests.agent.streams import ODD, Json, begin, call, delta, end, start, stop, words

if TYPE_CHECKING:
    from collections.abc import Sequence


def fold(events: Sequence[Json]) -> list[Event]:
    folding = Folding("req_1")
    return [told for event in events for told in folding.feed(event)]


def blocks(events: Sequence[Event]) -> list[Json]:
    ended = {event.index: event.block for event in events if isinstance(event, BlockEnded)}
    return [ended[index] for index in sorted(ended)]


def one_block(*events: Json) -> BlockEnded:
    (found,) = (each for each in fold([start(), *events, *end()]) if isinstance(each, BlockEnded))
    return found


def test_a_message_is_told_from_its_start_to_its_end() -> None:
    told = fold([start(), *words("Hi."), *call('{"a": 1}', 1), *end("tool_use", input_tokens=None)])
    usage = {"input_tokens": 7, "output_tokens": 1, "cache_read_input_tokens": 3}
    assert isinstance(told[0], Started)
    assert (told[0].message_id, told[0].model, told[0].request_id) == ("msg_1", "m", "req_1")
    assert told[0].usage == usage
    assert told[1:] == [
        BlockStarted(0, {"type": "text", "text": ""}),
        Piece(0, "text", "Hi."),
        BlockEnded(0, {"type": "text", "text": "Hi."}),
        BlockStarted(1, {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}),
        Piece(1, "input", '{"a'),
        Piece(1, "input", '": 1}'),
        BlockEnded(1, {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"a": 1}}),
        Ended("tool_use", None, {**usage, "output_tokens": 9}),
    ]


@pytest.mark.parametrize("name", ODD)
def test_pieces_and_blocks_say_the_same(name: str) -> None:
    told = fold(ODD[name])
    assert isinstance(told[0], Started)
    assert isinstance(told[-1], Ended)
    for block in (event for event in told if isinstance(event, BlockStarted)):
        seen = "".join(e.text for e in told if isinstance(e, Piece) and e.index == block.index)
        whole = next(e for e in told if isinstance(e, BlockEnded) and e.index == block.index).block
        if whole["type"] in {"text", "thinking"}:
            assert whole[whole["type"]] == block.block[whole["type"]] + seen


@pytest.mark.parametrize(
    "written",
    ['{"a": ', "[1]", "1", '"x"', "null", '{"a": NaN}', '{"a": 1e999}', "{'a': 1}", '{"a":' * 2000,
     '{"a": %s}' % ("9" * 5000)],
)  # fmt: skip
def test_input_that_is_no_object_is_handed_on_as_it_was_written(written: str) -> None:
    ended = one_block(*call(written))
    assert ended.broken_input == written
    assert ended.block["input"] == {}


@pytest.mark.parametrize(
    ("written", "given"),
    [
        ("", {}),
        ("  ", {}),
        ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        ('{"a": ["\\ud83d"], "\\ude00": 0.1}', {"a": ["\ufffd"], "\ufffd": 0.1}),
        ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_input_is_what_was_written(written: str, given: Json) -> None:
    ended = one_block(*call(written))
    assert (ended.broken_input, ended.block["input"]) == (None, given)


@pytest.mark.parametrize("announced", [{"a": 1}, None, "x"])
def test_input_that_came_with_the_start_of_a_block_is_kept_if_it_is_any(announced: object) -> None:
    block = one_block(begin(0, type="tool_use", id="t", name="n", input=announced), stop(0)).block
    assert block["input"] == (announced if isinstance(announced, dict) else {})


def test_a_character_in_two_halves_is_one() -> None:
    halves = [delta(0, "text_delta", text=each) for each in ("a\ud83d", "\ude00b", "\ud83d")]
    told = fold([start(), begin(0, type="text", text=""), *halves, stop(0), *end()])
    assert [e.text for e in told if isinstance(e, Piece)] == ["a", "\U0001f600b", "\ufffd"]
    assert blocks(told) == [{"type": "text", "text": "a\U0001f600b\ufffd"}]


def test_what_is_unknown_is_kept_and_told_whole() -> None:
    strange = {"type": "hologram", "frames": [1], "note": "a"}
    told = fold(
        [
            start(container={"id": "c"}),
            {"type": "weather", "rain": True},
            begin(0, **strange),
            delta(0, "note_delta", note="b"),
            delta(0, "frames_delta", frames=[2]),
            stop(0),
            *end(),
        ]
    )
    assert isinstance(told[0], Started)
    assert told[0].message["container"] == {"id": "c"}
    assert OtherEvent("weather", {"type": "weather", "rain": True}) in told
    delta_told: Json = {"index": 0, "delta": {"type": "note_delta", "note": "b"}}
    assert OtherEvent("note_delta", delta_told) in told
    assert blocks(told) == [{"type": "hologram", "frames": [2], "note": "ab"}]


def test_the_end_of_a_message_keeps_what_else_it_says() -> None:
    changed: Json = {
        "type": "message_delta",
        "delta": {"stop_reason": "stop_sequence", "stop_sequence": "X", "container": {"id": "c"}},
        "usage": {"output_tokens": 2},
        "context_management": {"applied_edits": []},
    }
    (*_, ended) = fold([start(), changed, {"type": "message_stop"}])
    assert isinstance(ended, Ended)
    assert (ended.stop_reason, ended.stop_sequence) == ("stop_sequence", "X")
    assert ended.more == {"container": {"id": "c"}, "context_management": {"applied_edits": []}}


def test_a_message_that_stopped_is_whole_without_its_last_event() -> None:
    folding = Folding()
    told = [t for event in [start(), *words("a")[:2], end()[0]] for t in folding.feed(event)]
    told += folding.end()
    assert blocks(told) == [{"type": "text", "text": "a"}]
    assert isinstance(told[-1], Ended)
    assert list(folding.end()) == []
    assert list(folding.feed({"type": "anything"})) == []


@pytest.mark.parametrize("events", [[], [start()], [start(), *words("a")]])
def test_a_message_that_did_not_stop_is_not_whole(events: list[Json]) -> None:
    folding = Folding()
    for event in events:
        list(folding.feed(event))
    with pytest.raises(BadStreamError):
        list(folding.end())


@pytest.mark.parametrize(
    "events",
    [
        [start(), start()],
        [begin(0, type="text", text="")],
        [*end()],
        [{"type": "message_stop"}],
        [start(), delta(0, "text_delta", text="a")],
        [start(), begin(0, type="text", text=""), begin(0, type="text", text="")],
        [start(), {"type": "content_block_start", "index": "0", "content_block": {}}],
        [start(), {"type": "content_block_delta", "index": True, "delta": {}}],
    ],
)
def test_what_is_no_stream_of_a_message_is_refused(events: list[Json]) -> None:
    with pytest.raises(BadStreamError):
        fold(events)


@pytest.mark.parametrize("value", [None, [], "x", 5])
def test_values_of_other_types_do_no_harm(value: Any) -> None:
    events: list[Json] = [
        {"type": "message_start", "message": value},
        {"type": "content_block_start", "index": 0, "content_block": value},
        {"type": "content_block_delta", "index": 0, "delta": value},
        delta(0, "text_delta", text=value if value != "x" else None),
        delta(0, "input_json_delta", partial_json=value if value != "x" else None),
        {"type": "content_block_stop", "index": 0},
        {"type": value},
        {"type": "message_delta", "delta": value, "usage": value},
        {"type": "message_stop"},
    ]
    assert isinstance(fold(events)[-1], Ended)


def test_an_error_in_a_stream_is_raised() -> None:
    failed: Json = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with pytest.raises(StreamFailedError) as caught:
        fold([start(), failed])
    assert (caught.value.kind, caught.value.words) == ("overloaded_error", "Overloaded")


def test_a_message_that_came_whole_is_told_alike() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}}]
    message: Json = {
        **start()["message"], "content": content, "stop_reason": "tool_use", "container": {"id": "c"},
    }  # fmt: skip
    told = list(told_by(message, "req_1"))
    assert blocks(told) == content
    assert told[-1] == Ended("tool_use", None, message["usage"], {"container": {"id": "c"}})
