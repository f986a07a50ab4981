"""Starts the server on this machine alone, tells where it is, and ends it without losing anything."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import threading
from typing import TYPE_CHECKING, Final

import uvicorn

from clew.errors import ClewError, UsageError
from clew.faces.web.app import make_app
from clew.faces.web.connections import Connection
from clew.faces.web.doors import drop_way_in, recall, remember, write_way_in
from clew.faces.web.guards import MOST_HEAD, Door

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from clew.faces.web.site import Site

HOST: Final = "127.0.0.1"
_CONNECTIONS: Final = 512
"""At once; whoever comes then is told to come back. Those that only wait are cut off after seconds."""


class Server:
    """A site that can be visited. It listens from the beginning, and answers once it is run."""

    def __init__(self, site: Site, *, port: int = 0, state: Path | None = None) -> None:
        """Without a port a free one is taken. `state` is the folder for what outlasts a run, if anything may.

        Only on a port that was asked for can a page come back after a restart.
        """
        self._site = site
        self._state = state
        self._outlasts = state is not None and port != 0
        self._socket = _listening(port)
        self.port: int = self._socket.getsockname()[1]
        known = recall(state, self.port) if state is not None and self._outlasts else None
        self.door = Door(self.port, known=known, opened=self._opened)
        config = uvicorn.Config(
            make_app(site, self.door),
            http=Connection,
            ws="none",
            lifespan="off",
            loop="asyncio",
            interface="asgi3",
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=MOST_HEAD,
        )
        self._server = _Uvicorn(config)

    @property
    def url(self) -> str:
        """The address to open."""
        return self.door.url

    def way_in(self) -> str:
        """Return an address to start a browser with: it does not hold the code, which others could read."""
        if self._state is None:
            return self.url
        return write_way_in(self._state, self.port, self.url).as_uri()

    def _opened(self, digest: bytes | None) -> None:
        """Take note that a browser was let in, with a cookie or with one that it had.

        That it was must not depend on the disk.
        """
        if self._state is None:
            return
        drop_way_in(self._state, self.port)
        if self._outlasts and digest is not None:
            with contextlib.suppress(ClewError, OSError):
                remember(self._state, self.port, digest)

    def run(self, *, ready: Callable[[], object] | None = None) -> None:
        """Answer until it is stopped; `ready` is called when a request would be answered."""
        self._site.start()
        try:
            asyncio.run(self._serve(ready))
        finally:
            self._socket.close()
            if self._state is not None:
                drop_way_in(self._state, self.port)
            self._site.close(wait=0.3)

    def stop(self) -> None:
        """End it, from whatever thread."""
        self._server.should_exit = True

    async def _serve(self, ready: Callable[[], object] | None) -> None:
        loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                with contextlib.suppress(NotImplementedError):  # Windows: there Ctrl-C is an exception
                    loop.add_signal_handler(number, self._interrupted)
        serving = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        while not self._server.started and not serving.done():
            await asyncio.sleep(0.005)
        if ready is not None and not serving.done():
            ready()
        watching = asyncio.create_task(self._let_pages_go())
        try:
            await serving
        finally:
            watching.cancel()

    async def _let_pages_go(self) -> None:
        """End the streams of events as soon as the server is to end: they would go on for ever."""
        while not self._server.should_exit:
            await asyncio.sleep(0.02)
        self._site.hub.close(wait=0)

    def _interrupted(self) -> None:
        if self._server.should_exit:
            self._server.force_exit = True
        self._server.should_exit = True


class _Uvicorn(uvicorn.Server):
    """Leaves signals to us: it would raise them again at the end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def _listening(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((HOST, port))
        found.listen(128)
    except OSError as error:
        found.close()
        raise UsageError(
            f"port {port} cannot be listened on: {error.strerror or error}",
            hint="without --port a free one is taken",
        ) from None
    return found
