"""Pages of the web: from public places only, in time, and never more than can be used."""

from __future__ import annotations

import contextlib
import errno
import gzip
import select
import shutil
import socket
import ssl
import subprocess
import threading
import time
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from clew.agent.cancel import Cancel
from clew.agent.tools.web_fetch import WebFetch
from clew.agent.web_page import NoPageError, Page, fetch, parse_address
from clew.errors import ClewError
from clew.format.results_work import WebFetch as WebFetchView
from tests.agent.running.bench import threads_end, work_in

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

HOST = "127.0.0.1"


@contextlib.contextmanager
def serving(*answers: bytes | Callable[[socket.socket], None]) -> Generator[tuple[str, list[bytes]]]:
    """Answer one connection after the other, each with the next answer; give the address and the requests."""
    asked: list[bytes] = []
    with socket.create_server((HOST, 0)) as listener:
        listener.settimeout(10)

        def serve() -> None:
            for answer in answers:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    if callable(answer):
                        answer(connection)
                    else:
                        connection.settimeout(5)
                        asked.append(connection.recv(65536))
                        connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://{HOST}:{listener.getsockname()[1]}", asked
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def http(body: bytes, *, status: str = "200 OK", kind: str = "text/html", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def local(url: str, **options: Any) -> Page:
    return fetch(url, cancel=Cancel(), private_hosts={HOST}, **options)


def test_a_page_is_fetched_as_it_is() -> None:
    with serving(http(b"<p>hello")) as (url, asked):
        page = local(f"{url}/a?b=c#d", user_agent="clew/1")
    assert (page.status, page.reason, page.content_type, page.body) == (200, "OK", "text/html", b"<p>hello")
    assert asked[0].startswith(b"GET /a?b=c HTTP/1.1\r\n")
    assert b"\r\nUser-Agent: clew/1\r\n" in asked[0]
    assert page.address == f"{url}/a?b=c"


@pytest.mark.parametrize(
    "address",
    [
        "ftp://maze.example/", "file:///etc/passwd", "javascript:alert(1)", "maze.example", "", "http://",
        "http:///x", "http://user:pass@maze.example/", "http://user@maze.example/", "http://maze.example/a b",
        "http://maze.example/\r\nX: y", "http://maze.example\\@127.0.0.1/", "http://maze.example:99999/",
        "http://[::1", "http://maze.example/" + "x" * 3000, "http://maze.example/\0", "//maze.example/x",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_page_is_refused(address: str) -> None:
    with pytest.raises(NoPageError):
        parse_address(address)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255", "[::1]", "[::]", "[fe80::1]",
        "[fd00::1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
        "localhost", "[ff02::1]",
    ],
)  # fmt: skip
def test_a_private_place_is_never_asked(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("connected")

    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    with pytest.raises(NoPageError, match=r"not on the public network|was not found"):
        fetch(f"http://{host}/", cancel=Cancel())


def names(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Let the search for hosts answer this, one after the other; return the hosts that were searched for."""
    left = list(answers)
    searched: list[str] = []

    def search(host: str, port: int, **_: object) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        searched.append(host)
        numbers = left.pop(0)
        if not numbers:
            raise socket.gaierror
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (number, port)) for number in numbers]

    monkeypatch.setattr(socket, "getaddrinfo", search)
    return searched


def test_a_name_with_one_private_address_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    names(monkeypatch, ["93.184.216.34", "127.0.0.1"])
    with pytest.raises(NoPageError, match=r"not on the public network \(127"):
        fetch("http://maze.example/", cancel=Cancel())


def test_a_name_is_looked_up_once_and_that_address_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is public when it is checked and private when it is used is of no use."""
    searched = names(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    connected: list[object] = []

    def connect(_: object, address: object) -> int:
        connected.append(address)
        return errno.ECONNREFUSED

    monkeypatch.setattr(socket.socket, "connect_ex", connect)
    with pytest.raises(NoPageError, match="refused the connection"):
        fetch("http://maze.example/", cancel=Cancel())
    assert searched == ["maze.example"]
    assert connected == [("93.184.216.34", 80)]


def test_a_redirect_to_a_private_place_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(http(b"", status="302 Found", more="Location: http://localhost/x\r\n")) as (url, _):
        page = local(url)
    assert page.leads_to == "http://localhost/x"


def test_an_unknown_host_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    names(monkeypatch, [])
    with pytest.raises(NoPageError, match=r"The host maze\.example was not found"):
        fetch("http://maze.example/", cancel=Cancel())


def test_redirects_on_the_same_host_are_followed() -> None:
    first = http(b"", status="301 Moved Permanently", more="Location: /b?c\r\n")
    second = http(b"", status="307 Temporary Redirect", more="Location: d\r\n")
    with serving(first, second, http(b"there")) as (url, asked):
        page = local(f"{url}/a")
    assert page.body == b"there"
    assert page.address == f"{url}/d"
    assert [line.split()[1] for line in asked] == [b"/a", b"/b?c", b"/d"]


@pytest.mark.parametrize("target", ["http://other.example/x", "http://127.0.0.1:1/", "//other.example"])
def test_redirects_elsewhere_are_told(target: str) -> None:
    with serving(http(b"", status="302 Found", more=f"Location: {target}\r\n")) as (url, asked):
        page = local(f"{url}/a")
    assert page.leads_to is not None
    assert page.leads_to.endswith(target)
    assert len(asked) == 1


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/", "file:///etc/passwd", "http://u:p@127.0.0.1/"])
def test_redirects_to_what_is_no_page_are_refused(target: str) -> None:
    with (
        serving(http(b"", status="302 Found", more=f"Location: {target}\r\n")) as (url, _),
        pytest.raises(NoPageError),
    ):
        local(url)


def test_redirects_end() -> None:
    again = http(b"", status="302 Found", more="Location: /again\r\n")
    with serving(*[again] * 7) as (url, asked), pytest.raises(NoPageError, match="more than 5 times"):
        local(url)
    assert len(asked) == 6


def test_a_packed_page_is_unpacked() -> None:
    body = gzip.compress(b"<p>packed")
    with serving(http(body, more="Content-Encoding: gzip\r\n")) as (url, _):
        assert local(url).body == b"<p>packed"


def test_a_small_packet_cannot_become_a_mountain() -> None:
    body = gzip.compress(b"0" * (64 << 20))
    with serving(http(body, more="Content-Encoding: gzip\r\n")) as (url, _):
        page = local(url, most=1 << 20)
    assert len(page.body) == 1 << 20
    assert page.is_cut


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 abc\r\n\r\n",
        http(b"not packed", more="Content-Encoding: gzip\r\n"), http(b"x", more="Content-Encoding: br\r\n"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5000,
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000,
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_told(answer: bytes) -> None:
    with serving(answer) as (url, _), contextlib.suppress(NoPageError):
        page = local(url)
        assert page.is_cut  # "short", the one of these that can be read as far as it goes


def drip(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    for _ in range(100):
        connection.sendall(b"x")
        time.sleep(0.05)


def silent(connection: socket.socket) -> None:
    connection.settimeout(10)
    while connection.recv(1000):
        pass


@pytest.mark.parametrize("behave", [drip, silent])
def test_time_is_limited_whatever_the_other_side_does(behave: Callable[[socket.socket], None]) -> None:
    before = time.monotonic()
    with serving(behave) as (url, _):
        with pytest.raises(NoPageError, match="did not answer in time"):
            local(url, seconds=0.4)
        assert time.monotonic() - before < 3


@pytest.mark.parametrize("behave", [drip, silent])
def test_a_wish_to_stop_is_heard_at_once(behave: Callable[[socket.socket], None]) -> None:
    cancel = Cancel()
    timer = threading.Timer(0.3, cancel.ask)
    timer.start()
    before = time.monotonic()
    with serving(behave) as (url, _):
        with pytest.raises(NoPageError, match="asked to stop"):
            fetch(url, cancel=cancel, private_hosts={HOST})
        assert time.monotonic() - before < 3
    timer.join()


def test_a_handshake_that_never_ends_is_broken_off() -> None:
    before = time.monotonic()
    with serving(silent) as (url, _):
        with pytest.raises(NoPageError, match="in time"):
            local(url.replace("http:", "https:"), seconds=0.4)
        assert time.monotonic() - before < 3


@pytest.mark.parametrize("is_asked", [False, True])
def test_a_host_that_does_not_even_connect_is_left(monkeypatch: pytest.MonkeyPatch, is_asked: bool) -> None:
    def connect(*_: object) -> int:
        return errno.EINPROGRESS

    def wait(*_: object) -> tuple[list[int], list[int], list[int]]:
        time.sleep(0.05)
        return [], [], []

    monkeypatch.setattr(socket.socket, "connect_ex", connect)
    monkeypatch.setattr(select, "select", wait)
    cancel = Cancel()
    timer = threading.Timer(0.2, cancel.ask)
    before = time.monotonic()
    if is_asked:
        timer.start()
    with pytest.raises(NoPageError, match="asked to stop" if is_asked else "in time"):
        fetch("http://127.0.0.1:9/", cancel=cancel, private_hosts={HOST}, seconds=30 if is_asked else 0.3)
    assert time.monotonic() - before < 3
    if is_asked:
        timer.join()


def test_a_flood_is_cut() -> None:
    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"y" * 65536)

    with serving(flood) as (url, _):
        page = local(url, most=300_000)
    assert (len(page.body), page.is_cut) == (300_000, True)


def test_a_search_that_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def search(*_: object, **__: object) -> list[object]:
        release.wait(10)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", search)
    with pytest.raises(NoPageError, match="not found in time"):
        fetch("http://maze.example/", cancel=Cancel(), seconds=0.2)
    release.set()
    assert threads_end()


def test_a_stranger_s_certificate_is_not_trusted(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl")
    pem = tmp_path / "both.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-keyout", str(pem), "-out", str(tmp_path / "cert.pem")],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", pem)

    def shake(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            context.wrap_socket(connection, server_side=True).close()

    with serving(shake) as (url, _), pytest.raises(NoPageError, match="is not trusted"):
        local(url.replace("http:", "https:"))


class Model:
    """Answers with what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, prompt: str, text: str) -> str:
        self.asked.append((prompt, text))
        return f"answer to {prompt}"


def test_a_model_is_asked_about_the_words_of_the_page(tmp_path: Path) -> None:
    model = Model()
    tool = WebFetch(model, private_hosts=[HOST])
    with serving(http(b"<h1>Maze</h1><p>\x1b[31mleft\x00")) as (url, _):
        given = {"url": f"{url}/x", "prompt": "Which way?"}
        assert tool.reach(given, work_in(tmp_path)).domain == HOST
        outcome = tool.run(given, work_in(tmp_path))
    assert model.asked == [("Which way?", "# Maze\n\nleft")]
    assert outcome.content == "answer to Which way?"
    view = WebFetchView(outcome.structured)
    assert (view.url, view.code, view.bytes, view.text) == (f"{url}/x", 200, 26, "answer to Which way?")
    assert list(view.data) == ["bytes", "code", "codeText", "result", "durationMs", "url"]


def test_a_long_page_is_cut_for_the_model(tmp_path: Path) -> None:
    model = Model()
    with serving(http(b"word " * 100_000, kind="text/plain")) as (url, _):
        WebFetch(model, private_hosts=[HOST]).run({"url": url, "prompt": "p"}, work_in(tmp_path))
    assert model.asked[0][1].endswith("[the page goes on; the rest was left out]")
    assert len(model.asked[0][1]) < 101_000


def test_another_host_is_told_and_no_model_is_asked(tmp_path: Path) -> None:
    model = Model()
    with serving(http(b"", status="301 Moved Permanently", more="Location: https://other.example/y\r\n")) as (
        url,
        _,
    ):
        outcome = WebFetch(model, private_hosts=[HOST]).run({"url": url, "prompt": "p"}, work_in(tmp_path))
    assert "To: https://other.example/y" in str(outcome.content)
    assert not outcome.is_error
    assert WebFetchView(outcome.structured).code == 301
    assert not model.asked


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (http(b"gone", status="404 Not Found"), "Request failed with status code 404"),
        (http(b"\x89PNG", kind="image/png"), "is of the type image/png, which is not text"),
    ],
)
def test_what_is_no_page_is_an_error(tmp_path: Path, answer: bytes, words: str) -> None:
    model = Model()
    with serving(answer) as (url, _):
        outcome = WebFetch(model, private_hosts=[HOST]).run({"url": url, "prompt": "p"}, work_in(tmp_path))
    assert outcome.is_error
    assert words in str(outcome.content)
    assert not model.asked


def test_a_model_that_cannot_be_asked_is_told(tmp_path: Path) -> None:
    def busy(prompt: str, text: str) -> str:
        raise ClewError("the API is busy")

    with serving(http(b"x", kind="text/plain")) as (url, _):
        outcome = WebFetch(busy, private_hosts=[HOST]).run({"url": url, "prompt": "p"}, work_in(tmp_path))
    assert outcome.is_error
    assert "the API is busy" in str(outcome.content)


@pytest.mark.parametrize(
    "given",
    [{}, {"url": 3, "prompt": "p"}, {"url": "x", "prompt": "p"}, {"url": "http://127.0.0.1/", "prompt": "p"}],
)
def test_wrong_input_and_private_places_are_told(tmp_path: Path, given: dict[str, object]) -> None:
    tool = WebFetch(Model())
    assert tool.run(given, work_in(tmp_path)).is_error
    assert tool.reach(given, work_in(tmp_path)).domain is not None


def test_unpacking_is_zlib_s_own(tmp_path: Path) -> None:
    with serving(
        http(zlib.compress(b"deflated"), kind="text/plain", more="Content-Encoding: deflate\r\n")
    ) as (url, _):
        assert local(url).body == b"deflated"
