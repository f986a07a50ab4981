"""A session is a row of turns, each read when it is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from clew.session.session import Session
from clew.session.subagents import Agent, agents
from clew.session.turns import turns
from clew.view import parts
from clew.view.agents import Agents
from clew.view.timeline import Timeline
from tests.builder import Builder, call
from tests.view.sessions import files, timeline

if TYPE_CHECKING:
    from pathlib import Path

SOME = files()[::10]


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.name[:20])
def test_every_turn_can_be_read_again_and_says_the_same(path: Path) -> None:
    time = timeline(path.read_bytes())
    encode = msgspec.json.Encoder().encode
    for view in time.turns():
        assert [encode(one) for one in view.flow()] == [encode(one) for one in view.flow()]


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.name[:20])
def test_at_most_one_answer_of_a_turn_is_its_last(path: Path) -> None:
    for view in timeline(path.read_bytes()).turns():
        answers = [one for one in view.flow() if isinstance(one, parts.Answer)]
        assert sum(one.is_last for one in answers) <= 1


def test_sub_agents_that_share_an_id_are_told_apart_and_come_to_an_end() -> None:
    inner = Agent("x", None, "inner", "t2", "prompt")
    outer = Agent(
        "x", None, "outer", "t1", "prompt", children=(Agent("y", None, None, "t1", None, children=(inner,)),)
    )
    found = Agents(Session.read(b""), (outer,)).by_id
    assert [(name, agent.description) for name, agent in found.items()] == [
        ("x", "outer"),
        ("y", None),
        ("x~2", "inner"),
    ]


def test_a_sub_agent_of_a_sub_agent_is_found_from_the_top() -> None:
    told: Any = {"isSidechain": True, "agentId": "deep"}
    data = (
        Builder("s")
        .user("Go")
        .answer(call("t1", "Task", {"prompt": "Find oil"}), stop="tool_use")
        .prompt("Find oil", **told)
        .answer("Found.", **told)
        .data()
    )
    session = Session.read(data)
    timeline = Timeline(session, turns(session), agents=agents(session))
    (made,) = [one for view in timeline.turns() for one in view.flow() if isinstance(one, parts.Call)]
    (agent,) = made.agents
    assert agent.turns == 1
    said = [one for view in timeline.agent_turns(agent.agent_id) for one in view.flow()]
    assert [type(one).__name__ for one in said] == ["Prompt", "Answer"]
