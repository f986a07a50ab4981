"""Fifty pages at once while a session is written: no error, quick answers, little memory."""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.test_web_api import big, peak
from tests.acceptance.web_crowd import visit
from tests.builder import Builder
from tests.faces.stage import demo, write
from tests.faces.web.lab import Listener
from tests.faces.web.process import started
from tests.faces.web.test_api import keys
from tests.faces.web.test_views import until_ready

if TYPE_CHECKING:
    from pathlib import Path

PAGES = 50
RATE = 1_000
ROOM = 3
"""How much longer an answer may take than it should: the pages and other tests run on the same processors."""


def crowded(root: Path, seconds: float) -> None:
    path = root / "projects" / "-live" / "live.jsonl"
    with started(root) as web:
        until_ready(web.visitor)
        others = keys(web.visitor)
        crowd, writer = visit(web.visitor, path, others, pages=PAGES, seconds=seconds, rate=RATE)
        assert not crowd.errors, crowd.errors[:3]
        assert writer.lines > RATE * seconds * 0.5
        assert crowd.seen > writer.lines * 0.8, "pages are told of new lines as they come"
        assert len(crowd.took) > PAGES * seconds / 4
        print(f"{len(crowd.took)} requests, p95 {crowd.p95() * 1000:.0f} ms, {crowd.events} events, "
              f"{writer.lines} lines, {peak(web.process.pid) / 1e6:.0f} MB")  # fmt: skip
        assert crowd.p95() < 0.2 * ROOM, crowd.p95()
        assert peak(web.process.pid) < 300_000_000
        head = web.visitor.get("/api/sessions/live").json
        assert head["head"]["lines"] == writer.lines
        assert web.end()[0] == 0


@pytest.mark.acceptance
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the peak")
def test_fifty_pages_read_and_tail_while_a_session_is_written(tmp_path: Path) -> None:
    crowded(demo(tmp_path), 6)


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the peak")
def test_fifty_pages_read_and_tail_for_a_minute(tmp_path: Path) -> None:
    crowded(demo(tmp_path), 60)


@pytest.mark.acceptance
def test_a_new_line_of_100_mb_is_on_the_page_at_once(tmp_path: Path) -> None:
    """From the writing of a line to the parts of its turn, over the event that tells of it."""
    path = big(tmp_path, 100)
    leaf = json.loads(path.read_bytes().rsplit(b"\n", 2)[1])["uuid"]
    with started(tmp_path, "--no-index") as web, Listener(web.visitor) as page:
        assert page.next()[0] == "hello"
        last = web.visitor.get("/api/sessions/big?limit=1").json["head"]["turns"]
        took: list[float] = []
        for number in range(20):
            made = {"type": "user", "uuid": f"new-{number}", "parentUuid": leaf, "sessionId": "big"}
            leaf = made["uuid"]
            said = {"role": "user", "content": f"one more {number}"}
            time.sleep(0.05)
            began = time.monotonic()
            with path.open("ab") as file:
                file.write(json.dumps({**made, "message": said}).encode() + b"\n")
            assert page.next()[1]["session"] == "big"
            parts = web.visitor.get(f"/api/sessions/big/turns/{last + number + 1}").json["parts"]
            took.append(time.monotonic() - began)
            assert parts[0]["parts"][0]["text"] == f"one more {number}"
            head = web.visitor.get(f"/api/sessions/big?from={last + number}").json
            assert head["turns"][-1]["n"] == last + number + 1
        print(f"middle {sorted(took)[10] * 1000:.0f} ms, worst {max(took) * 1000:.0f} ms")
        assert sorted(took)[18] < 0.3 * ROOM, sorted(took)[-3:]


@pytest.mark.acceptance
def test_a_pattern_that_never_ends_leaves_others_their_answers(tmp_path: Path) -> None:
    root = demo(tmp_path)
    write(root, "-long", {"long": Builder("long").user("a" * 5000 + "!").answer("b").data()})
    with started(root, "--read-only", "--no-index") as web:
        visitor = web.visitor
        visitor.get("/api/sessions")
        said: list[int] = []
        threads = [
            threading.Thread(
                target=lambda: said.append(visitor.get("/api/search?q=(a%2B)%2B%24&mode=regex").status)
            )
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        took: list[float] = []
        while any(thread.is_alive() for thread in threads):
            began = time.monotonic()
            assert visitor.get("/api/sessions/long/turns/1").status == 200
            took.append(time.monotonic() - began)
            time.sleep(0.05)
        assert set(said) <= {400, 503}
        assert sorted(took)[int(len(took) * 0.95)] < 0.2 * ROOM
        refused = visitor.post("/api/edits/repair", {"session": "long", "dry_run": False})
        assert (refused.status, refused.error) == (403, "read-only")
        assert visitor.post("/api/undo", {}).status == 403
