"""Nobody gets in but our own page in the browser that opened the printed address."""

from __future__ import annotations

import json
import re
import socket
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from clew.faces.web import connections
from clew.faces.web.guards import Door
from tests.faces.stage import demo
from tests.faces.web.lab import parse, running, watching_files
from tests.faces.web.matrix import REFUSED, cases, hosts, reads

if TYPE_CHECKING:
    import pytest

    from tests.faces.web.lab import Visitor

SECRET = "the-combination-is-4711"


def key_of(visitor: Visitor) -> str:
    return visitor.get("/api/sessions").json["sessions"][0]["key"]


def test_no_request_of_the_matrix_gets_what_it_should_not_and_no_file_outside_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = demo(tmp_path)
    outside = tmp_path / "secret.jsonl"
    outside.write_text(
        json.dumps({"type": "user", "uuid": "u", "message": {"role": "user", "content": SECRET}})
    )
    (tmp_path / "secret").write_text(SECRET)
    monkeypatch.chdir(root)
    with running(root) as visitor:
        key = key_of(visitor)
        made = list(cases(visitor.port, key, visitor.cookie))
        wrong: list[str] = []
        with watching_files() as opened:
            for case in made:
                reply = visitor.send(case.method, case.path, case.headers, case.body)
                if reply.status not in case.right:
                    wrong.append(f"{case.name} ({case.method} {case.path[:80]!r}): {reply.status}")
                assert SECRET.encode() not in reply.body, case.name
                assert "access-control-allow-origin" not in reply.headers, case.name
    assert len(made) >= 600
    assert not wrong, "\n".join(wrong[:20])
    own = (str(root), str(tmp_path / "demo"))
    strangers = [path for path in opened if "secret" in path or path.startswith("/etc")]
    assert not strangers
    assert not [path for path in opened if path.startswith(str(tmp_path)) and not path.startswith(own)]


def test_the_matrix_would_notice_an_open_door(tmp_path: Path) -> None:
    """The right requests are answered: what the matrix refuses is refused for its own reason."""
    with running(demo(tmp_path)) as visitor:
        for path in reads(key_of(visitor)):
            assert visitor.get(path).status == 200, path
        assert sum(right == {200} for _, right in hosts(visitor.port)) == 6
        assert 200 not in REFUSED
        assert visitor.post("/api/undo").status == 404  # let through, and nothing to take back


def test_duplicate_and_missing_names_of_the_host_are_refused(tmp_path: Path) -> None:
    with running(demo(tmp_path)) as visitor:
        host = f"Host: 127.0.0.1:{visitor.port}\r\n"
        cookie = f"Cookie: {visitor.cookie}\r\nConnection: close\r\n\r\n"
        for lines, version in (
            (host + host, "1.1"),
            (host + "Host: evil.com\r\n", "1.1"),
            ("", "1.1"),
            ("", "1.0"),
        ):
            data = f"GET /api/index HTTP/{version}\r\n{lines}{cookie}".encode()
            assert parse(visitor.raw(data)).status == 400, lines
        twice = f"{host}Origin: http://127.0.0.1:{visitor.port}\r\nOrigin: http://evil.com\r\n{cookie}"
        assert parse(visitor.raw(f"GET /api/index HTTP/1.1\r\n{twice}".encode())).status == 403


def test_the_address_lets_one_browser_in_once(tmp_path: Path) -> None:
    with running(demo(tmp_path)) as visitor:
        mine, visitor.cookie = visitor.cookie, ""
        assert re.fullmatch(rf"clew-{visitor.port}=[\w-]{{43}}", mine)
        assert visitor.get("/api/index").error == "not-admitted"
        assert visitor.get("/").status == 401
        for code in ("", "x", "x" * 43):
            assert visitor.send("GET", f"/?code={code}").status == 403
        visitor.cookie = mine
        assert visitor.get("/").status == 200
        again = visitor.send("GET", "/?code=whatever")
        assert (again.status, again.headers["location"]) == (303, "/")
        assert "set-cookie" not in again.headers


def test_the_code_is_used_up_even_for_whoever_knows_it() -> None:
    door = Door(4711)
    assert door.open(b"x") is None
    cookie = door.open(door.code.encode())
    assert cookie is not None
    assert all(word in cookie for word in ("clew-4711=", "HttpOnly", "SameSite=Strict", "Path=/"))
    assert door.open(door.code.encode()) is None
    assert door.code not in cookie
    assert len({Door(1).code, Door(1).code, door.code}) == 3


def test_a_browser_that_is_known_uses_the_code_up_too() -> None:
    """A page that comes back after a restart is opened by the new address all the same."""
    first = Door(4711)
    cookie = (first.open(first.code.encode()) or "").partition(";")[0].encode()
    told: list[bytes | None] = []
    digest = sha256(cookie.partition(b"=")[2]).digest()
    door = Door(4711, known=digest, opened=told.append)
    assert door.knows([cookie])
    door.pass_known(b"x")
    assert told == []
    door.pass_known(door.code.encode())
    assert told == [None], "there is no new cookie to be remembered"
    assert door.open(door.code.encode()) is None
    assert door.knows([cookie])


def test_every_answer_wears_the_shields(tmp_path: Path) -> None:
    with running(demo(tmp_path)) as visitor:
        for path in (
            *reads(key_of(visitor)),
            "/nowhere",
            "/api/sessions/nobody",
            "/?code=x",
            "/api/events/x",
        ):
            headers = visitor.get(path).headers
            assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';"), (
                path
            )
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cross-origin-opener-policy"] == "same-origin"
            assert headers["cross-origin-resource-policy"] == "same-origin"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cache-control"] == "no-store"
            assert "server" not in headers


def test_what_is_too_large_is_refused_and_the_server_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections.Connection, "to_ask", 0.5)
    with running(demo(tmp_path)) as visitor:
        start = f"GET /api/index HTTP/1.1\r\nHost: 127.0.0.1:{visitor.port}\r\nCookie: {visitor.cookie}\r\n"
        assert parse(visitor.raw(f"{start}X: {'x' * (1 << 20)}\r\n\r\n".encode())).status in {0, 400, 431}
        many = "".join(f"X-{n}: 1\r\n" for n in range(10_000))
        assert parse(visitor.raw(f"{start}{many}\r\n".encode())).status in {0, 400, 431}
        few = "".join(f"X-{n}: 1\r\n" for n in range(100))
        assert parse(visitor.raw(f"{start}{few}\r\n".encode())).status == 431
        assert parse(visitor.raw(f"{start}Content-Length: 5\r\n\r\nhello".encode())).status == 400
        long = "x" * 70_000
        assert parse(visitor.raw(f"GET /{long} HTTP/1.1\r\n\r\n".encode())).status in {0, 400}
        ours = {"X-Clew": "1", "Origin": f"http://127.0.0.1:{visitor.port}", "Sec-Fetch-Site": "same-origin",
                "Content-Type": "application/json"}  # fmt: skip
        claimed = visitor.send("POST", "/api/undo", ours | {"Content-Length": str(100 << 20)})
        assert claimed.status == 413
        for length in ("000000000000999999999", "-1", "1e3", "99999999999999999999"):
            assert visitor.send("POST", "/api/undo", ours | {"Content-Length": length}).status in {400, 413}
        chunked = ours | {"Transfer-Encoding": "chunked"}
        piece = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        assert visitor.send("POST", "/api/undo", chunked, b"").status in {0, 400}
        data = visitor.send("POST", "/api/undo", chunked | {"Content-Length": None}, piece * 8 + b"0\r\n\r\n")
        assert data.status == 413
        for broken in (b"zz\r\n", b"-5\r\nhello\r\n", b"5\r\nhi\r\n0\r\n\r\n", b"fffffffffffffffffffff\r\n"):
            reply = visitor.send(
                "POST", "/api/undo", chunked | {"Content-Length": None}, broken + b"0\r\n\r\n"
            )
            assert reply.status in {0, 400, 413}, broken
        ranged = visitor.send("GET", "/", {"Range": "bytes=0-," + ",".join("0-" for _ in range(500))})
        assert (ranged.status, "content-range" in ranged.headers) == (200, False)
        assert visitor.get("/api/index").status == 200


def test_pipelined_requests_are_each_looked_at(tmp_path: Path) -> None:
    with running(demo(tmp_path)) as visitor:
        good = (
            f"GET /api/index HTTP/1.1\r\nHost: 127.0.0.1:{visitor.port}\r\nCookie: {visitor.cookie}\r\n\r\n"
        )
        bad = "GET /api/index HTTP/1.1\r\nHost: evil.com\r\nConnection: close\r\n\r\n"
        data = visitor.raw((good + good + bad).encode())
        assert re.findall(rb"HTTP/1.1 (\d+)", data) == [b"200", b"200", b"421"]


def test_whoever_asks_too_slowly_is_cut_and_nobody_else_notices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections.Connection, "to_ask", 0.5)
    with running(demo(tmp_path)) as visitor:
        lines = [socket.create_connection(("127.0.0.1", visitor.port), timeout=10) for _ in range(200)]
        try:
            for number, line in enumerate(lines):
                line.sendall(b"GET / HTTP/1.1\r\n" if number % 2 else b"")
            began = time.monotonic()
            assert visitor.get("/api/index").status == 200
            assert time.monotonic() - began < 2
            for line in lines:
                with suppress(ConnectionError):
                    assert line.recv(10) == b""
        finally:
            for line in lines:
                line.close()


def test_whoever_takes_no_answer_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections.Connection, "to_take", 0.3)
    with running(demo(tmp_path)) as visitor, socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        line.settimeout(10)
        line.connect(("127.0.0.1", visitor.port))
        names = f"Host: 127.0.0.1:{visitor.port}\r\nCookie: {visitor.cookie}\r\n\r\n"
        line.sendall(f"GET /api/openapi.json HTTP/1.1\r\n{names}".encode() * 300)
        time.sleep(1.5)
        taken = 0
        with suppress(ConnectionError):
            while piece := line.recv(1 << 16):
                taken += len(piece)
        assert taken < 300 * len(visitor.get("/api/openapi.json").body)


def test_it_listens_on_this_machine_alone(tmp_path: Path) -> None:
    with running(demo(tmp_path)) as visitor:
        hexed = f"{visitor.port:04X}"
        table = Path("/proc/net/tcp")
        rows = [line.split() for line in table.read_text().splitlines()[1:]] if table.exists() else []
        listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{hexed}")]
        assert listening in ([f"0100007F:{hexed}"], [])
