"""Who gets in and comes back: the file that opens the browser, and a page after a restart."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

from clew.faces.web.doors import KEPT, recall, remember, write_way_in
from clew.faces.web.server import Server
from clew.faces.web.site import Site
from clew.store.state import state_folder
from tests.faces.stage import demo
from tests.faces.web.lab import Visitor, running
from tests.faces.web.process import started

if TYPE_CHECKING:
    from collections.abc import Generator

DIGEST = hashlib.sha256(b"x").digest()
OPENED = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
"""As a browser asks that was started with a file which leads on."""


@contextmanager
def serving(root: Path, state: Path | None, port: int = 0) -> Generator[Server]:
    server = Server(Site([root], use_index=False, jobs=1), port=port, state=state)
    is_ready = threading.Event()
    thread = threading.Thread(target=server.run, kwargs={"ready": is_ready.set}, daemon=True)
    thread.start()
    assert is_ready.wait(20)
    try:
        yield server
    finally:
        server.stop()
        thread.join(20)


def way_in(server: Server) -> Path:
    return Path(unquote(urlsplit(server.way_in()).path))


def test_the_browser_is_started_without_the_code_and_the_file_is_the_owners_alone(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with serving(demo(tmp_path), state) as server:
        assert server.door.code not in server.way_in()
        file = way_in(server)
        assert server.url in file.read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        visitor = Visitor(server.port)
        reply = visitor.send("GET", f"/?code={server.door.code}", OPENED)
        assert reply.status == 200
        assert b'content="0;url=/"' in reply.body
        assert "SameSite=Strict" in reply.headers["set-cookie"]
        assert not file.exists(), "it is used"
        visitor.cookie = reply.headers["set-cookie"].partition(";")[0]
        assert visitor.get("/api/index").status == 200
    assert not list((state / "web").iterdir())


def test_a_file_that_nobody_used_goes_with_the_server(tmp_path: Path) -> None:
    with serving(demo(tmp_path), tmp_path / "state") as server:
        file = way_in(server)
    assert not file.exists()


def test_the_address_in_the_file_is_text() -> None:
    folder = state_folder()
    page = write_way_in(folder, 1, 'http://127.0.0.1:1/?code="><script>').read_text()
    assert "<script>" not in page


@pytest.mark.parametrize(
    "headers",
    [
        {**OPENED, "Sec-Fetch-Dest": "iframe"},
        {**OPENED, "Sec-Fetch-Mode": "no-cors"},
        {**OPENED, "Sec-Fetch-Mode": "cors"},
        {**OPENED, "Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_from_elsewhere_only_a_window_of_its_own_gets_in(tmp_path: Path, headers: dict[str, str]) -> None:
    with serving(demo(tmp_path), None) as server:
        visitor = Visitor(server.port)
        assert visitor.send("GET", f"/?code={server.door.code}", headers).status == 403
        assert visitor.send("GET", "/?code=wrong", OPENED).status == 403
        assert visitor.send("GET", "/", OPENED).status == 403
        assert visitor.send("GET", "/api/index", OPENED).status == 403
        assert visitor.come_in(server.url).status == 303, "the code is still good"


def test_a_page_comes_back_after_a_restart_on_a_port_of_ones_choice(tmp_path: Path) -> None:
    root, state = demo(tmp_path), tmp_path / "state"
    with serving(root, state) as free:
        port = free.port
    with serving(root, state, port) as server:
        visitor = Visitor(port)
        visitor.come_in(server.url)
        first = server.door.code
    kept = (state / "web" / f"port-{port}.json").read_text()
    assert visitor.cookie.partition("=")[2] not in kept
    assert stat.S_IMODE((state / "web" / f"port-{port}.json").stat().st_mode) == 0o600
    with serving(root, state, port) as server:
        assert visitor.get("/api/index").status == 200
        assert server.door.code != first
        assert visitor.send("GET", f"/?code={first}", {"Cookie": None}).status == 403
        other = Visitor(port)
        assert other.get("/api/index").status == 401
        other.cookie = visitor.cookie[:-1] + ("a" if visitor.cookie[-1] != "a" else "b")
        assert other.get("/api/index").status == 401
    with serving(root, tmp_path / "elsewhere", port):
        assert visitor.get("/api/index").status == 401


def test_on_a_free_port_nothing_outlasts_the_run(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with serving(demo(tmp_path), state) as server:
        Visitor(server.port).come_in(server.url)
    assert not list((state / "web").glob("*")) if (state / "web").exists() else True


def test_what_is_kept_holds_for_some_hours_and_only_if_it_is_whole(tmp_path: Path) -> None:
    remember(tmp_path, 5, DIGEST, now=1000)
    assert recall(tmp_path, 5, now=1000 + KEPT - 1) == DIGEST
    assert recall(tmp_path, 5, now=1000 + KEPT) is None
    assert recall(tmp_path, 5, now=900) is None, "it is of the future"
    assert recall(tmp_path, 6, now=1000) is None
    for bad in (b"", b"x", b"[]", b"{}", b'{"given": 1000, "digest": "00"}', b'{"given": "x", "digest": 7}'):
        (tmp_path / "web" / "port-5.json").write_bytes(bad)
        assert recall(tmp_path, 5, now=1000) is None, bad


def test_a_state_folder_that_cannot_be_written_keeps_nobody_out(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.write_text("in the way")
    with serving(demo(tmp_path), None) as free:
        port = free.port
    with serving(demo(tmp_path / "b"), state, port) as server:
        visitor = Visitor(port)
        assert visitor.come_in(server.url).status == 303
        assert visitor.get("/api/index").status == 200


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the peak")
def test_no_process_is_started_with_the_code(tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    seen = tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\necho "$@" > {seen}.new && mv {seen}.new {seen}\n')
    browser.chmod(0o755)
    before = os.environ.get("BROWSER")
    os.environ["BROWSER"] = f"{browser} %s"
    try:
        with started(demo(tmp_path), opens=True) as web:
            for _ in range(200):
                if seen.exists():
                    break
                threading.Event().wait(0.05)
            given = seen.read_text()
            assert given.startswith("file://")
            assert re.search(r"code=", given) is None
            web.end()
    finally:
        if before is None:
            del os.environ["BROWSER"]
        else:
            os.environ["BROWSER"] = before


def test_running_without_a_state_folder_leaves_nothing(tmp_path: Path) -> None:
    with running(demo(tmp_path)) as visitor:
        assert visitor.get("/api/index").status == 200
    assert not (state_folder() / "web").exists()
