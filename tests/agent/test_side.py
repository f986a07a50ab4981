"""Sub-agents have files of their own, and hang under the calls that started them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clew.agent.lines import PROFILE
from clew.agent.side import SideTranscript, Start
from clew.errors import ClewError
from clew.session import subagents
from clew.session.check import check
from clew.session.context import context
from clew.session.session import Session
from tests.agent import told as stories
from tests.agent.told import Talk, ask, begin, call, text
from tests.store.faults.disks import FailingDisk

CORPUS = Path(__file__).parent.parent / "data" / "corpus" / PROFILE


def sources(root: Path) -> list[subagents.Source]:
    found: list[subagents.Source] = []
    for path in sorted(root.rglob("agent-*.jsonl")):
        meta = json.loads(path.with_suffix(".meta.json").read_bytes())
        session = Session.read(path.read_bytes(), name=path.stem)
        found.append(subagents.Source(path.stem.removeprefix("agent-"), session, str(path), meta))
    return found


def test_a_sub_agent_lies_beside_its_session(tmp_path: Path) -> None:
    with stories.subagent(tmp_path) as session:
        (one,) = sources(tmp_path)
    assert Path(one.key).parent == Path(session.path.removesuffix(".jsonl")) / "subagents"
    assert len(one.agent_id) == 17
    assert one.agent_id.startswith("a")
    lines = [json.loads(raw) for raw in Path(one.key).read_bytes().splitlines()]
    assert {line["agentId"] for line in lines} == {one.agent_id}
    assert all(line["isSidechain"] and line["sessionId"] == session.session_id for line in lines)
    assert lines[0]["parentUuid"] is None
    assert not check(Path(one.key).read_bytes(), name=Path(one.key).stem).problems


def test_the_meta_file_has_what_the_client_writes(tmp_path: Path) -> None:
    stories.subagent(tmp_path).close()
    (one,) = sources(tmp_path)
    theirs: list[dict[str, Any]] = [json.loads(path.read_bytes()) for path in CORPUS.rglob("*.meta.json")]
    assert theirs
    assert list(one.meta) == list(theirs[0])
    assert one.meta["finished"] is True
    assert one.meta["toolUseId"] == "toolu_1"


def test_nested_sub_agents_hang_under_each_other(tmp_path: Path) -> None:
    with stories.nested(tmp_path) as session:
        found = sources(tmp_path)
    (outer,) = subagents.agents(Session.read(Path(session.path).read_bytes()), found)
    (inner,) = outer.children
    assert not inner.children
    assert (outer.started_by, inner.started_by) == ("toolu_1", "toolu_s2")
    depths = {one.agent_id: one.meta["spawnDepth"] for one in found}
    assert depths == {outer.agent_id: 1, inner.agent_id: 2}
    assert len({Path(one.key).parent for one in found}) == 1


def test_nothing_of_a_sub_agent_is_sent_with_its_session(tmp_path: Path) -> None:
    with stories.nested(tmp_path) as session:
        data = Path(session.path).read_bytes()
    assert b"Looking." not in data
    assert len(context(Session.read(data)).messages) == 4


def test_lines_of_a_sub_agent_belong_to_the_prompt_that_led_to_it(tmp_path: Path) -> None:
    stories.subagent(tmp_path).close()
    (main,) = tmp_path.rglob("projects/*/*.jsonl")
    prompts = {json.loads(raw).get("promptId") for raw in main.read_bytes().splitlines()} - {None}
    (one,) = sources(tmp_path)
    told = {json.loads(raw).get("promptId") for raw in Path(one.key).read_bytes().splitlines()} - {None}
    assert prompts == told
    assert len(told) == 1


def test_there_are_no_files_until_it_is_told_something(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        ask(session, "Delegate.")
        side = SideTranscript.begin(session, Start("general-purpose", "Count", "toolu_1"))
        side.finish()
        assert not list(tmp_path.rglob("agent-*"))


def test_a_sub_agent_that_was_stopped_is_not_finished(tmp_path: Path) -> None:
    with begin(tmp_path) as session:
        ask(session, "Delegate.")
        side = SideTranscript.begin(session, Start("Explore", "Count", "toolu_1", is_interactive=True))
        side.prompt("Count.")
        Talk(side).call(call("1"))
        side.interrupted(in_tool=True)
        side.close()
    (one,) = sources(tmp_path)
    assert "finished" not in one.meta
    assert (one.meta["agentType"], one.meta["requestNonInteractive"]) == ("Explore", False)
    assert "[Request interrupted by user for tool use]" in Path(one.key).read_text()


@pytest.mark.parametrize("at", range(12))
def test_a_disk_that_fails_leaves_no_half_meta_file(tmp_path: Path, at: int) -> None:
    disk = FailingDisk(10**9, 28)
    with begin(tmp_path, disk=disk) as session:
        ask(session, "Delegate.")
        side = SideTranscript.begin(session, Start("general-purpose", "Count", "toolu_1"))
        disk.at = len(disk.calls) + at
        try:
            side.prompt("Count.")
            Talk(side).say(text("Three."))
            side.finish()
        except ClewError:
            pass
        side.close()
    for path in tmp_path.rglob("*.meta.json"):
        assert json.loads(path.read_bytes())["toolUseId"] == "toolu_1"
