"""What the views of the web app stand on: activity, the window, blame, diffs, charts, grouped hits."""

from __future__ import annotations

import csv
import io
import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from clew.faces.web.app import ASSETS
from tests.builder import Builder, call
from tests.conftest import ROOT
from tests.faces.stage import write
from tests.faces.web.lab import running, watching_files
from tests.faces.web.stores import demo
from tests.faces.web.test_api import Judge, keys

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.console import Console
    from tests.faces.web.lab import Visitor

MODEL = "claude-sonnet-4-5-20250929"


def until_ready(visitor: Visitor) -> None:
    until = time.monotonic() + 20
    while visitor.get("/api/index").json["state"] != "ready":
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.fixture(name="shown")
def _shown(tmp_path: Path) -> Iterator[tuple[Visitor, Judge, Path]]:
    root = demo(tmp_path)
    with running(root, use_index=True) as visitor:
        until_ready(visitor)
        yield visitor, Judge(visitor), root


def test_the_page_is_served_from_the_package_and_from_nowhere_else(tmp_path: Path) -> None:
    with running(demo(tmp_path)) as visitor:
        for path, (name, media_type) in ASSETS.items():
            reply = visitor.get(path)
            asset = ROOT / "src" / "clew" / "assets" / name
            assert reply.status == (200 if asset.exists() else 404), path
            if asset.exists():
                assert reply.body == asset.read_bytes()
                assert reply.headers["content-type"].partition(";")[0] == media_type
            assert reply.headers["cache-control"] == "no-store"
        for path in ("/web.html", "/assets/web.html", "/app.mjs", "/app.js/", "/reader.js", "/index.html"):
            assert visitor.get(path).status == 404, path


def test_activity_counts_every_answer_of_a_session_and_its_sub_agents_once(
    shown: tuple[Visitor, Judge, Path],
) -> None:
    visitor, judge, _ = shown
    rows = judge.get("/api/sessions")["sessions"]
    for row in rows:
        said = Counter[str]()
        for agent in [None, *every_agent(visitor, row["key"])]:
            for turn in visitor.get(f"/api/sessions/{row['key']}{query(agent=agent)}").json["turns"]:
                path = f"/api/sessions/{row['key']}/turns/{turn['n']}{query(agent=agent)}"
                said.update(part["kind"] for part in visitor.get(path).json["parts"])
        assert len(row["activity"]) == 24
        assert 0 < sum(row["activity"]) <= said["answer"] + said["thinking"] + said["call"]
        assert row["activity"][0] or row["activity"][-1] or row["title"]
    assert sum(sum(row["activity"]) for row in rows) > 20


def every_agent(visitor: Visitor, key: str) -> list[str]:
    waiting = list(visitor.get(f"/api/sessions/{key}/tree").json["agents"])
    found: list[str] = []
    while waiting:
        one = waiting.pop()
        found.append(one["agent_id"])
        waiting += one["children"]
    return found


def query(**said: object) -> str:
    known = {name: value for name, value in said.items() if value is not None}
    return f"?{urlencode(known)}" if known else ""


def test_the_window_of_a_turn_is_what_its_last_request_held(shown: tuple[Visitor, Judge, Path]) -> None:
    visitor, judge, _ = shown
    seen = 0
    for key in keys(visitor):
        found = judge.get("/api/sessions/{id}/window", id=key)
        heads = {turn["n"]: turn for turn in visitor.get(f"/api/sessions/{key}").json["turns"]}
        for fill in found["turns"]:
            if fill["tokens"] is None:
                continue
            seen += 1
            assert fill["tokens"] == heads[fill["turn"]]["work"]["context_tokens"]
            assert sum(fill["by_kind"].values()) == fill["tokens"]
        if found["turns"] and found["turns"][-1]["tokens"] is not None:
            assert sum(row["tokens"] for row in found["table"]) == found["turns"][-1]["tokens"]
            assert sum(row["share"] for row in found["table"]) == pytest.approx(1, abs=1e-4)
    assert seen > 10


def test_the_same_numbers_as_usage_by_day_and_model(
    shown: tuple[Visitor, Judge, Path], clew: Console
) -> None:
    _, judge, root = shown
    visitor = shown[0]
    found = judge.get("/api/usage", {"by": "day", "and": "model", "tz": "UTC"})
    days = json.loads(clew("usage", "--by", "day", "--tz", "UTC", "--root", root, "--json").out)
    models = json.loads(clew("usage", "--by", "model", "--tz", "UTC", "--root", root, "--json").out)
    plain = [{name: value for name, value in row.items() if name != "by_model"} for row in found["rows"]]
    assert plain == days["rows"]
    total: dict[str, Counter[str]] = {}
    for row in found["rows"]:
        for kind, many in row["tokens"].items():
            assert sum(one["tokens"][kind] for one in row["by_model"]) == many
        assert sum(one["messages"] for one in row["by_model"]) == row["messages"]
        for one in row["by_model"]:
            total.setdefault(one["model"], Counter()).update(one["tokens"])
    assert {row["key"]: Counter(row["tokens"]) for row in models["rows"]} == total
    tokens = found["total"]["tokens"]
    sent = tokens["input"] + tokens["cache_read"] + tokens["cache_write_5m"] + tokens["cache_write_1h"]
    assert found["cache_hit_rate"] == pytest.approx(tokens["cache_read"] / sent)
    assert (found["tz"], found["unpriced_models"]) == ("UTC", days["unpriced_models"])
    assert found["prices"]["date"]
    top = judge.get("/api/usage", {"by": "session", "limit": 3})
    assert len(top["rows"]) == 3 < top["rows_total"]
    for row in top["rows"]:
        assert visitor.get(f"/api/sessions/{row['session_key']}").json["id"] == row["key"]


def test_usage_as_csv_has_a_line_for_each_day_and_model(shown: tuple[Visitor, Judge, Path]) -> None:
    visitor, judge, _ = shown
    said: dict[str, object] = {"by": "day", "and": "model", "tz": "UTC"}
    rows = judge.get("/api/usage", said)["rows"]
    reply = visitor.get(f"/api/usage.csv?{urlencode(said)}")
    assert reply.headers["content-type"].startswith("text/csv")
    assert reply.headers["content-disposition"] == 'attachment; filename="usage-by-day.csv"'
    lines = list(csv.DictReader(io.StringIO(reply.body.decode())))
    told = [(row["key"], one["model"], one["tokens"]["output"]) for row in rows for one in row["by_model"]]
    assert [(line["day"], line["model"], int(line["output"])) for line in lines] == told


def test_no_name_in_csv_is_a_formula(tmp_path: Path) -> None:
    folder = "=cmd|' /C calc'!A0"
    made = Builder("s").user("hi", cwd=folder).answer("ho", cwd=folder)
    write(tmp_path, "-p", {"s": made.data()})
    with running(tmp_path) as visitor:
        lines = visitor.get("/api/usage.csv?by=project").body.decode().splitlines()
        assert lines[1].startswith("'=cmd|")


def test_blame_without_the_file_tells_what_sessions_wrote(shown: tuple[Visitor, Judge, Path]) -> None:
    visitor, judge, _ = shown
    blamed = 0
    for file in visitor.get("/api/files").json["files"]:
        with watching_files() as opened:
            found = judge.get("/api/blame", {"path": file["path"]})
        assert file["path"] not in opened
        assert found["of"] == "sessions"
        assert found["why"]
        assert len(found["text"]) == len(found["lines"])
        last = found["last"]
        whole = visitor.get(
            f"/api/sessions/{found['keys'][last['session']]}/file"
            + query(path=file["path"], turn=last["turn"])
        )
        assert whole.json["text"].splitlines() == found["text"]
        for line in found["lines"]:
            if line is not None:
                blamed += 1
                assert line["text"] == found["text"][line["n"] - 1]
                assert line["session"] in found["keys"]
    assert blamed > 10
    assert visitor.get("/api/blame?path=/etc/hostname").status == 404


def edited(project: Path, name: str, before: str, after: str) -> bytes:
    """Return a session that changed a file of a project."""
    made = Builder("s")
    target, folder = str(project / name), {"cwd": str(project)}
    made.user("change it", **folder)
    made.answer(call("r1", "Read", {"file_path": target}))
    numbered = "".join(f"{n:>6}\t{line}\n" for n, line in enumerate(before.splitlines(), 1))
    made.result(
        "r1", numbered, toolUseResult={"type": "text", "file": {"filePath": target, "content": before}}
    )
    made.answer(call("w1", "Write", {"file_path": target, "content": after}))
    kept = {"type": "update", "filePath": target, "content": after, "originalFile": before}
    made.result("w1", "done", toolUseResult={**kept, "structuredPatch": []})
    return made.answer("done").data()


def test_blame_of_a_file_on_disk_is_that_of_the_command_line(tmp_path: Path, clew: Console) -> None:
    project = tmp_path / "work"
    project.mkdir()
    (project / "a.txt").write_text("one\nTWO\nthree\nby hand\n")
    write(
        tmp_path / "root", "-work", {"s": edited(project, "a.txt", "one\ntwo\nthree\n", "one\nTWO\nthree\n")}
    )
    ran = json.loads(clew("blame", project / "a.txt", "--root", tmp_path / "root", "--json").out)
    with running(tmp_path / "root", use_index=True) as visitor:
        until_ready(visitor)
        found = Judge(visitor).get("/api/blame", {"path": str(project / "a.txt")})
    assert (found["of"], found["why"]) == ("disk", None)
    assert found["lines"] == ran["lines"]
    assert [line is not None for line in found["lines"]] == [False, True, False, False]
    assert found["text"] == ["one", "TWO", "three", "by hand"]


@pytest.mark.parametrize("how", ["outside", "link", "folder", "home"])
def test_a_session_cannot_have_other_files_shown(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("do not tell\n")
    project = tmp_path / "work"
    project.mkdir()
    name = "a.txt"
    match how:
        case "outside":
            name = "../secret.txt"
        case "link":
            (project / "a.txt").symlink_to(secret)
        case "folder":
            (project / "a.txt").mkdir()
        case _:
            monkeypatch.setenv("HOME", str(project))
            (project / "a.txt").write_text("do not tell\n")
    write(tmp_path / "root", "-work", {"s": edited(project, name, "old\n", "new\n")})
    with running(tmp_path / "root", use_index=True) as visitor:
        until_ready(visitor)
        for file in visitor.get("/api/files").json["files"]:
            reply = visitor.get(f"/api/blame?{urlencode({'path': file['path']})}")
            assert reply.json["of"] == "sessions"
            assert b"do not tell" not in reply.body
            assert reply.json["text"] == ["new"]


def test_the_diff_of_two_turns_makes_the_one_version_of_the_other(shown: tuple[Visitor, Judge, Path]) -> None:
    visitor, judge, _ = shown
    compared = 0
    for key in keys(visitor):
        for file in visitor.get(f"/api/sessions/{key}/files").json["files"]:
            known = sorted({one["turn"] for one in file["versions"] if one["known"]})
            for first in known:
                for last in (turn for turn in known if turn >= first):
                    said = {"path": file["path"], "from_turn": first, "to_turn": last}
                    found = judge.get("/api/sessions/{id}/diff", said, id=key)
                    texts = [
                        visitor.get(f"/api/sessions/{key}/file{query(path=file['path'], turn=turn)}").json
                        for turn in (first, last)
                    ]
                    before, after = (one["text"].removesuffix("\n").split("\n") for one in texts)
                    assert patched(before, found["diff"]["hunks"]) == after
                    compared += 1
            whole = judge.get("/api/sessions/{id}/diff", {"path": file["path"]}, id=key)
            assert whole.get("error") or whole["diff"]["hunks"]
    assert compared > 5
    key = keys(visitor)[0]
    assert visitor.get(f"/api/sessions/{key}/diff?path=/etc/hostname").error == "usage"


def patched(before: list[str], hunks: list[Any]) -> list[str]:
    """Apply a diff in the plainest way there is."""
    found: list[str] = []
    at = 0
    for old, _, lines in hunks:
        found += before[at : old - 1]
        at = old - 1
        for line in lines:
            if line[0] != "+":
                assert before[at] == line[1:]
                at += 1
            if line[0] != "-":
                found.append(line[1:])
    return found + before[at:]


def test_every_hit_says_which_item_shows_it(shown: tuple[Visitor, Judge, Path]) -> None:
    visitor, judge, _ = shown
    found = judge.get("/api/search", {"q": "the", "items": "true", "limit": 200})
    exact = 0
    for hit in found["hits"]:
        at = hit["at"]
        if hit["field"] == "title":
            continue
        assert at is not None, hit
        whose, _, rest = at.rpartition("t")
        agent = whose.removeprefix("a-").removesuffix(".") or None
        turn, _, item = rest.partition(".")
        assert (hit["where"] == "sub-agent") == (agent is not None)
        if not item:
            continue
        exact += 1
        path = f"/api/sessions/{hit['key']}/turns/{turn}{query(agent=agent)}"
        part = visitor.get(path).json["parts"][int(item) - 1]
        words = hit["snippet"][hit["ranges"][0][0] : hit["ranges"][0][1]]
        assert words.casefold() in json.dumps(part, ensure_ascii=False).casefold(), (hit, part["kind"])
        said = {"line": hit["line"], "field": hit["field"], "agent": agent, "call": hit["call"]}
        place = judge.get(
            "/api/sessions/{id}/place", {k: v for k, v in said.items() if v is not None}, id=hit["key"]
        )
        assert place["at"] == at
    assert exact > 0.9 * sum(hit["field"] != "title" for hit in found["hits"])
    quick = judge.get("/api/search", {"q": "the", "limit": 200})
    for hit, same in zip(quick["hits"], found["hits"], strict=True):
        if hit["at"] and hit["where"] != "sub-agent":
            assert same["at"].partition(".")[0] == hit["at"]


def test_hits_by_session_and_their_facets_add_up(shown: tuple[Visitor, Judge, Path]) -> None:
    _, judge, _ = shown
    every = judge.get("/api/search", {"q": "the", "limit": 1000})
    found = judge.get("/api/search", {"q": "the", "group": "session", "facets": "true"})
    assert found["hits"] == []
    assert sum(group["count"] for group in found["groups"]) == len(every["hits"]) == every["total"]
    for group in found["groups"]:
        mine = [hit for hit in every["hits"] if hit["key"] == group["key"]]
        assert group["count"] == len(mine) == len(group["hits"]) + group["more"]
        assert [hit["offset"] for hit in group["hits"]] == [hit["offset"] for hit in mine[:3]]
    first = list(dict.fromkeys(hit["key"] for hit in every["hits"]))
    assert [group["key"] for group in found["groups"]] == first
    counted = judge.get("/api/search", {"q": "the", "facets": "true", "limit": 1000})
    assert counted["counted_all"]
    for name in ("project", "tool", "field", "model"):
        many = Counter(hit[name] for hit in every["hits"] if hit[name])
        assert {one["value"]: one["hits"] for one in counted["facets"][name]} == many
    one = counted["facets"]["tool"][0]
    narrowed = judge.get("/api/search", {"q": "the", "tool": one["value"], "limit": 1000})
    assert narrowed["total"] == one["hits"]
    few = judge.get("/api/search", {"q": "the", "group": "session", "limit": 2, "shown": 1})
    assert [len(group["hits"]) for group in few["groups"]] == [1, 1]


def test_a_grouped_search_goes_past_a_session_full_of_hits(tmp_path: Path) -> None:
    loud = Builder("loud").user("go")
    for number in range(400):
        loud.answer(f"word {number}")
    quiet = Builder("quiet").user("a word").answer("so")
    write(tmp_path, "-p", {"loud": loud.data(), "quiet": quiet.data()})
    with running(tmp_path, use_index=True) as visitor:
        until_ready(visitor)
        found = Judge(visitor).get("/api/search", {"q": "word", "group": "session"})
    assert {group["session"]: group["count"] for group in found["groups"]} == {"loud": 400, "quiet": 1}
    assert found["total"] == 401


def test_a_line_of_a_live_session_is_in_the_next_answer_whatever_was_asked_before(tmp_path: Path) -> None:
    made = Builder("live").user("one").answer("1")
    (path,) = write(tmp_path, "-p", {"live": made.data()}, seconds_ago=0)
    with running(tmp_path) as visitor:
        visitor.get("/api/sessions/live")
        for number in range(2, 9):
            made.user(f"say {number}") if number % 3 == 0 else made.answer(f"and {number}")
            path.write_bytes(made.data())
            head = visitor.get("/api/sessions/live").json
            last = head["turns"][-1]["n"]
            parts = visitor.get(f"/api/sessions/live/turns/{last}").json["parts"]
            assert str(number) in json.dumps(parts[-1])
            assert head["head"]["turns"] == len(head["turns"])


def test_a_search_takes_in_what_is_new_and_looks_at_the_index_once_where_nothing_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.catalog.catalog import Catalog

    made = Builder("s").user("a walrus").answer("no")
    (path,) = write(tmp_path, "-p", {"s": made.data()})
    updates: list[object] = []
    really = Catalog.update

    def update(catalog: Catalog, *given: Any, **more: Any) -> Any:
        updates.append(given)
        return really(catalog, *given, **more)

    monkeypatch.setattr(Catalog, "update", update)
    with running(tmp_path, use_index=True) as visitor:
        until_ready(visitor)

        def found(word: str) -> int:
            return visitor.get(f"/api/search?q={word}&facets=true").json["total"]

        assert (found("walrus"), found("walrus")) == (1, 1)
        updates.clear()
        assert [found(word) for word in ("walrus", "no", "nowhere")] == [1, 1, 0]
        assert len(updates) <= 1, "once a second at most"
        for number in range(3):
            path.write_bytes(made.user(f"another walrus {number}").answer("no").data())
            assert found("walrus") == number + 2, "what was just written is found"
        assert len(updates) >= 3
        path.unlink()
        write(tmp_path, "-p", {"t": Builder("t").user("one walrus").data()})
        assert found("walrus") == 1
        assert visitor.get("/api/search?q=walrus").json["hits"][0]["key"] == "t"
