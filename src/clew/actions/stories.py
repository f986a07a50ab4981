"""Open a session by name as what an exporter is given, or a screen draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import clew
from clew.actions.reading import ends, open_reading, read_turns, sub_agents
from clew.errors import ChangedOnDiskError, ClewError
from clew.export.story import Story
from clew.view.agents import Agents
from clew.view.parts import Notice
from clew.view.timeline import Timeline, TurnView, Ways

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from clew.actions.reading import Opened, Reading
    from clew.session.session import Session
    from clew.session.subagents import Agent
    from clew.view.parts import Flow


def timeline_of(
    reading: Reading, agents: Sequence[Agent] = (), *, counted: Sequence[Agent] | None = None
) -> Timeline:
    """Return what was read as a timeline; `counted` are the sub-agents, where those are not to be shown.

    The head of the whole history tells what all of them did, that of one way only what its calls started.
    """
    session = reading.session
    turns = () if reading.is_whole else reading.turns
    calls = {call.id for turn in turns for call in turn.calls}

    def branches() -> int:
        return 1 + len(ends(session, reading.graph, reading.active)[1])

    return Timeline(
        session,
        reading.turns,
        agents=agents,
        before=reading.before,
        damage=reading.damage,
        ways=Ways(reading.goes_back_to, lambda place: reading.is_off(reading.turns[place]), branches),
        is_live=reading.opened.is_being_written,
        counted=None if counted is None else Agents(session, counted),
        is_counted=lambda agent: reading.is_whole or agent.started_by in calls,
    )


def open_story(
    roots: Sequence[Path],
    name: str,
    *,
    at: str | None = None,
    branch: str | None = None,
    with_agents: bool = True,
    session_of: Callable[[Session], Session] | None = None,
    redacted: Mapping[str, int] | None = None,
    assets: Mapping[str, bytes] | None = None,
) -> Story:
    """Open the session a name stands for, with its sub-agents, as a story.

    `session_of` puts another session in the place of each that is read, the sub-agents' too: one without
    secrets. Its source must be clean as well, as bytes that are no records are shown from there. `redacted`
    counts what was taken out; it may fill while the story is read.
    """
    opened = open_reading(roots, name)
    return story_of(
        opened, at=at, branch=branch, with_agents=with_agents, session_of=session_of, redacted=redacted,
        assets=assets,
    )  # fmt: skip


def story_of(
    opened: Opened,
    *,
    at: str | None = None,
    branch: str | None = None,
    with_agents: bool = True,
    session_of: Callable[[Session], Session] | None = None,
    redacted: Mapping[str, int] | None = None,
    assets: Mapping[str, bytes] | None = None,
) -> Story:
    """Return an opened session as a story; see `open_story`."""
    if session_of is not None:
        opened.session = session_of(opened.session)
    reading = read_turns(opened, at=at, branch=branch)
    counted = sub_agents(opened, session_of=session_of)
    agents = counted if with_agents else ()
    timeline = timeline_of(reading, agents, counted=None if with_agents else counted)
    return Story(
        opened.session,
        timeline.head(),
        timeline.heads(),
        lambda: _until_cut(opened, timeline.turns()),
        lambda agent_id: _until_cut(opened, timeline.agent_turns(agent_id)),
        agents,
        redacted if redacted is not None else {},
        session_of is not None,
        clew.__version__,
        assets if assets is not None else {},
    )


def _until_cut(opened: Opened, views: Iterator[TurnView]) -> Iterator[TurnView]:
    """Give the turns as far as the file can be read; one that got shorter meanwhile says so in its place."""
    try:
        for view in views:
            yield TurnView(view.head, lambda flow=view.flow: _flow(opened, flow))
    except ClewError as error:  # a sub-agent's file may be gone altogether
        opened.is_cut |= isinstance(error, ChangedOnDiskError)


def _flow(opened: Opened, flow: Callable[[], Iterator[Flow]]) -> Iterator[Flow]:
    try:
        yield from flow()
    except ChangedOnDiskError:
        opened.is_cut = True
        yield Notice("the file got shorter while it was read", "error")
    except ClewError as error:
        yield Notice(f"the rest could not be read: {error}", "error")
