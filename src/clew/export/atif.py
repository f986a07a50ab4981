"""A session as a trajectory in the Agent Trajectory Interchange Format, version 1.7.

Steps are prompts, answers with their calls and what came back, and what the client said itself (source
`system`). Sub-agents are whole trajectories inside the document, named by the results of the calls that
started them. Pictures are files there, so only their presence is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.export.dialogue import Answered, agent_dialogue, dialogue, everyone, told, words_of
from clew.export.json_bytes import json_pieces
from clew.format.blocks import Thinking
from clew.format.times import iso
from clew.session.spending import Spent, spent
from clew.session.turns import turns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from clew.export.dialogue import Called, Said, Spoken
    from clew.export.options import Options
    from clew.export.story import Story
    from clew.session.session import Session
    from clew.session.subagents import Agent
    from clew.session.turns import Turn

VERSION: Final = "ATIF-v1.7"
"""1.8 only adds sound. Readers of 1.8 take it."""

_AGENT: Final = "claude-code"
_SILENT: Final = "(nothing was said)"
"""A trajectory has at least one step."""


def write(story: Story, options: Options) -> Iterator[bytes]:
    """Give the document."""
    session = story.session
    names = _names(story.agents) if options.with_agents else {}
    steps = _Steps(session, names, with_thinking=options.with_thinking)
    document: dict[str, object] = {
        "schema_version": VERSION,
        "session_id": story.head.session,
        "trajectory_id": story.head.session,
        "agent": _agent(story),
        "steps": steps.of(dialogue(session, story.cuts)),
        "final_metrics": _metrics(session, story.cuts),
        "extra": _extra(story),
    }
    if names:
        by_id = {agent.agent_id: agent for agent in everyone(story.agents)}
        document["subagent_trajectories"] = (
            _sub_agent(story, by_id[agent_id], name, names, options) for agent_id, name in names.items()
        )
    return json_pieces(document)


def _names(agents: Iterable[Agent]) -> dict[str, str]:
    """Return the trajectory of each sub-agent by its id; the first of two with one id is it."""
    return {agent.agent_id: f"agent-{agent.agent_id}" for agent in everyone(agents)}


def _agent(story: Story, model: str | None = None) -> dict[str, object]:
    head = story.head
    found: dict[str, object] = {"name": _AGENT, "version": head.versions[-1] if head.versions else "unknown"}
    model = model or next(iter(head.models), None)
    if model is not None:
        found["model_name"] = model
    return found


def _extra(story: Story) -> dict[str, object]:
    head = story.head
    extra: dict[str, object] = {"title": head.title, "exported_by": f"clew {story.version}".rstrip()}
    places = {"cwd": head.project, "git_branch": head.branch}
    extra |= {name: value for name, value in places.items() if value is not None}
    if story.is_redacted:
        extra["redacted"] = dict(sorted(story.redacted.items()))
    return extra


def _sub_agent(
    story: Story, agent: Agent, name: str, names: Mapping[str, str], options: Options
) -> dict[str, object]:
    own = story.session if agent.source is None else agent.source.session
    cuts = turns(own, agent.rows) if agent.source is None else turns(own)
    model = next((one.model for turn in cuts for one in turn.messages if not one.is_synthetic), None)
    steps = _Steps(own, names, with_thinking=options.with_thinking)
    extra = {"type": agent.type, "description": agent.description, "started_by": agent.started_by}
    return {
        "schema_version": VERSION,
        "session_id": story.head.session,
        "trajectory_id": name,
        "agent": _agent(story, model),
        "steps": steps.of(agent_dialogue(story.session, agent)),
        "final_metrics": _metrics(own, cuts),
        "extra": {name: value for name, value in extra.items() if value is not None},
    }


class _Steps:
    """Numbers what was said, and tells it."""

    def __init__(self, session: Session, names: Mapping[str, str], *, with_thinking: bool) -> None:
        self._session = session
        self._names = names
        self._with_thinking = with_thinking
        self._count = 0

    def of(self, spoken: Iterable[Spoken]) -> Iterator[dict[str, object]]:
        """Give the steps, of which there is at least one."""
        for one in spoken:
            yield self._answer(one) if isinstance(one, Answered) else self._said(one)
        if not self._count:
            yield self._step("system", None, _SILENT)

    def _step(self, source: str, time: int | None, message: str) -> dict[str, object]:
        self._count += 1
        step: dict[str, object] = {"step_id": self._count}
        if (when := iso(time)) is not None:
            step["timestamp"] = when
        return {**step, "source": source, "message": message}

    def _said(self, said: Said) -> dict[str, object]:
        source = "system" if said.is_meta or said.is_summary else "user"
        return self._step(source, said.time, "\n".join(words_of(block) for block in said.blocks))

    def _answer(self, answered: Answered) -> dict[str, object]:
        message = answered.message
        if message.is_api_error or (message.is_synthetic and not answered.calls):
            return self._step("system", message.started, answered.text)
        step = self._step("agent", message.started, answered.text)
        if message.model is not None:
            step["model_name"] = message.model
        thoughts = [block.text for block in answered.blocks if isinstance(block, Thinking) and block.text]
        if thoughts and self._with_thinking:
            step["reasoning_content"] = "\n\n".join(thoughts)
        if answered.calls:
            step["tool_calls"] = [
                {"tool_call_id": call.id, "function_name": call.name, "arguments": dict(call.input)}
                for call in answered.calls
            ]
            step["observation"] = {
                "results": [self._result(call) for call in answered.calls if call.result is not None]
            }
        cost = spent(self._session, message)
        if cost.tokens.total:
            step["metrics"] = _cost(cost)
        return step

    def _result(self, call: Called) -> dict[str, object]:
        result: dict[str, object] = {"source_call_id": call.id, "content": told(call.result)}
        name = self._names.get(call.agent_id or "")
        if name is not None:
            result["subagent_trajectory_ref"] = [{"trajectory_id": name}]
        if call.is_error:
            result["extra"] = {"is_error": True}
        return result


def _cost(cost: Spent) -> dict[str, object]:
    tokens = cost.tokens
    written = tokens.cache_write_5m + tokens.cache_write_1h
    found: dict[str, object] = {
        "prompt_tokens": tokens.input + tokens.cache_read + written,
        "completion_tokens": tokens.output,
        "cached_tokens": tokens.cache_read,
    }
    if cost.cost_usd is not None:
        found["cost_usd"] = cost.cost_usd
    return found


def _metrics(session: Session, cuts: Iterable[Turn]) -> dict[str, object]:
    total = Spent()
    for turn in cuts:
        for message in turn.messages:
            total += spent(session, message)
    return {f"total_{name}": value for name, value in _cost(total).items()}
