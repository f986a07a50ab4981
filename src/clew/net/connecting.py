"""How to get to a host: its addresses, the proxy in between, and the keys agreed on, all until one moment."""

from __future__ import annotations

import errno
import os
import selectors
import socket
import ssl
import threading
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import SplitResult, urlsplit

from clew.net.wire import Breaker, Wire, left

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEAD: Final = 1 << 16
_LOOK: Final = 0.05
"""Seconds between looks at whether to go on: not every system ends the wait for a connection for us."""


def connect(host: str, port: int, deadline: float, breaker: Breaker | None = None) -> socket.socket:
    """Connect to a host by the first of its addresses that answers."""
    breaker = breaker or Breaker()
    last: OSError = OSError("the host has no address")
    for family, kind, protocol, _, address in _addresses(host, port, deadline, breaker):
        try:
            found = socket.socket(family, kind, protocol)
        except OSError as error:
            last = error
            continue
        try:
            _dial(found, address, deadline, breaker)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            found.close()
            breaker.check()
            last = error
            continue
        except BaseException:
            found.close()
            raise
        return found
    raise last


def secure(
    connected: socket.socket, context: ssl.SSLContext, host: str, deadline: float, breaker: Breaker
) -> ssl.SSLSocket:
    """Agree on keys with a host. The socket belongs to what is returned, also when this fails."""
    connected.settimeout(left(deadline))
    # The handshake comes after the new socket is known to the breaker: wrapping empties the old one.
    wrapped = context.wrap_socket(connected, server_hostname=host, do_handshake_on_connect=False)
    try:
        breaker.hold(wrapped)
        wrapped.settimeout(left(deadline))
        wrapped.do_handshake()
    except BaseException:
        breaker.hold(None)
        wrapped.close()
        raise
    return wrapped


def _dial(
    found: socket.socket,
    address: tuple[str, int] | tuple[str, int, int, int],
    deadline: float,
    breaker: Breaker,
) -> None:
    breaker.hold(found)
    try:
        found.setblocking(False)
        status = found.connect_ex(address)
        if status not in {0, errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EINTR}:
            raise OSError(status, os.strerror(status))
        with selectors.DefaultSelector() as waiting:
            waiting.register(found, selectors.EVENT_WRITE)
            while status and not waiting.select(min(left(deadline), _LOOK)):
                breaker.check()
        status = found.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if status:
            raise OSError(status, os.strerror(status))
        breaker.check()
    finally:
        breaker.hold(None)


def _addresses(
    host: str, port: int, deadline: float, breaker: Breaker
) -> list[tuple[int, int, int, str, tuple[str, int]]]:
    """Find the addresses of a host. The system's own search cannot be told to stop, so it is left behind."""
    found: list[object] = []
    over = threading.Event()

    def search() -> None:
        try:
            found.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            found.append(error)
        over.set()

    if _is_number(host):
        search()
    else:
        breaker.on_break(over.set)
        threading.Thread(target=search, daemon=True).start()
        over.wait(left(deadline))
    breaker.check()
    if not found:
        raise TimeoutError("the host was not found in time")
    if isinstance(found[0], Exception):
        raise OSError("there is no such host") if isinstance(found[0], UnicodeError) else found[0]
    return cast("list[tuple[int, int, int, str, tuple[str, int]]]", found[0])


def _is_number(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()


def trusting(certificate: str | None) -> ssl.SSLContext:
    """Return what decides whose certificate is trusted; `certificate` is a file with more of them."""
    context = ssl.create_default_context()
    if certificate:
        context.load_verify_locations(cafile=certificate)
    return context


def proxy_for(parts: SplitResult, environ: Mapping[str, str]) -> SplitResult | None:
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


def tunnel(
    connected: socket.socket, host: str, port: int, headers: Mapping[str, str], deadline: float
) -> None:
    """Have a proxy pass everything on to a host."""
    name = f"[{host}]" if ":" in host else host
    lines = [
        f"CONNECT {name}:{port} HTTP/1.1",
        f"Host: {name}:{port}",
        *(f"{one}: {value}" for one, value in headers.items()),
    ]
    wire = Wire(connected, deadline)
    wire.sendall("\r\n".join((*lines, "", "")).encode("latin-1"))
    head = b""
    # Byte by byte: what follows the head is already the other side's.
    while not head.endswith(b"\r\n\r\n"):
        byte = bytearray(1)
        if len(head) > _HEAD or not wire.recv_into(byte):
            raise OSError("the proxy hung up")
        head += byte
    status = head.split(None, 2)[1:2]
    if status != [b"200"]:
        raise OSError(f"the proxy answered {status[0].decode('ascii', 'replace') if status else 'nothing'}")
