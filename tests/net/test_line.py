"""A request is over in time whatever the other side does, and it is known whether it can have arrived."""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest

from clew.net.failing import NoAnswerError
from clew.net.line import Answer, Line
from tests.net.serving import OK, hang, read_request, serving, slowly

if TYPE_CHECKING:
    from collections.abc import Callable


def post(url: str, body: bytes = b"x", seconds: float = 0.5) -> Answer:
    line = Line(url, environ={})
    try:
        return line.post(body, {}, deadline=time.monotonic() + seconds)
    finally:
        line.close()


@pytest.mark.parametrize(
    "behave",
    [
        hang,
        slowly(*(bytes([byte]) for byte in OK * 3)),
        slowly(b"HTTP/1.1 200 OK\r\n", *([b"X: y\r\n"] * 100)),
        slowly(),
        slowly(b"\xff\x00\r\n\r\n"),
    ],
    ids=["hangs", "drips", "never ends its headers", "hangs up", "is no HTTP"],
)
def test_no_answer_comes_in_time_and_a_small_request_may_have_arrived(
    behave: Callable[[socket.socket], None],
) -> None:
    with serving(behave) as url:
        began = time.monotonic()
        with pytest.raises(NoAnswerError) as caught:
            post(url)
        assert time.monotonic() - began < 1.5
        assert caught.value.may_have_arrived


def test_a_request_that_was_not_taken_whole_has_not_arrived() -> None:
    with serving(hang) as url, pytest.raises(NoAnswerError) as caught:
        post(url, b"x" * 50_000_000)
    assert not caught.value.may_have_arrived


def test_without_a_connection_nothing_has_arrived() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    for url, said in (
        (f"http://127.0.0.1:{port}/", "refused"),
        ("http://nobody.invalid/", "host"),
        (f"http://127.0.0.1:{port}", "refused"),
    ):
        with pytest.raises(NoAnswerError, match=said) as caught:
            post(url, seconds=5)
        assert not caught.value.may_have_arrived


def test_a_name_that_takes_for_ever_to_find_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(30))  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    began = time.monotonic()
    with pytest.raises(NoAnswerError) as caught:
        post("http://slow.example/")
    over.set()
    assert time.monotonic() - began < 1.5
    assert (caught.value.may_have_arrived, caught.value.is_late) == (False, True)


def test_an_answer_whose_end_is_late_is_an_answer() -> None:
    with serving(slowly(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", b"a", pause=1)) as url:
        assert post(url).status == 200


def test_an_answer_that_comes_before_all_was_read_is_heard() -> None:
    def refuse(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        time.sleep(0.2)

    with serving(refuse) as url:
        assert post(url, b"x" * 20_000_000, seconds=5).status == 413


def test_a_connection_is_kept_and_a_closed_one_is_noticed() -> None:
    connections: list[int] = []

    def twice(connection: socket.socket) -> None:
        connections.append(1)
        for _ in range(2):
            read_request(connection)
            connection.sendall(OK)

    with serving(twice) as url:
        line = Line(url, environ={})
        for _ in range(4):
            assert line.post(b"x", {}, deadline=time.monotonic() + 2).body == b"ok"
            time.sleep(0.02)
        line.close()
    assert len(connections) == 2


def test_a_proxy_is_used_for_others_and_not_for_this_machine() -> None:
    asked: list[bytes] = []

    def proxy(connection: socket.socket) -> None:
        asked.append(read_request(connection))
        connection.sendall(OK)

    with serving(proxy) as url:
        host = url.split("/")[2]
        environ = {"http_proxy": f"http://me:pw@{host}", "no_proxy": "inside.example"}
        line = Line("http://outside.example/v1/traces", environ=environ)
        assert line.post(b"x", {}, deadline=time.monotonic() + 2).status == 200
        line.close()
        assert asked[0].startswith(b"POST http://outside.example/v1/traces HTTP/1.1\r\n")
        assert b"Proxy-Authorization: Basic bWU6cHc=" in asked[0]
        for target in ("http://inside.example/", "http://a.inside.example/"):
            with pytest.raises(NoAnswerError):
                Line(target, environ=environ).post(b"x", {}, deadline=time.monotonic() + 2)
        assert len(asked) == 1


def test_an_answer_that_says_it_is_the_last_is_read_whole() -> None:
    last = b"HTTP/1.1 400 Bad\r\nConnection: close\r\nContent-Length: 5\r\n\r\nwords"
    with serving(slowly(last)) as url:
        line = Line(url, environ={})
        for _ in range(2):
            assert line.post(b"x", {}, deadline=time.monotonic() + 2).body == b"words"
        line.close()


def test_what_cannot_be_sent_is_not_worth_another_try() -> None:
    with serving(slowly(OK)) as url, pytest.raises(NoAnswerError) as caught:
        Line(url, environ={}).post(b"x", {"x-key": "secret\nline"}, deadline=time.monotonic() + 2)
    assert caught.value.is_final
    assert "secret" not in str(caught.value)
