"""Sessions that are kept open: what is answered of them is what the files say now."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from clew.actions import reopening
from clew.catalog.place import remove_all
from clew.faces.web import site as sites
from clew.faces.web.site import Site
from clew.store import signs
from tests.builder import Builder
from tests.faces.stage import write
from tests.faces.web.lab import running
from tests.faces.web.test_views import until_ready

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_session_whose_end_is_rewritten_while_it_is_opened_is_opened_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = write(tmp_path, "-p", {"s": Builder("s").user("one").answer("1" * 400).data()})
    read_turns = reopening.read_turns

    def rewriting(*given: Any, **more: Any) -> Any:
        monkeypatch.undo()
        path.write_bytes(Builder("s").user("one").answer("2").user("3" * 400).data())
        return read_turns(*given, **more)

    monkeypatch.setattr(reopening, "read_turns", rewriting)
    with running(tmp_path) as visitor:
        reply = visitor.get("/api/sessions/s")
        assert (reply.status, len(reply.json["turns"])) == (200, 2)


def test_the_end_of_a_line_that_nobody_writes_any_more_is_damage_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Builder("s").user("one").answer("1").data()
    (path,) = write(tmp_path, "-p", {"s": data + b'{"type":"assistant","uu'})
    os.utime(path)
    with running(tmp_path) as visitor:
        found = visitor.get("/api/sessions/s").json
        assert (found["writing"], found["damaged"], found["live"]) == (True, False, True)
        assert visitor.get("/api/doctor").json["patients"] == []
        hour = time.time() + 3600
        monkeypatch.setattr(time, "time", lambda: hour)
        assert not signs.signs_of_life(Site([tmp_path]).store, now=hour)(Site([tmp_path]).find("s")[1])
        found = visitor.get("/api/sessions/s").json
        assert (found["writing"], found["damaged"], found["live"]) == (False, True, False)
        (patient,) = visitor.get("/api/doctor").json["patients"]
        assert [one["code"] for one in patient["problems"]] == ["torn-line"]


def test_a_look_at_all_sessions_grows_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "-p", {"s": Builder("s").user("one").answer("1").data()})
    site = Site([tmp_path], use_index=False)
    looks: list[int] = []

    def look() -> Any:
        looks.append(1)
        return len(looks)

    assert [site.examined(look), site.examined(look)] == [1, 1]
    monkeypatch.setattr(sites.time, "monotonic", lambda: time.perf_counter() + 1e6)
    assert site.examined(look) == 2


def test_an_index_that_was_removed_is_built_anew(tmp_path: Path) -> None:
    """As a redaction in place removes it, here or from a terminal."""
    write(tmp_path, "-p", {"s": Builder("s").user("one needle").answer("1").data()})
    with running(tmp_path, use_index=True) as visitor:
        until_ready(visitor)
        assert visitor.get("/api/search?q=needle&quick=true").json["total"] == 1
        assert remove_all()
        found = visitor.get("/api/search?q=needle&quick=true").json
        assert found["total"] == 1 or found["partial"]
        until_ready(visitor)
        found = visitor.get("/api/search?q=needle&quick=true").json
        assert (found["total"], found["partial"]) == (1, False)


def test_a_session_that_cannot_be_opened_costs_a_search_nothing_but_its_items(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "-p", {"a": Builder("a").user("needle").data(), "b": Builder("b").user("needle").data()})
    book = Site.book

    def opened(site: Site, key: str, **more: Any) -> Any:
        return site.find("nobody") if key == "a" else book(site, key, **more)

    monkeypatch.setattr(Site, "book", opened)
    with running(tmp_path) as visitor:
        hits = visitor.get("/api/search?q=needle&items=true").json["hits"]
        assert {hit["session"]: hit["at"] for hit in hits} == {"a": "t1", "b": "t1.1"}


def test_a_day_is_that_of_the_zone_that_is_asked_for(tmp_path: Path) -> None:
    made = Builder("s").user("one", timestamp="2026-02-03T23:30:00.000Z")
    (path,) = write(tmp_path, "-p", {"s": made.data()})
    os.utime(path, (1770161400, 1770161400))
    with running(tmp_path) as visitor:
        for zone, day in (("UTC", "2026-02-03"), ("Asia/Tokyo", "2026-02-04")):
            found = visitor.get(f"/api/sessions?since={day}&until={day}&tz={zone}").json
            assert [row["id"] for row in found["sessions"]] == ["s"], zone
            other = "2026-02-04" if zone == "UTC" else "2026-02-03"
            assert not visitor.get(f"/api/sessions?since={other}&until={other}&tz={zone}").json["sessions"]
        assert visitor.get("/api/sessions?since=2026-02-03&tz=Nowhere").status == 400
