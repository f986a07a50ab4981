"""A request is over in time whatever the other side does, and it is known whether it can have arrived."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from clew.trace.retrying import Waits, judge, retry_after
from clew.trace.transport import Answer, Line, NoAnswerError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


@contextmanager
def serving(behave: Callable[[socket.socket], None]) -> Generator[str]:
    """A server that does with each connection what it is told."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = threading.Event()

        def serve() -> None:
            while not over.is_set():
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    try:
                        behave(connection)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1/traces"
        over.set()
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def post(url: str, body: bytes = b"x", seconds: float = 0.5) -> Answer:
    line = Line(url, environ={})
    try:
        return line.post(body, {}, deadline=time.monotonic() + seconds)
    finally:
        line.close()


def read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < size:
        body += connection.recv(65536)
    return data


def slowly(*pieces: bytes, pause: float = 0.05) -> Callable[[socket.socket], None]:
    def behave(connection: socket.socket) -> None:
        read_request(connection)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause)

    return behave


def hang(_connection: socket.socket) -> None:
    time.sleep(2)


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


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


def test_only_some_answers_are_tried_again() -> None:
    verdicts = {status: judge(Answer(status, {})) for status in range(200, 600)}
    assert {status for status, verdict in verdicts.items() if verdict == "again"} == {429, 502, 503, 504}
    assert {status for status, verdict in verdicts.items() if verdict == "accepted"} == set(range(200, 300))
    assert verdicts[413] == "too_large"
    assert verdicts[401] == verdicts[404] == verdicts[301] == "hopeless"
    assert verdicts[500] == "failed"


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 40.0),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
        ("9" * 400, 86_400.0 * 366),
    ],
)
def test_how_long_to_wait_is_told_in_seconds_or_as_a_date(told: str, seconds: float | None) -> None:
    assert retry_after(Answer(429, {"retry-after": told}), now=60.0) == seconds


def test_waits_grow_and_never_fall_below_what_was_told() -> None:
    waits = Waits(first=1.0, draw=lambda: 0.5)
    assert [waits.next() for _ in range(7)] == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert waits.next(100.0) >= 100.0
    waits.reset()
    assert waits.next() == 1.0
