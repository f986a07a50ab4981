"""The facts of a session and its turns are those that the rest of clew tells."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from clew.session.session import Session
from clew.session.spending import turn_spent
from clew.session.turns import turns
from tests.builder import Builder, call
from tests.faces import console as consoles
from tests.faces.stage import demo
from tests.opened_stories import open_story
from tests.view.sessions import files, timeline

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.console import Console


@pytest.fixture
def clew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    yield from consoles.console(monkeypatch)


def test_heads_cost_what_their_turns_cost() -> None:
    for path in files()[::4]:
        session = Session.read(path.read_bytes())
        found = turns(session)
        heads = timeline(path.read_bytes()).heads()
        for turn, head in zip(found, heads, strict=True):
            spent = turn_spent(session, turn)
            assert head.work.cost_usd == pytest.approx(spent.cost_usd)
            assert head.work.total_tokens == spent.tokens.total
            assert head.work.output_tokens == spent.tokens.output
            assert head.work.calls == len(turn.calls)
            assert (head.n, head.status) == (turn.n, turn.status)


def test_a_head_is_the_sum_of_its_turns() -> None:
    for path in files()[::4]:
        found = timeline(path.read_bytes())
        head, heads = found.head(), found.heads()
        assert head.turns == len(heads)
        for name in ("calls", "failed", "added", "removed", "output_tokens", "total_tokens"):
            assert getattr(head.work, name) == sum(getattr(one.work, name) for one in heads), path
        assert head.work.cost_usd == pytest.approx(sum(one.work.cost_usd or 0 for one in heads))


def test_a_story_and_its_sub_agents_cost_what_usage_says(clew: Console, tmp_path: Path) -> None:
    root = demo(tmp_path)
    usage = json.loads(clew("usage", "--by", "session", "--root", root, "--json").out)
    groups: dict[str, Any] = {group["key"]: group for group in usage["rows"]}
    seen = 0
    for path in sorted(root.glob("projects/*/*.jsonl")):
        story = open_story([root], str(path))
        costs = [story.head.work.cost_usd or 0.0]
        waiting = list(story.agents)
        while waiting:
            agent = waiting.pop()
            waiting += agent.children
            costs += [view.head.work.cost_usd or 0.0 for view in story.agent_turns(agent.agent_id)]
        group = groups.get(story.head.session)
        if group is not None:
            seen += 1
            assert sum(costs) == pytest.approx(group["cost_usd"]), path
    assert seen >= 5


def test_the_facts_of_a_session_are_in_its_head() -> None:
    edit = {"file_path": "/home/ada/lighthouse/lamp.py", "old_string": "off", "new_string": "on\nbright"}
    data = (
        Builder("s1", version="2.1.325")
        .user("Light  the\nlamp")
        .answer(call("t1", "Edit", edit), stop="tool_use")
        .result("t1", "ok")
        .answer(call("t2", "Bash", {"command": "x"}), stop="tool_use")
        .result("t2", "Exit code 1", is_error=True)
        .answer("Done.")
        .data()
    )
    found = timeline(data)
    head, (turn,) = found.head(), found.heads()
    assert (head.title, head.turns, head.versions) == ("Light the lamp", 1, ("2.1.325",))
    assert (head.work.files, head.work.added, head.work.removed) == (1, 2, 1)
    assert (turn.title, turn.work.calls, turn.work.failed) == ("Light the lamp", 2, 1)
    assert head.lines == 6
    assert head.bytes == len(data)


def test_a_model_without_a_price_is_named_and_costs_nothing_known() -> None:
    head = timeline(Builder("s").user("Hi").answer("Hello", model="claude-of-tomorrow").data()).head()
    assert head.work.cost_usd is None
    assert head.unpriced == ("claude-of-tomorrow",)
