"""A server on loopback, in this process, and what a browser, or somebody worse, would send to it."""

from __future__ import annotations

import json
import multiprocessing
import socket
import sys
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any

from clew.faces.web.server import Server
from clew.faces.web.site import Site

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path
    from typing import Self

_opened: list[str] | None = None


def _note(event: str, args: tuple[object, ...]) -> None:
    if _opened is not None and event in {"open", "os.listdir", "os.scandir"} and args:
        _opened.append(str(args[0]))


sys.addaudithook(_note)


@contextmanager
def watching_files() -> Generator[list[str]]:
    """Give the list of every file and folder that is opened meanwhile, by whatever thread."""
    global _opened  # noqa: PLW0603  # an audit hook cannot be taken away again
    _opened = []
    try:
        yield _opened
    finally:
        _opened = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        return self.json["error"]["code"]


def parse(data: bytes) -> Reply:
    """Read an answer as it came over the wire; status 0 when there was none."""
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    if not first.startswith("HTTP/1.1 "):
        return Reply(0, {}, data)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        body = _joined(body)
    return Reply(int(first.split()[1]), headers, body)


def _joined(data: bytes) -> bytes:
    found: list[bytes] = []
    at = 0
    while (end := data.find(b"\r\n", at)) >= 0 and (length := int(data[at:end], 16)):
        found.append(data[end + 2 : end + 2 + length])
        at = end + 4 + length
    return b"".join(found)


class Visitor:
    """Sends requests to a server; `cookie` is what it was given at the door."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookie = ""

    def raw(self, data: bytes, *, timeout: float = 20) -> bytes:
        """Send bytes as they are, and return all that comes back until the other side ends."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as line:
            with suppress(OSError):  # it may answer, and end, before it has heard everything
                line.sendall(data)
            found: list[bytes] = []
            with suppress(ConnectionError):
                while piece := line.recv(1 << 16):
                    found.append(piece)
            return b"".join(found)

    def send(
        self,
        method: str,
        path: str | bytes,
        headers: Mapping[str, str | None] | None = None,
        body: bytes = b"",
    ) -> Reply:
        """Send a request; None takes a header away that would be there otherwise."""
        sent: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Cookie": self.cookie or None,
            "Connection": "close",
        }
        if body:
            sent["Content-Length"] = str(len(body))
        sent |= headers or {}
        target = path if isinstance(path, bytes) else path.encode("latin-1")
        lines = b"".join(
            f"{name}: {value}\r\n".encode("latin-1") for name, value in sent.items() if value is not None
        )
        return parse(self.raw(method.encode() + b" " + target + b" HTTP/1.1\r\n" + lines + b"\r\n" + body))

    def get(self, path: str) -> Reply:
        """Ask as our own page does."""
        return self.send("GET", path, {"Sec-Fetch-Site": "same-origin"})

    def post(self, path: str, body: object = None, headers: Mapping[str, str | None] | None = None) -> Reply:
        """Change something as our own page does."""
        ours: dict[str, str | None] = {
            "Origin": f"http://127.0.0.1:{self.port}",
            "Sec-Fetch-Site": "same-origin",
            "X-Clew": "1",
            "Content-Type": "application/json",
        }
        data = json.dumps({} if body is None else body).encode()
        return self.send("POST", path, {**ours, **(headers or {})}, data)

    def come_in(self, url: str) -> Reply:
        """Open the printed address."""
        reply = self.send("GET", url.partition(f":{self.port}")[2], {"Sec-Fetch-Site": "none"})
        self.cookie = reply.headers.get("set-cookie", "").partition(";")[0]
        return reply


@contextmanager
def running(*roots: Path, read_only: bool = False, use_index: bool = False) -> Generator[Visitor]:
    """Run a server, and give a visitor who was let in."""
    failures: list[str] = []
    before = multiprocessing.get_start_method(allow_none=True)
    # As `clew web` does: to fork a process with threads in it may hang, and newer Pythons warn of it.
    multiprocessing.set_start_method("forkserver", force=True)
    site = Site(roots, read_only=read_only, use_index=use_index, jobs=1, log=failures.append)
    server = Server(site)
    is_ready = threading.Event()
    thread = threading.Thread(target=server.run, kwargs={"ready": is_ready.set}, daemon=True)
    thread.start()
    assert is_ready.wait(20)
    visitor = Visitor(server.port)
    visitor.come_in(server.url)
    try:
        yield visitor
    finally:
        server.stop()
        thread.join(20)
        multiprocessing.set_start_method(before, force=True)
        assert not thread.is_alive()
    assert not failures, failures[0]


class Listener:
    """A page that listens to what happens."""

    def __init__(self, visitor: Visitor, last: str | None = None) -> None:
        self._line = HTTPConnection("127.0.0.1", visitor.port, timeout=20)
        headers = {"Cookie": visitor.cookie, "Sec-Fetch-Site": "same-origin"}
        if last is not None:
            headers["Last-Event-ID"] = last
        self._line.request("GET", "/api/events", headers=headers)
        self._reply = self._line.getresponse()
        self.status = self._reply.status
        self.last = ""

    def next(self) -> tuple[str, Any]:
        """Wait for an event: its name and its data. An empty name for the end."""
        found: dict[str, str] = {}
        while line := self._reply.readline().decode():
            if line == "\n":
                if "event" in found:
                    self.last = found["id"]
                    return found["event"], json.loads(found["data"])
                found.clear()
            name, _, value = line.rstrip("\n").partition(": ")
            found[name] = value
        return "", None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reply.close()
        self._line.close()
