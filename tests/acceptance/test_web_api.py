"""The server under load: any parameter, big sessions, and a sudden end."""

from __future__ import annotations

import json
import random
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from clew.faces.web.server import Server
from clew.faces.web.site import Site
from tests.builder import Builder, call
from tests.conftest import ROOT
from tests.faces.stage import demo, write
from tests.faces.web.lab import Listener, running
from tests.faces.web.process import started
from tests.faces.web.stores import hostile
from tests.faces.web.test_api import Judge, keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faces.web.lab import Visitor

pytestmark = pytest.mark.acceptance

ODD = (
    "", "0", "-1", "1", "7", "999999999", "99999999999999999999", "1e9", "NaN", "true", "null", "[]", "{}",
    "%", "*", "\\", "../..", "/etc/passwd", "a" * 4096, "a" * 5000, "\u202e", "\U0001f600", "x\ny", "(",
    "a OR b", "NOT", '"', "'", "a*", "NEAR(", "2026-02-30", "0d", "99999w", "Europe/Nowhere", "..", "UTC",
    "conversation", "claude", "user", "html", "; DROP TABLE files", "{path}", "\u2028", "-", "~", "1.2.3",
    "(?P<", "9" * 400, "@1", "local", "[a-",
)  # fmt: skip
"""What may be said of anything."""


def requests(judge: Judge, names: list[str], draw: random.Random) -> Iterator[tuple[str, str, str]]:
    """Give method, template and address of requests that say something of some of their parameters."""
    places = [
        (method, template, one)
        for template, methods in judge.paths.items()
        for method, one in methods.items()
        if template != "/api/events" and method == "get"
    ]
    while True:
        method, template, one = draw.choice(places)
        path, said = template, list[str]()
        for field in one["parameters"]:
            if field["in"] == "path":
                value = (
                    draw.choice(names) if field["name"] == "id" else draw.choice(["0", "1", "2", "3", "99"])
                )
                path = path.replace(f"{{{field['name']}}}", value)
            elif field["required"] or draw.random() < 0.3:
                choices = [*field["schema"].get("enum", ()), *ODD]
                likely = field["schema"].get("enum") or ODD
                value = draw.choice(likely if draw.random() < 0.7 else choices)
                said.append(f"{field['name']}={quote(str(value), safe='')}")
        yield method, template, path + ("?" + "&".join(said) if said else "")


@pytest.mark.parametrize(("make", "count"), [(demo, 500), (hostile, 500)])
def test_no_parameter_whatever_makes_the_server_fail(tmp_path: Path, make: Any, count: int) -> None:
    draw = random.Random(count)
    with running(make(tmp_path)) as visitor:
        judge = Judge(visitor)
        found = requests(judge, keys(visitor), draw)
        good = 0
        for _ in range(count):
            _, template, path = next(found)
            reply = visitor.get(path)
            assert reply.status in {200, 400, 404, 409, 422, 503}, (path, reply.status, reply.body[:300])
            judge.check(template, reply)
            good += reply.status == 200
    assert good > count / 10


def test_any_body_is_an_edit_or_an_error(tmp_path: Path) -> None:
    draw = random.Random(5)
    with running(demo(tmp_path)) as visitor:
        judge = Judge(visitor)
        names = keys(visitor)
        values: list[Any] = [*ODD, 0, -1, 10**30, 1.5, True, None, [], ["x"], [1], {}, *names]
        writes = [template for template, methods in judge.paths.items() if "post" in methods]
        for _ in range(200):
            template = draw.choice(writes)
            schema = judge.paths[template]["post"]["requestBody"]["content"]["application/json"]["schema"]
            body: dict[str, Any] = {
                name: draw.choice(values) for name in schema["properties"] if draw.random() < 0.5
            }
            if draw.random() < 0.7:
                body = {"session": draw.choice(names), "results_only": True} if "undo" not in template else {}
                body = {name: value for name, value in body.items() if name in schema["properties"]}
            reply = visitor.post(template, body)
            assert reply.status in {200, 400, 404, 409, 422}, (template, body, reply.body[:300])
            judge.check(template, reply, "post")


def test_every_session_of_real_clients_is_served(tmp_path: Path) -> None:
    corpus = sorted((ROOT / "tests" / "data" / "corpus").rglob("*.jsonl"))
    sessions = {f"s{number}": path.read_bytes() for number, path in enumerate(corpus)}
    write(tmp_path, "-corpus", sessions)
    with running(tmp_path) as visitor:
        judge = Judge(visitor)
        for key in keys(visitor):
            head = judge.get("/api/sessions/{id}", id=key)
            for turn in head["turns"][:20]:
                judge.get("/api/sessions/{id}/turns/{n}", id=key, n=turn["n"])
    assert len(sessions) > 20


def big(root: Path, megabytes: int) -> Path:
    """Write a session of so many megabytes: a few thousand turns with long outputs."""
    path = root / "projects" / "-big" / "big.jsonl"
    path.parent.mkdir(parents=True)
    made = Builder("big")
    output = "a line of what a program printed\n" * 300
    for number in range(megabytes * 1_000_000 // 40_000):
        made.user(f"turn {number}")
        for at in range(4):
            name = f"t{number}-{at}"
            made.answer(call(name, "Bash", {"command": f"make {at}"})).result(name, output)
        made.answer("done")
    path.write_bytes(made.data())
    return path


def peak(pid: int) -> int:
    """Return the most memory that a process has had, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) * 1024


def test_pages_of_a_session_of_100_mb_take_little_memory(tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("asks Linux for the peak")
    path = big(tmp_path, 100)
    assert path.stat().st_size > 100_000_000
    with started(tmp_path, "--no-index") as web:
        head = web.visitor.get("/api/sessions/big").json
        last = head["head"]["turns"]
        assert last > 100
        for number in (1, 2, last // 2, last - 1, last):
            began = time.monotonic()
            reply = web.visitor.get(f"/api/sessions/big/turns/{number}?limit=50")
            assert reply.status == 200
            assert time.monotonic() - began < 10
        assert len(web.visitor.get("/api/export/big?to=text").body) > 10_000_000
        used = peak(web.process.pid)
        assert used < 300_000_000, f"{used:,}"


def test_a_server_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    """Whenever it is killed, the session is as it was or as it was to become, and the next run goes on."""
    made = Builder("broken").user("go").answer(call("t1", "Bash", {"command": "ls"})).user("and?")
    for number in range(300):
        made.answer(call(f"c{number}", "Bash", {"command": "x"})).result(f"c{number}", "ok " * 200).user("on")
    made.answer("done")
    (path,) = write(tmp_path / "root", "-p", {"broken": made.data()})
    before = path.read_bytes()
    after: set[bytes] = set()
    draw = random.Random(3)
    body = {"session": "broken", "dry_run": False, "in_place": True, "results_only": True, "force": True}
    for number in range(6):
        with started(tmp_path / "root", "--no-index") as web:

            def ask(visitor: Visitor = web.visitor) -> None:
                with suppress(OSError, ValueError):
                    visitor.post("/api/edits/trim", body)

            thread = threading.Thread(target=ask)
            thread.start()
            time.sleep(draw.random() * (0.8 if number else 0))
            web.end(signal.SIGKILL)
            thread.join(10)
        with started(tmp_path / "root", "--no-index") as web:
            said = web.visitor.post("/api/edits/repair", {"session": "broken"})
            assert said.status == 200
            now = path.read_bytes()
            if now != before:
                for line in now.splitlines():
                    json.loads(line)
                after.add(now)
                undone = web.visitor.post("/api/undo", {"force": True})
                assert undone.status == 200, undone.body
            web.visitor.post("/api/edits/repair", {"session": "broken", "dry_run": False})
            web.visitor.post("/api/undo", {"force": True})
        assert path.read_bytes() == before
    assert len(after) <= 1, "there is one way it was to become"


def test_a_page_comes_back_to_a_server_that_was_killed(tmp_path: Path) -> None:
    """On the same port, with its cookie: what it missed it is told to read anew."""
    root = demo(tmp_path)
    with started(root, "--no-index") as free:
        port = free.visitor.port
        free.end()
    with started(root, "--no-index", "--port", str(port)) as web:
        page = web.visitor
        key = keys(page)[0]
        before = page.get(f"/api/sessions/{key}").json
        with Listener(page) as events:
            assert events.next()[0] == "hello"
            last = events.last
            web.end(signal.SIGKILL)
            with suppress(OSError):
                assert events.next()[0] == ""
    with suppress(OSError):
        assert page.get("/api/index").status == 0
    with started(root, "--no-index", "--port", str(port)):
        assert page.get(f"/api/sessions/{key}").json == before
        with Listener(page, last) as events:
            assert events.next()[0] == "refresh"


def test_a_real_browser_comes_in_by_the_file_and_stays(tmp_path: Path) -> None:
    """The cookie is for our own pages alone, and yet it is sent after a visit that began with a file."""
    from tests import browser

    state = tmp_path / "state"
    server = Server(Site([demo(tmp_path)], use_index=False, jobs=1), state=state)
    is_ready = threading.Event()
    thread = threading.Thread(target=server.run, kwargs={"ready": is_ready.set}, daemon=True)
    thread.start()
    assert is_ready.wait(20)
    try:
        with browser.browser(tmp_path / "home") as running_browser:
            page = running_browser.new_context().new_page()
            page.goto(server.way_in())
            page.wait_for_url(f"http://127.0.0.1:{server.port}/")
            said = page.evaluate("async () => (await fetch('/api/index')).status")
            assert said == 200
            assert not list((state / "web").iterdir())
            other = running_browser.new_context().new_page()
            assert (found := other.goto(f"http://127.0.0.1:{server.port}/")) is not None
            assert found.status == 401
    finally:
        server.stop()
        thread.join(20)


def test_lines_are_told_soon_over_a_minute_of_silence_and_noise(tmp_path: Path) -> None:
    path = tmp_path / "projects" / "-live" / "live.jsonl"
    path.parent.mkdir(parents=True)
    made = Builder("live").user("one")
    path.write_bytes(made.data())
    with started(tmp_path, "--no-index") as web, Listener(web.visitor) as page:
        assert page.next()[0] == "hello"
        took: list[float] = []
        for number, pause in enumerate([0.05] * 40 + [1.5] * 8 + [6.0] * 2):
            time.sleep(pause)
            before = len(made.data())
            data = made.answer(f"more {number}").data()[before:]
            began = time.monotonic()
            with path.open("ab") as file:
                file.write(data)
            assert page.next()[1]["last_line"] == number + 2
            took.append(time.monotonic() - began)
        assert sorted(took)[47] < 1.5, sorted(took)[-5:]
