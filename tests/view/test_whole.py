"""A session comes to the same wherever it is told: its head says the numbers of `clew ls`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from clew.view import whole
from clew.view.parts import Head, Work
from tests.builder import Builder, call
from tests.faces import console as consoles
from tests.faces.stage import demo
from tests.opened_stories import open_story
from tests.view.sessions import CORPUS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.console import Console


@pytest.fixture
def clew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    yield from consoles.console(monkeypatch)


def told(head: Head) -> tuple[object, ...]:
    """What a head says in all."""
    return whole.calls(head), whole.failed(head), whole.tokens(head), whole.cost(head), head.agents > 0


def listed(row: dict[str, Any]) -> tuple[object, ...]:
    """What a row of the list says."""
    return (
        row["tool_calls"],
        row["failed_calls"],
        sum(row["tokens"].values()),
        row["cost_usd"],
        row["agents"] > 0 or None,
    )


def answers(path: Path) -> set[str]:
    """The ids of the answers in a file."""
    return {found.decode() for found in re.findall(rb'"id":"(msg_[^"]+)"', path.read_bytes())}


def compare(clew: Console, root: Path) -> tuple[int, int]:
    """Compare all sessions of a store that share no answer; say how many did, and had sub-agents."""
    rows = json.loads(clew("ls", "--full", "--all", "--json", "--root", root).out)
    sessions = {path: answers(path) for path in root.glob("projects/*/*.jsonl") if path.name[:6] != "agent-"}
    seen = agents = 0
    for row in rows:
        path = next(path for path in sessions if str(path) == row["path"])
        if any(sessions[path] & other for one, other in sessions.items() if one != path):
            continue  # the list counts what two sessions share with the older one
        head = open_story([root], row["path"]).head
        *numbers, has_agents = listed(row)
        assert told(head)[:-1] == tuple(numbers), path
        assert not has_agents or head.agents, path
        seen, agents = seen + 1, agents + bool(head.agents)
    return seen, agents


def test_a_demo_session_comes_to_what_the_list_says(clew: Console, tmp_path: Path) -> None:
    seen, agents = compare(clew, demo(tmp_path))
    assert seen >= 8
    assert agents >= 3


@pytest.mark.parametrize("version", ["1.0.35", "2.0.42", "2.0.76", "2.1.29", "2.1.45", "2.1.150", "2.1.325"])
def test_a_session_of_every_client_comes_to_what_the_list_says(version: str, clew: Console) -> None:
    counts = [compare(clew, folder.parent) for folder in sorted(CORPUS.glob(f"{version}/*/projects"))]
    assert sum(agents for _, agents in counts) >= 1


def test_a_sub_agent_that_begins_with_a_copy_of_the_session_costs_only_what_it_added(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-ada-x"
    own = (
        Builder("5e55-0001", version="2.1.325")
        .user("Begin")
        .answer(call("t1", "Task", {"prompt": "Go", "description": "d"}), stop="tool_use")
        .result("t1", "done")
        .answer("Ended.")
        .data()
    )
    beside = folder / "5e55-0001" / "subagents"
    beside.mkdir(parents=True)
    (folder / "5e55-0001.jsonl").write_bytes(own)
    (beside / "agent-a1.jsonl").write_bytes(own.replace(b'"isSidechain":false', b'"isSidechain":true'))
    head = open_story([tmp_path], "5e55-0001").head
    assert head.agents == 1
    assert head.agents_work == Work()
    assert whole.cost(head) == head.work.cost_usd


def test_what_sub_agents_did_is_named() -> None:
    work = Work(calls=6, failed=1, cost_usd=0.1600983)
    theirs = Work(calls=3, failed=2, cost_usd=0.00685295)
    head = Head("s", "", 1, work, agents=2, agents_work=theirs, inside_calls=1, inside_failed=1)
    assert whole.cost_words(head) == "$0.17, <$0.01 of it by 2 sub-agents"
    assert whole.calls_words(head) == [
        "7 calls (2 failed)",
        "1 of them by 2 sub-agents (1 failed)",
        "2 more by 2 sub-agents (1 failed)",
    ]
    assert whole.cost_words(Head("s", "", 1, work)) == "$0.16"
    assert whole.calls_words(Head("s", "", 1, Work())) == []


@pytest.mark.parametrize(
    ("own", "theirs", "cost"),
    [
        (1.0, None, 1.0),
        (None, 2.0, 2.0),
        (None, None, None),
        (0.0, None, None),
        (None, 0.0, None),
        (0.0, 0.0, 0.0),
    ],
)
def test_a_price_that_is_not_known_never_hides_one_that_is(
    own: float | None, theirs: float | None, cost: float | None
) -> None:
    head = Head("s", "", 1, Work(cost_usd=own), agents=1, agents_work=Work(cost_usd=theirs))
    assert whole.cost(head) == cost
