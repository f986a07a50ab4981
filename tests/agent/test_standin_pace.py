"""The stand-in is as slow, as broken and as silent as it is told, and ends all the same."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from clew.agent.standin import Failure, Pace, Raw, Reply, Silence, StandIn, text

if TYPE_CHECKING:
    from pathlib import Path

    from clew.agent.standin import Answer, Request

ASK = {"model": "m", "max_tokens": 5, "stream": True, "messages": [{"role": "user", "content": "hi"}]}


def connected(api: StandIn, timeout: float = 5) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(api.url).netloc, timeout=timeout)


def ask(api: StandIn, body: Any = ASK) -> tuple[http.client.HTTPResponse, bytes]:
    connection = connected(api)
    try:
        connection.request("POST", "/v1/messages", json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def test_events_keep_their_distance() -> None:
    with StandIn([Reply((text("abcdef"),), pace=Pace(before=0.1, between=0.05, piece=2))]) as api:
        began = time.monotonic()
        _, body = ask(api)
        took = time.monotonic() - began
    assert body.count(b"event: content_block_delta") == 3
    assert 0.1 + 8 * 0.05 < took < 3


def cut_short(pace: Pace) -> bytes:
    with (
        StandIn([Reply((text("a"),), pace=pace)]) as api,
        pytest.raises(http.client.IncompleteRead) as caught,
    ):
        ask(api)
    return caught.value.partial


def test_a_stream_is_cut_after_so_many_events() -> None:
    assert cut_short(Pace(cut_after=2)).count(b"event:") == 2


def test_a_stream_can_end_with_an_error() -> None:
    error = b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error"'
    assert error in cut_short(Pace(cut_after=1, then="error"))


def test_silence_drops_or_hangs() -> None:
    with StandIn([Silence(drops=True), Silence()]) as api:
        with pytest.raises(http.client.RemoteDisconnected):
            ask(api)
        connection = connected(api, timeout=0.2)
        connection.request("POST", "/v1/messages", json.dumps(ASK))
        with pytest.raises(TimeoutError):
            connection.getresponse()
        connection.close()
        assert ask(api)[0].status == 200


@pytest.mark.parametrize(
    "answer",
    [Silence(), Reply((text("a"),), pace=Pace(cut_after=1, then="hang")), Reply(pace=Pace(before=60)),
     Reply((text("a" * 99),), pace=Pace(between=60)), Reply()],
    ids=["silent", "hanging", "late", "slow", "kept open"],
)  # fmt: skip
def test_it_ends_at_once_whatever_it_is_about_and_leaves_no_thread(answer: Answer) -> None:
    before = set(threading.enumerate())
    with StandIn([answer]) as api:
        connection = connected(api)
        connection.request("POST", "/v1/messages", json.dumps(ASK))
        while not api.requests:
            time.sleep(0.01)
        began = time.monotonic()
    assert time.monotonic() - began < 1
    connection.close()
    assert set(threading.enumerate()) <= before


def test_a_failure_says_when_to_come_back_and_every_answer_has_its_id() -> None:
    with StandIn([Failure(429, retry_after=2.5, headers={"x-should-retry": "true"})]) as api:
        failed, _ = ask(api)
        answered, _ = ask(api)
    assert failed.headers["retry-after"] == "2.5"
    assert failed.headers["x-should-retry"] == "true"
    assert (failed.headers["request-id"], answered.headers["request-id"]) == (
        "req_standin_000000",
        "req_standin_000001",
    )


def test_bytes_are_sent_as_they_are() -> None:
    with StandIn([Raw((b"\xff", b"", b"abc"), "x/y", 201)]) as api:
        answer, body = ask(api)
    assert (answer.status, answer.headers["content-type"], body) == (201, "x/y", b"\xffabc")


def test_an_old_client_gets_a_stream_without_chunks() -> None:
    body = json.dumps(ASK).encode()
    with (
        StandIn([Reply((text("a"),))]) as api,
        socket.create_connection(("127.0.0.1", urlsplit(api.url).port or 0), 5) as old,
    ):
        old.sendall(b"POST /v1/messages HTTP/1.0\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        data = b""
        while piece := old.recv(4096):
            data += piece
    head, _, told = data.partition(b"\r\n\r\n")
    assert b"chunked" not in head
    assert told.startswith(b"event: message_start")
    assert told.endswith(b"\n\n")


@pytest.mark.parametrize("size", ["x", "-1", str(1 << 40), "9" * 5000])
def test_a_length_that_is_none_is_refused_without_reading(size: str) -> None:
    with (
        StandIn() as api,
        socket.create_connection(("127.0.0.1", urlsplit(api.url).port or 0), 5) as rude,
    ):
        rude.sendall(f"POST /v1/messages HTTP/1.1\r\ncontent-length: {size}\r\n\r\n".encode())
        assert rude.recv(4096).startswith(b"HTTP/1.1 413 ")
        assert not api.requests


def test_whoever_listens_hears_every_request_and_the_log_has_no_key(tmp_path: Path) -> None:
    heard: list[Answer] = []

    def hear(_: Request, answer: Answer) -> None:
        heard.append(answer)

    log = tmp_path / "log"
    with StandIn(strict=True, log=log, heard=hear) as api:
        ask(api)
        ask(api, {**ASK, "messages": []})
    assert [type(answer) for answer in heard] == [Reply, Failure]
    assert len(log.read_text().splitlines()) == 2
    assert "headers" not in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


def test_models_are_asked_for_in_vain_but_politely() -> None:
    with StandIn() as api:
        connection = connected(api)
        connection.request("GET", "/v1/models")
        answer = connection.getresponse()
        assert json.loads(answer.read()) == {"data": [], "has_more": False, "first_id": None, "last_id": None}
        connection.close()


def test_a_port_can_be_chosen_and_is_free_again() -> None:
    with StandIn() as api:
        port = urlsplit(api.url).port or 0
    with StandIn(port=port) as again:
        assert urlsplit(again.url).port == port
        with pytest.raises(OSError, match="in use"), StandIn(port=port):
            pass
