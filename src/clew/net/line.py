"""One request to an endpoint, over at a given moment whatever the other side does.

Python's own client counts its time limit anew for each read, so a server that sends a byte now and then
holds it for ever; the stock exporter of OpenTelemetry waits so too. Here every wait is for what is left until
one moment: to find the host, to connect, to agree on keys, to send and to read.

When no answer comes it matters whether the request can have arrived. It cannot if the connection failed, or
if not all of it was handed to the system. If all of it was, nobody knows: `NoAnswerError.may_have_arrived`.

An answer that is told bit by bit is for `Line.stream`; what comes of it is in `streaming`.
"""

from __future__ import annotations

import os
import time
from base64 import b64encode
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import SplitResult, unquote, urlsplit

from clew.net.connecting import connect, proxy_for, secure, trusting, tunnel
from clew.net.failing import NoAnswerError, is_final, reason_of
from clew.net.streaming import Streamed
from clew.net.wire import Breaker, Wire

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Mapping

    from clew.net.streaming import Stop

_ANSWER: Final = 1 << 16
"""So much of an answer's body is read, unless more is asked for."""

_LAST_WORDS: Final = 1.0
_KEPT: Final = 4.0
"""Seconds for which a connection is kept: servers close idle ones, some after five seconds."""

_CONNECT: Final = 30.0
"""Seconds in which a host is found and reached, where an answer may take longer than that."""

_TROUBLE: Final = (OSError, HTTPException, ValueError)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""

    body: bytes = field(default=b"", repr=False)
    """Its beginning, as much as came in time."""


class Line:
    """A line to one host, kept open between requests. One request at a time."""

    def __init__(
        self, url: str, *, certificate: str | None = None, environ: Mapping[str, str] | None = None
    ) -> None:
        self._parts = urlsplit(url)
        self._certificate = certificate
        self._proxy = proxy_for(self._parts, os.environ if environ is None else environ)
        self._context: ssl.SSLContext | None = None
        self._connection: HTTPConnection | None = None
        self._wire: Wire | None = None
        self._used = 0.0

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            self._connection.close()
            self._connection = self._wire = None

    def post(self, body: bytes, headers: Mapping[str, str], *, deadline: float) -> Answer:
        """Send a body to the address of the line; `deadline` is a moment of `time.monotonic()`."""
        return self.request("POST", _target(self._parts), body, headers, deadline=deadline)

    def request(
        self,
        method: str,
        target: str,
        body: bytes | None,
        headers: Mapping[str, str],
        *,
        deadline: float,
        most: int = _ANSWER,
    ) -> Answer:
        """Ask for a target on the host of the line; of the answer at most so many bytes are read."""
        response = self._ask(method, target, body, headers, Breaker(), deadline, None)
        data = b""
        try:
            # The answer is known by now; that its end is late, or missing, changes nothing.
            data = response.read(most)
            is_over = response.isclosed()
        except _TROUBLE:
            is_over = False
        response.close()
        self._free(is_over=is_over and not response.will_close)
        return Answer(response.status, _headers(response), data)

    def stream(
        self,
        method: str,
        target: str,
        body: bytes | None,
        headers: Mapping[str, str],
        *,
        deadline: float,
        idle: float,
        cancel: Stop | None = None,
    ) -> Streamed:
        """Ask for a target, and hand the answer over as it comes.

        It ends at the deadline, and when nothing moved for `idle` seconds; until its head is there it raises
        `NoAnswerError`. Whoever makes `cancel` come true breaks it off at once: `BrokenOffError`. The line is
        busy until what is returned was read to its end or closed.
        """
        breaker = Breaker()
        take_back = cancel.on_ask(breaker.break_off) if cancel is not None else None
        try:
            response = self._ask(method, target, body, headers, breaker, deadline, idle)
        except BaseException:
            if take_back is not None:
                take_back()
            raise

        def release(is_over: bool) -> None:
            if take_back is not None:
                take_back()
            self._free(is_over=is_over)

        wire = self._wire
        assert wire is not None
        return Streamed(response.status, _headers(response), response, wire, breaker, release)

    def _ask(
        self,
        method: str,
        target: str,
        body: bytes | None,
        headers: Mapping[str, str],
        breaker: Breaker,
        deadline: float,
        idle: float | None,
    ) -> HTTPResponse:
        """Send a request and read the head of its answer. If that fails, the line is hung up."""
        breaker.check()
        connection = self._connected(deadline, idle, breaker)
        wire = cast("Wire", self._wire)
        told = {**headers, **self._proxy_headers()}
        if self._proxy is not None and self._parts.scheme == "http":
            target = f"http://{self._parts.netloc.rpartition('@')[2]}{target}"
        is_whole = False
        try:
            breaker.hold(wire.socket)
            wire.start(deadline, idle)
            try:
                connection.request(method, target, body, told)
                is_whole = True
            except (BrokenPipeError, ConnectionResetError):
                # It may have answered before it had read all, and then hung up: that it is too much, say.
                wire.start(min(deadline, time.monotonic() + _LAST_WORDS))
            return connection.getresponse()
        except _TROUBLE as error:
            breaker.hold(None)
            self.close()
            breaker.check()
            raise NoAnswerError(
                reason_of(error),
                may_have_arrived=is_whole,
                is_late=isinstance(error, TimeoutError),
                is_final=is_final(error),
            ) from None
        except BaseException:
            breaker.hold(None)
            self.close()
            raise

    def _free(self, *, is_over: bool) -> None:
        """Keep the connection for the next request, if nothing of this one is left on it."""
        self._used = time.monotonic()
        if not is_over:
            self.close()

    def _connected(self, deadline: float, idle: float | None, breaker: Breaker) -> HTTPConnection:
        connection = self._connection
        if connection is not None:
            wire = cast("Wire | None", connection.sock)  # None when the last answer was to be the last
            if wire is not None and time.monotonic() - self._used < _KEPT and not wire.is_ended():
                return connection
            self.close()
        try:
            if idle is not None:
                deadline = min(deadline, time.monotonic() + min(idle, _CONNECT))
            wire = self._open(deadline, breaker)
        except _TROUBLE as error:
            breaker.check()
            raise NoAnswerError(
                reason_of(error), is_late=isinstance(error, TimeoutError), is_final=is_final(error)
            ) from None
        connection = HTTPConnection(self._parts.hostname or "", self._parts.port)
        connection.auto_open = 0
        connection.sock = cast("socket.socket", wire)
        self._connection, self._wire = connection, wire
        return connection

    def _open(self, deadline: float, breaker: Breaker) -> Wire:
        is_secret = self._parts.scheme == "https"
        host = self._parts.hostname or ""
        port = self._parts.port or (443 if is_secret else 80)
        proxy = self._proxy
        if proxy is None:
            connected = connect(host, port, deadline, breaker)
        else:
            connected = connect(proxy.hostname or "", proxy.port or 80, deadline, breaker)
        try:
            if proxy is not None and is_secret:
                breaker.hold(connected)
                tunnel(connected, host, port, self._proxy_headers(is_tunnel=True), deadline)
                breaker.hold(None)
            if is_secret:
                if self._context is None:
                    self._context = trusting(self._certificate)
                connected = secure(connected, self._context, host, deadline, breaker)
        except BaseException:
            breaker.hold(None)
            connected.close()
            raise
        return Wire(connected, deadline)

    def _proxy_headers(self, *, is_tunnel: bool = False) -> dict[str, str]:
        proxy = self._proxy
        if proxy is None or not proxy.username or is_tunnel != (self._parts.scheme == "https"):
            return {}
        pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode('ascii')}"}


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _headers(response: HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}
