"""A session by name becomes all that an exporter needs."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import pytest

from clew.errors import ChangedOnDiskError, UsageError
from clew.view import parts
from tests.builder import Builder, call
from tests.faces.stage import demo, write
from tests.opened_stories import open_story

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from clew.export.story import Story

ID = "0a0a0a0a-0000-4000-8000-000000000001"


def flow(story: Story) -> Iterator[parts.Flow]:
    for view in story.turns():
        yield from view.flow()


def branched() -> bytes:
    builder = Builder(ID).user("First").answer("One.")
    fork = builder.leaf
    return builder.user("Second").answer("Two.").rewind(fork).user("Third").answer("Three.").data()


def test_a_story_has_heads_and_turns_that_go_together(tmp_path: Path) -> None:
    root = demo(tmp_path)
    for path in sorted(root.glob("projects/*/*.jsonl")):
        story = open_story([root], path.stem)
        assert story.head.session == path.stem
        heads = [view.head for view in story.turns()]
        assert heads == list(story.heads) or [head.n for head in heads] == [0]
        assert story.head.turns == len(story.heads)
        assert story.version


def test_sub_agents_are_found_by_the_ids_their_calls_name(tmp_path: Path) -> None:
    root = demo(tmp_path)
    story = open_story([root], "f947")
    (agent,) = [one for part in flow(story) if isinstance(part, parts.Call) for one in part.agents]
    views = list(story.agent_turns(agent.agent_id))
    assert len(views) == agent.turns == 1
    assert agent.work.calls == views[0].head.work.calls == 2
    assert any(isinstance(part, parts.Answer) for part in views[0].flow())
    assert list(story.agent_turns("nobody")) == []
    assert story.head.agents == 1


@pytest.mark.parametrize(
    ("options", "titles"),
    [({}, ["First", "Second", "Third"]), ({"branch": "1"}, ["First", "Second"]), ({"at": "u2"}, ["First"])],
)
def test_one_way_can_be_told(tmp_path: Path, options: dict[str, str], titles: list[str]) -> None:
    write(tmp_path, "-home-ada", {ID: branched()})
    story = open_story([tmp_path], ID, **options)  # type: ignore[arg-type]
    assert [head.title for head in story.heads] == titles


def test_the_whole_history_says_where_ways_part(tmp_path: Path) -> None:
    write(tmp_path, "-home-ada", {ID: branched()})
    story = open_story([tmp_path], ID)
    assert story.head.branches == 2
    assert [head.is_off for head in story.heads] == [False, True, False]
    assert [rule.reason for rule in flow(story) if isinstance(rule, parts.Rule)] == ["fork", "rewind"]


def test_a_file_that_gets_shorter_meanwhile_is_an_error(tmp_path: Path) -> None:
    made = Builder(ID)
    for number in range(300):
        made.user(f"Turn {number}").answer(call(f"t{number}"), stop="tool_use").result(
            f"t{number}", "x" * 20_000
        )
    (path,) = write(tmp_path, "-home-ada", {ID: made.data()})
    story = open_story([tmp_path], ID)
    views = story.turns()
    assert list(next(views).flow())
    with path.open("r+b") as file:
        file.truncate(5000)
    with pytest.raises(ChangedOnDiskError):
        list(chain.from_iterable(view.flow() for view in views))


def test_a_name_that_is_nobody_s_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "-home-ada", {ID: branched()})
    with pytest.raises(UsageError):
        open_story([tmp_path], ID, branch="9")
