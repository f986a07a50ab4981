"""Whatever a server does, in the end every span is there, and once where it is known what became of it."""

from __future__ import annotations

import socket
import ssl
import subprocess
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Literal

import pytest

from clew.trace import endpoints
from tests.trace.collector import Collector, collecting, free_port
from tests.trace.sending import SPANS, Sender, put, story

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from clew.actions.tracing_runs import Sending
    from clew.trace.endpoints import Endpoint
    from tests.trace.collector import Behaviour

Times = Literal["once", "flapping", "for ever"]
TIMES: tuple[Times, ...] = ("once", "flapping", "for ever")
KNOWN: tuple[Behaviour, ...] = ("429", "500", "502", "503", "504", "partial", "half")
"""Answers that tell what became of a request."""

UNKNOWN: tuple[Behaviour, ...] = ("hang", "drip", "lost", "hang_up", "garbage")
TURNS = 20
REQUEST = 16
"""Spans of one request."""


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:  # pyright: ignore[reportUnusedFunction]  # used by all
    """A backend shows at once what it took, and requests are small so that there are several."""
    monkeypatch.setattr("clew.trace.deliver.GRACE", {"phoenix": 0.0})
    is_soak = request.node.get_closest_marker("soak") is not None
    monkeypatch.setattr("clew.trace.deliver.SPANS", 16 * REQUEST if is_soak else REQUEST)


def misbehave(collector: Collector, behaviour: Behaviour, times: Times) -> None:
    """Have a collector behave badly: at the first request with spans, at every second, or always."""

    def script(number: int, has_spans: bool) -> Behaviour:
        if times == "for ever":
            return behaviour
        if not has_spans:
            return "ok"
        return behaviour if number == 1 or (times == "flapping" and number % 2) else "ok"

    collector.script = script


def recover(collector: Collector) -> None:
    collector.script = lambda _number, _has_spans: "ok"


def assert_all_once(collector: Collector, turns: int = TURNS) -> None:
    assert len(collector.traces) == turns
    assert len(collector.spans) == turns * SPANS
    assert set(collector.spans.values()) == {1}


def runs(sender: Sender, path: Path, most: int = 8) -> list[Sending]:
    """Send again and again, as hooks do, until nothing is left."""
    found: list[Sending] = []
    for _ in range(most):
        found.append(sender.run(path))
        if not found[-1].pending and not found[-1].unknown:
            break
    return found


MANY = 5000
COUNTS = [TURNS, pytest.param(MANY, marks=pytest.mark.soak)]


def sender_for(state: Path, endpoint: Endpoint, turns: int) -> Sender:
    """Return a sender that has time for so many turns."""
    return Sender(state, (endpoint,), seconds=5 + turns / 20)


@pytest.mark.parametrize("turns", COUNTS)
@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("behaviour", KNOWN)
def test_an_answer_that_is_known_costs_no_span_and_doubles_none(
    tmp_path: Path, behaviour: Behaviour, times: Times, turns: int
) -> None:
    path = put(tmp_path, story(turns).data())
    with collecting() as collector:
        sender = sender_for(tmp_path / "state", endpoints.otlp(collector.url), turns)
        misbehave(collector, behaviour, times)
        first = sender.run(path)
        if times == "for ever" and behaviour not in {"partial", "half"}:
            assert not collector.spans
            assert (first.turns_sent, first.pending) == (0, turns)
            assert [one.turns for one in first.failed] == [turns]
        recover(collector)
        last = runs(sender, path)[-1]
        assert_all_once(collector, turns)
        assert (last.pending, last.unknown, last.failed) == (0, 0, ())
        assert sender.run(path).already_sent == turns
        assert_all_once(collector, turns)


@pytest.mark.parametrize("turns", COUNTS)
@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("behaviour", UNKNOWN)
def test_what_a_backend_can_be_asked_about_arrives_once(
    tmp_path: Path, behaviour: Behaviour, times: Times, turns: int
) -> None:
    path = put(tmp_path, story(turns).data())
    with collecting() as collector:
        endpoint = endpoints.phoenix(collector.url, is_whole=True)
        sender = sender_for(tmp_path / "state", endpoint, turns)
        misbehave(collector, behaviour, times)
        sender.run(path)
        if times == "for ever":
            # An empty request found it out: nothing that matters was sent.
            assert not collector.requests
        recover(collector)
        last = runs(sender, path)[-1]
        assert_all_once(collector, turns)
        assert (last.pending, last.unknown, last.failed) == (0, 0, ())
        assert times == "for ever" or collector.is_asked_about


@pytest.mark.parametrize("behaviour", UNKNOWN)
def test_what_nobody_can_be_asked_about_is_reported_and_sent_again_only_on_request(
    tmp_path: Path, behaviour: Behaviour
) -> None:
    path = put(tmp_path, story(TURNS).data())
    with collecting() as collector:
        sender = Sender(tmp_path / "state", (endpoints.otlp(collector.url),))
        misbehave(collector, behaviour, "once")
        first = sender.run(path)
        assert first.unknown
        assert first.unknown + first.turns_sent == TURNS
        before = dict(collector.spans)
        again = sender.run(path)
        assert again.unknown == first.unknown
        assert dict(collector.spans) == before
        last = sender.run(path, resend_unknown=True)
        assert (last.unknown, last.pending) == (0, 0)
        assert len(collector.spans) == TURNS * SPANS
        # Those of one request, and no other.
        doubled = [one for one, times in collector.spans.items() if times > 1]
        assert len(doubled) == (REQUEST if behaviour == "lost" else 0)


# --- no connection at all -----------------------------------------------------------------------------------


@contextmanager
def refused(_collector: Collector) -> Generator[None]:
    yield  # nobody listens


@contextmanager
def full(collector: Collector) -> Generator[None]:
    """A host that takes no more connections: it does not even say no."""
    with ExitStack() as stack:
        listening = stack.enter_context(socket.socket())
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", collector.port))
        listening.listen(0)
        for _ in range(8):
            one = stack.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", collector.port))
        yield


@contextmanager
def nameless(_collector: Collector) -> Generator[None]:
    """A host whose name is not found."""
    real = socket.getaddrinfo

    def no_such_host(*_: object, **__: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    socket.getaddrinfo = no_such_host  # pyright: ignore[reportAttributeAccessIssue]  # for a moment
    try:
        yield
    finally:
        socket.getaddrinfo = real


NO_CONNECTION = {"refused": refused, "down": full, "no such host": nameless}


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("trouble", NO_CONNECTION)
def test_without_a_connection_nothing_is_lost(tmp_path: Path, trouble: str, times: Times) -> None:
    path = put(tmp_path, story(TURNS).data())
    collector = Collector()
    collector.port = free_port()
    url = collector.url.replace("127.0.0.1", "localhost") if trouble == "no such host" else collector.url
    sender = Sender(tmp_path / "state", (endpoints.otlp(url),), patience=1.0)
    moods = {"once": "-", "flapping": "-+-+", "for ever": "---"}[times]
    longer = story(TURNS)
    for n, mood in enumerate(moods):
        if mood == "-":
            with NO_CONNECTION[trouble](collector):
                found = sender.run(path)
            assert found.turns_sent == 0
            assert found.pending
            assert [one.where for one in found.failed] == [sender.endpoints[0].label]
        else:
            with collecting(collector):
                assert sender.run(path).pending == 0
        longer = longer if n == len(moods) - 1 else story(TURNS + n + 1)
        put(tmp_path, longer.data(), age=50 - n)
    with collecting(collector):
        last = sender.run(path)
    assert (last.pending, last.unknown, last.failed) == (0, 0, ())
    assert_all_once(collector, TURNS + len(moods) - 1)


def test_a_tls_error_loses_nothing_and_a_certificate_is_checked(tmp_path: Path) -> None:
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    made = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    try:
        subprocess.run(
            [*made, *subject, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("openssl is not there to make a certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    path = put(tmp_path, story(3).data())
    collector = Collector()
    collector.port = free_port()
    url = collector.url.replace("http:", "https:")
    trusting = endpoints.otlp(url, certificate=str(certificate))
    wary = Sender(tmp_path / "state", (endpoints.otlp(url),), patience=0.5, request=2)
    sender = Sender(tmp_path / "state", (trusting,), patience=0.5, request=2)
    with collecting(collector):
        found = sender.run(path)
        assert "secure" in found.failed[0].reason
    with collecting(collector, tls=context):
        found = wary.run(path)
        assert "certificate" in found.failed[0].reason
        assert not collector.requests
        assert sender.run(path).turns_sent == 3
    assert_all_once(collector, 3)


# --- rules --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("told", ["3", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_an_endpoint_is_left_alone_as_long_as_it_says(tmp_path: Path, told: str) -> None:
    path = put(tmp_path, story(2).data())
    with collecting() as collector:
        collector.retry_after = told
        sender = Sender(tmp_path / "state", (endpoints.otlp(collector.url),), patience=30, seconds=30)
        misbehave(collector, "429", "once")
        found = sender.run(path)
        if told == "3":
            assert max(sender.waits) >= 3
            assert found.turns_sent == 2
        else:
            assert not sender.waits
            assert found.pending == 2
            assert "429" in found.failed[0].reason
        assert len(collector.requests) == (2 if told == "3" else 1)


def test_a_request_that_is_too_large_is_halved(tmp_path: Path) -> None:
    path = put(tmp_path, story(TURNS).data())
    with collecting() as collector:
        collector.most_spans = 3
        found = Sender(tmp_path / "state", (endpoints.otlp(collector.url),)).run(path)
    assert found.turns_sent == TURNS
    assert found.failed == ()
    assert_all_once(collector)


def test_a_span_that_is_too_large_alone_is_refused_once_and_not_sent_for_ever(tmp_path: Path) -> None:
    path = put(tmp_path, story(2).data())
    with collecting() as collector:
        collector.most_spans = 0
        sender = Sender(tmp_path / "state", (endpoints.otlp(collector.url),))
        found = sender.run(path)
        assert found.turns_sent == 0
        assert "too large" in found.failed[0].reason
        asked = len(collector.requests)
        sender.run(path)
        assert len(collector.requests) == asked


def test_one_span_that_is_not_understood_holds_up_no_other(tmp_path: Path) -> None:
    path = put(tmp_path, story(TURNS).data())
    with collecting() as collector:
        collector.bad_span = "Go on, 7."
        sender = Sender(tmp_path / "state", (endpoints.otlp(collector.url),))
        found = sender.run(path)
        assert found.turns_sent == TURNS - 1
        assert len(collector.traces) == TURNS
        assert set(collector.spans.values()) == {1}
        asked = len(collector.requests)
        assert sender.run(path).pending == 0
        assert len(collector.requests) == asked


def test_an_endpoint_that_understands_nothing_is_left_alone_soon(tmp_path: Path) -> None:
    path = put(tmp_path, story(TURNS).data())
    with collecting() as collector:
        collector.script = lambda _number, has_spans: "400" if has_spans else "ok"
        sender = Sender(tmp_path / "state", (endpoints.otlp(collector.url),))
        found = sender.run(path)
        assert (found.pending, len(found.failed)) == (TURNS, 1)
        assert len(collector.requests) < 20
        recover(collector)
        assert sender.run(path).turns_sent == TURNS
        assert_all_once(collector)


def test_a_wrong_password_ends_it_at_once_and_is_never_shown(tmp_path: Path) -> None:
    path = put(tmp_path, story(TURNS).data())
    secret = "sk-secret-123456"
    with collecting() as collector:
        collector.script = lambda _number, has_spans: "401" if has_spans else "ok"
        endpoint = endpoints.otlp(collector.url, headers={"Authorization": f"Bearer {secret}"})
        found = Sender(tmp_path / "state", (endpoint,)).run(path)
        assert collector.requests[0][1]["Authorization"] == f"Bearer {secret}"
    assert len(collector.requests) == 1
    assert "401" in found.failed[0].reason
    assert secret not in repr(found)
    assert secret not in repr(endpoint)
    for file in (tmp_path / "state").rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes()


def test_a_site_that_shows_a_page_at_any_address_takes_no_traces(tmp_path: Path) -> None:
    path = put(tmp_path, story(2).data())
    with collecting() as collector:
        collector.script = lambda _number, _has_spans: "page"
        found = Sender(tmp_path / "state", (endpoints.otlp(collector.url),)).run(path)
    assert (found.turns_sent, found.pending) == (0, 2)
    assert "is it the address for traces?" in found.failed[0].reason
    assert not collector.requests


def test_who_is_not_let_in_shows_nothing(tmp_path: Path) -> None:
    path = put(tmp_path, story(2).data())
    with collecting() as collector:
        collector.script = lambda _number, _has_spans: "401"
        found = Sender(tmp_path / "state", (endpoints.otlp(collector.url),)).run(path)
    assert (found.turns_sent, found.pending, collector.knocks) == (0, 2, 1)
    assert not collector.requests


def test_a_dead_endpoint_stops_no_other(tmp_path: Path) -> None:
    path = put(tmp_path, story(TURNS).data())
    with collecting() as well, collecting() as ill:
        ill.script = lambda _number, _has_spans: "hang"
        both = (endpoints.otlp(ill.url), endpoints.otlp(well.url))
        sender = Sender(tmp_path / "state", both)
        found = sender.run(path)
        assert_all_once(well)
        assert (found.turns_sent, found.pending) == (TURNS, TURNS)
        assert [one.where for one in found.failed] == [both[0].label]
        again = sender.run(path)
        assert (again.turns_sent, again.already_sent, again.pending) == (0, 0, TURNS)
        recover(ill)
        assert sender.run(path).pending == 0
        assert_all_once(well)
        assert_all_once(ill)


def test_no_more_spans_a_second_go_out_than_agreed(tmp_path: Path) -> None:
    path = put(tmp_path, story(TURNS).data())
    with collecting() as collector:
        sender = Sender(tmp_path / "state", (endpoints.otlp(collector.url),), seconds=60)
        assert sender.run(path, rate=8).turns_sent == TURNS
    # The waits are shortened here, so what was to be waited for grows by what was not.
    assert len(sender.waits) >= TURNS * SPANS / 8 - 1
    assert max(len(one[2].resource_spans[0].scope_spans[0].spans) for one in collector.requests) <= 8


def test_the_deadline_holds_when_nobody_answers(tmp_path: Path) -> None:
    import time

    path = put(tmp_path, story(TURNS).data())
    with collecting() as collector:
        for behaviour in ("hang", "drip"):
            misbehave(collector, behaviour, "for ever")
            sender = Sender(tmp_path / "state", (endpoints.otlp(collector.url),), seconds=1.5, request=10)
            began = time.monotonic()
            assert sender.run(path).pending == TURNS
            assert time.monotonic() - began < 2.5
