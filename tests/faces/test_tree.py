"""`clew tree`: ends, branches, compactions and sub-agents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from clew.faces.cli.cells import width as cells
from tests.builder import Builder, call
from tests.faces import console as consoles
from tests.faces.stage import demo, write
from tests.session.recorded import CORPUS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.console import Console

ID = "0a0a0a0a-0000-4000-8000-000000000001"


@pytest.fixture
def clew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    yield from consoles.console(monkeypatch)


def one(root: Path, data: bytes) -> Path:
    return write(root, "-home-ada-lighthouse", {ID: data})[0]


def branched() -> Builder:
    builder = Builder(ID).user("First").answer("One.")
    fork = builder.leaf
    return builder.user("Second").answer("Two.").rewind(fork).user("Third").answer("Three.")


def test_json_has_the_documented_shape(clew: Console, tmp_path: Path) -> None:
    ran = clew("tree", one(tmp_path, branched().compact("Sum").user("On").answer("Yes.").data()), "--json")
    document = json.loads(ran.out)
    assert ran.code == 0
    active = next(leaf for leaf in document["leaves"] if leaf["active"])
    other = next(leaf for leaf in document["leaves"] if not leaf["active"])
    assert (active["uuid"], active["line"], active["turns"], active["why"]) == ("u10", 10, 3, "active")
    assert active["ended"] == "2026-03-04T09:00:10.000Z"
    assert (other["uuid"], other["why"], other["turns"], other["messages"]) == ("u4", "branch", 2, 4)
    assert document["branches"] == [{"uuid": "u2", "leaf": "u4"}]
    assert document["compactions"] == [
        {"uuid": "u7", "line": 7, "trigger": None, "pre_tokens": None, "summary_uuid": "u8"}
    ]
    assert document["agents"] == []


def test_the_screen_lists_ends_and_branches(clew: Console, tmp_path: Path) -> None:
    assert clew("tree", one(tmp_path, branched().data()), width=80).out == (
        "   END  LINE  TURNS  LOADS  ≈TOKENS  WHAT\n"
        "→  u6      6      2      4       22  the client goes on from here\n"
        "1  u4      4      2      4       22  a branch, leaves at line 2\n"
    )


def test_sub_agents_hang_under_one_another(clew: Console, tmp_path: Path) -> None:
    def agent(name: str, started: str | None) -> bytes:
        builder = Builder(ID).user(f"Do {name}", isSidechain=True, agentId=name)
        if started is not None:
            builder.answer(call(f"t-{started}", "Task"), stop="tool_use", isSidechain=True, agentId=name)
            builder.result(f"t-{started}", isSidechain=True, agentId=name, toolUseResult={"agentId": started})
        return builder.answer("Done.", isSidechain=True, agentId=name).data()

    main = Builder(ID).user("Go").answer(call("t-a1", "Task", {"description": "Count"}), stop="tool_use")
    main.result("t-a1", toolUseResult={"agentId": "a1"}).answer("Good.")
    write(
        tmp_path,
        "-home-ada-lighthouse",
        {
            ID: main.data(),
            f"{ID}/subagents/agent-a1": agent("a1", "a2"),
            f"{ID}/subagents/agent-a2": agent("a2", None),
            f"{ID}/subagents/agent-a3": agent("a3", None),
        },
    )
    document = json.loads(clew("tree", ID, "--root", tmp_path, "--json").out)
    first, alone = document["agents"]
    (second,) = first["children"]
    assert [one["agent_id"] for one in (first, second, alone)] == ["a1", "a2", "a3"]
    assert [one["started_by"] for one in (first, second, alone)] == ["t-a1", "t-a2", None]
    assert (first["turns"], first["tokens"]["output"]) == (1, 2)
    assert first["path"].endswith("agent-a1.jsonl")
    out = clew("tree", ID, "--root", tmp_path, width=100).out
    assert "3 sub-agents\n  └ Count a1 · 1 call" in out
    assert "\n    └ sub-agent a2" in out
    assert "no call here started it" in out


@pytest.mark.parametrize(
    "scenario", sorted({path.parent.parent.name for path in CORPUS.glob("*/*/projects")})
)
def test_every_recorded_session_has_the_shape(clew: Console, scenario: str) -> None:
    for path in sorted(CORPUS.glob(f"{scenario}/*/projects/*/*.jsonl")):
        ran = clew("tree", path, "--json", "--root", path.parents[2])
        document = json.loads(ran.out)
        assert set(document) >= {"session", "leaves", "branches", "compactions", "agents"}
        assert sum(leaf["active"] for leaf in document["leaves"]) <= 1
        assert {branch["leaf"] for branch in document["branches"]} <= {
            leaf["uuid"] for leaf in document["leaves"] if leaf["why"] == "branch"
        }
        assert clew("tree", path, "--root", path.parents[2], width=80).code == ran.code


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(clew: Console, tmp_path: Path, width: int) -> None:
    root = demo(tmp_path)
    for path in sorted(root.glob("projects/*/*.jsonl")):
        ran = clew("tree", path, "--root", root, width=width)
        assert max(map(cells, ran.lines), default=0) <= width, path


def test_a_damaged_file_is_the_exit_code(clew: Console, tmp_path: Path) -> None:
    assert clew("tree", one(tmp_path, branched().raw(b"garbage\n").data())).code == 3
    assert clew("tree", one(tmp_path, b"")).code == 0
