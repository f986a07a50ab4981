"""Fetch one page of the web, and nothing else.

Addresses come from a model that has read texts of strangers. So a page is asked for at public addresses only,
and at the very address that was looked at: a name that leads elsewhere the second time leads nowhere.
Redirects are followed on the same host; another host is the person's to allow. Size and time are limited,
whatever the other side does, and a wish to stop is heard at once.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import re
import select
import socket
import ssl
import threading
import time
import zlib
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import SplitResult, urljoin, urlsplit

if TYPE_CHECKING:
    from collections.abc import Collection

    from clew.agent.cancel import Cancel

MOST_BYTES: Final = 10 << 20
SECONDS: Final = 60.0
_CONNECT: Final = 10.0
"""Seconds for one of the addresses of a host."""

_MOST_REDIRECTS: Final = 5
_LONGEST_ADDRESS: Final = 2000
_PIECE: Final = 1 << 16
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_NOT_IN_ADDRESS: Final = re.compile(r"[\x00-\x20\x7f<>\"\\^`{|}]")


class NoPageError(Exception):
    """There is no page: the words say why, and are for the model."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a host answered."""

    address: str
    """Where it was found, after redirects on the same host."""

    status: int
    reason: str
    content_type: str
    body: bytes
    is_cut: bool = False
    """Whether it is longer than what was read."""

    leads_to: str | None = None
    """Another host that it sends to; there was no body then."""


def parse_address(address: str) -> SplitResult:
    """Take an address apart. Raises `NoPageError` when it is none that may be fetched."""
    if len(address) > _LONGEST_ADDRESS:
        raise NoPageError(f"The URL is longer than {_LONGEST_ADDRESS} characters")
    try:
        parts = urlsplit(address.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise NoPageError("Invalid URL") from None
    if parts.scheme not in ("http", "https"):
        raise NoPageError("Only http and https URLs can be fetched")
    if not host or _NOT_IN_ADDRESS.search(address.strip()):
        raise NoPageError("Invalid URL")
    if parts.username is not None or parts.password is not None:
        raise NoPageError("A URL with a user name or a password in it is not fetched")
    return parts


def fetch(
    address: str,
    *,
    cancel: Cancel,
    private_hosts: Collection[str] = (),
    user_agent: str = "clew",
    most: int = MOST_BYTES,
    seconds: float = SECONDS,
) -> Page:
    """Fetch a page. `private_hosts` are the names that may be in a private network. Raises `NoPageError`."""
    deadline = time.monotonic() + seconds
    parts = parse_address(address)
    for _ in range(_MOST_REDIRECTS + 1):
        page, location = _ask(
            parts, cancel=cancel, private_hosts=private_hosts, agent=user_agent, most=most, deadline=deadline
        )
        if location is None:
            return page
        target = urljoin(page.address, location)
        there = parse_address(target)
        if not _is_same_place(parts, there):
            return Page(page.address, page.status, page.reason, "", b"", leads_to=target)
        parts = there
    raise NoPageError(f"The page redirects more than {_MOST_REDIRECTS} times")


def _is_same_place(here: SplitResult, there: SplitResult) -> bool:
    if here.hostname != there.hostname:
        return False
    return _port(here) == _port(there) or (_port(here) == 80 and _port(there) == 443)


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _ask(
    parts: SplitResult,
    *,
    cancel: Cancel,
    private_hosts: Collection[str],
    agent: str,
    most: int,
    deadline: float,
) -> tuple[Page, str | None]:
    host = parts.hostname or ""
    try:
        found = _addresses(host, _port(parts), deadline, cancel)
    except (OSError, UnicodeError):
        raise NoPageError(f"The host {host} was not found") from None
    if host not in private_hosts:
        for one in found:
            _refuse_private(host, one[0])
    with _Wire(cancel, deadline) as wire:
        try:
            wire.connect(found, host if parts.scheme == "https" else None)
            found_page = _exchange(wire, parts, agent, most)
            # A connection that was broken off looks like one that ended: half a page would pass for a whole.
            wire.check()
        except (OSError, HTTPException, ValueError, zlib.error) as error:
            raise NoPageError(wire.why(host, error)) from None
        return found_page


def _exchange(wire: _Wire, parts: SplitResult, agent: str, most: int) -> tuple[Page, str | None]:
    connection = HTTPConnection(parts.hostname or "", parts.port)
    connection.auto_open = 0
    connection.sock = wire.socket
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {
        "User-Agent": agent,
        "Accept": "text/html, text/markdown, text/plain, application/json, */*;q=0.5",
        "Accept-Encoding": "gzip, identity",
        "Connection": "close",
    }
    # The target is what was checked above: in it there is no blank and no end of a line.
    connection.request("GET", target.encode("utf-8").decode("latin-1"), headers=headers)
    response = connection.getresponse()
    try:
        address = parts._replace(fragment="").geturl()
        kind = response.headers.get("Content-Type", "")
        location = response.headers.get("Location")
        if response.status in _REDIRECTS and location:
            return Page(address, response.status, response.reason, kind, b""), location
        body, is_cut = _body(response, most)
        return Page(address, response.status, response.reason, kind, body, is_cut=is_cut), None
    finally:
        response.close()


def _body(response: HTTPResponse, most: int) -> tuple[bytes, bool]:
    packed = response.headers.get("Content-Encoding", "").strip().lower()
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed in ("gzip", "x-gzip", "deflate") else None
    if unpack is None and packed not in ("", "identity"):
        raise HTTPException(packed)
    found = bytearray()
    while len(found) <= most:
        data = response.read1(_PIECE)
        if not data:
            return bytes(found), bool(response.length)
        # A small packet can be a very large page: no more is unpacked than is wanted.
        found += data if unpack is None else unpack.decompress(data, most + 1 - len(found))
    return bytes(found[:most]), True


class _Wire:
    """A connection that ends at a moment, or when somebody asks, whatever is going on on it."""

    def __init__(self, cancel: Cancel, deadline: float) -> None:
        self._cancel = cancel
        self._lock = threading.Lock()
        self._is_broken = False
        self._is_late = False
        self._timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._late)
        self._timer.daemon = True
        self.socket: socket.socket | ssl.SSLSocket | None = None

    def __enter__(self) -> Self:
        self._timer.start()
        self._forget = self._cancel.on_ask(self._break)
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._forget()
        with self._lock:
            if self.socket is not None:
                self.socket.close()
        self._timer.join()

    def connect(self, addresses: list[tuple[str, int]], server_name: str | None) -> None:
        """Connect to the first address that answers; with a name, by TLS."""
        last: OSError = OSError("no address")
        for address in addresses:
            family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
            self._hold(socket.socket(family, socket.SOCK_STREAM))
            assert self.socket is not None
            try:
                self._reach(self.socket, address)
            except OSError as error:
                self.socket.close()
                self.check()
                last = error
                continue
            if server_name is not None:
                context = ssl.create_default_context()
                # Held before it shakes hands, or it could not be broken off while it does.
                made = context.wrap_socket(
                    self.socket, server_hostname=server_name, do_handshake_on_connect=False
                )
                self._hold(made)
                made.do_handshake()
            return
        raise last

    def check(self) -> None:
        """Raise if it was broken off."""
        if self._is_broken:
            raise TimeoutError

    def _reach(self, made: socket.socket, address: tuple[str, int]) -> None:
        """Connect, looking up now and then: what is not connected yet cannot be broken off from outside."""
        made.setblocking(False)  # its own signature
        code = made.connect_ex(address)
        until = time.monotonic() + _CONNECT
        while code in (errno.EINPROGRESS, errno.EWOULDBLOCK):
            self.check()
            if time.monotonic() > until:
                raise TimeoutError
            if select.select([], [made], [made], 0.05)[1]:
                code = made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                break
        if code:
            raise OSError(code, os.strerror(code))
        made.setblocking(True)

    def why(self, host: str, error: Exception) -> str:
        """Say why there is no page."""
        if self._cancel.is_asked:
            return "The person asked to stop"
        if self._is_late or isinstance(error, TimeoutError):
            return f"{host} did not answer in time"
        match error:
            case ssl.SSLCertVerificationError():
                return f"The certificate of {host} is not trusted: {error.verify_message}"
            case ConnectionRefusedError():
                return f"{host} refused the connection"
            case OSError():
                return f"The connection to {host} failed: {error.strerror or error}"
            case _:
                return f"What {host} answered cannot be read"

    def _hold(self, made: socket.socket) -> None:
        with self._lock:
            self.socket = made
            if self._is_broken:
                made.close()
        self.check()

    def _late(self) -> None:
        self._is_late = True
        self._break()

    def _break(self) -> None:
        with self._lock:
            self._is_broken = True
            if self.socket is not None:
                try:
                    # To close it would not wake who waits on it.
                    self.socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    self.socket.close()


def _refuse_private(host: str, number: str) -> None:
    """Raise unless an address is one of the public network."""
    address = ipaddress.ip_address(number.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = (
            address.ipv4_mapped
            or address.sixtofour
            or _of_nat64(address)
            or (address.teredo or (None, None))[1]
        )
        if inner is not None and not _is_public(inner):
            address = inner
    if not _is_public(address):
        raise NoPageError(
            f"{host} is not on the public network ({address}). "
            "To reach a local server, use Bash with curl instead."
        )


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return address.is_global and not address.is_multicast and not address.is_reserved


def _of_nat64(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address in ipaddress.IPv6Network("64:ff9b::/96"):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _addresses(host: str, port: int, deadline: float, cancel: Cancel) -> list[tuple[str, int]]:
    """Find the addresses of a host. The system's own search cannot be told to stop, so it is left behind."""
    found: list[list[tuple[str, int]] | Exception] = []
    over = threading.Event()

    def search() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.append(list(dict.fromkeys((str(row[4][0]), port) for row in rows)))
        except (OSError, UnicodeError) as error:
            found.append(error)
        over.set()

    thread = threading.Thread(target=search, daemon=True)
    thread.start()
    while not over.wait(0.05):
        if cancel.is_asked:
            raise NoPageError("The person asked to stop")
        if time.monotonic() > deadline:
            raise NoPageError(f"The host {host} was not found in time")
    thread.join()
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]
