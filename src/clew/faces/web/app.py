"""From a request to an action and back: the routes of the table as an app, behind the guards."""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as Place
from starlette.routing import Router

from clew.errors import UsageError
from clew.faces.web.answers import Document, NotFoundError, Stream, TooLargeError, failed, failure
from clew.faces.web.asking import Asked, read_body, read_query
from clew.faces.web.guards import MOST_BODY, READING, WRITING, Guards
from clew.faces.web.openapi import openapi
from clew.faces.web.routes import EVENTS, JSON, ROUTES
from clew.format.json_pieces import whole

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from starlette.types import ASGIApp, Receive, Scope, Send

    from clew.faces.web.guards import Door
    from clew.faces.web.routes import Route
    from clew.faces.web.site import Site
    from clew.faces.web.workers import Lane

T = TypeVar("T")
Endpoint = Callable[[Request], Awaitable[Response]]

_TOGETHER: Final = 64 << 10
"""Bytes of small pieces that are sent at once."""

ASSETS: Final[Mapping[str, tuple[str, str]]] = {
    "/": ("web.html", "text/html"),
    "/app.js": ("app.js", "text/javascript"),
    "/app.css": ("app.css", "text/css"),
}
"""By address, the file of the package that is served there, and its type. Nothing else is ever looked up."""


def make_app(site: Site, door: Door) -> ASGIApp:
    """Return the app of a site, which only those who came in by the door may use."""
    by_path: dict[str, dict[str, Endpoint]] = {
        path: {READING: _asset_endpoint(*asset)} for path, asset in ASSETS.items()
    }
    for route in ROUTES:
        by_path.setdefault(route.path, {})[route.method] = _endpoint(site, route)
    # Both methods go to every path, so that what is refused is refused in our own words.
    places = [
        Place(path, partial(_answered, site, endpoints), methods=[READING, WRITING])
        for path, endpoints in by_path.items()
    ]
    return Guards(Router(places, redirect_slashes=False, default=_nothing), door)


async def _answered(site: Site, endpoints: Mapping[str, Endpoint], request: Request) -> Response:
    """Answer a request; whatever goes wrong is an answer too."""
    endpoint = endpoints.get(request.method)
    if endpoint is None:
        allowed = ", ".join(endpoints)
        return Response(
            failure("method", f"only {allowed} is understood here"), 405, {"allow": allowed}, media_type=JSON
        )
    try:
        return await endpoint(request)
    except Exception as error:
        status, body = failed(error)
        if status == 500 and site.log is not None:
            site.log("".join(traceback.format_exception(error)))
        return Response(body, status, media_type=JSON)


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer for every path that is none of ours."""
    status, body = failed(NotFoundError("there is nothing here"))
    await Response(body, status, media_type=JSON)(scope, receive, send)


def _asset_endpoint(name: str, media_type: str) -> Endpoint:
    async def endpoint(_request: Request) -> Response:
        try:
            return Response(_asset(name), media_type=media_type)
        except FileNotFoundError:
            raise NotFoundError(f"this clew was built without {name}", hint="make web makes it") from None

    return endpoint


@cache
def _asset(name: str) -> bytes:
    return resources.files("clew").joinpath("assets", name).read_bytes()


def _endpoint(site: Site, route: Route) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        said = (
            read_body(route.fields, await _body(request))
            if route.method == "POST"
            else read_query(route.fields, request.scope["query_string"])
        )
        if route.handler is None:
            return await _own(site, route, request)
        left = threading.Event()
        asked = Asked({name: str(value) for name, value in request.path_params.items()}, said, left.is_set)
        lane = site.lanes[route.lane]
        work = lane.run(partial(route.handler, site, asked))
        match await (_while_there(request, work, left) if route.lane == "search" else work):
            case Document(body):
                return Response(body, media_type=JSON)
            case Stream(pieces, media_type, headers):
                # The first pieces come before the head is sent: what fails at once can still be said.
                first = await lane.run(lambda: _some(pieces), goes_on=True)
                body = _sent(site, lane, first, pieces)
                return StreamingResponse(body, media_type=media_type, headers=headers)

    return endpoint


async def _while_there(request: Request, work: Coroutine[Any, Any, T], left: threading.Event) -> T:
    """Wait for some work, and let it know if whoever asked for it goes away: a page asks at every key."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_leaves(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            left.set()
        return await working
    finally:
        leaving.cancel()


async def _leaves(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _own(site: Site, route: Route, request: Request) -> Response:
    if route.media_type == EVENTS:
        events = site.hub.listen(request.headers.get("last-event-id"))
        first = await anext(events)
        return StreamingResponse(_followed(first, events), media_type=EVENTS)
    return Response(whole(openapi()), media_type=JSON)


async def _followed(first: bytes, rest: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    try:
        yield first
        async for piece in rest:
            yield piece
    finally:
        await rest.aclose()


async def _body(request: Request) -> bytes:
    found = bytearray()
    try:
        async for piece in request.stream():
            found += piece
            if len(found) > MOST_BODY:
                raise TooLargeError(f"a body has at most {MOST_BODY:,} bytes")
    except ClientDisconnect:
        raise UsageError("the body broke off") from None
    return bytes(found)


async def _sent(site: Site, lane: Lane, first: bytes, pieces: Iterator[bytes]) -> AsyncGenerator[bytes]:
    """Give what is made piece by piece, as quickly as it is taken."""
    some = first
    try:
        while some:
            yield some
            some = await lane.run(lambda: _some(pieces), goes_on=True)
    except Exception:
        # The head is sent: that something is missing can only be said by breaking off.
        if site.log is not None:
            site.log(traceback.format_exc())
        raise
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            await lane.run(close, goes_on=True)


def _some(pieces: Iterator[bytes]) -> bytes:
    found = bytearray()
    for piece in pieces:
        found += piece
        if len(found) >= _TOGETHER:
            break
    return bytes(found)
