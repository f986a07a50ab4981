"""A chat at a pseudo-terminal and an API that notes when each word leaves it: how long until it is drawn?"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Paced:
    """An API that says one word after another, and when."""

    def __init__(self, words: int, pause: float) -> None:
        self._words, self._pause = words, pause
        self.sent: dict[str, float] = {}
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(20)
        self._socket.close()

    def _serve(self) -> None:
        self._socket.settimeout(20)
        connection, _ = self._socket.accept()
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(65536)
            head, _, body = head.partition(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length")
            )
            while len(body) < length:
                body += connection.recv(65536)
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            )
            usage = {"input_tokens": 1, "output_tokens": 1}
            message: Mapping[str, object] = {
                "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
            }  # fmt: skip
            self._send(connection, "message_start", message=message)
            self._send(connection, "content_block_start", index=0, content_block={"type": "text", "text": ""})
            for number in range(self._words):
                time.sleep(self._pause)
                word = f"word{number:03}"
                self.sent[word] = time.monotonic()
                self._send(
                    connection,
                    "content_block_delta",
                    index=0,
                    delta={"type": "text_delta", "text": f"{word} "},
                )
            self._send(connection, "content_block_stop", index=0)
            delta = {"stop_reason": "end_turn", "stop_sequence": None}
            self._send(connection, "message_delta", delta=delta, usage=usage)
            self._send(connection, "message_stop")

    def _send(self, connection: socket.socket, kind: str, **fields: object) -> None:
        document = json.dumps({"type": kind, **fields})
        connection.sendall(f"event: {kind}\ndata: {document}\n\n".encode())


class Seat:
    """A chat at a pseudo-terminal."""

    def __init__(self, folder: Path, url: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        environ = {
            "PATH": os.environ.get("PATH", ""),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "CLAUDE_CONFIG_DIR": str(folder / "config"),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "test-key",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "clew", "chat"],
            cwd=folder, env=environ, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self._seen = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            end = time.monotonic() + 20
            while self._process.poll() is None and time.monotonic() < end:
                self._read(0.05)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._master)

    def write(self, data: bytes) -> None:
        os.write(self._master, data)

    def wait_for(self, words: str, seconds: float = 20) -> float:
        """Wait until something was written; return when that was."""
        end = time.monotonic() + seconds
        while words.encode() not in self._seen:
            assert time.monotonic() < end, f"no {words!r} in {self._seen[-2000:]!r}"
            self._read(0.2)
        return time.monotonic()

    def forget(self) -> None:
        """Look at what is written from now on alone."""
        self._seen = b""

    def _read(self, seconds: float) -> None:
        ready, _, _ = select.select([self._master], [], [], seconds)
        if ready:
            try:
                self._seen += os.read(self._master, 65536)
            except OSError:  # nobody holds the other end any more
                time.sleep(0.05)
