"""A session as one JSON document: what `clew show --json` prints, with its sub-agents and a few facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.export.dialogue import everyone
from clew.export.json_bytes import json_pieces
from clew.export.turn_documents import turn_document
from clew.session.turns import turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.export.options import Options
    from clew.export.story import Story
    from clew.session.session import Session
    from clew.session.subagents import Agent


def write(story: Story, options: Options) -> Iterator[bytes]:
    """Give the document."""
    thinking = options.with_thinking
    document: dict[str, object] = {
        **facts(story),
        "turns": (turn_document(story.session, turn, with_thinking=thinking) for turn in story.cuts),
    }
    if options.with_agents:
        document["agents"] = (
            agent_document(story.session, agent, with_thinking=thinking) for agent in everyone(story.agents)
        )
    return json_pieces(document)


def facts(story: Story) -> dict[str, object]:
    """Return what is said of the session as a whole."""
    head = story.head
    found: dict[str, object] = {
        "session": head.session,
        "path": story.path,
        "title": head.title,
        "project": head.project,
        "git_branch": head.branch,
        "models": list(head.models),
        "client_versions": list(head.versions),
        "clew": story.version,
    }
    if story.is_redacted:
        found["redacted"] = dict(sorted(story.redacted.items()))
    return found


def agent_document(session: Session, agent: Agent, *, with_thinking: bool) -> dict[str, object]:
    """Return a sub-agent with its turns, which are an iterator, for one use."""
    return {**agent_facts(agent), "turns": agent_turns(session, agent, with_thinking=with_thinking)}


def agent_facts(agent: Agent) -> dict[str, object]:
    """Return what is said of a sub-agent as a whole."""
    return {
        "agent_id": agent.agent_id,
        "type": agent.type,
        "description": agent.description,
        "started_by": agent.started_by,
    }


def agent_turns(session: Session, agent: Agent, *, with_thinking: bool) -> Iterator[dict[str, object]]:
    """Give the turns of a sub-agent."""
    own = session if agent.source is None else agent.source.session
    found = turns(own, agent.rows) if agent.source is None else turns(own)
    return (turn_document(own, turn, with_thinking=with_thinking) for turn in found)
