"""A session as JSON lines: what is said of it, then one turn a line, those of its sub-agents last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.export.dialogue import everyone
from clew.export.json_bytes import json_pieces
from clew.export.json_turns import agent_facts, agent_turns, facts
from clew.export.turn_documents import turn_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.export.options import Options
    from clew.export.story import Story


def write(story: Story, options: Options) -> Iterator[bytes]:
    """Give the lines; `kind` says what each is, and a sub-agent's turn names it."""
    thinking = options.with_thinking
    yield from json_pieces({"kind": "session", **facts(story)})
    for turn in story.cuts:
        yield from json_pieces({"kind": "turn", **turn_document(story.session, turn, with_thinking=thinking)})
    for agent in everyone(story.agents) if options.with_agents else ():
        yield from json_pieces({"kind": "agent", **agent_facts(agent)})
        for document in agent_turns(story.session, agent, with_thinking=thinking):
            yield from json_pieces({"kind": "turn", "agent_id": agent.agent_id, **document})
