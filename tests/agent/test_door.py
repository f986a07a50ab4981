"""What passes is tried again, what has begun is not, and whoever wants to stop is heard."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from clew.agent.api_errors import (
    ApiBusyError,
    ApiError,
    ApiRefusedError,
    ConnectionLostError,
    KeyRefusedError,
    TooLongError,
)
from clew.agent.cancel import Cancel, CancelledError
from clew.agent.door import Door
from clew.agent.keys import Key
from clew.agent.standin import Failure, Pace, Raw, Reply, Silence, StandIn, text, thinking, tool_use
from clew.agent.stream_events import BlockEnded, Ended, Event, OtherEvent, Piece, Started
from clew.agent.trying import Patience, Waiting
from clew.net.connecting import connect
from tests.agent.streams import ODD, begin, end, sent, start, words

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from clew.agent.standin import Scripted

SECRET = "sk-ant-very-secret-0123456789"
KEY = Key(SECRET)
ASK = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
QUICK = Patience(tries=4, total=20, first_wait=0.01, longest_wait=0.02, idle=2, answer=10, whole=2)


@contextmanager
def opened(url: str, *, patience: Patience = QUICK, environ: dict[str, str] | None = None) -> Generator[Door]:
    with Door(url, KEY, user_agent="clew/0", environ=environ or {}, patience=patience) as door:
        yield door


def hear(script: Sequence[Scripted], *, patience: Patience = QUICK) -> tuple[list[Event], StandIn]:
    with StandIn(script) as api, opened(api.url, patience=patience) as door:
        return list(door.stream(ASK)), api


def content(events: Sequence[Event]) -> list[dict[str, Any]]:
    return [event.block for event in events if isinstance(event, BlockEnded)]


BLOCKS = (
    thinking("hm", signature="c2ln"),
    text("words \U0001f9f5 of several scripts: \u6f22"),
    tool_use("Read", {"file_path": "/x", "n": [1, {"a": None}]}, call_id="t1"),
    {"type": "redacted_thinking", "data": "abc"},
)


@pytest.mark.parametrize("piece", [None, 1, 3])
def test_an_answer_comes_block_by_block(piece: int | None) -> None:
    events, api = hear([Reply(BLOCKS, message_id="msg_1", pace=Pace(piece=piece))])
    assert content(events) == [dict(block) for block in BLOCKS]
    assert isinstance(events[0], Started)
    assert (events[0].message_id, events[0].model) == ("msg_1", "m")
    assert events[0].request_id == "req_standin_000000"
    assert isinstance(events[-1], Ended)
    assert events[-1].stop_reason == "tool_use"
    request = api.requests[0]
    assert request.body == {**ASK, "stream": True}
    told = {name: request.headers.get(name) for name in ("x-api-key", "anthropic-version", "user-agent")}
    assert told == {"x-api-key": SECRET, "anthropic-version": "2023-06-01", "user-agent": "clew/0"}


def test_a_piece_is_told_before_the_next_has_come() -> None:
    with (
        StandIn([Reply((text("abc"),), pace=Pace(between=0.15, piece=1))]) as api,
        opened(api.url) as door,
    ):
        at = [time.monotonic() for event in door.stream(ASK) if isinstance(event, Piece)]
    assert len(at) == 3
    assert at[1] - at[0] > 0.1
    assert at[2] - at[1] > 0.1


def test_betas_and_a_bearer_go_into_the_headers() -> None:
    with StandIn() as api:
        key = Key(SECRET, "bearer")
        with Door(
            f"{api.url}/", key, user_agent="c", environ={"ANTHROPIC_CUSTOM_HEADERS": "X-Team: a\nbad"}
        ) as door:
            list(door.stream({**ASK, "betas": ["a-1", "b-2"]}))
        request = api.requests[0]
    assert "betas" not in request.body
    assert request.headers["anthropic-beta"] == "a-1,b-2"
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert request.headers["x-team"] == "a"
    assert "x-api-key" not in request.headers


def test_an_address_with_a_path_keeps_it() -> None:
    with StandIn() as api, opened(f"{api.url}/gateway/") as door:
        with pytest.raises(ApiRefusedError):
            door.count_tokens(ASK)
        assert api.requests[0].path == "/gateway/v1/messages/count_tokens"


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_passes_is_tried_again(status: int) -> None:
    waits: list[Waiting] = []
    with StandIn([Failure(status, message="busy")] * 2) as api, opened(api.url) as door:
        events = list(door.stream(ASK, waiting=waits.append))
        count = len(api.requests)
    assert content(events) == [{"type": "text", "text": "ok"}]
    assert count == 3
    assert [(wait.attempt, wait.tries) for wait in waits] == [(1, 4), (2, 4)]
    assert all(str(status) in wait.reason and "busy" in wait.reason for wait in waits)


@pytest.mark.parametrize("status", [429, 500, 529])
def test_what_does_not_pass_is_given_up(status: int) -> None:
    with StandIn(default=Failure(status)) as api, opened(api.url) as door:
        with pytest.raises(ApiBusyError, match="after 4 tries") as caught:
            list(door.stream(ASK))
        assert len(api.requests) == 4
    assert (caught.value.status, caught.value.exit_code) == (status, 1)
    assert caught.value.request_id == "req_standin_000003"


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(400, "invalid_request_error", "messages: bad"), ApiRefusedError),
        (Failure(401, "authentication_error", "invalid x-api-key"), KeyRefusedError),
        (Failure(403, "permission_error", "no"), KeyRefusedError),
        (Failure(404, "not_found_error", "model: x"), ApiRefusedError),
        (Failure(413, "request_too_large", "Request exceeds the maximum size"), TooLongError),
        (Failure(400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000"), TooLongError),
        (Failure(301, "x", "moved"), ApiRefusedError),
        (Failure(529, headers={"x-should-retry": "false"}), ApiBusyError),
    ],
)
def test_what_is_refused_is_not_tried_again(failure: Failure, kind: type[ApiError]) -> None:
    with StandIn(default=failure) as api, opened(api.url) as door:
        with pytest.raises(kind, match=failure.message) as caught:
            list(door.stream(ASK))
        assert len(api.requests) == 1
    assert type(caught.value) is kind
    assert caught.value.status == failure.status


def test_an_api_is_left_alone_for_as_long_as_it_says() -> None:
    began = time.monotonic()
    hear([Failure(429, retry_after=0.4)])
    assert time.monotonic() - began > 0.4


def test_an_api_that_wants_to_be_left_alone_for_long_is_not_waited_for() -> None:
    with StandIn([Failure(429, retry_after=3600)]) as api, opened(api.url) as door:
        began = time.monotonic()
        with pytest.raises(ApiBusyError) as caught:
            list(door.stream(ASK))
        assert time.monotonic() - began < 1
    assert caught.value.retry_after == 3600
    assert "60 minutes" in (caught.value.hint or "")


def test_waits_grow_and_differ() -> None:
    waits: list[float] = []
    patience = Patience(tries=6, first_wait=0.01, longest_wait=0.05, total=20)
    with StandIn(default=Failure(500)) as api:
        door = Door(api.url, KEY, user_agent="c", environ={}, patience=patience, draw=lambda: 0.5)
        with door, pytest.raises(ApiBusyError):
            list(door.stream(ASK, waiting=lambda wait: waits.append(round(wait.seconds, 4))))
    assert waits == [0.01, 0.02, 0.04, 0.05, 0.05]


def test_an_answer_that_never_began_is_asked_for_again() -> None:
    events, api = hear(
        [
            Silence(drops=True),
            Reply((text("lost"),), pace=Pace(cut_after=0)),
            Reply((text("lost"),), pace=Pace(cut_after=0, then="error")),
        ]
    )
    assert content(events) == [{"type": "text", "text": "ok"}]
    assert len(api.requests) == 4


@pytest.mark.parametrize("after", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("then", ["drop", "hang", "error"])
def test_an_answer_that_began_is_never_asked_for_again(after: int, then: Any) -> None:
    reply = Reply((text("a"), text("b")), pace=Pace(cut_after=after, then=then))
    patience = Patience(tries=4, first_wait=0.01, idle=0.2)
    events: list[Event] = []
    with StandIn([reply]) as api, opened(api.url, patience=patience) as door:
        with pytest.raises(ConnectionLostError) as caught:
            events.extend(door.stream(ASK))
        assert len(api.requests) == 1
    assert caught.value.is_begun
    assert isinstance(events[0], Started)
    assert content(events) == [{"type": "text", "text": "a"}] * (after >= 4)


def test_nobody_there_is_told_after_the_tries() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with (
        opened(f"http://127.0.0.1:{port}") as door,
        pytest.raises(ConnectionLostError, match="after 4 tries: the connection was refused") as caught,
    ):
        list(door.stream(ASK))
    assert not caught.value.is_begun


@pytest.mark.parametrize(
    "answer",
    [
        Silence(),
        Reply((text("abc"),), pace=Pace(cut_after=2, then="hang")),
        Failure(429, retry_after=5),
        Failure(500, pace=Pace(before=5)),
        Reply((text("a" * 1000),), pace=Pace(between=0.01, piece=1)),
        Raw((b"{", b"}"), "application/json", pace=Pace(between=3)),
    ],
    ids=[
        "before an answer",
        "in the middle",
        "between two tries",
        "before a refusal",
        "in the flow",
        "in JSON",
    ],
)
def test_a_wish_to_stop_is_heard_at_once(answer: Any) -> None:
    cancel = Cancel()
    with StandIn([answer]) as api, opened(api.url, patience=Patience()) as door:
        timer = threading.Timer(0.2, cancel.ask)
        timer.start()
        began = time.monotonic()
        with pytest.raises(CancelledError):
            list(door.stream(ASK, cancel=cancel))
        assert time.monotonic() - began < 0.7
        timer.join()
        assert len(api.requests) == 1


def test_whoever_stops_listening_hangs_up() -> None:
    with (
        StandIn([Reply((text("abc"),), pace=Pace(cut_after=2, then="hang"))]) as api,
        opened(api.url) as door,
    ):
        events = door.stream(ASK)
        assert isinstance(next(events), Started)
        events.close()
        assert content(list(door.stream(ASK))) == [{"type": "text", "text": "ok"}]


def test_many_may_ask_at_once() -> None:
    replies = [Reply((text(f"{n}" * 50),), pace=Pace(between=0.002, piece=1)) for n in range(8)]
    heard: list[str] = []
    with StandIn(replies) as api, opened(api.url) as door:

        def ask() -> None:
            heard.append("".join(e.text for e in door.stream(ASK) if isinstance(e, Piece)))

        threads = [threading.Thread(target=ask) for _ in replies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(heard) == [f"{n}" * 50 for n in range(8)]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_however_a_stream_is_cut_it_tells_the_same(name: str, size: int) -> None:
    data = sent(*ODD[name])
    pieces = tuple(data[at : at + size] for at in range(0, len(data), size))
    events, _ = hear([Raw(pieces)])
    whole, _ = hear([Raw((data.replace(b"\n", b"\r\n"),))])
    assert events[1:] == whole[1:]
    assert isinstance(events[-1], Ended)


@pytest.mark.parametrize(
    "tail", [b"", b"data: [DONE]\n\n", b": bye\n\n", sent({"type": "ping"}), b"data: {broken\n\n"]
)
def test_what_comes_after_the_end_is_not_heard(tail: bytes) -> None:
    events, _ = hear([Raw((sent(start(), *words("a"), *end()) + tail,))])
    assert isinstance(events[-1], Ended)


def test_an_event_that_is_no_json_breaks_an_answer_off() -> None:
    with pytest.raises(ConnectionLostError, match="no JSON"):
        hear([Raw((sent(start()) + b"data: {broken\n\n",))])


def test_an_answer_that_was_not_streamed_is_told_all_the_same() -> None:
    whole = {**start()["message"], "content": [{"type": "text", "text": "a"}], "stop_reason": "end_turn"}
    events, _ = hear([Raw((json.dumps(whole).encode(),), "application/json")])
    assert content(events) == whole["content"]
    assert isinstance(events[-1], Ended)


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"<html>", "text/html"), (b"[]", "application/json"), (b"", ""), (b'{"a": 1}', "application/json")],
)
def test_something_else_at_that_address_is_told(body: bytes, kind: str) -> None:
    with pytest.raises(ApiRefusedError, match="not the Messages API"):
        hear([Raw((body,), kind)])


def test_an_error_that_calls_itself_a_success_is_an_error() -> None:
    body = json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}).encode()
    with pytest.raises(ApiRefusedError, match="no"):
        hear([Raw((body,), "application/json")])


def test_a_refusal_in_a_stream_is_a_refusal() -> None:
    failed = {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}}
    with pytest.raises(TooLongError):
        hear([Raw((sent(failed),))])


def test_unknown_events_reach_the_caller() -> None:
    events, _ = hear([Raw((sent(start(), {"type": "news", "a": [1]}, begin(0, type="x", b=2), *end()),))])
    assert OtherEvent("news", {"type": "news", "a": [1]}) in events
    assert content(events) == [{"type": "x", "b": 2}]


def test_a_message_comes_whole_and_tokens_are_counted() -> None:
    with StandIn([Failure(529), Reply(BLOCKS)]) as api, opened(api.url) as door:
        message = door.message({**ASK, "stream": True})
        counted = door.count_tokens({**ASK, "stream": True})
        bodies = [request.body for request in api.requests]
    assert message["content"] == [dict(block) for block in BLOCKS]
    assert counted > 0
    assert bodies[1] == ASK
    assert "max_tokens" not in bodies[2]


def test_a_strict_api_takes_half_characters_as_the_door_writes_them() -> None:
    ask = {**ASK, "messages": [{"role": "user", "content": "a\ud83d b\ud83d\ude00"}]}
    with StandIn(strict=True) as api, opened(api.url) as door:
        list(door.stream(ask))
        assert api.requests[0].body["messages"] == [{"role": "user", "content": "a\ufffd b\U0001f600"}]
        assert not api.refusals
    assert ask["messages"] == [{"role": "user", "content": "a\ud83d b\ud83d\ude00"}]


def test_the_key_is_shown_nowhere() -> None:
    said: list[str] = []
    answers = [
        Failure(401, "authentication_error", f"invalid key {SECRET}"),
        Failure(400, "invalid_request_error", f"bad {SECRET}" * 40),
        Raw((sent({"type": "error", "error": {"type": "permission_error", "message": SECRET}}),)),
        Raw((b"x",), f"text/{SECRET}"),
        Raw((SECRET.encode() * 100,), "text/plain", status=418),
    ]
    with StandIn(answers) as api, opened(api.url) as door:
        said += [repr(door), repr(KEY), str(KEY), str(vars(door).keys())]
        for _ in answers:
            with pytest.raises(ApiError) as caught:
                list(door.stream(ASK))
            said += [str(caught.value), repr(caught.value), caught.value.hint or ""]
    assert not [words for words in said if SECRET[:12] in words]


def test_a_kept_connection_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    connections: list[socket.socket] = []

    def counted(*given: Any) -> socket.socket:
        connections.append(connect(*given))
        return connections[-1]

    monkeypatch.setattr("clew.net.line.connect", counted)
    with StandIn([Reply(), Reply(), Failure(500)]) as api, opened(api.url) as door:
        for _ in range(4):
            list(door.stream(ASK))
        door.count_tokens(ASK)
    assert len(connections) == 2  # a failure costs one
