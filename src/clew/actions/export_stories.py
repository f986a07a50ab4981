"""A session made ready to be exported: the turns that were asked for, with secrets or without.

Nothing is lost quietly: a file that gets shorter while it is read is an error, and nothing is written of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import clew
from clew.actions.looking_together import Look, can_look
from clew.actions.reading import agent_sources, find_branch, find_line, has_agents, read_turns, sub_agents
from clew.actions.second_process import can_fork
from clew.actions.stories import timeline_of
from clew.export.story import Story
from clew.session.subagents import agents as agents_of
from clew.store.sides import side_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew.actions.reading import Opened, Reading
    from clew.edit.secret_forms import Spans
    from clew.edit.secret_stretches import Looked
    from clew.session.subagents import Agent, Source


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which part of a session is told."""

    first: int | None = None
    """The turns from this number…"""

    last: int | None = None
    """…to this one."""

    at: str | None = None
    """The way to one line."""

    branch: str | None = None
    """The way to the end of a branch."""

    is_one_way: bool = False
    """Without either, only the way to where the client would go on."""

    with_agents: bool = True


@dataclass(frozen=True, slots=True)
class Cleaning:
    """How secrets are taken out."""

    key: bytes
    """Makes the placeholders."""

    own: Spans | None = None
    """Finds a person's own secrets."""

    advance: Callable[[int], None] | None = None
    """Is told of each line how many bytes it has, twice."""


EVERYTHING = Chosen()


def story_of(
    opened: Opened,
    chosen: Chosen = EVERYTHING,
    *,
    cleaning: Cleaning | None = None,
    assets: Mapping[str, bytes] | None = None,
    jobs: int = 1,
) -> Story:
    """Return a session that was opened as a story; without secrets if there is a `cleaning`.

    With two `jobs` another process looks for those, and until it is known that there are some the story is
    made as if there were none.
    """
    hopeful: Story | None = None
    sources: list[Source] | None = None
    looked: list[Looked] | None = None
    if cleaning is None:
        agents = sub_agents(opened) if chosen.with_agents else ()
        return _told(opened, agents, chosen, assets)
    if jobs > 1 and cleaning.own is None and can_look() and can_fork():
        sources = agent_sources(opened)
        with Look([opened.session, *(source.session for source in sources)]) as look:
            shown = chosen.with_agents and has_agents(opened)
            agents = agents_of(opened.session, sources) if shown else ()
            hopeful = replace(_told(opened, agents, chosen, assets), is_redacted=True)
            looked, has_secrets = look.finish(cleaning.advance)
        if not has_secrets and not any(side_files(one).files for one in (opened.file, *opened.agent_files)):
            return hopeful
    # It takes as long to load as a short session takes to write.
    from clew.actions.redacted import redacted

    clean = redacted(
        opened,
        key=cleaning.key,
        own=cleaning.own,
        with_agents=chosen.with_agents,
        advance=cleaning.advance,
        sources=sources,
        looked=looked,
    )
    if hopeful is not None and clean.is_same:
        return hopeful
    counted = None if chosen.with_agents else sub_agents(opened)
    told = _told(clean.opened, clean.agents, chosen, assets, counted=counted)
    return replace(told, is_redacted=True, redacted=clean.found, left=clean.left)


def _told(
    opened: Opened,
    agents: tuple[Agent, ...],
    chosen: Chosen,
    assets: Mapping[str, bytes] | None,
    *,
    counted: tuple[Agent, ...] | None = None,
) -> Story:
    """Return a session as a story, as it is; `counted` are its sub-agents where they are not shown."""
    if counted is None and not chosen.with_agents:
        counted = sub_agents(opened)
    reading = _read(opened, chosen)
    cuts = tuple(turn for _, turn in reading.asked())
    is_part = len(cuts) < len(reading.turns)
    shown = _started_in(reading, agents) if is_part else agents
    timeline = timeline_of(reading, agents, counted=counted)
    heads = timeline.heads()
    wanted = reading.wanted
    return Story(
        session=reading.session,
        head=timeline.head(),
        heads=tuple(heads[at] for at in wanted),
        turns=lambda: timeline.turns(wanted if is_part else None),
        agent_turns=timeline.agent_turns,
        agents=shown,
        version=clew.__version__,
        assets=assets or {},
        cuts=cuts,
        leaf=_leaf(reading, chosen),
        path=opened.file.path,
        part=lambda first, last: timeline.turns(wanted[first:last]),
    )


def _read(opened: Opened, chosen: Chosen) -> Reading:
    first, last = chosen.first, chosen.last
    if chosen.at is not None or chosen.branch is not None or not chosen.is_one_way:
        return read_turns(opened, at=chosen.at, branch=chosen.branch, first=first, last=last)
    whole = read_turns(opened)
    if not any(map(whole.is_off, whole.turns)) or whole.active is None:
        return whole if first is None and last is None else read_turns(opened, first=first, last=last)
    return read_turns(opened, at=opened.session.entry(whole.active).uuid, first=first, last=last)


def _leaf(reading: Reading, chosen: Chosen) -> str | None:
    session = reading.session
    if chosen.at is not None:
        return session.entry(find_line(session, chosen.at)).uuid
    if chosen.branch is not None:
        return find_branch(session, reading.graph, reading.active, chosen.branch).uuid
    return None


def _started_in(reading: Reading, agents: Sequence[Agent]) -> tuple[Agent, ...]:
    """Return the sub-agents that the turns which were asked for started."""
    calls = {call.id for _, turn in reading.asked() for call in turn.calls}
    return tuple(agent for agent in agents if agent.started_by in calls)
