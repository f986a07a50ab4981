"""The kinds of sub-agents: two of clew's own, and those that people describe in `.claude/agents`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOOKS: Final = ("Read", "Glob", "Grep", "WebFetch", "WebSearch")


@dataclass(frozen=True, slots=True)
class AgentKind:
    """A kind of sub-agent."""

    name: str
    description: str
    """When to call it, for the model."""

    role: str | None = None
    """What it is told of itself, beside what every sub-agent is told."""

    tools: tuple[str, ...] | None = None
    """The tools it has; None for all that there are."""

    model: str | None = None
    """The model it asks; None for that of the session."""

    is_built_in: bool = True


GENERAL: Final = AgentKind(
    "general-purpose", "Any task of several steps: finding out, changing files, running commands."
)
EXPLORE: Final = AgentKind(
    "Explore",
    "Finds things in the code base: files, names, how something works. Changes nothing.",
    role="You only look: you have no tool that changes anything. Say where things are, as path:line.",
    tools=_LOOKS,
)
BUILT_IN: Final[Mapping[str, AgentKind]] = {kind.name: kind for kind in (GENERAL, EXPLORE)}
