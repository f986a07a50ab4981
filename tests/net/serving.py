"""Servers that behave as badly as they are told to."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


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


def read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < size:
        body += _more(connection)
    return data


def _more(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionError
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
