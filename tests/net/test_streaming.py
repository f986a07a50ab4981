"""An answer is handed over as it comes, ends when it must, and can be broken off from anywhere."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
import time
from typing import TYPE_CHECKING

import pytest

from clew.agent.cancel import Cancel
from clew.net.failing import BrokenOffError, NoAnswerError, StreamLostError
from clew.net.line import Line
from tests.net.serving import hang, read_request, serving, slowly

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from clew.net.streaming import Streamed

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Thing: Kept\r\n\r\n"
OPEN_END = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@pytest.fixture
def lines() -> Generator[list[Line]]:
    opened: list[Line] = []
    yield opened
    for line in opened:
        line.close()


def ask(
    url: str,
    lines: list[Line],
    *,
    cancel: Cancel | None = None,
    seconds: float = 5.0,
    idle: float = 5.0,
    line: Line | None = None,
) -> Streamed:
    line = line or Line(url, environ={})
    lines.append(line)
    return line.stream(
        "POST", "/v1", b"{}", {}, deadline=time.monotonic() + seconds, idle=idle, cancel=cancel
    )


def test_a_piece_is_there_when_it_arrives_and_not_when_the_next_does(lines: list[Line]) -> None:
    go = threading.Event()

    def behave(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(HEAD + chunk(b"one"))
        assert go.wait(5)
        connection.sendall(chunk(b"two") + b"0\r\n\r\n")

    with serving(behave) as url, ask(url, lines) as answer:
        assert (answer.status, answer.headers["x-thing"]) == (200, "Kept")
        assert answer.next_piece() == b"one"
        go.set()
        assert b"".join(answer) == b"two"
        assert answer.next_piece() == b""


@pytest.mark.parametrize(
    ("pieces", "came"),
    [
        ((HEAD + chunk(b"abc"),), b"abc"),
        ((HEAD + b"a\r\nabc",), b"abc"),
        ((b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",), b"abc"),
        ((HEAD + b"zz\r\n",), b""),
    ],
    ids=["after a chunk", "in a chunk", "before its length", "no chunk"],
)
def test_an_answer_without_its_end_is_lost(pieces: tuple[bytes, ...], came: bytes, lines: list[Line]) -> None:
    with serving(slowly(*pieces, pause=0)) as url, ask(url, lines) as answer:
        got: list[bytes] = []
        with pytest.raises(StreamLostError) as caught:
            got.extend(answer)
    assert b"".join(got) == came
    assert not caught.value.is_late


def test_an_answer_that_ends_with_the_connection_is_whole(lines: list[Line]) -> None:
    with serving(slowly(OPEN_END, b"abc", pause=0.01)) as url, ask(url, lines) as answer:
        assert b"".join(answer) == b"abc"


@pytest.mark.parametrize("limit", ["idle", "deadline"])
def test_an_answer_that_stops_coming_is_given_up(limit: str, lines: list[Line]) -> None:
    with serving(slowly(HEAD + chunk(b"abc"), pause=1)) as url:
        began = time.monotonic()
        answer = ask(url, lines, idle=0.2 if limit == "idle" else 5, seconds=5 if limit == "idle" else 0.3)
        with pytest.raises(StreamLostError) as caught:
            list(answer)
        assert time.monotonic() - began < 0.9
        assert caught.value.is_late


def test_a_slow_answer_lives_longer_than_the_idle_limit(lines: list[Line]) -> None:
    with (
        serving(slowly(HEAD, *[chunk(b"x")] * 8, b"0\r\n\r\n", pause=0.1)) as url,
        ask(url, lines, idle=0.4) as answer,
    ):
        assert b"".join(answer) == b"x" * 8


def test_no_head_within_the_idle_limit_is_no_answer(lines: list[Line]) -> None:
    with serving(hang) as url, pytest.raises(NoAnswerError) as caught:
        ask(url, lines, idle=0.2)
    assert caught.value.is_late
    assert caught.value.may_have_arrived


def in_a_while(cancel: Cancel, seconds: float = 0.15) -> threading.Timer:
    timer = threading.Timer(seconds, cancel.ask)
    timer.start()
    return timer


@pytest.mark.parametrize(
    "behave",
    [hang, slowly(HEAD + chunk(b"abc"), pause=2), slowly(OPEN_END, b"abc", pause=2)],
    ids=["before the head", "in the middle", "where the end has no sign"],
)
def test_a_wish_to_stop_is_heard_at_once(behave: Callable[[socket.socket], None], lines: list[Line]) -> None:
    cancel = Cancel()
    with serving(behave) as url:
        timer = in_a_while(cancel)
        began = time.monotonic()
        with pytest.raises(BrokenOffError):
            list(ask(url, lines, cancel=cancel))
        assert time.monotonic() - began < 0.6
        timer.join()


def test_a_request_that_is_not_wanted_any_more_is_not_made(lines: list[Line]) -> None:
    cancel = Cancel()
    cancel.ask()
    asked: list[bytes] = []
    with (
        serving(lambda connection: asked.append(read_request(connection))) as url,
        pytest.raises(BrokenOffError),
    ):
        ask(url, lines, cancel=cancel)
    assert not asked


def test_a_connection_that_is_never_made_is_broken_off(lines: list[Line]) -> None:
    cancel = Cancel()
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        # A queue that nobody empties: the next ones wait for an answer to their first packet.
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(("127.0.0.1", port))
        timer = in_a_while(cancel)
        began = time.monotonic()
        with pytest.raises(BrokenOffError):
            ask(f"http://127.0.0.1:{port}", lines, cancel=cancel)
        assert time.monotonic() - began < 0.6
        timer.join()
        for each in waiting:
            each.close()


def test_a_search_for_a_host_is_broken_off(lines: list[Line], monkeypatch: pytest.MonkeyPatch) -> None:
    over, cancel = threading.Event(), Cancel()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(30))  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    timer = in_a_while(cancel)
    began = time.monotonic()
    with pytest.raises(BrokenOffError):
        ask("http://slow.example/", lines, cancel=cancel)
    over.set()
    assert time.monotonic() - began < 0.6
    timer.join()


def test_a_request_too_long_for_the_other_side_is_broken_off_while_it_is_sent(lines: list[Line]) -> None:
    cancel = Cancel()
    with serving(hang) as url:
        line = Line(url, environ={})
        lines.append(line)
        timer = in_a_while(cancel)
        began = time.monotonic()
        with pytest.raises(BrokenOffError):
            line.stream("POST", "/", b"x" * 50_000_000, {}, deadline=began + 20, idle=20, cancel=cancel)
        assert time.monotonic() - began < 1.0
        timer.join()


def test_stopping_after_the_end_changes_nothing(lines: list[Line]) -> None:
    cancel = Cancel()
    with serving(slowly(HEAD + chunk(b"abc") + b"0\r\n\r\n", pause=0)) as url:
        answer = ask(url, lines, cancel=cancel)
        assert b"".join(answer) == b"abc"
        cancel.ask()
        answer.break_off()


def test_the_connection_is_kept_after_an_end_and_given_up_without_one(lines: list[Line]) -> None:
    connections: list[int] = []

    def behave(connection: socket.socket) -> None:
        connections.append(1)
        for _ in range(2):
            read_request(connection)
            connection.sendall(HEAD + chunk(b"abc") + b"0\r\n\r\n")

    with serving(behave) as url:
        line = Line(url, environ={})
        for _ in range(2):
            assert b"".join(ask(url, lines, line=line)) == b"abc"
        assert len(connections) == 1
        with ask(url, lines, line=line) as answer:
            answer.next_piece()
        assert b"".join(ask(url, lines, line=line)) == b"abc"
        assert len(connections) == 3


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    made = folder / "both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", made, "-out", folder / "c.pem", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    made.write_bytes(made.read_bytes() + (folder / "c.pem").read_bytes())
    return made


def secretly(certificate: Path, behave: Callable[[socket.socket], None]) -> Callable[[socket.socket], None]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def serve(connection: socket.socket) -> None:
        try:
            with context.wrap_socket(connection, server_side=True) as secret:
                behave(secret)
        except ssl.SSLError:
            return

    return serve


def test_a_secret_answer_is_streamed_and_broken_off_like_any_other(
    certificate: Path, lines: list[Line]
) -> None:
    cancel = Cancel()
    with serving(secretly(certificate, slowly(HEAD + chunk(b"abc"), pause=2))) as url:
        line = Line(url.replace("http:", "https:"), certificate=str(certificate), environ={})
        answer = ask(url, lines, line=line, cancel=cancel)
        assert answer.next_piece() == b"abc"
        timer = in_a_while(cancel)
        began = time.monotonic()
        with pytest.raises(BrokenOffError):
            answer.next_piece()
        assert time.monotonic() - began < 0.6
        timer.join()


def test_a_handshake_that_never_ends_is_broken_off(certificate: Path, lines: list[Line]) -> None:
    cancel = Cancel()
    with serving(hang) as url:
        timer = in_a_while(cancel)
        began = time.monotonic()
        with pytest.raises(BrokenOffError):
            ask(url.replace("http:", "https:"), lines, cancel=cancel)
        assert time.monotonic() - began < 0.6
        timer.join()


def test_a_stranger_is_not_trusted_and_not_asked_again(certificate: Path, lines: list[Line]) -> None:
    with (
        serving(secretly(certificate, hang)) as url,
        pytest.raises(NoAnswerError, match="not trusted") as caught,
    ):
        ask(url.replace("http:", "https:"), lines)
    assert caught.value.is_final
    assert not caught.value.may_have_arrived
