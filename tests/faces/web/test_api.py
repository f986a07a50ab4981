"""Every address answers as the document says, on sound sessions and on odd ones, and the answers are true."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import pytest
from jsonschema import Draft202012Validator

from clew.faces.web.openapi import openapi
from clew.faces.web.routes import ROUTES
from tests.builder import Builder, call
from tests.conftest import ROOT
from tests.faces.stage import write
from tests.faces.web.lab import running
from tests.faces.web.stores import SCRIPT, demo, hostile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.console import Console
    from tests.faces.web.lab import Reply, Visitor

SOME: dict[str, str] = {"q": "the", "path": "/nowhere"}
"""What is said where something has to be."""


class Judge:
    """Looks at answers with the document in hand."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor
        document = visitor.get("/api/openapi.json").json
        self.paths: dict[str, Any] = document["paths"]
        self._components = document["components"]
        self.seen: set[str] = set()

    def check(self, template: str, reply: Reply, method: str = "get") -> Any:
        """Hold an answer against its schema."""
        responses = self.paths[template][method]["responses"]
        said = responses["200" if reply.status == 200 else "default"]["content"]
        kind = reply.headers["content-type"].partition(";")[0]
        if reply.status == 200:
            self.seen.add(f"{method} {template}")
        if "application/json" not in said:
            assert kind in said or "*/*" in said or reply.status != 200
            return None
        assert kind == "application/json"
        found = reply.json
        schema = {**said["application/json"]["schema"], "components": self._components}
        judge: Any = Draft202012Validator(schema)
        problem = next(judge.iter_errors(found), None)
        assert problem is None, f"{template}: {problem.message[:200]} at {list(problem.path)}"
        return found

    def get(self, template: str, said: dict[str, object] | None = None, **names: object) -> Any:
        """Ask, and check the answer."""
        path = template
        for name, value in names.items():
            path = path.replace(f"{{{name}}}", str(value))
        reply = self._visitor.get(path + (f"?{urlencode(said)}" if said else ""))
        assert reply.status < 500, (path, reply.body)
        return self.check(template, reply)


def keys(visitor: Visitor) -> list[str]:
    return [row["key"] for row in visitor.get("/api/sessions?all=true").json["sessions"]]


def readings(judge: Judge) -> Iterator[tuple[str, dict[str, object]]]:
    """Give every address that only reads, with what has to be said."""
    for template, methods in judge.paths.items():
        if "get" in methods and template != "/api/events":
            needed = [one["name"] for one in methods["get"]["parameters"] if one["required"]]
            yield template, {name: SOME[name] for name in needed if name in SOME}


@pytest.mark.parametrize("make", [demo, hostile])
def test_every_address_answers_as_the_document_says(tmp_path: Path, make: Any) -> None:
    with running(make(tmp_path)) as visitor:
        judge = Judge(visitor)
        for template, said in readings(judge):
            if "{id}" not in template:
                judge.get(template, said)
                continue
            for key in keys(visitor):
                judge.get(template, said, id=key, n=1)
    # Of a file that no session changed nothing is told.
    assert {"get " + route.path for route in ROUTES if route.method == "GET"} - judge.seen <= {
        "get /api/events", "get /api/sessions/{id}/file", "get /api/sessions/{id}/diff", "get /api/blame",
        "get /api/sessions/{id}/place",
    }  # fmt: skip


def test_the_document_and_the_page_of_docs_name_every_route() -> None:
    document: Any = openapi()
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    page = (ROOT / "docs" / "web.md").read_text(encoding="utf-8")
    for route in ROUTES:
        fields = ", ".join(f"`{one.name}`" for one in route.fields)
        assert f"| `{route.method} {route.path}` | {route.help} | {fields} |" in page


def test_the_list_is_what_ls_lists_and_its_totals_add_up(tmp_path: Path, clew: Console) -> None:
    root = demo(tmp_path)
    listed = json.loads(clew("ls", "--root", root, "--full", "--no-index", "--json").out)
    talks = [row for row in listed if row["kind"] in {"conversation", "mixed"}]
    with running(root) as visitor:
        whole = visitor.get("/api/sessions").json
        assert [row["id"] for row in whole["sessions"]] == [row["id"] for row in talks]
        assert whole["sessions"][0].items() >= talks[0].items()
        for row in whole["sessions"]:
            assert (row["calls"], row["failures"]) == (row["tool_calls"], row["failed_calls"])
            assert row["activity"] is None, "only the index knows in time"
        total = whole["total"]
        assert total["sessions"] == len(talks)
        assert total["turns"] == sum(row["turns"] for row in talks)
        assert total["tokens"] == sum(sum(row["tokens"].values()) for row in talks)
        assert total["cost_usd"] == pytest.approx(sum(row["cost_usd"] or 0 for row in talks))
        store = whole["store"]
        assert store["files"] == store["sessions"] + store["other"] + store["agents"]
        assert store["sessions"] + store["other"] == len(listed)
        pages: list[str] = []
        at: int | None = 0
        while at is not None:
            page = visitor.get(f"/api/sessions?limit=3&from={at}").json
            assert page["total"] == total
            pages += [row["id"] for row in page["sessions"]]
            at = page["next"]
        assert pages == [row["id"] for row in talks]
        assert visitor.get("/api/sessions?from=9999").json["sessions"] == []


def test_the_list_can_be_narrowed(tmp_path: Path) -> None:
    root = demo(tmp_path)
    live = root / "projects" / "-live" / "lively.jsonl"
    live.parent.mkdir()
    live.write_bytes(Builder("lively").user("now").answer("yes").data())
    with running(root) as visitor:
        every = visitor.get("/api/sessions?facets=true").json
        assert (
            [row["id"] for row in every["sessions"] if row["live"]]
            == [every["sessions"][0]["id"]]
            == ["lively"]
        )
        for facet in every["facets"]["project"]:
            said = urlencode({"project": facet["value"]})
            assert visitor.get(f"/api/sessions?{said}").json["total"]["sessions"] == facet["sessions"]
        only = visitor.get("/api/sessions?live=true").json
        assert [row["id"] for row in only["sessions"]] == ["lively"]
        for name in ("failed", "damaged"):
            found = visitor.get(f"/api/sessions?{name}=true").json["sessions"]
            assert 0 < len(found) < len(every["sessions"])
        newest = visitor.get("/api/sessions?sort=cost&limit=2").json["sessions"]
        assert newest[0]["cost_usd"] >= newest[1]["cost_usd"]
        assert visitor.get("/api/sessions?tool=Bash").error == "usage"  # only the index knows


def test_the_parts_of_a_session_are_those_of_the_exported_page(tmp_path: Path) -> None:
    from clew.view.encoding import encode
    from tests.opened_stories import open_story

    root = demo(tmp_path)
    with running(root) as visitor:
        for key in keys(visitor)[:6]:
            story = open_story([root], key)
            told = [[json.loads(encode(part)) for part in view.flow()] for view in story.turns()]
            numbers = [head["n"] for head in visitor.get(f"/api/sessions/{key}").json["turns"]] or [0]
            found: list[list[Any]] = []
            for number in numbers if told else []:
                parts: list[Any] = []
                at: int | None = 0
                while at is not None:
                    page = visitor.get(f"/api/sessions/{key}/turns/{number}?from={at}&limit=2").json
                    parts += page["parts"]
                    at = page["next"]
                found.append(parts)
            assert found == told, key


def test_pages_of_a_turn_are_the_same_in_whatever_order_they_are_asked_for(tmp_path: Path) -> None:
    made = Builder("long").user("go")
    for number in range(40):
        made.answer(call(f"t{number}", "Bash", {"command": f"make {number}"})).result(f"t{number}", "done")
    (path,) = write(tmp_path, "-p", {"long": made.data()})
    with running(tmp_path) as visitor:
        whole = visitor.get("/api/sessions/long/turns/1").json["parts"]
        assert len(whole) == 41
        draw = random.Random(7)
        for _ in range(60):
            first, limit = draw.randint(0, 44), draw.randint(1, 12)
            page = visitor.get(f"/api/sessions/long/turns/1?from={first}&limit={limit}").json
            assert page["parts"] == whole[first : first + limit]
            assert page["next"] == (first + limit if first + limit < 41 else None)
        page = visitor.get("/api/sessions/long/turns/1?from=35&limit=6")
        assert page.json["next"] is None
        path.write_bytes(made.answer("that is all").data())
        page = visitor.get("/api/sessions/long/turns/1?from=35&limit=6").json
        assert page["next"] == 41, "what was answered before is not what is there now"
        assert visitor.get("/api/sessions/long").json["head"]["lines"] == 82


def test_sub_agents_are_read_by_their_ids_and_by_their_files(tmp_path: Path) -> None:
    with running(demo(tmp_path)) as visitor:
        named = [
            (key, agent["agent_id"], agent["path"].endswith(f"{key}.jsonl"))
            for key in keys(visitor)
            for agent in visitor.get(f"/api/sessions/{key}/tree").json["agents"]
        ]
        assert {is_inside for _, _, is_inside in named} == {True, False}
        for key, agent, is_inside in named:
            inner = visitor.get(f"/api/sessions/{key}?agent={agent}").json
            assert inner["turns"][0]["n"] == 1
            parts = visitor.get(f"/api/sessions/{key}/turns/1?agent={agent}").json["parts"]
            assert parts
            if not is_inside:
                assert visitor.get(f"/api/sessions/agent-{agent}/turns/1").json["parts"] == parts
        assert visitor.get(f"/api/sessions/{named[0][0]}?agent=nobody").status == 404


def test_what_is_not_there_is_404_and_says_what(tmp_path: Path) -> None:
    with running(demo(tmp_path)) as visitor:
        key = keys(visitor)[0]
        for path in (
            "/api/sessions/nobody", f"/api/sessions/{key[:8]}", f"/api/sessions/{key}/turns/999",
            f"/api/sessions/{key}/turns/x", f"/api/sessions/{key}/turns/99999999999999999999",
            f"/api/sessions/{key}/what", "/api/export/nobody", "/api/sessions/~",
        ):  # fmt: skip
            reply = visitor.get(path)
            assert reply.status == 404, path
            assert set(reply.json["error"]) == {"code", "message", "hint"}


def test_two_sessions_of_one_name_have_each_their_key(tmp_path: Path) -> None:
    with running(hostile(tmp_path)) as visitor:
        rows = visitor.get("/api/sessions?all=true").json["sessions"]
        twins = [row for row in rows if row["id"] == "torn"]
        assert len({row["key"] for row in rows}) == len(rows)
        assert len(twins) == 2
        for row in twins:
            assert visitor.get(f"/api/sessions/{row['key']}").json["path"] == row["path"]
        odd = next(row for row in rows if row["id"].startswith("a b"))
        assert quote(odd["key"], safe="~") == odd["key"]
        assert visitor.get(f"/api/sessions/{odd['key']}/turns/1").status == 200
        assert visitor.get("/api/sessions/torn").status == 404


def test_hostile_text_arrives_as_it_was_written_and_as_json_only(tmp_path: Path) -> None:
    with running(hostile(tmp_path)) as visitor:
        reply = visitor.get("/api/sessions/odd/turns/1")
        assert reply.headers["content-type"] == "application/json"
        assert SCRIPT in [part["text"] for part in reply.json["parts"][0]["parts"]]
        name = visitor.get("/api/export/odd?to=html").headers["content-disposition"]
        assert name.startswith('attachment; filename="')
        assert name.count('"') == 2
        assert not set("<>\x1b\r\n") & set(name)


def test_a_file_that_cannot_be_read_or_goes_away_is_an_answer_not_a_crash(tmp_path: Path) -> None:
    root = hostile(tmp_path)
    with running(root) as visitor:
        path = root / "projects" / "-odd-project" / "glued.jsonl"
        assert visitor.get("/api/sessions/glued").status == 200
        path.write_bytes(b"")
        assert visitor.get("/api/sessions/glued/turns/1").status == 404
        path.unlink()
        assert visitor.get("/api/sessions/glued").error == "unknown-session"
        if os.geteuid():
            (root / "projects" / "-odd-project" / "nul.jsonl").chmod(0)
            assert visitor.get("/api/sessions/nul").error == "unreadable"


def test_what_is_written_meanwhile_is_in_the_next_answer(tmp_path: Path) -> None:
    root = demo(tmp_path)
    live = root / "projects" / "-live" / "lively.jsonl"
    live.parent.mkdir()
    made = Builder("lively").user("one").answer("1")
    live.write_bytes(made.data())
    with running(root) as visitor:
        assert visitor.get("/api/sessions/lively").json["head"]["turns"] == 1
        for number in (2, 3):
            live.write_bytes(made.user("more").answer(str(number)).data())
            assert visitor.get("/api/sessions/lively").json["head"]["turns"] == number
            assert visitor.get(f"/api/sessions/lively/turns/{number}").json["parts"]


def test_exports_are_those_of_the_command_line(tmp_path: Path, clew: Console) -> None:
    root = demo(tmp_path)
    with running(root) as visitor:
        key = keys(visitor)[0]
        for kind in ("text", "json", "jsonl", "api", "openai", "sharegpt", "atif"):
            ran = clew("export", key, "--to", kind, "-o", "-", "--root", root)
            assert visitor.get(f"/api/export/{key}?to={kind}").body.decode() == ran.out, kind
        assert visitor.get(f"/api/export/{key}?to=html").body.startswith(b"<!doctype html>")
        assert visitor.get(f"/api/export/{key}?to=bundle").error == "usage"


def test_search_usage_doctor_and_files_say_what_the_command_line_says(tmp_path: Path, clew: Console) -> None:
    root = demo(tmp_path)
    with running(root, use_index=True) as visitor:
        while visitor.get("/api/index").json["state"] != "ready":
            pass
        ours = visitor.get("/api/search?q=the+vents&limit=50").json
        theirs = json.loads(clew("search", "the vents", "--limit", 50, "--root", root, "--json").out)
        assert [hit["offset"] for hit in ours["hits"]] == [hit["offset"] for hit in theirs["hits"]]
        assert ours["hits"]
        literal = visitor.get("/api/search?q=(motor%5B&mode=literal").json
        assert literal["total"] == 0
        one = visitor.get(f"/api/search?q=the&session={ours['hits'][0]['key']}").json
        assert {hit["session"] for hit in one["hits"]} == {ours["hits"][0]["session"]}
        for by in ("model", "project", "tool"):
            ran = json.loads(clew("usage", "--by", by, "--root", root, "--json").out)
            found = visitor.get(f"/api/usage?by={by}").json
            assert {name: found[name] for name in ran if name != "notes"} == ran
        sick = json.loads(clew("doctor", "--root", root, "--json").out)
        found = visitor.get("/api/doctor").json
        assert found["files"] == found["sessions"] + found["agents"] + found["empty"] + found["unreadable"]
        assert {one["id"] for one in found["patients"]} == {one["id"] for one in sick["patients"]}
        listed = visitor.get("/api/files").json
        assert listed["total"] == len(listed["files"]) > 0
        for file in listed["files"]:
            changes = visitor.get(f"/api/files/history?{urlencode({'path': file['path']})}").json["changes"]
            assert len(changes) == file["changes"]
            assert len({change["session"] for change in changes}) == file["sessions"]
        assert visitor.get("/api/sessions?tool=Bash").json["total"]["sessions"] > 0
        assert not visitor.get("/api/sessions").json["partial"]


def test_versions_of_files_come_from_the_session_and_from_nowhere_else(tmp_path: Path) -> None:
    with running(demo(tmp_path)) as visitor:
        read = 0
        for key in keys(visitor):
            for file in visitor.get(f"/api/sessions/{key}/files").json["files"]:
                for version in file["versions"]:
                    said = urlencode({"path": file["path"], "turn": version["turn"]})
                    reply = visitor.get(f"/api/sessions/{key}/file?{said}")
                    assert reply.status == (200 if version["known"] else 404)
                    read += reply.status == 200
        assert read > 3
        assert visitor.get(f"/api/sessions/{keys(visitor)[0]}/file?path=/etc/hostname").error == "usage"
