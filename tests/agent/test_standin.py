"""The stand-in Messages API, over real sockets."""

from __future__ import annotations

import http.client
import json
import socket
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import pytest

from clew.agent.standin import Failure, Reply, Request, StandIn, text, thinking, tool_use

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ASK: dict[str, object] = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}


def send(
    api: StandIn, body: object = ASK, *, path: str = "/v1/messages", method: str = "POST"
) -> tuple[int, str, str]:
    """Send one request; return the status, the content type and the body."""
    connection = http.client.HTTPConnection(urlsplit(api.url).netloc, timeout=5)
    try:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, raw, {"content-type": "application/json", "X-Thing": "Kept"})
        answer = connection.getresponse()
        return answer.status, answer.headers.get("content-type", ""), answer.read().decode()
    finally:
        connection.close()


def said(answer: tuple[int, str, str]) -> Mapping[str, object]:
    return cast("dict[str, object]", json.loads(answer[2]))


def streamed(answer: tuple[int, str, str]) -> list[tuple[str, dict[str, object]]]:
    """The events of a stream, name and data."""
    out: list[tuple[str, dict[str, object]]] = []
    for event in answer[2].strip().split("\n\n"):
        name, data = event.split("\n")
        out.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return out


def test_replies_come_in_the_order_of_the_script_and_then_the_default() -> None:
    script = [Reply((text("one"),)), Reply((text("two"),))]
    with StandIn(script, default=Reply((text("later"),))) as api:
        words = [said(send(api))["content"] for _ in range(4)]
    assert words == [[{"type": "text", "text": each}] for each in ("one", "two", "later", "later")]


def test_a_message_has_the_shape_of_the_api() -> None:
    with StandIn([Reply((text("hello"),), usage={"input_tokens": 7, "output_tokens": 3})]) as api:
        answer = send(api)
    assert answer[:2] == (200, "application/json")
    assert said(answer) == {
        "id": "msg_standin_000000",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "hello"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 3},
    }


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply((text("x"),)), "end_turn"),
        (Reply((text("x"), tool_use("Bash", {}, call_id="t1"))), "tool_use"),
        (Reply((tool_use("Bash", {}, call_id="t1"),), stop_reason="max_tokens"), "max_tokens"),
        (Reply(), "end_turn"),
    ],
)
def test_the_stop_reason_follows_from_the_content_unless_given(reply: Reply, reason: str) -> None:
    assert reply.reason == reason


def test_a_stream_tells_the_same_message_as_the_whole_reply() -> None:
    blocks = (
        thinking("hm", signature="c2ln"),
        text("words"),
        tool_use("Read", {"file_path": "/x"}, call_id="t1"),
        {"type": "redacted_thinking", "data": "abc"},
    )
    with StandIn([Reply(blocks, message_id="msg_1")]) as api:
        answer = send(api, {**ASK, "stream": True})
    assert answer[:2] == (200, "text/event-stream")
    events = streamed(answer)
    assert all(data["type"] == name for name, data in events)
    assert [name for name, _ in events if not name.startswith("content_block")] == [
        "message_start",
        "message_delta",
        "message_stop",
    ]
    assert cast("dict[str, object]", events[0][1]["message"])["id"] == "msg_1"
    assert rebuilt(events) == [dict(block) for block in blocks]
    assert events[-2][1]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}


def rebuilt(events: list[tuple[str, dict[str, object]]]) -> list[dict[str, object]]:
    """Put the blocks of a stream together, as a client does."""
    blocks: list[dict[str, object]] = []
    for name, data in events:
        if name == "content_block_start":
            blocks.append(dict(cast("dict[str, object]", data["content_block"])))
        elif name == "content_block_delta":
            delta = cast("dict[str, str]", data["delta"])
            block = blocks[cast(int, data["index"])]
            match delta["type"]:
                case "input_json_delta":
                    block["input"] = json.loads(delta["partial_json"])
                case kind:
                    key = kind.removesuffix("_delta")
                    block[key] = cast(str, block[key]) + delta[key]
    return blocks


def test_every_request_is_kept_and_logged(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with StandIn(log=log) as api:
        send(api)
        send(api, path="/v1/messages/count_tokens?beta=true")
        requests = api.requests
    assert [(r.number, r.method, r.path) for r in requests] == [
        (0, "POST", "/v1/messages"),
        (1, "POST", "/v1/messages/count_tokens"),
    ]
    assert requests[0].body == ASK
    assert requests[0].headers["x-thing"] == "Kept"
    logged = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(entry["path"], entry["body"]) for entry in logged] == [(r.path, r.body) for r in requests]


def test_a_failure_is_answered_with_its_status_and_kind() -> None:
    with StandIn([Failure(529, "overloaded_error", "busy")]) as api:
        answer = send(api, {**ASK, "stream": True})
        assert said(send(api))["stop_reason"] == "end_turn"
    assert answer[0] == 529
    assert said(answer) == {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}


def test_tokens_are_counted_roughly_without_using_up_the_script() -> None:
    with StandIn([Reply((text("scripted"),))]) as api:
        counted = said(send(api, path="/v1/messages/count_tokens"))
        answer = said(send(api))
    assert cast(int, counted["input_tokens"]) > 0
    assert answer["content"] == [{"type": "text", "text": "scripted"}]


def test_a_request_that_does_not_take_the_script_gets_the_default() -> None:
    def has_tools(request: Request) -> bool:
        return "tools" in request.body

    with StandIn([Reply((text("scripted"),))], takes_script=has_tools) as api:
        title = said(send(api))
        answer = said(send(api, {**ASK, "tools": []}))
    assert title["content"] == [{"type": "text", "text": "ok"}]
    assert answer["content"] == [{"type": "text", "text": "scripted"}]


def test_a_step_of_the_script_may_look_at_the_request() -> None:
    def echo(request: Request) -> Reply:
        return Reply((text(str(request.body["model"])),))

    with StandIn([echo]) as api:
        assert said(send(api))["content"] == [{"type": "text", "text": "m"}]


@pytest.mark.parametrize("body", [b"", b"not json", b"[1]", b"{}", b"[" * 100_000])
def test_a_body_without_messages_is_refused_and_kept_as_it_came(body: bytes) -> None:
    with StandIn() as api:
        answer = send(api, body)
        raw = api.requests[0].raw
    assert answer[0] == 400
    assert raw == body


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_other_paths_are_not_found(method: str) -> None:
    with StandIn() as api:
        status, _, body = send(api, path="/v1/other", method=method)
    assert status == 404
    assert (body == "") == (method == "HEAD")


def test_it_listens_on_loopback_only_while_it_is_open() -> None:
    api = StandIn()
    with pytest.raises(RuntimeError, match="not running"):
        _ = api.url
    with api:
        address = urlsplit(api.url)
        assert address.hostname == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", address.port or 0), 1):
        pass


def test_a_client_that_hangs_up_does_not_stop_the_next(capfd: pytest.CaptureFixture[str]) -> None:
    with StandIn() as api:
        with socket.create_connection(("127.0.0.1", urlsplit(api.url).port or 0)) as rude:
            rude.sendall(b"POST /v1/messages HTTP/1.1\r\ncontent-length: 1000\r\n\r\n{")
        assert send(api)[0] == 200
    assert capfd.readouterr() == ("", "")
