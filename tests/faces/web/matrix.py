"""The requests that somebody may send who is not our page, each with what has to come of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REFUSED = frozenset({400, 401, 403, 404, 405, 413, 415, 421, 431})
FOUND = frozenset({200})
WRITES = ("/api/edits/repair", "/api/edits/trim", "/api/edits/redact", "/api/undo")


@dataclass(frozen=True, slots=True)
class Case:
    """A request, and the statuses that are right for it."""

    name: str
    method: str
    path: bytes
    headers: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    body: bytes = b""
    right: frozenset[int] = REFUSED


def reads(key: str) -> tuple[str, ...]:
    """Return an address for every way to read."""
    session = f"/api/sessions/{key}"
    return (
        "/", "/api/sessions", session, f"{session}/turns/1", f"{session}/context", f"{session}/tree",
        f"{session}/check", f"{session}/files", f"{session}/patch", "/api/search?q=the", "/api/usage",
        "/api/doctor", "/api/index", f"/api/export/{key}?to=text", "/api/openapi.json",
    )  # fmt: skip


def cases(port: int, key: str, cookie: str) -> Iterator[Case]:
    """Give all of them."""
    yield from _hosts(port, key)
    yield from _origins(port, key)
    yield from _sites(port, key)
    yield from _tokens(port, key, cookie)
    yield from _methods(port, key)
    yield from _types(port)
    yield from _traversals(key)


def _write(port: int, **headers: str | None) -> dict[str, str | None]:
    ours: dict[str, str | None] = {
        "Origin": f"http://127.0.0.1:{port}",
        "Sec-Fetch-Site": "same-origin",
        "X-Clew": "1",
        "Content-Type": "application/json",
    }
    return ours | {name.replace("_", "-"): value for name, value in headers.items()}


def hosts(port: int) -> Iterator[tuple[str | None, frozenset[int]]]:
    """Give names that a request may be for; None for no name at all."""
    for good in ("127.0.0.1", "localhost", "[::1]", "LOCALHOST", "localhost.", "LocalHost."):
        yield f"{good}:{port}", FOUND
    for bad in (
        "evil.com", f"evil.com:{port}", f"localhost.evil.com:{port}", f"127.0.0.1.evil.com:{port}",
        f"127.0.0.1@evil.com:{port}", f"evil.com@127.0.0.1:{port}", f"0.0.0.0:{port}", f"127.1:{port}",
        f"2130706433:{port}", f"0x7f.1:{port}", f"127.0.0.1:{port + 1}", "127.0.0.1", "localhost",
        f"localhost..:{port}", f"127.0.0.2:{port}", f"[::]:{port}", f"[::ffff:127.0.0.1]:{port}",
        f"127.0.0.1:0{port}", f"127.0.0.1:{port},evil.com", f"xlocalhost:{port}", "",
    ):  # fmt: skip
        yield bad, frozenset({400, 421})
    yield None, frozenset({400})


def _hosts(port: int, key: str) -> Iterator[Case]:
    for host, right in hosts(port):
        for path in ("/", "/api/sessions", f"/api/sessions/{key}", "/api/index", "/api/openapi.json"):
            yield Case(f"host {host!r} {path}", "GET", path.encode(), {"Host": host}, right=right)
        if right != FOUND:
            for path in WRITES:
                headers = _write(port, Host=host, Origin=f"http://{host}")
                yield Case(f"host {host!r} {path}", "POST", path.encode(), headers, b"{}", right)


def _origins(port: int, key: str) -> Iterator[Case]:
    bad = (
        "null", "http://localhost.evil.com", f"http://127.0.0.1.evil.com:{port}", f"https://127.0.0.1:{port}",
        f"http://127.0.0.1:{port + 1}", f"http://localhost:{port}", "file://", "chrome-extension://abcdef",
        f"http://127.0.0.1:{port}/", f"http://127.0.0.1:{port} http://evil.com", f"http://127.0.0.1:{port}x",
        f"HTTP://127.0.0.1:{port}", "http://127.0.0.1", "",
    )  # fmt: skip
    for origin in bad:
        for path in WRITES:
            yield Case(f"origin {origin}", "POST", path.encode(), _write(port, Origin=origin), b"{}")
        for path in ("/api/sessions", f"/api/sessions/{key}/turns/1"):
            yield Case(f"origin {origin}", "GET", path.encode(), {"Origin": origin})
    for path in WRITES:
        yield Case("no origin", "POST", path.encode(), _write(port, Origin=None), b"{}")
        yield Case("no mark", "POST", path.encode(), _write(port, X_Clew=None), b"{}")
        yield Case("wrong mark", "POST", path.encode(), _write(port, X_Clew="0"), b"{}")


def _sites(port: int, key: str) -> Iterator[Case]:
    for site in ("same-site", "cross-site", "SAME-ORIGIN", "none, same-origin", "x", ""):
        for path in WRITES:
            headers = _write(port, Sec_Fetch_Site=site)
            yield Case(f"site {site}", "POST", path.encode(), headers, b"{}")
        for path in reads(key):
            yield Case(f"site {site}", "GET", path.encode(), {"Sec-Fetch-Site": site})
    for path in WRITES:
        yield Case("no site", "POST", path.encode(), _write(port, Sec_Fetch_Site=None), b"{}")


def _tokens(port: int, key: str, cookie: str) -> Iterator[Case]:
    name, _, value = cookie.partition("=")
    bad = {
        "none": None,
        "wrong": f"{name}={'x' * len(value)}",
        "a beginning": f"{name}={value[:-1]}",
        "longer": f"{name}={value}x",
        "other name": f"clew-{port + 1}={value}",
        "empty": f"{name}=",
        "other case": f"{name.upper()}={value}",
    }
    for why, sent in bad.items():
        for path in reads(key):
            yield Case(f"token {why}", "GET", path.encode(), {"Cookie": sent}, right=frozenset({401}))
        for path in WRITES:
            headers = _write(port, Cookie=sent)
            yield Case(f"token {why}", "POST", path.encode(), headers, b"{}", frozenset({401}))
    for path in ("/api/sessions", "/api/index"):
        for query in (f"token={value}", f"code={value}", f"{name}={value}"):
            yield Case("token in a query", "GET", f"{path}?{query}".encode(), {"Cookie": None})
        headers = {"Cookie": None, "Authorization": f"Bearer {value}"}
        yield Case("token in a header", "GET", path.encode(), headers)
    upgrade = {"Cookie": None, "Connection": "Upgrade, close", "Upgrade": "websocket"}
    yield Case("upgrade", "GET", b"/api/events", upgrade, right=frozenset({401}))


def _methods(port: int, key: str) -> Iterator[Case]:
    for method in ("HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get"):
        for path in (*reads(key)[1:6], *WRITES):
            yield Case(f"method {method}", method, path.encode(), right=frozenset({405}))
    for path in reads(key):
        plain = path.partition("?")[0].encode()
        yield Case("post on a reading", "POST", plain, _write(port), b"{}", frozenset({405}))
    for path in WRITES:
        yield Case("get on a writing", "GET", path.encode(), right=frozenset({405}))
        override = {"X-HTTP-Method-Override": "POST", "X-HTTP-Method": "POST", "X-Method-Override": "POST"}
        yield Case("override", "GET", path.encode(), override, right=frozenset({405}))
    yield Case("override", "POST", b"/api/sessions", _write(port) | {"X-HTTP-Method-Override": "GET"}, b"{}")


def _types(port: int) -> Iterator[Case]:
    for kind in (
        None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
        "text/plain; application/json", "application/json; charset=utf-16", "application/jsonx", "",
    ):  # fmt: skip
        for path in WRITES:
            headers = _write(port, Content_Type=kind)
            yield Case(f"type {kind}", "POST", path.encode(), headers, b"{}", frozenset({415}))
    for body in (b"", b"[]", b"{", b"null", b'{"session": 1}', b'{"nobody": 1}', b'{"session": "\\ud800"}',
                 b"[" * 100_000, b'{"dry_run": "no"}', b"\xff\xfe", b'{"session": "x\\u0000"}'):  # fmt: skip
        for path in WRITES[:3]:
            yield Case(f"body {body[:20]!r}", "POST", path.encode(), _write(port), body or b" ")


TRAVERSALS = (
    b"../secret", b"..%2fsecret", b"..%2Fsecret", b"%2e%2e/secret", b"%2e%2e%2fsecret", b"%252e%252e%252fx",
    b"..\\secret", b"..%5csecret", b"%c0%ae%c0%ae/secret", b"%c0%ae%c0%ae%c0%afsecret", b"/etc/passwd",
    b"%2fetc%2fpasswd", b"//etc/passwd", b"C:/secret", b"C:%5csecret", b"%5c%5chost%5cshare", b"secret%00",
    b"secret%00.jsonl", b"secret.", b"secret%20", b"~/secret", b"~root", b"CON", b"nul", b"x" * 4096,
    b"link", b"hard", b"%ef%bc%8e%ef%bc%8e%ef%bc%8fsecret", b"%e2%80%a4%e2%80%a4/secret", b"..;/secret",
    b"secret;x", b"a%0asecret", b"a%0d%0aX-Evil:1", b"....//secret", b".%2e/secret", b"secret.jsonl", b"@1",
    b"projects", b"%7e", b"*", b".", b"..", b"%", b"%zz", b"file:///etc/passwd",
)  # fmt: skip
"""What may stand where an id is expected."""


def _traversals(key: str) -> Iterator[Case]:
    own = key.encode()
    for evil in TRAVERSALS:
        for path in (
            b"/api/sessions/" + evil,
            b"/api/sessions/" + evil + b"/turns/1",
            b"/api/export/" + evil,
            b"/" + evil,
            b"/api/sessions/" + own + b"/turns/" + evil,
            b"/assets/" + evil,
        ):
            yield Case(f"path {path[:60]!r}", "GET", path)
    for evil in (
        "../secret",
        "/etc/passwd",
        "%2e%2e%2fsecret",
        "secret.jsonl",
        "%00",
        "a%0ab",
        "C:%5csecret",
    ):
        for path in (
            f"/api/sessions/{key}?agent={evil}",
            f"/api/sessions/{key}/turns/1?agent={evil}",
            f"/api/sessions/{key}/file?path={evil}",
            f"/api/search?q=the&session={evil}",
            f"/api/sessions/{key}?branch={evil}",
            f"/api/export/{key}?to={evil}",
        ):
            yield Case(f"query {path}", "GET", path.encode())
    for path in (
        f"/api/sessions/{key}?id={key}", f"/api/sessions/{key}/{key}", f"/api/sessions/{key},{key}",
        f"/api/sessions/{key}/", f"/api/sessions//{key}", "//api/sessions", "/api", "/api/", "/API/SESSIONS",
        "/api/sessions?limit=1&limit=2", "/api/sessions?limit=0", "/api/sessions?limit=99999", "/index.html",
        "/api/sessions?from=-1", "/api/sessions?limit=x", "/api/sessions?live=maybe", "/api/sessions?x",
        "/api/sessions?since=%ff", "/api/sessions?sort=up", "/favicon.ico", "/reader.js",
    ):  # fmt: skip
        yield Case(f"address {path}", "GET", path.encode())
    for target in (b"http://evil.com/api/sessions", b"*", b"api/sessions", b"evil.com:80", b"?x"):
        yield Case(f"target {target!r}", "GET", target)
