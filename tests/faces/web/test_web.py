"""`clew web`: one line, one door, quick to end, and never held up by what somebody looks for."""

from __future__ import annotations

import json
import re
import signal
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from clew.catalog.catalog import Catalog, Progress
from clew.faces.web.site import Site
from tests.builder import Builder
from tests.faces.stage import demo, write
from tests.faces.web.lab import Listener, running
from tests.faces.web.process import started

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.console import Console


def test_it_prints_its_address_on_one_line_and_ctrl_c_ends_it_soon(tmp_path: Path) -> None:
    with started(demo(tmp_path)) as web:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?code=[\w-]{43}", web.url)
        assert web.visitor.get("/").body.startswith(b"<!doctype html>")
        with Listener(web.visitor) as page:
            assert page.next()[0] == "hello"
            began = time.monotonic()
            code, rest = web.end()
            assert time.monotonic() - began < 10
        assert (code, rest) == (0, "")
        assert web.process.stderr is not None


def test_a_pattern_that_never_ends_holds_nobody_up_and_is_told_to_be_one(tmp_path: Path) -> None:
    made = Builder("long").user("a" * 4000 + "!").answer("b")
    write(tmp_path, "-p", {"long": made.data()})
    with started(tmp_path) as web:
        visitor = web.visitor
        while visitor.get("/api/index").json["state"] != "ready":
            time.sleep(0.02)
        visitor.get("/api/sessions")
        found: list[tuple[int, str]] = []

        def search() -> None:
            reply = visitor.get("/api/search?q=(a%2B)%2B%24&mode=regex")
            found.append((reply.status, reply.json["error"]["message"]))

        threads = [threading.Thread(target=search) for _ in range(2)]
        for thread in threads:
            thread.start()
        took: list[float] = []
        while any(thread.is_alive() for thread in threads):
            began = time.monotonic()
            assert visitor.get("/api/sessions").status == 200
            assert visitor.get("/api/sessions/long/turns/1").status == 200
            took.append(time.monotonic() - began)
            time.sleep(0.05)
        assert len(took) > 10
        assert sorted(took)[int(len(took) * 0.95)] < 1, took
        assert [status for status, _ in found] == [400, 400]
        assert all("took longer than 2 s" in message for _, message in found)
        began = time.monotonic()
        assert web.end(signal.SIGTERM)[0] == 0
        assert time.monotonic() - began < 10


def test_a_port_in_use_is_said_to_be(tmp_path: Path, clew: Console) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = clew("web", "--no-open", "--port", port, "--root", demo(tmp_path), "--json")
        assert ran.code == 1
        assert json.loads(ran.err)["error"]["message"].startswith(f"port {port} cannot be listened on")


def test_while_the_index_is_built_lists_are_there_and_say_that_they_are_partial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = demo(tmp_path)
    is_on_its_way, go_on = threading.Event(), threading.Event()
    update = Catalog.update

    def waiting(self: Catalog, *given: Any, tell: Any = None, **named: Any) -> Any:
        if tell is not None:
            tell(Progress("dialogue", 3, 12, 1000, 5000))
            is_on_its_way.set()
            go_on.wait(20)
        return update(self, *given, tell=tell, **named)

    monkeypatch.setattr(Catalog, "update", waiting)
    with running(root, use_index=True) as visitor:
        assert is_on_its_way.wait(20)
        said = visitor.get("/api/index").json
        assert (said["state"], said["files"], said["files_total"]) == ("building", 3, 12)
        early = visitor.get("/api/sessions").json
        assert early["partial"]
        assert early["sessions"][0]["turns"] is None
        for path in ("/api/sessions?model=opus", "/api/sessions?sort=cost", "/api/files"):
            reply = visitor.get(path)
            assert (reply.status, reply.error) == (503, "index-building"), path
        key = early["sessions"][0]["key"]
        assert visitor.get(f"/api/sessions/{key}/turns/1").json["parts"]
        assert visitor.get("/api/usage").json["total"]["messages"] > 0
        go_on.set()
        until = time.monotonic() + 20
        while visitor.get("/api/index").json["state"] != "ready" and time.monotonic() < until:
            time.sleep(0.02)
        late = visitor.get("/api/sessions").json
        assert not late["partial"]
        assert [row["id"] for row in late["sessions"]] == [row["id"] for row in early["sessions"]]
        assert late["total"]["turns"] > 0


def test_an_index_that_cannot_be_built_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    cache.write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    with running(demo(tmp_path), use_index=True) as visitor:
        until = time.monotonic() + 20
        while visitor.get("/api/index").json["state"] in {"waiting", "building"} and time.monotonic() < until:
            time.sleep(0.02)
        assert visitor.get("/api/index").json["state"] == "failed"
        assert visitor.get("/api/sessions").json["total"]["turns"] > 0
        assert visitor.get("/api/search?q=vents").json["hits"]


def test_more_than_it_takes_on_is_refused_and_not_queued_for_ever(tmp_path: Path) -> None:
    import asyncio

    from clew.faces.web.answers import BusyError
    from clew.faces.web.workers import Lane

    async def crowd() -> list[object]:
        lane = Lane("test", threads=2, waiting=3)
        go_on = threading.Event()
        tasks = [asyncio.create_task(lane.run(lambda: go_on.wait(10))) for _ in range(9)]
        tasks.append(asyncio.create_task(lane.run(lambda: go_on.wait(10), goes_on=True)))
        await asyncio.sleep(0.05)
        go_on.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert await lane.run(lambda: 7) == 7
        with pytest.raises(ZeroDivisionError):
            await lane.run(lambda: 1 // 0)
        lane.close(wait=5)
        return list(found)

    found = asyncio.run(crowd())
    assert found[:5] == [True] * 5
    assert all(isinstance(one, BusyError) for one in found[5:9])
    assert found[9] is True, "what has begun is not broken off"


def test_what_goes_wrong_inside_is_told_without_a_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Site) -> None:
        raise RuntimeError("words that are nobody's business")

    with pytest.raises(AssertionError, match="nobody's business"), running(demo(tmp_path)) as visitor:  # noqa: PT012
        with monkeypatch.context() as patch:
            patch.setattr(Site, "shelf", fail)
            reply = visitor.get("/api/sessions")
            assert (reply.status, reply.error) == (500, "internal")
            assert b"nobody" not in reply.body
            assert b"Traceback" not in reply.body
        assert visitor.get("/api/sessions").status == 200


def test_what_several_ask_for_at_once_is_done_once_for_those_who_asked_before_it_began() -> None:
    from clew.faces.web.sharing import Shared, good_for

    shared: Shared[int] = Shared(good_for=lambda _took: 0)
    done: list[int] = []
    go_on = threading.Event()

    def work() -> int:
        go_on.wait(10)
        done.append(len(done))
        return done[-1]

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(shared.get("x", work))) for _ in range(9)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert sorted(found) == [0, *[1] * 8], "the first had begun when the others asked"
    assert shared.get("x", work) == 2
    assert shared.get("y", work) == 3
    assert good_for(0.02) == 0
    assert good_for(0.5) == 1
    assert good_for(60) == 3
    slow: Shared[int] = Shared(good_for=lambda _took: 60)
    assert [slow.get("x", work), slow.get("x", work), slow.get("y", work)] == [4, 4, 5]


def test_what_is_asked_for_all_the_time_takes_a_small_share_of_it() -> None:
    from clew.faces.web.sharing import Allowance, Shared

    now = 0.0
    updates = Allowance(clock=lambda: now)
    spent = 0.0
    for _ in range(10):  # a few at once are all done
        assert not updates.is_spent()
        with updates.spending(lambda: False):
            now += 0.2
    oldest, last = 0.0, now
    while now < 100:
        if updates.is_spent():
            now += 0.01
            continue
        oldest, last = max(oldest, now - last), now
        with updates.spending(lambda: True):
            now += 0.1
            spent += 0.1
    assert 100 / 9 < spent < 1 + 100 / 7
    assert oldest < 1
    with updates.spending(lambda: True):
        assert updates.is_spent(), "somebody is at it"
        now += 60
    assert updates.is_spent()
    now += 3
    assert not updates.is_spent(), "however long it took, nothing is put off for longer"
    with updates.spending(lambda: True):
        now += 1
    updates.renew()
    assert not updates.is_spent()
    shared: Shared[int] = Shared(good_for=lambda _took: 0)
    made = iter(range(9))
    found = [
        shared.get("x", lambda: next(made), is_spared=lambda spared=one: spared)
        for one in (True, True, False, True)
    ]
    assert found == [0, 0, 1, 1]
    assert shared.get("y", lambda: next(made), is_spared=lambda: True) == 2
