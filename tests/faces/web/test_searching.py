"""Search as one types: the beginning of the answer at once, and nothing done for whoever has gone on."""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING, Any

from clew.faces.web.answers import LeftError
from clew.faces.web.index_build import IndexBuild
from tests.builder import Builder
from tests.faces.stage import write
from tests.faces.web.lab import running
from tests.faces.web.test_api import Judge
from tests.faces.web.test_views import until_ready

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.faces.web.lab import Visitor


def _many(root: Path, sessions: int, hits: int) -> None:
    made: dict[str, bytes] = {}
    for number in range(sessions):
        one = Builder(f"s{number:02}").user(f"a word in session {number}")
        for at in range(hits - 1):
            one.answer(f"word {at}")
        made[f"s{number:02}"] = one.data()
    write(root, "-p", made)


def _said(found: dict[str, Any]) -> list[tuple[str, list[int]]]:
    return [(group["key"], [hit["offset"] for hit in group["hits"]]) for group in found["groups"]]


def test_a_quick_answer_is_the_beginning_of_the_whole_one(tmp_path: Path) -> None:
    _many(tmp_path, 30, 5)
    with running(tmp_path, use_index=True) as visitor:
        until_ready(visitor)
        judge = Judge(visitor)
        asked = {"q": "word", "group": "session", "facets": "true"}
        whole = judge.get("/api/search", {**asked, "limit": 60})
        quick = judge.get("/api/search", {**asked, "limit": 8, "quick": "true"})
        assert len(quick["groups"]) == 8
        for (key, some), (same, more) in zip(_said(quick), _said(whole), strict=False):
            assert key == same
            assert some == more[: len(some)] != []
        assert whole["grouped_all"]
        assert not quick["grouped_all"], "it has not gone through all lines, and says so"
        counts = zip(quick["groups"], whole["groups"], strict=False)
        assert all(0 < one["count"] <= other["count"] == 5 for one, other in counts)
        assert quick["total"] == whole["total"] == 150
        nothing = judge.get("/api/search", {"q": "wrd", "group": "session", "quick": "true"})
        assert (nothing["groups"], nothing["suggestions"], nothing["grouped_all"]) == ([], [], True)
        assert judge.get("/api/search", {"q": "wrd", "group": "session"})["suggestions"] == ["word"]


def test_a_quick_answer_is_whole_where_no_index_can_tell(tmp_path: Path) -> None:
    _many(tmp_path, 3, 5)
    with running(tmp_path) as visitor:
        for mode in ("words", "literal", "regex"):
            found = Judge(visitor).get(
                "/api/search", {"q": "word", "mode": mode, "group": "session", "quick": "true", "limit": 8}
            )
            assert sum(group["count"] for group in found["groups"]) == 15
            assert found["grouped_all"]


def test_what_is_new_is_in_the_whole_answer_if_not_in_the_quick_one(tmp_path: Path) -> None:
    _many(tmp_path, 2, 1)
    with running(tmp_path, use_index=True) as visitor:
        until_ready(visitor)
        judge = Judge(visitor)
        asked: dict[str, object] = {"q": "word", "group": "session"}
        assert len(judge.get("/api/search", {**asked, "quick": "true"})["groups"]) == 2
        write(tmp_path, "-q", {"new": Builder("new").user("the newest word").data()})
        assert len(judge.get("/api/search", asked)["groups"]) == 3
        assert len(judge.get("/api/search", {**asked, "quick": "true"})["groups"]) == 3


def test_hits_that_were_not_gone_through_are_not_said_to_be_all(tmp_path: Path) -> None:
    _many(tmp_path, 1, 1_300)
    with running(tmp_path, use_index=True) as visitor:
        until_ready(visitor)
        found = Judge(visitor).get("/api/search", {"q": "word", "group": "session"})
    assert found["total"] == 1_300
    assert found["groups"][0]["count"] < 1_300
    assert not found["grouped_all"]


def test_a_search_ends_when_nobody_waits_for_it_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _many(tmp_path, 1, 1)
    begun, ended, go_on = threading.Event(), threading.Event(), threading.Event()
    really = IndexBuild.searched

    def searched(index: IndexBuild, *given: Any, pulse: Any, **more: Any) -> Any:
        begun.set()
        until = time.monotonic() + 10
        try:
            while time.monotonic() < until and not go_on.wait(0.01):
                pulse()
        except LeftError:
            ended.set()
            raise
        return really(index, *given, pulse=pulse, **more)

    monkeypatch.setattr(IndexBuild, "searched", searched)
    with running(tmp_path) as visitor:
        line = _asking(visitor)
        assert begun.wait(10)
        assert not ended.wait(0.2), "somebody waits"
        line.close()
        assert ended.wait(5)
        go_on.set()
        assert visitor.get("/api/search?q=word").json["total"] == 1


def _asking(visitor: Visitor) -> socket.socket:
    line = socket.create_connection(("127.0.0.1", visitor.port), timeout=20)
    line.sendall(
        f"GET /api/search?q=word HTTP/1.1\r\nHost: 127.0.0.1:{visitor.port}\r\nCookie: {visitor.cookie}\r\n"
        "Sec-Fetch-Site: same-origin\r\n\r\n".encode()
    )
    return line
