"""One request to an endpoint, over at a given moment whatever the other side does.

Python's own client counts its time limit anew for each read, so a server that sends a byte now and then
holds it for ever; the stock exporter of OpenTelemetry waits so too. Here every wait is for what is left until
one moment: to find the host, to connect, to agree on keys, to send and to read.

When no answer comes it matters whether the request can have arrived. It cannot if the connection failed, or
if not all of it was handed to the system. If all of it was, nobody knows: `NoAnswerError.may_have_arrived`.
"""

from __future__ import annotations

import io
import os
import select
import socket
import ssl
import threading
import time
from base64 import b64encode
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import SplitResult, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

_ANSWER: Final = 1 << 16
"""So much of an answer's body is read, unless more is asked for."""

_LAST_WORDS: Final = 1.0
_IDLE: Final = 4.0
"""Seconds for which a connection is kept: servers close idle ones, some after five seconds."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""

    body: bytes = field(default=b"", repr=False)
    """Its beginning, as much as came in time."""


class NoAnswerError(Exception):
    """There was no answer: `reason` says why."""

    def __init__(self, reason: str, *, may_have_arrived: bool = False, is_late: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.may_have_arrived = may_have_arrived
        self.is_late = is_late
        """Whether the time was up."""


class Line:
    """A line to one host, kept open between requests."""

    def __init__(
        self, url: str, *, certificate: str | None = None, environ: Mapping[str, str] | None = None
    ) -> None:
        self._parts = urlsplit(url)
        self._certificate = certificate
        self._proxy = _proxy(self._parts, os.environ if environ is None else environ)
        self._context: ssl.SSLContext | None = None
        self._connection: HTTPConnection | None = None
        self._used = 0.0

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

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
        connection = self._connected(deadline)
        wire = cast("_Wire", connection.sock)
        wire.start(deadline)
        told = {**headers, **self._proxy_headers()}
        if self._proxy is not None and self._parts.scheme == "http":
            target = f"http://{self._parts.netloc.rpartition('@')[2]}{target}"
        is_whole = False
        try:
            try:
                connection.request(method, target, body, told)
                is_whole = True
            except (BrokenPipeError, ConnectionResetError):
                # It may have answered before it had read all, and then hung up: that it is too much, say.
                wire.start(min(deadline, time.monotonic() + _LAST_WORDS))
            response = connection.getresponse()
        except (OSError, HTTPException, ValueError) as error:
            self.close()
            raise NoAnswerError(
                _reason(error), may_have_arrived=is_whole, is_late=isinstance(error, TimeoutError)
            ) from None
        found = {name.lower(): value for name, value in response.getheaders()}
        data = b""
        try:
            # The answer is known by now; that its end is late, or missing, changes nothing.
            data = response.read(most)
            is_over = response.isclosed()
        except (OSError, HTTPException, ValueError):
            is_over = False
        if not is_over or response.will_close:
            self.close()
        self._used = time.monotonic()
        return Answer(response.status, found, data)

    def _connected(self, deadline: float) -> HTTPConnection:
        connection = self._connection
        if connection is not None:
            wire = cast("_Wire | None", connection.sock)
            if wire is not None and time.monotonic() - self._used < _IDLE and not wire.is_ended():
                return connection
            self.close()
        try:
            wire = self._open(deadline)
        except (OSError, HTTPException, ValueError) as error:
            raise NoAnswerError(_reason(error), is_late=isinstance(error, TimeoutError)) from None
        connection = HTTPConnection(self._parts.hostname or "", self._parts.port)
        connection.auto_open = 0
        connection.sock = cast("socket.socket", wire)
        self._connection = connection
        return connection

    def _open(self, deadline: float) -> _Wire:
        is_secret = self._parts.scheme == "https"
        host = self._parts.hostname or ""
        port = self._parts.port or (443 if is_secret else 80)
        proxy = self._proxy
        if proxy is None:
            connected = _connect(host, port, deadline)
        else:
            connected = _connect(proxy.hostname or "", proxy.port or 80, deadline)
        try:
            if proxy is not None and is_secret:
                _tunnel(connected, host, port, self._proxy_headers(is_tunnel=True), deadline)
            if is_secret:
                if self._context is None:
                    self._context = _context(self._certificate)
                connected.settimeout(_left(deadline))
                connected = self._context.wrap_socket(connected, server_hostname=host)
        except BaseException:
            connected.close()
            raise
        return _Wire(connected, deadline)

    def _proxy_headers(self, *, is_tunnel: bool = False) -> dict[str, str]:
        proxy = self._proxy
        if proxy is None or not proxy.username or is_tunnel != (self._parts.scheme == "https"):
            return {}
        pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode('ascii')}"}


class _Wire:
    """As much of a socket as `http.client` uses, with one time limit for all of a request."""

    def __init__(self, connected: socket.socket, deadline: float) -> None:
        self._socket = connected
        self._deadline = deadline

    def start(self, deadline: float) -> None:
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self._socket.settimeout(_left(self._deadline))
            view = view[self._socket.send(view) :]

    def recv_into(self, buffer: bytearray | memoryview) -> int:
        self._socket.settimeout(_left(self._deadline))
        return self._socket.recv_into(buffer)

    def makefile(self, mode: str, *_: object) -> io.BufferedReader:
        assert mode == "rb"
        return io.BufferedReader(_Reading(self))

    def is_ended(self) -> bool:
        """Say whether the other side hung up, or says something that nobody asked for."""
        try:
            return bool(select.select([self._socket], [], [], 0)[0])
        except (OSError, ValueError):
            return True

    def close(self) -> None:
        self._socket.close()


class _Reading(io.RawIOBase):
    def __init__(self, wire: _Wire) -> None:
        super().__init__()
        self._wire = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]  # any buffer that can be written
        return self._wire.recv_into(buffer)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time was up")
    return left


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _connect(host: str, port: int, deadline: float) -> socket.socket:
    """Connect to a host by the first of its addresses that answers."""
    last: OSError = OSError("the host has no address")
    for family, kind, protocol, _, address in _addresses(host, port, deadline):
        try:
            found = socket.socket(family, kind, protocol)
        except OSError as error:
            last = error
            continue
        try:
            found.settimeout(_left(deadline))
            found.connect(address)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            found.close()
            last = error
            continue
        return found
    raise last


def _addresses(host: str, port: int, deadline: float) -> list[tuple[int, int, int, str, tuple[str, int]]]:
    """Find the addresses of a host. The system's own search cannot be told to stop, so it is left behind."""
    found: list[object] = []

    def search() -> None:
        try:
            found.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            found.append(error)

    if _is_number(host):
        search()
    else:
        thread = threading.Thread(target=search, daemon=True)
        thread.start()
        thread.join(_left(deadline))
    if not found:
        raise TimeoutError("the host was not found in time")
    if isinstance(found[0], Exception):
        raise OSError("there is no such host") if isinstance(found[0], UnicodeError) else found[0]
    return cast("list[tuple[int, int, int, str, tuple[str, int]]]", found[0])


def _is_number(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()


def _context(certificate: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if certificate:
        context.load_verify_locations(cafile=certificate)
    return context


def _proxy(parts: SplitResult, environ: Mapping[str, str]) -> SplitResult | None:
    """Return the proxy that the environment names for an address."""
    named = {name.lower(): value for name, value in environ.items() if name.lower().endswith("_proxy")}
    if "REQUEST_METHOD" in environ:
        named.pop("http_proxy", None)  # in a CGI program a visitor's header would be it
    proxy = named.get(f"{parts.scheme}_proxy") or named.get("all_proxy") or ""
    host = parts.hostname or ""
    if not proxy or host == "localhost" or host == "::1" or host.startswith("127."):
        return None
    for one in named.get("no_proxy", "").lower().split(","):
        ending = one.strip().removeprefix("*").lstrip(".").partition(":")[0]
        if one.strip() == "*" or (ending and (host == ending or host.endswith(f".{ending}"))):
            return None
    found = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    return found if found.scheme == "http" and found.hostname else None


def _tunnel(
    connected: socket.socket, host: str, port: int, headers: Mapping[str, str], deadline: float
) -> None:
    name = f"[{host}]" if ":" in host else host
    lines = [
        f"CONNECT {name}:{port} HTTP/1.1",
        f"Host: {name}:{port}",
        *(f"{one}: {value}" for one, value in headers.items()),
    ]
    wire = _Wire(connected, deadline)
    wire.sendall("\r\n".join((*lines, "", "")).encode("latin-1"))
    head = b""
    # Byte by byte: what follows the head is already the other side's.
    while not head.endswith(b"\r\n\r\n"):
        byte = bytearray(1)
        if len(head) > _ANSWER or not wire.recv_into(byte):
            raise OSError("the proxy hung up")
        head += byte
    status = head.split(None, 2)[1:2]
    if status != [b"200"]:
        raise OSError(f"the proxy answered {status[0].decode('ascii', 'replace') if status else 'nothing'}")


def _reason(error: Exception) -> str:
    """Say in few words what went wrong; nothing of the request is in it."""
    match error:
        case TimeoutError():
            return "no answer in time"
        case ssl.SSLCertVerificationError():
            return f"its certificate is not trusted: {error.verify_message}"
        case ssl.SSLError():
            return f"no secure connection: {error.reason or 'TLS error'}"
        case socket.gaierror():
            return "there is no such host"
        case ConnectionRefusedError():
            return "the connection was refused"
        case ConnectionError():
            return "the connection broke off"
        case OSError():
            return error.strerror or str(error) or "no connection"
        case HTTPException():
            return "what it answered is no HTTP"
        case _:
            return "the request could not be made"
