"""Who may ask what: every request passes here before it is routed.

Web pages that a person has open can send requests to this machine too, and a name of theirs can be made to
point here. So the host has to be ours to the letter, the browser has to have come in by the address that was
printed, and whoever wants to change something has to show that it is our own page that asks.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.faces.web.answers import failure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

Headers = list[tuple[bytes, bytes]]

MOST_HEADERS: Final = 64
MOST_HEAD: Final = 32 << 10
"""Bytes of a request before its body."""

MOST_BODY: Final = 256 << 10
READING: Final = "GET"
WRITING: Final = "POST"
MARK: Final = b"x-clew"
"""The header that no other page can set: a browser would first ask whether it may, and is told nothing."""

_HOSTS: Final = ("127.0.0.1", "localhost", "[::1]")
_PATH: Final = re.compile(rb"/(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*)?")
"""No path of ours needs an escape, a dot at the beginning of a name, or two slashes."""

_CODE: Final = b"code="
_NEAR: Final = frozenset({b"same-origin", b"none"})
_JSON: Final = re.compile(rb"application/json(?:\s*;\s*charset=utf-8)?", re.IGNORECASE)

_ON: Final = (
    b'<!doctype html><meta charset="utf-8"><title>clew</title><meta http-equiv="refresh" content="0;url=/">'
    b'<p><a href="/">Go on to clew</a></p>\n'
)
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
)
SHIELDS: Final[Sequence[tuple[bytes, bytes]]] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


class Door:
    """The secrets of one run: the code that is in the address once, and what the browser keeps for it."""

    def __init__(
        self,
        port: int,
        *,
        known: bytes | None = None,
        opened: Callable[[bytes | None], object] | None = None,
    ) -> None:
        """`known` is the digest of a cookie of an earlier run that still holds.

        `opened` is told when the code is used up, and the digest of the cookie that was given for it; None
        where the browser had one that still holds.
        """
        self.port = port
        self.code = secrets.token_urlsafe(32)
        self.cookie = f"clew-{port}"
        self._kept = secrets.token_urlsafe(32)
        self._digests = (_digest(self._kept.encode()), *(() if known is None else (known,)))
        self._opened = opened
        self._is_used = False
        self.hosts = frozenset(f"{name}:{port}" for name in _HOSTS) | (
            frozenset(_HOSTS) if port == 80 else frozenset[str]()
        )

    @property
    def url(self) -> str:
        """The address to open; it lets one browser in."""
        return f"http://127.0.0.1:{self.port}/?code={self.code}"

    def open(self, code: bytes) -> str | None:
        """Return the cookie for the one who brings the code first; None for everybody else."""
        if not self._used_up(code, self._digests[0]):
            return None
        return f"{self.cookie}={self._kept}; HttpOnly; SameSite=Strict; Path=/"

    def pass_known(self, code: bytes) -> None:
        """Let somebody in who is known already: the code they bring lets nobody in after them."""
        self._used_up(code, None)

    def _used_up(self, code: bytes, given: bytes | None) -> bool:
        """Use the code, and say whether it was the right one and good until now."""
        is_right = hmac.compare_digest(code, self.code.encode())
        if not is_right or self._is_used:
            return False
        self._is_used = True
        if self._opened is not None:
            self._opened(given)
        return True

    def knows(self, cookies: Sequence[bytes]) -> bool:
        """Say whether one of the cookies that were sent is ours."""
        name = self.cookie.encode()
        found = False
        for header in cookies:
            for pair in header.split(b";"):
                key, _, value = pair.strip().partition(b"=")
                # Every one is compared, in the same time whatever is in it.
                digest = _digest(value)
                for ours in self._digests:
                    found |= key == name and hmac.compare_digest(digest, ours)
        return found


def _digest(value: bytes) -> bytes:
    return hashlib.sha256(value).digest()


class Refusal(NamedTuple):
    """Why a request goes no further."""

    status: int
    code: str
    message: str
    hint: str | None = None


class _Asked:
    """A request as it came, by its headers."""

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.path: bytes = scope.get("raw_path") or b""
        self.query: bytes = scope.get("query_string", b"")
        self.headers: Headers = scope["headers"]

    @property
    def is_opened_in_a_window(self) -> bool:
        """Whether a browser says that a person goes there, in a window of its own, by whatever link."""
        return (
            self.all(b"sec-fetch-mode") == [b"navigate"]
            and self.all(b"sec-fetch-dest") == [b"document"]
            and not self.all(b"origin")
        )

    def all(self, name: bytes) -> list[bytes]:
        """Return the values of a header, one for each time it was sent."""
        return [value.strip() for key, value in self.headers if key == name]


class Guards:
    """Lets through to the app what may pass, and puts the shields on everything that goes out."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            return
        shielded = _shielding(send)
        asked = _Asked(scope)
        refusal = self._framed(asked) or self._named(asked)
        is_coming_in = asked.method == READING and asked.path == b"/" and asked.query.startswith(_CODE)
        if refusal is None and is_coming_in and asked.is_opened_in_a_window:
            # From wherever it is opened: whoever has the code was given it.
            await self._let_in(asked, shielded)
            return
        refusal = refusal or self._near(asked)
        if refusal is None and is_coming_in:
            await self._let_in(asked, shielded)
            return
        refusal = refusal or self._admitted(asked)
        if refusal is None:
            await self._app(scope, receive, shielded)
            return
        body = failure(refusal.code, refusal.message, refusal.hint)
        headers: Headers = [(b"content-type", b"application/json")]
        if refusal.status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers.append((b"allow", f"{READING}, {WRITING}".encode()))
        await _answer(shielded, refusal.status, headers, body)

    # What is asked ----------------------------------------------------------------------------------------

    def _framed(self, asked: _Asked) -> Refusal | None:
        """Refuse what is no request as a browser sends it."""
        if len(asked.headers) > MOST_HEADERS:
            return Refusal(431, "too-large", f"there are more than {MOST_HEADERS} headers")
        if sum(len(key) + len(value) for key, value in asked.headers) > MOST_HEAD:
            return Refusal(431, "too-large", "the headers are too long")
        if not asked.path.startswith(b"/"):
            return Refusal(400, "bad-request", "the address has to begin with a slash")
        if len(asked.all(b"host")) != 1:
            return Refusal(400, "bad-request", "there has to be one Host header")
        lengths = asked.all(b"content-length")
        has_body = bool(asked.all(b"transfer-encoding")) or any(length != b"0" for length in lengths)
        if has_body and asked.method != WRITING:
            return Refusal(400, "bad-request", f"only {WRITING} has a body")
        if any(not length.isdigit() or len(length) > 12 or int(length) > MOST_BODY for length in lengths):
            return Refusal(413, "too-large", f"a body has at most {MOST_BODY:,} bytes")
        return None

    def _named(self, asked: _Asked) -> Refusal | None:
        """Refuse what did not mean this very server."""
        if _host(asked.all(b"host")[0]) not in self._door.hosts:
            return Refusal(421, "wrong-host", "this server does not go by that name")
        return None

    def _near(self, asked: _Asked) -> Refusal | None:
        """Refuse what comes from another site."""
        host = _host(asked.all(b"host")[0])
        sites = asked.all(b"sec-fetch-site")
        if len(sites) > 1 or any(site not in _NEAR for site in sites):
            return Refusal(403, "other-site", "another site may not ask here")
        origins = asked.all(b"origin")
        if len(origins) > 1 or any(origin != f"http://{host}".encode() for origin in origins):
            return Refusal(403, "other-site", "another site may not ask here")
        if asked.method not in {READING, WRITING}:
            return Refusal(405, "method", f"only {READING} and {WRITING} are understood")
        return None

    def _admitted(self, asked: _Asked) -> Refusal | None:
        """Refuse whoever did not come in by the door, and changes that our own page did not ask for."""
        if not self._door.knows(asked.all(b"cookie")):
            return Refusal(
                401, "not-admitted", "open the address that clew web printed", "it lets one browser in"
            )
        if not _PATH.fullmatch(asked.path):
            return Refusal(404, "not-found", "there is nothing here")
        if asked.method != WRITING:
            return None
        if len(asked.all(b"origin")) != 1 or len(asked.all(b"sec-fetch-site")) != 1:
            return Refusal(403, "other-site", "a change has to be asked for by our own page")
        if asked.all(MARK) != [b"1"]:
            return Refusal(403, "other-site", "a change needs the header X-Clew: 1")
        types = asked.all(b"content-type")
        if len(types) != 1 or not _JSON.fullmatch(types[0]):
            return Refusal(415, "media-type", "the body has to be application/json")
        return None

    async def _let_in(self, asked: _Asked, send: Send) -> None:
        """Take the code out of the address, and give the cookie for it."""
        home: Headers = [(b"location", b"/")]
        code = asked.query.removeprefix(_CODE)
        if self._door.knows(asked.all(b"cookie")):
            self._door.pass_known(code)
            await _answer(send, 303, home, b"")
            return
        cookie = self._door.open(code)
        if cookie is None:
            body = b"This address has been used, or is of an earlier run. Start clew web again.\n"
            await _answer(send, 403, [(b"content-type", b"text/plain; charset=utf-8")], body)
            return
        given = (b"set-cookie", cookie.encode())
        if asked.all(b"sec-fetch-site") == [b"cross-site"]:
            # It came from our file on the disk. Were it sent on at once, the browser would take all of it for
            # a visit from elsewhere, and keep the cookie to itself. So our own page leads on.
            await _answer(send, 200, [(b"content-type", b"text/html; charset=utf-8"), given], _ON)
            return
        await _answer(send, 303, [*home, given], b"")


def _host(value: bytes) -> str:
    """Return a host as it is compared: small letters, and without the one dot that may end a name."""
    text = value.decode("latin-1").lower()
    name, colon, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not colon:
        name = text
    return f"{name.removesuffix('.')}{colon}{port if colon else ''}"


def _shielding(send: Send) -> Callable[[Message], Awaitable[None]]:
    """Return what sends a message with the shields on it, in the place of what the app says of the same."""
    ours = {key for key, _ in SHIELDS}

    async def shielded(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [(key, value) for key, value in message.get("headers", []) if key.lower() not in ours]
            message = {**message, "headers": [*kept, *SHIELDS]}
        await send(message)

    return shielded


async def _answer(send: Send, status: int, headers: Headers, body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    # What was refused may have a body that nobody will read.
    closing = [(b"connection", b"close")] if status >= HTTPStatus.BAD_REQUEST else []
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length, *closing]})
    await send({"type": "http.response.body", "body": body})
