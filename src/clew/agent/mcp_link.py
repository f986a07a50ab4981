"""One server of the MCP at the other end of a line, by the official SDK. Imported only where one is used.

Everything here runs in the loop of `mcp_servers`. A server is a stranger's program: its lines, its answers
and the time it takes are limited, and what it complains about is kept in short, to be shown when it fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import Implementation, jsonrpc_message_adapter

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from clew.agent.mcp_servers import Server

    Streams = tuple[
        MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
    ]

MOST_BYTES: Final = 32 << 20
"""What a server may send as one message, or without being asked for anything."""

_MOST_PAGES: Final = 50
_MOST_TOOLS: Final = 500
_LAST_WORDS: Final = 2000
_GRACE: Final = 1.0
"""Seconds for each step of asking a program to end."""

# The SDK logs what servers do wrong; without a handler Python would print it.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class LinkError(Exception):
    """A server does not do what it was asked: the words say why."""


class Link:
    """A server, from its start to its end."""

    def __init__(self, server: Server, *, environ: Mapping[str, str], cwd: str, version: str) -> None:
        self._server = server
        self._environ = environ
        self._cwd = cwd
        self._version = version
        self._stop = asyncio.Event()
        self._is_ending = False
        self._is_silent = asyncio.Event()
        """Set when its program can complain no more."""
        self._task: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._complaints = bytearray()
        self._silence = 0
        """Bytes that came since something was asked."""
        self.tools: list[Mapping[str, Any]] = []
        self.trouble: str | None = None
        """Why it cannot be used any more."""
        self.is_ready = asyncio.Event()
        """Set when it is known whether it can be used."""

    async def serve(self, seconds: float) -> None:
        """Start it, list its tools, and keep it until it is stopped."""
        self._task = asyncio.current_task()
        try:
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(seconds):
                    who = Implementation(name="clew", version=self._version)
                    line = cast("Any", self._line())  # the SDK's type for it is not public
                    self._client = await stack.enter_async_context(Client(line, client_info=who, cache=None))
                    self.tools = await self._list()
                self.is_ready.set()
                await self._stop.wait()
        except TimeoutError:
            self._fail(f"it did not start within {seconds:g} seconds")
        except Exception as error:  # whatever a stranger's program does
            self._fail(self._words(error))
        finally:
            self._client = None
            self._fail("it was stopped")
            self.is_ready.set()

    def stop(self) -> None:
        """Ask it to end; one that still starts is not waited for."""
        self._stop.set()
        if not self.is_ready.is_set() and self._task is not None:
            self._task.cancel()

    async def call(
        self, tool: str, arguments: Mapping[str, object], seconds: float, report: Callable[[str], None]
    ) -> Mapping[str, Any]:
        """Call a tool; return its result as JSON. Raises `LinkError`."""
        client = self._client
        if client is None or self.trouble is not None:
            raise LinkError(self.trouble or "it is not running")

        async def told(progress: float, total: float | None, message: str | None) -> None:
            part = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
            report(f"{part} {message}" if message else part)

        self._silence = 0
        try:
            async with asyncio.timeout(seconds):
                result = await client.call_tool(tool, dict(arguments), progress_callback=told)
        except TimeoutError:
            raise LinkError(f"it did not answer within {seconds:g} seconds") from None
        except Exception as error:
            raise LinkError(self._words(error)) from None
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def _list(self) -> list[Mapping[str, Any]]:
        assert self._client is not None
        found: list[Mapping[str, Any]] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None or len(found) > _MOST_TOOLS:
                break
        return found[:_MOST_TOOLS]

    def _line(self) -> contextlib.AbstractAsyncContextManager[Streams]:
        return self._web() if self._server.kind == "http" else self._program()

    @contextlib.asynccontextmanager
    async def _web(self) -> AsyncGenerator[Streams]:
        timeout = httpx2.Timeout(30.0, read=None)  # how long an answer may take is the call's to say
        limited = _LimitedTransport(httpx2.AsyncHTTPTransport())
        async with (
            httpx2.AsyncClient(
                headers=dict(self._server.headers), timeout=timeout, transport=limited
            ) as client,
            streamable_http_client(self._server.url, http_client=client) as streams,
        ):
            yield cast("Streams", streams)

    @contextlib.asynccontextmanager
    async def _program(self) -> AsyncGenerator[Streams]:
        process = await asyncio.create_subprocess_exec(
            self._server.command,
            *self._server.args,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**self._environ, **self._server.env},
            cwd=self._cwd,
            start_new_session=True,
            limit=MOST_BYTES,
        )
        heard, hearing = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        saying, said = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as group:
            group.start_soon(self._hear, process, heard)
            group.start_soon(self._say, process, said)
            group.start_soon(self._note, process)
            try:
                yield hearing, saying
            finally:
                self._is_ending = True
                with anyio.CancelScope(shield=True):
                    hearing.close()
                    saying.close()
                    await _end(process)
                group.cancel_scope.cancel()

    async def _hear(
        self,
        process: asyncio.subprocess.Process,
        heard: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        assert process.stdout is not None
        async with heard:
            while True:
                try:
                    line = await process.stdout.readline()
                except ValueError:
                    self._fail(f"it sent a line of more than {MOST_BYTES >> 20} MB")
                    break
                self._silence += len(line)
                if not line:
                    await self._ended()
                    break
                if self._silence > 2 * MOST_BYTES:
                    self._fail("it floods: it sends without end what nobody asked for")
                    break
                if not line.strip():
                    continue
                try:
                    message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
                except ValueError:
                    continue  # some print notes where only messages belong
                try:
                    await heard.send(message)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    break
        _kill(process)

    async def _ended(self) -> None:
        """Keep that it ended by itself, with its last words, before anybody is told that the line is dead."""
        if not self._is_ending:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GRACE):
                    await self._is_silent.wait()
            self._fail("it ended")

    async def _say(
        self, process: asyncio.subprocess.Process, said: MemoryObjectReceiveStream[SessionMessage]
    ) -> None:
        assert process.stdin is not None
        with contextlib.suppress(OSError, anyio.ClosedResourceError):
            async with said:
                async for one in said:
                    line = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                    process.stdin.write(line.encode("utf-8", "replace") + b"\n")
                    await process.stdin.drain()

    async def _note(self, process: asyncio.subprocess.Process) -> None:
        """Keep the end of what it complains about."""
        assert process.stderr is not None
        while data := await process.stderr.read(1 << 16):
            self._complaints += data
            del self._complaints[:-_LAST_WORDS]
        self._is_silent.set()

    def _fail(self, words: str) -> None:
        """Keep why it cannot be used; the first reason is the one."""
        if self.trouble is None:
            last = bytes(self._complaints).decode("utf-8", "replace").strip()
            self.trouble = f"{words}; it said last: {last}" if last and words != "it was stopped" else words

    def _words(self, error: BaseException) -> str:
        if self.trouble is not None:
            return self.trouble
        while isinstance(error, BaseExceptionGroup):
            error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
        match error:
            case FileNotFoundError():
                return f"there is no program called {self._server.command!r}"
            case OSError():
                return error.strerror or str(error) or "it cannot be reached"
            case MCPError() | httpx2.HTTPError() | LinkError():
                return str(error) or type(error).__name__
            case _:
                return f"what it answered cannot be read ({type(error).__name__})"


async def _end(process: asyncio.subprocess.Process) -> None:
    """Let a program end by itself, ask it to, then kill it with all it started."""
    if process.stdin is not None:
        process.stdin.close()
    for number in (None, signal.SIGTERM):
        if number is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await process.wait()
                break
    _kill(process)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_GRACE):
            await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


class _LimitedTransport(httpx2.AsyncBaseTransport):
    """Breaks off answers that are larger than anybody can use."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        stream = cast("httpx2.AsyncByteStream", response.stream)
        response.stream = _LimitedStream(stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for piece in self._inner:
            count += len(piece)
            if count > MOST_BYTES:
                raise httpx2.ReadError(f"it sent more than {MOST_BYTES >> 20} MB")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
