"""Edits through the API: previewed, done when asked, taken back, and refused where nothing may change."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from clew.errors import UsageError
from tests.builder import Builder, call
from tests.faces.stage import demo, write
from tests.faces.web.lab import running
from tests.faces.web.test_api import Judge, keys

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

WORD = "ghp_" + "Zx81kQmW20vTbYc4LrHs96NdPeUf3aGj57Xo"


def contents(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def broken(root: Path) -> None:
    made = Builder("broken").user("go").answer(call("t1", "Bash", {"command": "ls"})).user("and?")
    made.answer(call("t2", "Bash", {"command": f"login {WORD}"})).result("t2", "ok " * 500).answer("done")
    write(root, "-p", {"broken": made.data()})


def test_a_preview_changes_nothing_and_an_edit_can_be_taken_back(tmp_path: Path) -> None:
    broken(tmp_path)
    before = contents(tmp_path)
    asked = {
        "repair": {},
        "trim": {"results_only": True, "larger_than": 100},
        "redact": {"patterns": ["lo+gin"]},
    }
    with running(tmp_path) as visitor:
        judge = Judge(visitor)
        for kind, said in asked.items():
            template = f"/api/edits/{kind}"
            preview = judge.check(template, visitor.post(template, {"session": "broken", **said}), "post")
            assert preview["result"] is None
            assert preview["steps"]
            assert contents(tmp_path) == before, kind
            reply = visitor.post(template, {"session": "broken", "dry_run": False, **said})
            done = judge.check(template, reply, "post")
            assert [step["action"] for step in done["steps"]] == [step["action"] for step in preview["steps"]]
            assert visitor.get(f"/api/sessions/{done['key']}").json["path"] == done["result"]["path"]
            assert {**contents(tmp_path), **before} == contents(tmp_path), "the old session is as it was"
            undone = judge.check("/api/undo", visitor.post("/api/undo", {"id": done["journal"]}), "post")
            assert undone["id"] == done["journal"]
            assert contents(tmp_path) == before
        assert visitor.post("/api/undo").status == 404


def test_the_secret_is_gone_and_never_in_an_answer(tmp_path: Path) -> None:
    broken(tmp_path)
    with running(tmp_path) as visitor:
        reply = visitor.post("/api/edits/redact", {"session": "broken", "dry_run": False})
        assert WORD.encode() not in reply.body
        path = reply.json["result"]["path"]
        assert WORD.encode() not in contents(tmp_path)[path]


def test_in_place_is_refused_while_somebody_writes(tmp_path: Path) -> None:
    (tmp_path / "projects" / "-p").mkdir(parents=True)
    path = tmp_path / "projects" / "-p" / "live.jsonl"
    path.write_bytes(Builder("live").user("go").answer(call("t1")).user("so?").data())
    with running(tmp_path) as visitor:
        reply = visitor.post("/api/edits/repair", {"session": "live", "dry_run": False, "in_place": True})
        assert (reply.status, reply.error) == (409, "refused")


def test_a_server_that_only_reads_changes_nothing(tmp_path: Path) -> None:
    root = demo(tmp_path)
    before = contents(tmp_path)
    with running(root, read_only=True) as visitor:
        key = visitor.get("/api/sessions").json["sessions"][0]["key"]
        for path in ("/api/edits/repair", "/api/edits/trim", "/api/edits/redact", "/api/undo"):
            body = {} if path == "/api/undo" else {"session": key, "dry_run": False}
            reply = visitor.post(path, body)
            assert (reply.status, reply.error) == (403, "read-only"), path
        assert visitor.get("/api/index").json["read_only"]
    assert contents(tmp_path) == before


def test_looking_writes_nothing_anywhere(tmp_path: Path) -> None:
    root = demo(tmp_path)
    before = contents(tmp_path)
    with running(root) as visitor:
        key = visitor.get("/api/sessions").json["sessions"][0]["key"]
        for path in (
            f"/api/sessions/{key}",
            f"/api/export/{key}",
            "/api/doctor",
            f"/api/sessions/{key}/files",
        ):
            assert visitor.get(path).status == 200
        for said in ({"session": key}, {"session": key, "patterns": ["vent"]}):
            visitor.post("/api/edits/redact", said)
    assert contents(tmp_path) == before
    from pathlib import Path as Place

    assert contents(Place.home()) == {}


def test_a_wrong_request_is_said_to_be_one(tmp_path: Path) -> None:
    broken(tmp_path)
    with running(tmp_path) as visitor:
        for path, body in (
            ("/api/edits/repair", {}),
            ("/api/edits/trim", {"session": "broken"}),
            ("/api/edits/trim", {"session": "broken", "keep_turns": 0}),
            ("/api/edits/trim", {"session": "broken", "keep_turns": True}),
            ("/api/edits/trim", {"session": "broken", "tools": "Bash"}),
            ("/api/edits/redact", {"session": "broken", "patterns": ["("]}),
            ("/api/edits/redact", {"session": "broken", "patterns": [""]}),
            ("/api/edits/repair", {"session": "broken", "new": 1}),
        ):
            assert visitor.post(path, body).error == "usage", (path, body)
        assert visitor.post("/api/edits/repair", {"session": "../broken"}).error == "unknown-session"


def test_whoever_looks_does_not_wait_for_the_preview_of_an_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.faces.web.api import edits

    begun, go_on = threading.Event(), threading.Event()

    def trim_session(*_given: object, **_more: object) -> object:
        begun.set()
        go_on.wait(20)
        raise UsageError("it took long enough")

    monkeypatch.setattr(edits, "trim_session", trim_session)
    with running(demo(tmp_path)) as visitor:
        key = keys(visitor)[0]
        asked = {"session": key, "results_only": True}
        threads = [
            threading.Thread(target=visitor.post, args=("/api/edits/trim", asked), daemon=True)
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        try:
            assert begun.wait(10)
            for path in ("check", "context", "tree", "files", "turns/1", "place?line=1", "window"):
                assert visitor.get(f"/api/sessions/{key}/{path}").status in {200, 404}, path
            assert not go_on.is_set()
        finally:
            go_on.set()
            for thread in threads:
                thread.join(20)
