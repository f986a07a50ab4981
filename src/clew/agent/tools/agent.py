"""The tool that starts a sub-agent: a loop with a conversation of its own; its last words are the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from clew.agent.agent_kinds import GENERAL
from clew.agent.tool import Outcome, Reach

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clew.agent.agent_kinds import AgentKind
    from clew.agent.loop import Ending
    from clew.agent.tool import Block, Work

_NOTHING: Final = "(the sub-agent said nothing)"


@dataclass(frozen=True, slots=True)
class Task:
    """What a sub-agent is to do."""

    kind: AgentKind
    prompt: str
    description: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What came of it."""

    agent_id: str
    ending: Ending
    duration_ms: int


Send: TypeAlias = "Callable[[Task, Work], Report]"


class AgentTool:
    """Starts sub-agents."""

    name = "Agent"

    def __init__(self, kinds: Mapping[str, AgentKind], send: Send) -> None:
        self._kinds = kinds
        self._send = send
        listed = "\n".join(f"- {kind.name}: {kind.description}" for kind in kinds.values())
        self.description = (
            "Give a task to a sub-agent, which works on its own and reports once. It sees nothing of this "
            "conversation: tell it everything it needs. Several calls in one message run at once.\n\n"
            f"Kinds of sub-agents:\n{listed}"
        )
        self.schema: Mapping[str, object] = {
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "The task in three to five words"},
                "prompt": {"type": "string", "description": "The task, whole"},
                "subagent_type": {"type": "string", "enum": list(kinds), "description": "The kind"},
                "model": {"type": "string", "description": "Another model than the session's"},
            },
            "required": ["description", "prompt"],
            "additionalProperties": False,
        }

    def is_parallel(self, given: Mapping[str, object]) -> bool:
        """Sub-agents run beside each other: what they change they ask for themselves."""
        del given
        return True

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:
        """Nothing by itself: each call of a sub-agent is decided on its own."""
        del given, work
        return Reach()

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:
        """Have it done."""
        prompt, name = given.get("prompt"), given.get("subagent_type") or GENERAL.name
        if not isinstance(prompt, str) or not prompt.strip():
            return _failed("InputValidationError: `prompt` must be the task, as a text")
        kind = self._kinds.get(name) if isinstance(name, str) else None
        if kind is None:
            return _failed(f"Agent type {name!r} not found. Available agents: {', '.join(self._kinds)}")
        description, model = given.get("description"), given.get("model")
        told = description if isinstance(description, str) and description else prompt[:60]
        asked = model if isinstance(model, str) and model.startswith("claude-") else None
        report = self._send(Task(kind, prompt, told, asked), work)
        ending = report.ending
        content: list[Block] = [{"type": "text", "text": ending.text or _NOTHING}]
        structured = {
            "status": "completed",
            "prompt": prompt,
            "agentId": report.agent_id,
            "agentType": kind.name,
            "content": content,
            "totalDurationMs": report.duration_ms,
            "totalTokens": ending.tokens,
            "totalToolUseCount": ending.calls,
            "usage": ending.usage,
        }
        return Outcome(content, structured)


def _failed(words: str) -> Outcome:
    return Outcome(words, structured=f"Error: {words}", is_error=True)
