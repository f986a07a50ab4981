"""The servers of the MCP that a project or a person names, and a way to call their tools.

The SDK is asynchronous: it gets a thread with a loop of its own, and is imported only when there is a server
to start. A server that cannot be started, dies, hangs or floods costs its own tools and nothing else.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from clew.agent.shell_run import environment

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from concurrent.futures import Future
    from typing import Self

    from clew.agent.cancel import Cancel
    from clew.agent.mcp_link import Link

START_SECONDS: Final = 30.0
CALL_SECONDS: Final = 600.0
_CLOSE_SECONDS: Final = 10.0
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class ServerError(Exception):
    """A call could not be made, or came to nothing: the words are for the model."""


@dataclass(frozen=True, slots=True)
class Server:
    """How a server is reached: a program to start, or an address."""

    name: str
    kind: Literal["stdio", "http"]
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """May hold secrets, as `env` may."""


@dataclass(frozen=True, slots=True)
class ServerState:
    """What became of a server, for the person."""

    name: str
    kind: Literal["ready", "failed"]
    words: str
    tools: int = 0


def read_servers(config: object, *, environ: Mapping[str, str]) -> tuple[list[Server], list[str]]:
    """Read the servers of a `.mcp.json`, decoded; say in words which cannot be used and why.

    `${NAME}` and `${NAME:-otherwise}` in it stand for variables of the environment.
    """
    if not isinstance(config, dict):
        return [], ["the list of MCP servers is no object"]
    listed = cast("dict[str, object]", config).get("mcpServers")
    if not isinstance(listed, dict):
        return [], ["the list of MCP servers has no object `mcpServers`"] if listed is not None else []
    found: list[Server] = []
    problems: list[str] = []
    for name, value in cast("dict[str, object]", listed).items():
        try:
            found.append(_server(name, value, environ))
        except ValueError as error:
            problems.append(f"the MCP server {name!r} is left out: {error}")
    return found, problems


def _server(name: str, value: object, environ: Mapping[str, str]) -> Server:
    if not isinstance(value, dict):
        raise ValueError("it is no object")  # noqa: TRY004  # what is wrong with data is told alike
    entry = cast("dict[str, object]", value)
    kind = entry.get("type", "http" if "url" in entry and "command" not in entry else "stdio")
    if kind in ("http", "streamable-http"):
        url = _text(entry, "url", environ)
        if not url.startswith(("http://", "https://")):
            raise ValueError("its url is not http or https")
        return Server(name, "http", url=url, headers=_texts(entry, "headers", environ))
    if kind != "stdio":
        raise ValueError(f"the kind {kind!r} is not known; stdio and http are")
    args = entry.get("args", [])
    if not isinstance(args, list) or not all(isinstance(one, str) for one in cast("list[object]", args)):
        raise ValueError("its args are no list of texts")
    return Server(
        name,
        "stdio",
        command=_text(entry, "command", environ),
        args=tuple(_expanded(one, environ) for one in cast("list[str]", args)),
        env=_texts(entry, "env", environ),
    )


def _text(entry: Mapping[str, object], name: str, environ: Mapping[str, str]) -> str:
    value = entry.get(name)
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError(f"it has no {name}")
    return _expanded(value, environ)


def _texts(entry: Mapping[str, object], name: str, environ: Mapping[str, str]) -> dict[str, str]:
    value = entry.get(name)
    if value is None:
        return {}
    pairs = cast("dict[str, object]", value) if isinstance(value, dict) else None
    if pairs is None or not all(isinstance(one, str) for one in pairs.values()):
        raise ValueError(f"its {name} are no texts by name")
    return {key: _expanded(str(one), environ) for key, one in pairs.items()}


def _expanded(text: str, environ: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        name, otherwise = found[1], found[2]
        if name not in environ and otherwise is None:
            raise ValueError(f"the variable {name} is not set")
        return environ.get(name) or otherwise or ""

    return _VARIABLE.sub(value, text)


class McpServers:
    """The servers of a session. Start it, call, and close it: nothing of them is left then."""

    def __init__(
        self,
        servers: Sequence[Server],
        *,
        environ: Mapping[str, str],
        cwd: str,
        start_seconds: float = START_SECONDS,
        call_seconds: float = CALL_SECONDS,
        version: str = "0",
    ) -> None:
        self._servers = tuple(servers)
        self._environ = environment(environ)
        self._cwd = cwd
        self._version = version
        """Of clew, which servers are told."""
        self._start_seconds, self._call_seconds = start_seconds, call_seconds
        self._links: dict[str, Link] = {}
        self._tasks: list[Future[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._missing: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, cancel: Cancel | None = None) -> list[ServerState]:
        """Start all servers at once; return what became of them when each is ready or has failed."""
        if self._servers and self._loop is None and self._missing is None:
            try:
                self._begin()
            except ImportError:
                self._missing = "the package `mcp` is not installed (pip install 'clew[mcp]')"
            self._wait(cancel)
        return self.states()

    def states(self) -> list[ServerState]:
        """Say of each server whether its tools can be called."""
        return [self._state(server.name) for server in self._servers]

    def tools(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the tools of all servers that are ready, each with the name of its server."""
        return [(name, tool) for name, link in self._links.items() for tool in link.tools]

    def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, object],
        *,
        cancel: Cancel,
        report: Callable[[str], None] = lambda _: None,
    ) -> Mapping[str, Any]:
        """Call a tool of a server; return the result as the protocol has it. Raises `ServerError`."""
        link = self._links.get(server)
        if link is None or self._loop is None:
            raise ServerError(f"the MCP server {server} is not running")
        from concurrent.futures import CancelledError

        from clew.agent.mcp_link import LinkError

        future = self._submit(link.call(tool, arguments, self._call_seconds, report))
        forget = cancel.on_ask(partial(_call_off, future))
        try:
            return future.result(self._call_seconds + _CLOSE_SECONDS)
        except CancelledError:
            raise ServerError("the person asked to stop") from None
        except LinkError as error:
            raise ServerError(f"the MCP server {server} failed: {error}") from None
        except TimeoutError:
            future.cancel()
            raise ServerError(f"the MCP server {server} did not answer") from None
        finally:
            forget()

    def close(self) -> None:
        """Stop all servers, and wait until they are gone."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self._loop = self._thread = None
        for link in self._links.values():
            loop.call_soon_threadsafe(link.stop)
        for task in self._tasks:
            try:
                task.result(_CLOSE_SECONDS)
            except BaseException:  # it is over, in whichever way
                task.cancel()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    def _begin(self) -> None:
        import asyncio

        from clew.agent.mcp_link import Link

        self._loop = loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_run_loop, args=(loop,), name="clew-mcp", daemon=True)
        self._thread.start()
        for server in self._servers:
            link = Link(server, environ=self._environ, cwd=self._cwd, version=self._version)
            self._links[server.name] = link
            self._tasks.append(self._submit(link.serve(self._start_seconds)))

    def _wait(self, cancel: Cancel | None) -> None:
        for link in self._links.values():
            ready = self._submit(_until(link))
            forget = cancel.on_ask(partial(_call_off, ready)) if cancel else None
            try:
                ready.result(self._start_seconds + _CLOSE_SECONDS)
            except BaseException as error:
                if not _is_over(error):
                    raise
            finally:
                if forget is not None:
                    forget()

    def _submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        import asyncio

        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _state(self, name: str) -> ServerState:
        link = self._links.get(name)
        if link is None:
            return ServerState(name, "failed", self._missing or "it was not started")
        if link.trouble is not None or not link.is_ready.is_set():
            return ServerState(name, "failed", link.trouble or "it is not ready yet")
        return ServerState(name, "ready", f"{len(link.tools)} tools", len(link.tools))


def _call_off(future: Future[Any]) -> None:
    future.cancel()


async def _until(link: Link) -> None:
    await link.is_ready.wait()


def _is_over(error: BaseException) -> bool:
    from concurrent.futures import CancelledError

    return isinstance(error, CancelledError | TimeoutError)


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    import asyncio

    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        asyncio.set_event_loop(None)
        loop.close()
